package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
	"github.com/parleybot/parley/providers/internal/rows"
)

// TestTheSampleConversation compares the bytes that arrive at a server with a file per vendor.
func TestTheSampleConversation(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD124", "CD125", "CD130")
	for _, c := range []struct {
		golden, vendor, from string
		sees                 bool
		raw                  string
		// first keeps only the first messages: the exchange is then still going on, and reasoning goes back.
		first int
	}{
		{"request_openai", "openai", "openai", true, `{"reasoning_content":"never sent"}`, 0},
		{"request_openrouter", "openrouter", "openrouter", true, `{"reasoning_details":[{"type":"reasoning.text","text":"Two results are wanted.","signature":"S"}]}`, 0},
		{"request_openrouter_midway", "openrouter", "openrouter", true, `{"reasoning_details":[{"type":"reasoning.text","text":"Two results are wanted.","signature":"S"}]}`, 4},
		{"request_deepseek_midway", "deepseek", "deepseek", true, `{"reasoning_content":"Two results are wanted."}`, 4},
		{"request_from_elsewhere_midway", "openrouter", "anthropic", true, `{"type":"thinking","thinking":"never sent","signature":"S"}`, 4},
		{"request_deepseek", "deepseek", "deepseek", true, `{"reasoning_content":"Two results are wanted."}`, 0},
		{"request_mistral", "mistral", "mistral", false, `{"reasoning_content":"never sent"}`, 0},
		{"request_llamacpp", "llamacpp", "llamacpp", false, `{}`, 0},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			var arrived []byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				arrived = body
				streamOf(fine)(w, r)
			}))
			t.Cleanup(server.Close)
			p, err := New(Config{Vendor: c.vendor, BaseURL: server.URL, APIKey: testKey, Sees: func(string) bool { return c.sees }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			req := corpus.Conversation(providers.ThinkingBlock{Provider: c.from, Model: "m-1", Raw: json.RawMessage(c.raw)})
			if c.first > 0 {
				req.Messages = req.Messages[:c.first]
			}
			warm := 1.8
			req.Model, req.Temperature, req.Thinking = "m-1", &warm, providers.ThinkingMedium
			if got := show(providers.Collect(p.Stream(t.Context(), req), nil)); got != "say:hi | stop" {
				t.Fatal(got)
			}
			corpus.Golden(t, c.golden, arrived)
		})
	}
}
