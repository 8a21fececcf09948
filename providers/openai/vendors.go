package openai

import (
	"net/url"
	"slices"
	"strings"
)

// Vendor is one line of the table of services that speak chat completions.
type Vendor struct {
	// Name is the prefix in MODEL=vendor:name, and the provider's name in logs, gates and prices.
	Name string
	// Title is the name for people.
	Title string
	// BaseURL is where the service is; "" when only the operator can know.
	BaseURL string
	// NeedsKey: the service refuses requests without a key.
	NeedsKey bool
	// Local: it runs on the operator's own machine, where answers cost nothing and a model may have to load first.
	Local bool

	quirks quirks
}

// TellsPrice reports that its answers say what they cost.
func (v Vendor) TellsPrice() bool { return v.quirks.cost != costNone }

// quirks are how a service departs from what OpenAI's own documentation says. The zero value departs nowhere.
type quirks struct {
	limit     limitParam
	reasoning reasoningForm
	// effortOff is the service's word for reasoning as little as possible, "" when it has none.
	effortOff string
	// noStreamOptions: it refuses the option and sends usage anyway.
	noStreamOptions bool
	// maxTemperature is the highest temperature it takes; 0 means 2.
	maxTemperature float64
	// blind: its format has no images, whatever the model.
	blind bool
	// shortIDs: ids of calls must be nine letters and digits.
	shortIDs bool
	// thinkTags: reasoning may stand in the text between tags.
	thinkTags bool
	// replay is the form in which it wants a model's reasoning back inside a tool exchange.
	replay replayForm
	// reasoningBeside: completion_tokens leaves reasoning_tokens out. Unless set, the numbers decide (see usage.neutral).
	reasoningBeside bool
	// cost is the member of its usage that tells the price.
	cost costMember
	// loose: an answer of text may just stop, since its servers never say how it ended. An answer with calls may not.
	loose bool
}

// limitParam is the name of the bound on an answer.
type limitParam int

const (
	// limitPlain is max_tokens, except for the models that are known to refuse it.
	limitPlain limitParam = iota
	// limitCompletion is max_completion_tokens.
	limitCompletion
)

// reasoningForm is how a thinking level is asked for.
type reasoningForm int

const (
	// reasoningNone services take no level.
	reasoningNone reasoningForm = iota
	// reasoningEffort: "reasoning_effort": "low".
	reasoningEffort
	// reasoningObject: "reasoning": {"effort": "low"} or {"enabled": false}.
	reasoningObject
	// reasoningSwitch: "thinking": {"type": "enabled"}, with no levels between.
	reasoningSwitch
	// reasoningTemplate: "chat_template_kwargs": {"enable_thinking": false}, for servers that render templates.
	reasoningTemplate
)

// replayForm is how reasoning goes back.
type replayForm int

const (
	replayNot replayForm = iota
	// replayContent: its text, as "reasoning_content".
	replayContent
	// replayDetails: its parts, some of them signed or encrypted, as "reasoning_details".
	replayDetails
)

// member is the member of an assistant message, and of a kept block, that holds it; "" for none.
func (f replayForm) member() string {
	switch f {
	case replayContent:
		return "reasoning_content"
	case replayDetails:
		return "reasoning_details"
	case replayNot:
	}
	return ""
}

// costMember is where usage tells a price.
type costMember int

const (
	costNone costMember = iota
	// costDollars is "cost" in US dollars, which is what the credits of these services are.
	costDollars
	// costTicks is "cost_in_usd_ticks" in ten-billionths of a dollar.
	costTicks
)

// compatible is what is assumed of a service that is in no line: careful, and with reasoning in tags expected.
var compatible = Vendor{Name: "compatible", Title: "OpenAI-compatible server", quirks: quirks{thinkTags: true}}

// vendors is the table. A service is a line here and nothing elsewhere.
var vendors = []Vendor{
	{
		Name: "openai", Title: "OpenAI", BaseURL: "https://api.openai.com/v1", NeedsKey: true,
		quirks: quirks{limit: limitCompletion, reasoning: reasoningEffort, effortOff: "minimal"},
	},
	{
		Name: "openrouter", Title: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", NeedsKey: true,
		quirks: quirks{reasoning: reasoningObject, replay: replayDetails, cost: costDollars},
	},
	{
		Name: "groq", Title: "Groq", BaseURL: "https://api.groq.com/openai/v1", NeedsKey: true,
		quirks: quirks{limit: limitCompletion, reasoning: reasoningEffort, effortOff: "none", thinkTags: true},
	},
	{
		Name: "deepseek", Title: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", NeedsKey: true,
		quirks: quirks{reasoning: reasoningSwitch, replay: replayContent, blind: true},
	},
	{
		Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", NeedsKey: true,
		quirks: quirks{noStreamOptions: true, shortIDs: true, maxTemperature: 1.5},
	},
	{
		Name: "xai", Title: "xAI", BaseURL: "https://api.x.ai/v1", NeedsKey: true,
		quirks: quirks{limit: limitCompletion, reasoning: reasoningEffort, effortOff: "low", reasoningBeside: true, cost: costTicks},
	},
	{
		Name: "gemini", Title: "Gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", NeedsKey: true,
		quirks: quirks{reasoning: reasoningEffort, effortOff: "none", thinkTags: true},
	},
	{
		Name: "zai", Title: "Z.ai", BaseURL: "https://api.z.ai/api/paas/v4", NeedsKey: true,
		quirks: quirks{reasoning: reasoningSwitch, replay: replayContent, maxTemperature: 1},
	},
	{
		Name: "vercel", Title: "Vercel AI Gateway", BaseURL: "https://ai-gateway.vercel.sh/v1", NeedsKey: true,
		quirks: quirks{reasoning: reasoningObject, replay: replayDetails, cost: costDollars},
	},
	{
		Name: "huggingface", Title: "Hugging Face", BaseURL: "https://router.huggingface.co/v1", NeedsKey: true,
		quirks: quirks{thinkTags: true},
	},
	{
		Name: "ollama", Title: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true,
		quirks: quirks{reasoning: reasoningEffort, effortOff: "none", thinkTags: true},
	},
	{
		Name: "lmstudio", Title: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1", Local: true,
		quirks: quirks{thinkTags: true},
	},
	{
		Name: "llamacpp", Title: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true,
		quirks: quirks{reasoning: reasoningTemplate, thinkTags: true},
	},
	{
		Name: "vllm", Title: "vLLM", BaseURL: "http://127.0.0.1:8000/v1", Local: true,
		quirks: quirks{reasoning: reasoningTemplate, thinkTags: true},
	},
}

// Vendors lists the services that MODEL=vendor:name may name, in the order in which people look for them.
func Vendors() []Vendor { return slices.Clone(vendors) }

// vendorNames lists them for an operator.
func vendorNames() string {
	names := make([]string, 0, len(vendors)+1)
	for _, v := range vendors {
		names = append(names, v.Name)
	}
	return strings.Join(append(names, compatible.Name), ", ")
}

// VendorNamed finds a vendor by its name in any case.
func VendorNamed(name string) (Vendor, bool) {
	for _, v := range vendors {
		if strings.EqualFold(v.Name, name) {
			return v, true
		}
	}
	return Vendor{}, false
}

// VendorAt finds the vendor whose service a base URL is on. What runs on this machine is told by nothing: a port proves
// little.
func VendorAt(baseURL string) (Vendor, bool) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return Vendor{}, false
	}
	for _, v := range vendors {
		if own, err := url.Parse(v.BaseURL); err == nil && !v.Local && strings.EqualFold(own.Hostname(), u.Hostname()) {
			return v, true
		}
	}
	return Vendor{}, false
}

// vendorOf decides whose quirks hold for a configuration.
func vendorOf(c Config) (Vendor, bool) {
	if c.Vendor != "" {
		if strings.EqualFold(c.Vendor, compatible.Name) {
			return compatible, true
		}
		return VendorNamed(c.Vendor)
	}
	if c.BaseURL == "" {
		return vendors[0], true
	}
	if v, known := VendorAt(c.BaseURL); known {
		return v, true
	}
	return compatible, true
}
