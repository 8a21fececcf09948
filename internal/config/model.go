package config

import (
	"fmt"
	"slices"
	"strings"
)

// Model says which models answer, and how they are asked.
type Model struct {
	// Name and Fallbacks are as they were written; see Config.Chain for what they mean.
	Name      string `env:"MODEL" help:"The model that answers, as vendor:name (openai:gpt-4.1-mini, ollama:llama3.2:1b), or rehearsal for the built-in offline model. Without a vendor: OPENAI_BASE_URL's server, or OpenAI."`
	Fallbacks string `env:"FALLBACK_MODELS" help:"Models that are tried in this order when MODEL fails, written like it, with commas between them."`
	// Thinking is empty when it is left to the models.
	Thinking string `env:"MODEL_THINKING" oneof:"off|low|medium|high" help:"How much models that take a level reason before they answer. Unset: left to the model."`
	// Temperature is nil when it is left to the services.
	Temperature *float64 `env:"MODEL_TEMPERATURE" help:"Sampling temperature from 0 to 2, for models that take one. Unset: left to the service."`
	// MaxOutputTokens is 0 when it is left to the models.
	MaxOutputTokens int `env:"MODEL_MAX_OUTPUT_TOKENS" envDefault:"0" min:"0" help:"Longest answer in tokens, reasoning included. 0: the model's own limit."`
	// File is the path of the operator's own table of models.
	File string `env:"MODELS_FILE" help:"JSON file with what models can do and cost, above the built-in table; see docs/models.md."`
}

// Services are the keys and addresses of the vendors. An address that is not set is the vendor's own.
type Services struct {
	OpenAIKey      Secret `env:"OPENAI_API_KEY" help:"Key for OpenAI, or for the server at OPENAI_BASE_URL, which may want none."`
	OpenAIURL      string `env:"OPENAI_BASE_URL" help:"Address of an OpenAI-compatible server of your own. Unset: OpenAI."`
	AnthropicKey   Secret `env:"ANTHROPIC_API_KEY" help:"Key for Anthropic."`
	AnthropicURL   string `env:"ANTHROPIC_BASE_URL" help:"Address that stands in for Anthropic, such as a proxy."`
	OpenRouterKey  Secret `env:"OPENROUTER_API_KEY" help:"Key for OpenRouter."`
	OpenRouterURL  string `env:"OPENROUTER_BASE_URL" help:"Address that stands in for OpenRouter, such as a proxy."`
	GroqKey        Secret `env:"GROQ_API_KEY" help:"Key for Groq."`
	GroqURL        string `env:"GROQ_BASE_URL" help:"Address that stands in for Groq, such as a proxy."`
	DeepSeekKey    Secret `env:"DEEPSEEK_API_KEY" help:"Key for DeepSeek."`
	DeepSeekURL    string `env:"DEEPSEEK_BASE_URL" help:"Address that stands in for DeepSeek, such as a proxy."`
	MistralKey     Secret `env:"MISTRAL_API_KEY" help:"Key for Mistral."`
	MistralURL     string `env:"MISTRAL_BASE_URL" help:"Address that stands in for Mistral, such as a proxy."`
	XAIKey         Secret `env:"XAI_API_KEY" help:"Key for xAI."`
	XAIURL         string `env:"XAI_BASE_URL" help:"Address that stands in for xAI, such as a proxy."`
	GeminiKey      Secret `env:"GEMINI_API_KEY" help:"Key for Gemini."`
	GeminiURL      string `env:"GEMINI_BASE_URL" help:"Address that stands in for Gemini, such as a proxy."`
	ZAIKey         Secret `env:"ZAI_API_KEY" help:"Key for Z.ai."`
	ZAIURL         string `env:"ZAI_BASE_URL" help:"Address that stands in for Z.ai, such as a proxy."`
	VercelKey      Secret `env:"VERCEL_API_KEY" help:"Key for the Vercel AI Gateway."`
	VercelURL      string `env:"VERCEL_BASE_URL" help:"Address that stands in for the Vercel AI Gateway, such as a proxy."`
	HuggingFaceKey Secret `env:"HUGGINGFACE_API_KEY" help:"Key for Hugging Face."`
	HuggingFaceURL string `env:"HUGGINGFACE_BASE_URL" help:"Address that stands in for Hugging Face, such as a proxy."`
	OllamaKey      Secret `env:"OLLAMA_API_KEY" help:"Key for Ollama, where it wants one."`
	OllamaURL      string `env:"OLLAMA_BASE_URL" help:"Address of Ollama. Unset: port 11434 on this machine."`
	LMStudioKey    Secret `env:"LMSTUDIO_API_KEY" help:"Key for LM Studio, where it wants one."`
	LMStudioURL    string `env:"LMSTUDIO_BASE_URL" help:"Address of LM Studio. Unset: port 1234 on this machine."`
	LlamaCPPKey    Secret `env:"LLAMACPP_API_KEY" help:"Key for llama.cpp's server, where it wants one."`
	LlamaCPPURL    string `env:"LLAMACPP_BASE_URL" help:"Address of llama.cpp's server. Unset: port 8080 on this machine."`
	VLLMKey        Secret `env:"VLLM_API_KEY" help:"Key for vLLM, where it wants one."`
	VLLMURL        string `env:"VLLM_BASE_URL" help:"Address of vLLM. Unset: port 8000 on this machine."`
}

// RehearsalModel is the value of MODEL that selects the built-in offline model.
const RehearsalModel = "rehearsal"

// OpenAI is the vendor that stands in where MODEL names none.
const OpenAI = "openai"

// Vendor is a service that MODEL can name before its first colon.
type Vendor struct {
	Name string
	Key  Secret
	// BaseURL is empty for the service's own address.
	BaseURL string
	// Local services run on the operator's own machine and want no key.
	Local bool
	// Usual is a small, general model of the service, for the playground with a key and no MODEL; "" where none is named.
	Usual string
	// KeyVariable and BaseVariable are where Key and BaseURL come from.
	KeyVariable, BaseVariable string
}

// Vendors lists the services in the order in which people are told of them.
func (s Services) Vendors() []Vendor {
	return []Vendor{
		{Name: OpenAI, Usual: "gpt-4.1-mini", Key: s.OpenAIKey, BaseURL: s.OpenAIURL, KeyVariable: "OPENAI_API_KEY", BaseVariable: "OPENAI_BASE_URL"},
		{Name: "anthropic", Usual: "claude-haiku-4-5", Key: s.AnthropicKey, BaseURL: s.AnthropicURL, KeyVariable: "ANTHROPIC_API_KEY", BaseVariable: "ANTHROPIC_BASE_URL"},
		{Name: "openrouter", Usual: "openrouter/auto", Key: s.OpenRouterKey, BaseURL: s.OpenRouterURL, KeyVariable: "OPENROUTER_API_KEY", BaseVariable: "OPENROUTER_BASE_URL"},
		{Name: "groq", Usual: "llama-3.3-70b-versatile", Key: s.GroqKey, BaseURL: s.GroqURL, KeyVariable: "GROQ_API_KEY", BaseVariable: "GROQ_BASE_URL"},
		{Name: "deepseek", Usual: "deepseek-chat", Key: s.DeepSeekKey, BaseURL: s.DeepSeekURL, KeyVariable: "DEEPSEEK_API_KEY", BaseVariable: "DEEPSEEK_BASE_URL"},
		{Name: "mistral", Usual: "mistral-small-latest", Key: s.MistralKey, BaseURL: s.MistralURL, KeyVariable: "MISTRAL_API_KEY", BaseVariable: "MISTRAL_BASE_URL"},
		{Name: "xai", Usual: "grok-3-mini", Key: s.XAIKey, BaseURL: s.XAIURL, KeyVariable: "XAI_API_KEY", BaseVariable: "XAI_BASE_URL"},
		{Name: "gemini", Usual: "gemini-2.5-flash", Key: s.GeminiKey, BaseURL: s.GeminiURL, KeyVariable: "GEMINI_API_KEY", BaseVariable: "GEMINI_BASE_URL"},
		{Name: "zai", Key: s.ZAIKey, BaseURL: s.ZAIURL, KeyVariable: "ZAI_API_KEY", BaseVariable: "ZAI_BASE_URL"},
		{Name: "vercel", Key: s.VercelKey, BaseURL: s.VercelURL, KeyVariable: "VERCEL_API_KEY", BaseVariable: "VERCEL_BASE_URL"},
		{Name: "huggingface", Key: s.HuggingFaceKey, BaseURL: s.HuggingFaceURL, KeyVariable: "HUGGINGFACE_API_KEY", BaseVariable: "HUGGINGFACE_BASE_URL"},
		{Name: "ollama", Key: s.OllamaKey, BaseURL: s.OllamaURL, Local: true, KeyVariable: "OLLAMA_API_KEY", BaseVariable: "OLLAMA_BASE_URL"},
		{Name: "lmstudio", Key: s.LMStudioKey, BaseURL: s.LMStudioURL, Local: true, KeyVariable: "LMSTUDIO_API_KEY", BaseVariable: "LMSTUDIO_BASE_URL"},
		{Name: "llamacpp", Key: s.LlamaCPPKey, BaseURL: s.LlamaCPPURL, Local: true, KeyVariable: "LLAMACPP_API_KEY", BaseVariable: "LLAMACPP_BASE_URL"},
		{Name: "vllm", Key: s.VLLMKey, BaseURL: s.VLLMURL, Local: true, KeyVariable: "VLLM_API_KEY", BaseVariable: "VLLM_BASE_URL"},
	}
}

// Choice is one model of the chain.
type Choice struct {
	// Written is how the operator wrote it.
	Written string
	// Vendor is the service; its Name is RehearsalModel for the offline model. Own: the model is on a server of the
	// operator's own, at OPENAI_BASE_URL.
	Vendor Vendor
	Own    bool
	// Name is the model's name as the service spells it.
	Name string
}

// Missing is the variable that has to be set before the model can be asked; nil when none is missing.
func (c Choice) Missing() *Problem {
	v := c.Vendor
	if c.Own || v.Local || v.Name == RehearsalModel || !v.Key.IsZero() || v.BaseURL != "" {
		return nil
	}
	text := "is not set; " + c.Written + " needs it"
	if v.Name == OpenAI {
		text += ", or OPENAI_BASE_URL for a server that wants no key"
	}
	return &Problem{Name: v.KeyVariable, Text: text}
}

// Chain is the models in the order in which they are tried; empty when MODEL is not set. Load has checked them.
func (c Config) Chain() []Choice {
	var chain []Choice
	for _, w := range c.Model.written() {
		if choice, text := c.choice(w.text); text == "" {
			chain = append(chain, choice)
		}
	}
	return chain
}

// written is one model as it stands in the environment.
type written struct{ variable, text string }

func (m Model) written() []written {
	var all []written
	if m.Name != "" {
		all = append(all, written{"MODEL", m.Name})
	}
	for name := range strings.SplitSeq(m.Fallbacks, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, written{"FALLBACK_MODELS", name})
		}
	}
	return all
}

// choice reads one model, or says why it can't be.
func (c Config) choice(text string) (Choice, string) {
	vendors := c.Services.Vendors()
	choice := Choice{Written: text, Vendor: vendors[0], Name: text, Own: c.Services.OpenAIURL != ""}
	if text == RehearsalModel {
		return Choice{Written: text, Vendor: Vendor{Name: RehearsalModel}, Name: text}, ""
	}
	prefix, name, found := strings.Cut(text, ":")
	i := slices.IndexFunc(vendors, func(v Vendor) bool { return v.Name == strings.ToLower(strings.TrimSpace(prefix)) })
	switch {
	case found && i >= 0:
		choice.Vendor, choice.Name, choice.Own = vendors[i], strings.TrimSpace(name), false
		if choice.Name == "" {
			return choice, fmt.Sprintf("%q names a vendor and no model", text)
		}
	case found && !choice.Own: // a server of the operator's own may have models with colons in their names
		names := []string{RehearsalModel}
		for _, v := range vendors {
			names = append(names, v.Name)
		}
		return choice, fmt.Sprintf("%q begins with no vendor that is known; known are %s, and OPENAI_BASE_URL takes any name as it is",
			text, strings.Join(names, ", "))
	}
	if strings.ContainsAny(choice.Name, " \t\r\n,") {
		return choice, fmt.Sprintf("%q is not the name of one model", text)
	}
	return choice, ""
}

// checkModels refuses models that can't be read, models that are there twice, and a temperature out of range.
func checkModels(cfg *Config) []error {
	var problems []error
	seen := map[string]bool{}
	for _, w := range cfg.Model.written() {
		choice, text := cfg.choice(w.text)
		key := choice.Vendor.Name + ":" + choice.Name
		if text == "" && seen[key] {
			text = fmt.Sprintf("%q is in the chain already", w.text)
		}
		seen[key] = true
		if text != "" {
			problems = append(problems, &Problem{Name: w.variable, Text: text})
		}
	}
	if cfg.Model.Name == "" && cfg.Model.Fallbacks != "" {
		problems = append(problems, &Problem{Name: "FALLBACK_MODELS", Text: "is set and MODEL is not"})
	}
	if t := cfg.Model.Temperature; t != nil && (*t < 0 || *t > 2) {
		problems = append(problems, &Problem{Name: "MODEL_TEMPERATURE", Text: "must be from 0 to 2"})
	}
	return problems
}
