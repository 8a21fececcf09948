package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/turn"
)

// vendor is a model service on loopback: it keeps what it is asked and plays its answers in order, the last one again
// and again.
type vendor struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string
	keys    []string
	answers []string
}

// refusal is an answer that refuses the key.
const refusal = ""

func newVendor(t *testing.T, path string, answers ...string) *vendor {
	t.Helper()
	v := &vendor{answers: answers}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v.mu.Lock()
		v.asked = append(v.asked, string(body))
		v.keys = append(v.keys, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
		answer := v.answers[0]
		if len(v.answers) > 1 {
			v.answers = v.answers[1:]
		}
		v.mu.Unlock()
		if answer == refusal {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"bad key sk-of-the-operator","type":"authentication_error"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	})
	v.Server = httptest.NewServer(mux)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.asked...)
}

func openaiCalls(tool, arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return fmt.Sprintf(`data: {"id":"x","model":"gpt-4o-2024-08-06","choices":[{"index":0,"delta":{"role":"assistant","content":"Let me see. ","tool_calls":[{"index":0,"id":"call_Ab.1","type":"function","function":{"name":%q,"arguments":%s}}]}}]}

data: {"id":"x","model":"gpt-4o-2024-08-06","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"x","model":"gpt-4o-2024-08-06","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":800}}}

data: [DONE]

`, tool, quoted)
}

func anthropicSays(text string) string {
	quoted, _ := json.Marshal(text)
	return `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001","content":[],"usage":{"input_tokens":200,"cache_read_input_tokens":800,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(quoted) + `}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":50}}

event: message_stop
data: {"type":"message_stop"}

`
}

// A turn that one vendor began is ended by another: its text, call and result go along, the model between them is a server
// that is dead, and what each cost is told. The next turn tells the new vendor of the old one's call.
func TestAnotherVendorGoesOn(t *testing.T) {
	t.Parallel()
	first := newVendor(t, "/v1/chat/completions", openaiCalls("recall_memory", `{"query":"tea"}`), refusal)
	last := newVendor(t, "/v1/messages", anthropicSays("You like tea, I think."), anthropicSays("As I said: tea."))
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	h := newHome(t)
	a := h.open(
		t, "DATA_DIR="+t.TempDir(), "MODEL=openai:gpt-4o", "FALLBACK_MODELS=groq:llama-3.3-70b-versatile, anthropic:claude-haiku-4-5",
		"OPENAI_BASE_URL="+first.URL, "OPENAI_API_KEY=sk-of-the-operator", "GROQ_BASE_URL="+dead.URL, "GROQ_API_KEY=g",
		"ANTHROPIC_BASE_URL="+last.URL, "ANTHROPIC_API_KEY=sk-ant-of-the-operator", "MODEL_TEMPERATURE=0.5", "MODEL_MAX_OUTPUT_TOKENS=2000",
	)
	run(t, a)
	h.ask(t, "what do I like?")
	h.must(t, "You like tea, I think.")
	app.Idle(t, a)
	h.ask(t, "are you sure?")
	h.must(t, "As I said: tea.")
	app.Idle(t, a)
	if n := len(first.requests()); n != 3 {
		t.Errorf("the first vendor was asked %d times, want 3: its call, its refusal, its refusal in the next turn", n)
	}
	for i, body := range last.requests() {
		var req struct {
			Model       string
			System      json.RawMessage
			Temperature float64
			MaxTokens   int `json:"max_tokens"`
			Messages    []struct {
				Role    string
				Content []struct {
					Type, Text, Name, ID string
					ToolUseID            string `json:"tool_use_id"`
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatalf("request %d: %v in %s", i, err, body)
		}
		if req.Model != "claude-haiku-4-5" || req.MaxTokens != 2000 || req.Temperature != 0.5 || !strings.Contains(string(req.System), "You are Parley") {
			t.Errorf("request %d: %s, %d tokens at %v", i, req.Model, req.MaxTokens, req.Temperature)
		}
		var order []string
		ids := map[string]bool{}
		for _, m := range req.Messages {
			for _, c := range m.Content {
				switch c.Type {
				case "tool_use":
					ids[c.ID] = true
					order = append(order, m.Role+" uses "+c.Name)
				case "tool_result":
					if !ids[c.ToolUseID] {
						t.Errorf("request %d: a result of a call that is not there", i)
					}
					order = append(order, m.Role+" result")
				default:
					if !strings.HasPrefix(c.Text, "[it is ") { // what the bot remarks about the time
						order = append(order, m.Role+" "+c.Type)
					}
				}
			}
		}
		want := "user text, assistant text, assistant uses recall_memory, user result"
		if i == 1 {
			want += ", assistant text, user text"
		}
		if got := strings.Join(order, ", "); got != want {
			t.Errorf("request %d is %s, want %s", i, got, want)
		}
	}
	if said := strings.Join(h.said(), "\n"); strings.Contains(said, "sk-") {
		t.Errorf("a key was shown: %s", said)
	}
	place := turn.Place{GuildID: string(h.guild), ChannelID: string(h.channel), Actor: turn.Actor{ID: string(h.ada.ID)}}
	rep, err := app.Manager(a).Cost(t.Context(), place, turn.CostHereToday)
	if err != nil {
		t.Fatal(err)
	}
	// 200 fresh, 800 cached, 100 out at 2.50, 1.25 and 10 dollars a million; 200, 800 and 50 at 1, 0.10 and 5, twice. What a
	// refusal cost is nothing.
	const began, ended = 200*2500 + 800*1250 + 100*10000, 200*1000 + 800*100 + 50*5000
	costs := map[string]int64{}
	for _, m := range rep.Models {
		costs[m.Model] = m.Usage.CostNanos
	}
	if costs["openai:gpt-4o"] != began || costs["anthropic:claude-haiku-4-5"] != 2*ended || len(costs) != 2 || rep.Usage.Unpriced {
		t.Errorf("costs are %v, unpriced %t, want %d and %d", costs, rep.Usage.Unpriced, began, 2*ended)
	}
	m, err := app.Manager(a).Model(t.Context(), place)
	if err != nil || m.Current != "openai:gpt-4o" || strings.Join(m.Choices, " ") != "openai:gpt-4o groq:llama-3.3-70b-versatile anthropic:claude-haiku-4-5" {
		t.Errorf("models: %+v, %v", m, err)
	}
}
