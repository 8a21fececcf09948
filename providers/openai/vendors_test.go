package openai

import (
	"regexp"
	"strings"
	"testing"
)

func TestVendorsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config Config
		name   string
		// problem is a part of the error; "" for none.
		problem string
	}{
		{Config{APIKey: testKey}, "openai", ""},
		{Config{}, "", "provider openai: it needs a key"},
		{Config{Vendor: "Groq", APIKey: testKey}, "groq", ""},
		{Config{Vendor: "groq"}, "", "provider groq: it needs a key"},
		{Config{Vendor: "groq", BaseURL: "http://127.0.0.1:1"}, "groq", ""}, // a proxy may hold the key
		{Config{Vendor: "ollama"}, "ollama", ""},
		{Config{BaseURL: "https://OpenRouter.ai/api/v1"}, "openrouter", ""},
		{Config{BaseURL: "http://127.0.0.1:11434/v1"}, "compatible", ""},
		{Config{BaseURL: "https://models.example/v1", Name: "mine"}, "mine", ""},
		{Config{Vendor: "compatible"}, "", "provider compatible: it needs a base URL"},
		{Config{Vendor: "grok"}, "", `there is no vendor "grok"`},
	} {
		p, err := New(c.config)
		switch {
		case c.problem != "":
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%+v: error %v, want %q", c.config, err, c.problem)
			}
		case err != nil:
			t.Errorf("%+v: %v", c.config, err)
		default:
			if p.Name() != c.name {
				t.Errorf("%+v: name %s, want %s", c.config, p.Name(), c.name)
			}
			_ = p.Close()
		}
	}
}

func TestVendorTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range Vendors() {
		if !regexp.MustCompile(`^[a-z]+$`).MatchString(v.Name) || v.Title == "" || seen[v.Name] || v.Name == compatible.Name {
			t.Errorf("vendor %q, title %q", v.Name, v.Title)
		}
		seen[v.Name] = true
		base, query, err := endpoint(v.BaseURL)
		if err != nil || len(query) > 0 || strings.TrimSuffix(base, "/") != v.BaseURL {
			t.Errorf("%s: base %s, error %v", v.Name, base, err)
		}
		if v.Local == v.NeedsKey || !v.Local && !strings.HasPrefix(v.BaseURL, "https://") {
			t.Errorf("%s: local %v, needs a key %v, at %s", v.Name, v.Local, v.NeedsKey, v.BaseURL)
		}
		if at, known := VendorAt(v.BaseURL); known == v.Local || known && at.Name != v.Name {
			t.Errorf("%s: found as %q by its address", v.Name, at.Name)
		}
	}
	for _, name := range []string{
		"openai", "openrouter", "groq", "deepseek", "mistral", "xai", "gemini", "ollama", "lmstudio", "llamacpp", "vllm",
	} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}
