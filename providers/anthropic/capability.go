package anthropic

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/parleybot/parley/providers"
)

// reasoning is how a model is asked to reason.
type reasoning string

const (
	// reasonNot models can't reason, or nothing is known of them: nothing is asked.
	reasonNot reasoning = ""
	// reasonBudget models take a number of tokens.
	reasonBudget reasoning = "budget"
	// reasonAdaptive models decide themselves and take an effort.
	reasonAdaptive reasoning = "adaptive"
)

// quiet is how a model's reasoning is switched off.
type quiet string

const (
	// quietOmit models don't reason unless asked.
	quietOmit quiet = ""
	// quietDisabled and quietBetween models reason unless told not to, each in its own words.
	quietDisabled quiet = "disabled"
	quietBetween  quiet = "between_tools"
	// quietLow models always reason; the least of it is what can be had.
	quietLow quiet = "low"
)

// capability is what is known of a model as far as requests differ.
type capability struct {
	// output is the default bound on an answer in tokens.
	output    int
	reasoning reasoning
	quiet     quiet
	// display: the model keeps its reasoning to itself unless its display is asked for.
	display bool
	// cool: the model takes a temperature.
	cool bool
}

// unknown is what is assumed of a model that is in no table.
var unknown = capability{output: 4096, cool: true}

// generations lists what changed in which generation of the vendor's models, newest first; the first entry that a model
// is not older than counts. A family narrows an entry.
var generations = []struct {
	version int // major * 100 + minor
	family  string
	capability
}{
	{600, "", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietLow, display: true}},
	{505, "haiku", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietDisabled, display: true}},
	{505, "sonnet", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietBetween, display: true}},
	{505, "", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietLow, display: true}},
	{500, "fable", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietLow, display: true}},
	{500, "mythos", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietLow, display: true}},
	{500, "", capability{output: 16384, reasoning: reasonAdaptive, quiet: quietDisabled, display: true}},
	{407, "", capability{output: 16384, reasoning: reasonAdaptive, display: true}},
	{406, "", capability{output: 16384, reasoning: reasonAdaptive, cool: true}},
	{307, "", capability{output: 16384, reasoning: reasonBudget, cool: true}},
	{305, "", capability{output: 8192, cool: true}},
	{0, "", capability{output: 4096, cool: true}},
}

// modelName takes a model's name apart: claude-opus-4-7, claude-3-7-sonnet-20250219, anthropic/claude-sonnet-4.5. A date
// is no part of the version.
var modelName = regexp.MustCompile(`claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:[-@:v](?:(sonnet|haiku|opus))?|$)`)

func capabilityOf(model string) capability {
	name := strings.ToLower(model)
	m := modelName.FindStringSubmatch(name)
	if m == nil {
		if strings.Contains(name, "claude-mythos") {
			m = []string{"", "mythos", "5", "0", ""}
		} else {
			return unknown
		}
	}
	major, _ := strconv.Atoi(m[2])
	minor, _ := strconv.Atoi(m[3])
	for _, g := range generations {
		if major*100+minor >= g.version && (g.family == "" || g.family == m[1] || g.family == m[4]) {
			return g.capability
		}
	}
	return unknown
}

// budgets are the tokens that models of the older kind get for reasoning.
var budgets = map[providers.ThinkingLevel]int{
	providers.ThinkingLow: 2048, providers.ThinkingMedium: 8192, providers.ThinkingHigh: 16384,
}

// minBudget is the vendor's least.
const minBudget = 1024

// refused is what a service was found not to take of a model's requests.
type refused struct {
	thinking, effort, temperature, marks bool
	// blocks of reasoning, or reasoning itself, are refused for the one conversation they are in; that is not kept.
	blocks, thinkingHere bool
	// output is the largest bound on an answer that is taken, 0 for not known.
	output int
}

func (p *Provider) refusedBy(model string) refused {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[model]
}

// maxLearned bounds for how many models anything is kept.
const maxLearned = 256

func (p *Provider) remember(model string, r refused) {
	r.blocks, r.thinkingHere = false, false
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.refused[model]; known || len(p.refused) < maxLearned {
		p.refused[model] = r
	}
}

var outputLimit = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)

// learn looks in a refusal for something of the request that can be left out. It reports whether another try makes sense.
func (r *refused) learn(sent prepared, body string) bool {
	before := *r
	text := strings.ToLower(body)
	if m := outputLimit.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n < sent.limit {
			r.output = n
		}
		return *r != before
	}
	ofBlocks := strings.Contains(text, "thinking") && (strings.Contains(text, "block") || strings.Contains(text, "signature"))
	switch {
	case sent.blocks && ofBlocks:
		r.blocks = true
	case sent.thinking && ofBlocks:
		r.thinkingHere = true
	case sent.thinking && strings.Contains(text, "thinking"):
		r.thinking = true
	case sent.effort && (strings.Contains(text, "effort") || strings.Contains(text, "output_config")):
		r.effort = true
	case sent.temperature && strings.Contains(text, "temperature"):
		r.temperature = true
	case sent.marks && strings.Contains(text, "cache_control"):
		r.marks = true
	}
	return *r != before
}
