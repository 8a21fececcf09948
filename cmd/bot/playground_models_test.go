package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeOllama speaks the two routes of Ollama's OpenAI-compatible side that the playground uses, and counts the answers.
func fakeOllama(t *testing.T, models ...string) (url string, answered *atomic.Int32) {
	t.Helper()
	answered = &atomic.Int32{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		type model struct {
			ID string `json:"id"`
		}
		list := []model{}
		for _, m := range models {
			list = append(list, model{m})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		answered.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":{"content":"I am %s."},"finish_reason":null}]}` + "\n\n"
		_, _ = fmt.Fprintf(w, chunk, asked.Model, asked.Model)
		_, _ = fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", asked.Model)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL, answered
}

// An Ollama on this machine is offered and not taken; chosen, it answers; and the built-in model can have its place back.
func TestPlaygroundOffersOllama(t *testing.T) {
	url, answered := fakeOllama(t, "llama-test", "other-test")
	p := startPlayground(t, "-ollama", url)
	general, you := p.ids("general", "You")
	if p.first.get("model_id") != "rehearsal" || p.first.body["offline"] != true || !strings.Contains(p.first.raw, "Ollama on this machine") {
		t.Fatalf("at first: %s", p.first.raw)
	}
	ask := func(want string) {
		t.Helper()
		p.post("say", map[string]any{"person": you, "channel": general, "text": "<@" + p.bot + "> who are you?"})
		p.sees(want, func(e event) bool {
			return e.is("message") && e.get("author") == p.bot && strings.Contains(e.get("content"), want)
		})
		p.sees("the end", func(e event) bool { return e.is("turn") && e.get("kind") == "done" })
	}
	choose := func(id, name string) {
		t.Helper()
		p.post("model", map[string]any{"person": you, "name": id})
		p.sees("the page saying that "+name+" answers", func(e event) bool { return e.is("snapshot") && e.get("model") == name })
	}
	ask("rehearsal model")
	if n := answered.Load(); n != 0 {
		t.Fatalf("Ollama was asked %d times without being chosen", n)
	}
	choose("ollama:llama-test", "llama-test")
	ask("I am llama-test.")
	choose("rehearsal", "rehearsal")
	ask("rehearsal model")
	if n := answered.Load(); n != 1 {
		t.Errorf("Ollama answered %d times", n)
	}
	status, text := p.try("model", map[string]any{"person": you, "name": "nothing"})
	if status != http.StatusConflict || !strings.Contains(text, "no model") {
		t.Errorf("an unknown model: %d %s", status, text)
	}
}

// What the environment names is used from the start.
func TestPlaygroundModelOfTheEnvironment(t *testing.T) {
	t.Parallel()
	url, _ := fakeOllama(t, "first-test", "second-test")
	for name, c := range map[string]struct {
		environ []string
		ollama  string
		want    string // the models, the one in use first
		remark  string
	}{
		"nothing":              {nil, "", "rehearsal", ""},
		"named":                {[]string{"MODEL=gpt-test", "OPENAI_API_KEY=k"}, url, "env rehearsal ollama:first-test ollama:second-test", ""},
		"a server":             {[]string{"OPENAI_BASE_URL=" + url + "/v1"}, "", "env:first-test env:second-test rehearsal", ""},
		"a server of a vendor": {[]string{"GROQ_BASE_URL=" + url + "/v1", "GROQ_API_KEY=k"}, "", "env:groq:first-test env:groq:second-test rehearsal", ""},
		"another key":          {[]string{"ANTHROPIC_API_KEY=k"}, "", "env:anthropic:claude-haiku-4-5 rehearsal", ""},
		"two keys":             {[]string{"GROQ_API_KEY=k", "OPENAI_API_KEY=k"}, "", "env:openai:gpt-4.1-mini env:groq:llama-3.3-70b-versatile rehearsal", ""},
		"a key with no usual":  {[]string{"VERCEL_API_KEY=k"}, "", "rehearsal", "MODEL=vercel:NAME"},
		"a server that lies":   {[]string{"OPENAI_BASE_URL=" + url + "/nothing"}, "", "rehearsal", "lists no model"},
		"a key alone":          {[]string{"OPENAI_API_KEY=k"}, "", "env:openai:gpt-4.1-mini rehearsal", ""},
		"no Ollama there":      {nil, "http://127.0.0.1:1", "rehearsal", ""},
		"rehearsal":            {[]string{"MODEL=rehearsal", "OPENAI_API_KEY=k"}, "", "rehearsal", ""},
	} {
		cfg, err := playgroundConfig(process{environ: c.environ, stderr: &bytes.Buffer{}})
		if err != nil {
			t.Fatal(err)
		}
		got := chooseModels(t.Context(), cfg, c.ollama)
		var ids []string
		for _, m := range got.models {
			ids = append(ids, m.ID)
			if _, ok := got.setup[m.ID]; !ok {
				t.Errorf("%s: %s cannot be set up", name, m.ID)
			}
		}
		if strings.Join(ids, " ") != c.want || !strings.Contains(got.remark, c.remark) || (got.remark == "") != (c.remark == "") {
			t.Errorf("%s: %v, %q", name, ids, got.remark)
		}
	}
}

// Every entry of the fault menu does what it says, in the real bot.
func TestPlaygroundFaults(t *testing.T) {
	p := startPlayground(t)
	general, you := p.ids("general", "You")
	wire := func(what string, want func(event) bool) {
		t.Helper()
		p.sees(what, func(e event) bool { return e.is("wire") && want(e) })
	}
	said := func(text string) {
		t.Helper()
		p.sees(text, func(e event) bool {
			return e.is("message") && e.get("author") == p.bot && strings.Contains(e.get("content"), text)
		})
	}
	for _, c := range []struct {
		name string
		seen func()
	}{
		{"rate_limit", func() {
			wire("the 429", func(e event) bool { return e.body["status"] == 429.0 && e.body["fault"] == true })
			said("this is the second")
		}},
		{"gateway_drop", func() {
			wire("the cut", func(e event) bool {
				return strings.Contains(e.get("gateway"), "closed") || strings.Contains(e.get("gateway"), "cut")
			})
			wire("the bot's return", func(e event) bool {
				return strings.Contains(e.get("gateway"), "resumed") || strings.Contains(e.get("gateway"), "identified")
			})
			said("when I was back")
		}},
		{"cut_arguments", func() {
			p.sees("the refusal", func(e event) bool { return e.is("turn") && strings.Contains(e.raw, `"reason":"truncated"`) })
			said("nothing was executed")
		}},
		{"provider_error", func() {
			p.sees("the error", func(e event) bool { return e.is("turn") && e.get("kind") == "done" && e.get("error") == "overloaded" })
			said("overloaded")
		}},
		{"slow_tool", func() {
			said("slow")
			p.post("slash", map[string]any{"person": you, "channel": general, "name": "kill", "options": map[string]any{}})
			p.sees("the stop", func(e event) bool { return e.is("turn") && e.get("status") == "stopped_by_user" })
		}},
	} {
		p.post("fault", map[string]any{"person": you, "channel": general, "name": c.name})
		c.seen()
	}
	if status, _ := p.try("fault", map[string]any{"person": you, "channel": general, "name": "earthquake"}); status != http.StatusConflict {
		t.Errorf("an unknown fault: %d", status)
	}
}
