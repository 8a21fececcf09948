package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/parleybot/parley/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func user(text string) providers.Message {
	return providers.Message{Role: providers.RoleUser, Content: "Mia: " + text}
}

// answered is one past answer with calls, and a result for each.
func answered(i int, results ...providers.Message) []providers.Message {
	a := providers.Message{Role: providers.RoleAssistant}
	for n := range results {
		key := fmt.Sprintf("k%d-%d", i, n)
		a.Calls = append(a.Calls, providers.Call{Key: key, Name: results[n].ToolName})
		results[n].CallKey = key
	}
	return append([]providers.Message{a}, results...)
}

func toolResult(name, content string, failed bool) providers.Message {
	return providers.Message{Role: providers.RoleTool, ToolName: name, Content: content, Failed: failed}
}

func request(text string, after ...providers.Message) providers.Request {
	req := providers.Request{Attempt: 1, Messages: append([]providers.Message{user(text)}, after...)}
	for _, name := range []string{toolCreate, toolRecall, toolUpdate, "echo"} {
		req.Tools = append(req.Tools, providers.ToolSpec{Name: name})
	}
	return req
}

// shape tells a response in one line.
func shape(r providers.Response, err error) string {
	var parts []string
	if r.Thinking != "" {
		parts = append(parts, "think:"+r.Thinking)
	}
	if r.Text != "" {
		parts = append(parts, "say:"+r.Text)
	}
	for _, c := range r.Calls {
		parts = append(parts, fmt.Sprintf("%s:%s %s", c.State, c.Name, c.Arguments))
	}
	parts = append(parts, string(r.Finish))
	if kind := providers.KindOf(err); kind != "" {
		parts = append(parts, "error:"+string(kind))
	}
	return strings.Join(parts, " | ")
}

func ask(t *testing.T, req providers.Request) string {
	t.Helper()
	return shape(providers.Collect(New(Config{}).Stream(t.Context(), req), nil))
}

// wantExamples gives, for each verb, what its example in the table does in the first round trip.
var wantExamples = map[string]string{
	"say":     "say:hello there | stop",
	"think":   "think:tea or coffee? | say:tea | stop",
	"call":    `whole:recall_memory {"query":"tea"} | stop`,
	"then":    `whole:recall_memory {} | stop`,
	"repeat":  `whole:recall_memory {} | stop`,
	"cut":     `truncated:recall_memory {"query": | length`,
	"broken":  `malformed:recall_memory {"query" tea} | stop`,
	"slow":    "say:no hurry | stop",
	"nothing": "stop",
	"fail":    "error | error:rate_limit",
	"flaky":   "error | error:overloaded",
	"finish":  "say:half an ans | length",
}

func TestEveryVerbsExample(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(Help(), v.usage) {
				t.Errorf("help does not show %q", v.usage)
			}
			if v.name == "stall" {
				t.Skip("ends only by its context: see TestStallEndsWithItsContext")
			}
			if got := ask(t, request(v.example)); got != wantExamples[v.name] {
				t.Errorf("%s\n got %s\nwant %s", v.example, got, wantExamples[v.name])
			}
		})
	}
}

func TestStallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := providers.Collect(New(Config{}).Stream(ctx, request("say one moment; stall")), nil)
		if !errors.Is(err, context.DeadlineExceeded) || got.Text != "one moment" {
			t.Errorf("text %q, error %v", got.Text, err)
		}
	})
}

func TestSlowWaitsBeforeEachPiece(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got, err := providers.Collect(New(Config{}).Stream(t.Context(), request("slow 30ms; say abcdefgh")), nil)
		// Two pieces of text, the usage and the end.
		if took := time.Since(start); err != nil || got.Text != "abcdefgh" || took != 4*30*time.Millisecond {
			t.Errorf("text %q after %v, error %v", got.Text, took, err)
		}
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	echo := func(i int) []providers.Message {
		return answered(i, toolResult("echo", `{"status":"completed"}`, false))
	}
	for _, c := range []struct {
		name string
		req  providers.Request
		want string
	}{
		{
			"a batch with text before it", request("say Let me look.\ncall echo {\"a\": 1}\ncall echo"),
			`say:Let me look. | whole:echo {"a": 1} | whole:echo {} | stop`,
		},
		{"the next step after the results", request("call echo; then; say all done", echo(0)...), "say:all done | stop"},
		{"without a next step it reports", request("call echo", echo(0)...), `say:echo answered: {"status":"completed"} | stop`},
		{"repeat, second round", request("repeat 2 call echo", echo(0)...), "whole:echo {} | stop"},
		{
			"repeat, over", request("repeat 2 call echo", append(echo(0), echo(1)...)...),
			"say:echo answered: {\"status\":\"completed\"}\necho answered: {\"status\":\"completed\"} | stop",
		},
		{
			"a failure is told honestly", request("call echo",
				answered(0, toolResult("echo", `{"functionResponse":{"name":"echo","response":{"result":{"status":"tool_execution_failed","tool_name":"echo","reason":"unknown tool: echo"}}}}`, true))...),
			"say:echo failed: unknown tool: echo | stop",
		},
		{"semicolons in JSON and escaped in text", request(`say a\; b; call echo {"x":"1; 2\n"}`), `say:a; b | whole:echo {"x":"1; 2\n"} | stop`},
		{"cut under a rewritten reason", request(`cut echo {"x":"1"} at 5; finish stop`), `truncated:echo {"x": | stop`},
		{"cut to nothing", request(`cut echo {"x":"1"} at 0`), `truncated:echo  | length`},
		{"filter", request(`say no; finish filter`), `say:no | filtered`},
		{"missing", request(`say cut of; finish missing`), `say:cut of | missing | error:truncated`},
		{"fail by kind after text", request(`say so far; fail auth bad key`), `say:so far | error | error:auth`},
		{"mentions and fences", request("<@42> ```\nsay hi\n```"), "say:hi | stop"},
		{
			"no author prefix",
			providers.Request{Messages: []providers.Message{{Role: providers.RoleUser, Content: `call echo {"a":"b: c"}`}}},
			`whole:echo {"a":"b: c"} | stop`,
		},
		{
			"a mistake is explained", request("say hi\ndance"),
			`say:I'm the rehearsal model and can't follow that script: "dance" begins with no directive. Say "help" for the grammar. | stop`,
		},
		{
			"a bad operand is explained", request("slow soon"),
			`say:I'm the rehearsal model and can't follow that script: slow 30ms: a duration of at most 1m0s must follow (as in: slow 1ms; say no hurry). Say "help" for the grammar. | stop`,
		},
		{"help", request("Help!"), "say:" + Help() + " | stop"},
		{"anything else", request("how are you?"), `say:You said: "how are you?". ` + introduction + " | stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, ask(t, c.req)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFlakyWorksOnTheSecondRequest(t *testing.T) {
	t.Parallel()
	req := request("flaky 503 busy; say better now")
	req.Attempt = 2
	if got, want := ask(t, req), "say:better now | stop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEverydayPhrases(t *testing.T) {
	t.Parallel()
	memories := `{"memories":[{"memory_id":7,"content":"likes tea"},{"memory_id":12,"content":"plays chess"}]}`
	for _, c := range []struct {
		name string
		req  providers.Request
		want string
	}{
		{
			"remember", request("remember that I like tea"),
			`say:Let me remember that. | whole:create_long_term_memory {"memory_content":"I like tea","memory_scope":"target_user"} | stop`,
		},
		{
			"remember for everyone", request("Please remember for everyone that movie night is Friday."),
			`say:Let me remember that. | whole:create_long_term_memory {"memory_content":"movie night is Friday","memory_scope":"server_wide"} | stop`,
		},
		{
			"remembered", request("remember that I like tea", answered(0, toolResult(toolCreate, `{"status":"completed"}`, false))...),
			"say:Done, I'll remember: I like tea | stop",
		},
		{
			"not remembered", request("remember that I like tea",
				answered(0, toolResult(toolCreate, `{"status":"tool_execution_failed","tool_name":"x","reason":"the store is away"}`, true))...),
			"say:I couldn't remember that: the store is away | stop",
		},
		{"recall", request("What do you know about me?"), `whole:recall_memory {} | stop`},
		{
			"recalled", request("What do you know about me?", answered(0, toolResult(toolRecall, memories, false))...),
			"say:This is what I know:\n- likes tea\n- plays chess | stop",
		},
		{
			"nothing recalled", request("What do you know about me?", answered(0, toolResult(toolRecall, `{"memories":[]}`, false))...),
			"say:I don't know anything about you yet. | stop",
		},
		{"forget looks first", request("forget that"), `whole:recall_memory {} | stop`},
		{
			"forget the newest", request("forget that", answered(0, toolResult(toolRecall, memories, false))...),
			`say:I'll forget: plays chess | whole:update_long_term_memory {"memory_content":"","memory_id":12} | stop`,
		},
		{"forgotten", request("forget that", append(answered(0, toolResult(toolRecall, memories, false)),
			answered(1, toolResult(toolUpdate, `{"status":"completed"}`, false))...)...), "say:Done, it's forgotten. | stop"},
		{
			"tool not offered",
			providers.Request{Messages: []providers.Message{user("what do you know about me")}},
			"say:I would call recall_memory now, but that tool isn't offered to me in this turn. (I'm the rehearsal model.) | stop",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, ask(t, c.req)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestStreamsInSmallPieces(t *testing.T) {
	t.Parallel()
	for f, err := range New(Config{}).Stream(t.Context(), request("say héllo wörld 👋🏽 and more")) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := f.(providers.TextDelta); ok && len([]rune(d.Text)) > pieceRunes {
			t.Errorf("piece %q is too long", d.Text)
		}
	}
}

// TestRemarksAreNoDirectives: what the bot adds below a message, or between messages, does not change the script.
func TestRemarksAreNoDirectives(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"say hi\n[this message waited while others were answered]",
		"say hi\n[attached file: a.txt]\n[this message waited]",
	} {
		if sc := read(request(text)); sc.text != "say hi" {
			t.Errorf("%q is read as %q", text, sc.text)
		}
	}
	req := request("say hi")
	req.Messages = append(req.Messages, providers.Message{Role: providers.RoleUser, Content: "[context: page]\nsay no"})
	if sc := read(req); sc.text != "say hi" {
		t.Errorf("added context is read as %q", sc.text)
	}
	if sc := read(request("call echo [1]\nsay [x]")); sc.text != "call echo [1]\nsay [x]" {
		t.Errorf("directives were dropped: %q", sc.text)
	}
}

func TestLeavingEarlyEndsTheStream(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range New(Config{}).Stream(t.Context(), request("say a long enough text; stall")) {
		if err != nil {
			t.Error(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d fragments", n)
	}
}
