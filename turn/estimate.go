package turn

import (
	"sync"

	"github.com/parleybot/parley/providers"
)

// Token counts are not known before a request is made: they are estimated by the kind of characters, and corrected by
// what the provider reported for the last request of the same model.

// quarters is how many quarters of a token a character costs: about four ASCII characters make a token, other alphabets
// two, and scripts whose characters are words or syllables about one.
func quarters(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r < 0x0e00:
		return 2
	}
	return 5
}

func textTokens(s string) int {
	n := 0
	for _, r := range s {
		n += quarters(r)
	}
	return (n + 3) / 4
}

// messageOverhead is what a message costs beside its text.
const messageOverhead = 4

// imageTokens is about what a picture costs: vendors count by its size, up to some 1,600.
const imageTokens = 1200

func messageTokens(m providers.Message) int {
	n := messageOverhead + textTokens(m.Content) + imageTokens*len(m.Images)
	for _, c := range m.Calls {
		n += messageOverhead + textTokens(c.Name) + textTokens(c.Arguments)
	}
	for _, b := range m.ThinkingBlocks {
		n += len(b.Raw) / 4
	}
	return n
}

// toolTokens is what the description of the offered tools costs.
func toolTokens(tools []providers.ToolSpec) int {
	n := 0
	for _, t := range tools {
		n += messageOverhead + (len(t.Name)+len(t.Description)+len(t.Schema)+3)/4
	}
	return n
}

// Bounds of the correction: a provider that reports nonsense must not empty the context or blow it up.
const (
	minCorrection = 0.5
	maxCorrection = 4.0
)

// maxCorrections bounds how many models are remembered.
const maxCorrections = 1000

// estimates keeps for each model by how much the estimate was wrong. It is safe for concurrent use.
type estimates struct {
	mu          sync.Mutex
	corrections map[string]float64
}

func newEstimates() *estimates { return &estimates{corrections: map[string]float64{}} }

// learn compares an estimate with what was reported.
func (e *estimates) learn(model string, estimated, reported int) {
	if estimated <= 0 || reported <= 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.corrections[model]; !known && len(e.corrections) >= maxCorrections {
		return
	}
	e.corrections[model] = min(max(float64(reported)/float64(estimated), minCorrection), maxCorrection)
}

func (e *estimates) correction(model string) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.corrections[model]; ok {
		return c
	}
	return 1
}

// Budgets, in tokens.
const (
	// unknownBudget is the context of a model whose window is not known.
	unknownBudget = 16 * 1024
	// reservedOutput is kept free for an answer whose bound is not known.
	reservedOutput = 4096
)

// budget is how many estimated tokens a request to a model may have.
func (e *estimates) budget(m Model) int {
	tokens := unknownBudget
	if m.ContextTokens > 0 {
		reserved := m.MaxOutputTokens
		if reserved == 0 {
			reserved = min(reservedOutput, m.ContextTokens/4)
		}
		tokens = max(m.ContextTokens-reserved, 0) * 9 / 10
	}
	return int(float64(tokens) / e.correction(m.Name))
}
