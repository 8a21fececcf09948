package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/scene"
)

// What the inspector copies of real turns is played by the scene runner against the real bot, and comes out the same.
func TestCopiedTurnsAreScenes(t *testing.T) {
	p := startPlayground(t)
	general, you := p.ids("general", "You")
	_, ada := p.ids("general", "Ada")
	random, _ := p.ids("random", "You")
	say := func(who, channel, text string) string {
		t.Helper()
		return p.post("say", map[string]any{"person": who, "channel": channel, "text": "<@" + p.bot + "> " + text})["id"].(string)
	}
	card := func(button string) {
		t.Helper()
		e := p.sees("the card", func(e event) bool {
			return e.is("message") && strings.Contains(e.get("content"), "Approval needed") && e.body["components"] != nil
		})
		who := you
		if button == "deny" {
			who = ada
		}
		answer := p.post("click", map[string]any{"person": who, "message": e.get("id"), "custom_id": p.button(e, button)})
		if modal, ok := answer["modal"].(map[string]any); ok {
			field := modal["inputs"].([]any)[0].(map[string]any)["id"].(string)
			p.post("submit", map[string]any{"person": who, "interaction": answer["interaction"], "values": map[string]string{field: "not \"today\""}})
		}
	}
	kill := func(who, channel string) {
		t.Helper()
		p.post("slash", map[string]any{"person": who, "channel": channel, "name": "kill", "options": map[string]any{}})
	}
	// running waits for an event of the turn that a message started.
	running := func(message, kind, part string) {
		t.Helper()
		started := p.sees("the turn", func(e event) bool {
			return e.is("turn") && e.get("kind") == "started" && e.get("message_id") == message
		})
		p.sees(kind, func(e event) bool {
			return e.is("turn") && e.get("kind") == kind && e.get("turn_id") == started.get("turn_id") && strings.Contains(e.raw, part)
		})
	}
	var copied []*scene.Scene
	var texts []string
	for _, c := range []struct {
		name string
		play func()
		want []string // parts of the scene
	}{
		{"plain", func() { say(you, general, "say hello to \"you\"; say and `more`") }, []string{"model says", "expect turn completed"}},
		{"tool call", func() { say(you, random, `say Let me look.; call read_notes {}; then; say none`) }, []string{"channel #random", "expect tool read_notes done"}},
		{"memory", func() { say(you, general, "remember that I like tea") }, []string{"calls create_long_term_memory {"}},
		{"what depends on it", func() { say(you, general, "forget that") }, []string{"calls create_long_term_memory {", "expect tool update_long_term_memory done"}},
		{"denied", func() { say(you, general, `call risky_note {"text":"a note"}; then; say never`); card("deny") }, []string{"Ada clicks Deny", "expect turn denied"}},
		{"denied with a reason", func() { say(you, general, `call risky_note {"text":"b"}; then; say fine`); card("reason") }, []string{"You submits `not \"today\"`"}},
		{"approved", func() { say(you, general, `call risky_note {"text":"c"}; then; say written`); card("approve") }, []string{"You clicks Approve", "expect tool risky_note done"}},
		{"killed in the answer", func() {
			message := say(you, general, "slow 60ms; say one two three four five six seven eight nine ten eleven twelve thirteen")
			running(message, "delta", "")
			kill(ada, general)
		}, []string{"Ada uses /kill", "pauses", "expect turn stopped_by_user"}},
		{"killed in a tool", func() {
			message := say(you, general, `call slow_task {"seconds":60}; call read_notes {}`)
			running(message, "tool_call", "slow_task")
			kill(you, general)
		}, []string{"expect tool slow_task running", "You uses /kill", "because stopped"}},
		{"killed at once", func() { running(say(you, general, "stall"), "attempt", ""); kill(you, general) }, []string{"You uses /kill"}},
		{"stopped by a word", func() {
			running(say(you, general, "say One moment; stall"), "delta", "")
			p.post("say", map[string]any{"person": you, "channel": general, "text": "stop"})
		}, []string{`You says "stop"`}},
		{"cut arguments", func() {
			say(you, general, `cut create_long_term_memory {"memory_content":"tea","memory_scope":"target_user"} at 20; then; say again?`)
		}, []string{"ends by length", "because truncated"}},
		{"provider error", func() { say(you, general, "fail 401 no") }, []string{"model fails with 401", "expect turn error"}},
		{"unknown tool", func() { say(you, general, "call fly {}; then; say no wings") }, []string{"expect tool fly failed because rejected"}},
		{"malformed", func() { say(you, general, `broken recall_memory {"query" tea}; then; say sorry`) }, []string{"because malformed"}},
		{"private", func() {
			_, me := p.ids("general", "You")
			p.post("say", map[string]any{"person": me, "channel": p.direct(), "text": "say between us"})
		}, []string{" in DM"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outer := p.t
			p.t = t
			defer func() { p.t = outer }()
			c.play()
			done := p.sees("the end of the turn", func(e event) bool { return e.is("turn") && e.get("kind") == "done" })
			text := p.scene(done.get("turn_id"))
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the scene has no %s:\n%s", want, text)
				}
			}
			sc, err := scene.Parse(c.name+".scene", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			copied, texts = append(copied, sc), append(texts, text)
		})
	}
	scene.RunAll(t.Context(), copied, scene.Options{Booter: app.SceneBooter()}, func(r scene.Result) {
		text := texts[0]
		texts = texts[1:]
		if r.Err != nil {
			t.Errorf("%v\n%s\n%s", r.Err, text, r.Transcript)
		}
	})
}

// scene copies a turn.
func (p *played) scene(turn string) string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+"api/scene?turn="+url.QueryEscape(turn), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Text, Error string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Text == "" {
		p.t.Fatalf("copying a turn: %s %+v %v", resp.Status, answer, err)
	}
	return answer.Text
}

// button is the custom id of one of a card's buttons.
func (p *played) button(card event, action string) string {
	p.t.Helper()
	for _, row := range card.body["components"].([]any) {
		for _, b := range row.(map[string]any)["components"].([]any) {
			b := b.(map[string]any)
			if label := strings.ToLower(b["label"].(string)); label == action || action == "reason" && strings.Contains(label, action) {
				return b["custom_id"].(string)
			}
		}
	}
	p.t.Fatalf("no button %s in %s", action, card.raw)
	return ""
}

// direct is the private chat of the page's person.
func (p *played) direct() string {
	p.t.Helper()
	for _, c := range p.first.body["channels"].([]any) {
		if c := c.(map[string]any); c["kind"] == "dm" {
			return c["id"].(string)
		}
	}
	p.t.Fatal("there is no private chat")
	return ""
}
