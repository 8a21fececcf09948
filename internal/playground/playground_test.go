package playground

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

func TestSayIsSeen(t *testing.T) {
	t.Parallel()
	b := open(t, Config{Models: []Model{{ID: "m", Name: "a model", Offline: true}}})
	you, general := b.person("You"), b.channel("general")
	next := b.stream(you.ID, "")
	s := decode[snapshot](t, until(next, "snapshot"))
	if s.Me != you.ID || s.Model != "a model" || len(s.People) != 3 || len(s.Channels) != 4 {
		t.Errorf("snapshot: me %s, model %q, %d people, %d channels", s.Me, s.Model, len(s.People), len(s.Channels))
	}
	said := b.act("say", map[string]any{"person": you.ID, "channel": general, "text": "hello <b>there</b>"})
	m := decode[message](t, until(next, noteMessage))
	want := message{ID: discordsim.ID(said["id"].(string)), Channel: general, Author: you.ID, Content: "hello <b>there</b>", Created: m.Created}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}

	b.act("edit", map[string]any{"person": you.ID, "message": m.ID, "text": "hello again"})
	if got := decode[message](t, until(next, noteMessage)); got.Content != "hello again" || !got.Edited {
		t.Errorf("after the edit: %+v", got)
	}
	b.act("react", map[string]any{"person": you.ID, "message": m.ID, "emoji": "👍"})
	if got := decode[message](t, until(next, noteMessage)); len(got.Reactions) != 1 || got.Reactions[0].Emoji != "👍" {
		t.Errorf("after the reaction: %+v", got)
	}
	b.act("say", map[string]any{"person": b.person("Bert").ID, "channel": general, "text": "yes?", "reply_to": m.ID})
	got := decode[message](t, until(next, noteMessage))
	if diff := cmp.Diff(&reference{ID: m.ID, Author: you.ID, Content: "hello again"}, got.ReplyTo); diff != "" {
		t.Errorf("the reply's reference (-want +got):\n%s", diff)
	}
	b.act("delete", map[string]any{"person": you.ID, "message": m.ID})
	if e := until(next, noteDelete); !strings.Contains(e.data, string(m.ID)) {
		t.Errorf("the deletion tells of %s", e.data)
	}
	b.act("type", map[string]any{"person": b.person("Ada").ID, "channel": general})
	if e := until(next, noteTyping); !strings.Contains(e.data, string(b.person("Ada").ID)) {
		t.Errorf("typing tells of %s", e.data)
	}
}

func TestPrivateChatsAreSeenByTheirPersonOnly(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, ada := b.person("You"), b.person("Ada")
	next := b.stream(ada.ID, "")
	s := decode[snapshot](t, until(next, "snapshot"))
	for _, c := range s.Channels {
		if c.ID == you.dm {
			t.Error("Ada's snapshot has Your private chat")
		}
	}
	b.act("say", map[string]any{"person": you.ID, "channel": you.dm, "text": "a secret"})
	b.act("say", map[string]any{"person": you.ID, "channel": b.channel("general"), "text": "no secret"})
	if m := decode[message](t, until(next, noteMessage)); m.Content != "no secret" {
		t.Errorf("Ada saw %q", m.Content)
	}
	if status, _, _ := b.do(http.MethodPost, "/api/say", map[string]any{"person": ada.ID, "channel": you.dm, "text": "me too"}); status != http.StatusForbidden {
		t.Errorf("Ada writing into Your private chat was answered with %d", status)
	}
	_, _, text := b.do(http.MethodGet, "/api/history?person="+string(ada.ID)+"&channel="+string(you.dm), nil)
	if h := decode[history](t, sse{data: text}); len(h.Messages) != 0 {
		t.Errorf("Ada read Your private chat: %s", text)
	}
}

func TestStreamGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, general := b.person("You"), b.channel("general")
	next := b.stream(you.ID, "")
	until(next, "snapshot")
	say := func(text string) {
		b.act("say", map[string]any{"person": you.ID, "channel": general, "text": text})
	}
	say("one")
	seen := until(next, noteMessage)
	say("two")
	until(next, noteMessage)

	again := b.stream(you.ID, seen.id)
	if e := again(); e.name != string(noteMessage) || decode[message](t, e).Content != "two" {
		t.Errorf("after a reconnection came %s %s", e.name, e.data)
	}
	for name, id := range map[string]string{"another process": "other-3", "nonsense": "what", "ahead": b.p.feed.id(1 << 40)} {
		if e := b.stream(you.ID, id)(); e.name != "snapshot" {
			t.Errorf("%s: came %s", name, e.name)
		}
	}
	// So much happens that what the page knew last is no longer kept.
	for range 3 * notesKept {
		b.p.feed.Observe(turn.Event{Kind: turn.EventDelta, TurnID: "t1", Text: "x"})
	}
	e := b.stream(you.ID, seen.id)()
	if e.name != "snapshot" {
		t.Fatalf("a page too far behind got %s", e.name)
	}
	s := decode[snapshot](t, e)
	if len(s.Turns) != 1 || len(s.Turns[0].Events) != 1 || len(s.Turns[0].Events[0].Text) != 3*notesKept {
		t.Errorf("the snapshot's turn: %d turns", len(s.Turns))
	}
}

func TestTurnEventsReachThePage(t *testing.T) {
	t.Parallel()
	var observer turn.Observer
	b := open(t, Config{Boot: func(_ context.Context, s Setup) (Bot, error) {
		observer = s.Observer
		return newIdleBot(), nil
	}})
	next := b.stream(b.person("You").ID, "")
	until(next, "snapshot")
	want := turn.Event{
		Kind: turn.EventToolResult, TurnID: "t", ChannelID: "1", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Call: &turn.CallInfo{Key: "k", Tool: "slow", Status: "done", Result: "{}", Duration: time.Second},
	}
	observer.Observe(want)
	if diff := cmp.Diff(want, decode[turn.Event](t, until(next, noteTurn))); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestFilesAreHarmless(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, general := b.person("You"), b.channel("general")
	next := b.stream(you.ID, "")
	gif := []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;")
	b.act("say", map[string]any{"person": you.ID, "channel": general, "files": []map[string]any{
		{"name": "page.html", "data": []byte("<script>alert(1)</script>")}, {"name": "dot.gif", "data": gif},
	}})
	m := decode[message](t, until(next, noteMessage))
	if len(m.Attachments) != 2 {
		t.Fatalf("%d attachments", len(m.Attachments))
	}
	status, header, text := b.do(http.MethodGet, m.Attachments[0].URL, nil)
	if status != http.StatusOK || text != "<script>alert(1)</script>" || header.Get("Content-Type") != "application/octet-stream" ||
		header.Get("Content-Disposition") != `attachment; filename="page.html"` || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the HTML file: %d %v", status, header)
	}
	status, header, text = b.do(http.MethodGet, m.Attachments[1].URL, nil)
	if status != http.StatusOK || text != string(gif) || header.Get("Content-Type") != "image/gif" {
		t.Errorf("the picture: %d %v", status, header)
	}
	if status, _, _ := b.do(http.MethodGet, "/files/1/2/x", nil); status != http.StatusNotFound {
		t.Errorf("a file that is not there: %d", status)
	}
}

func TestRefusedActions(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, general := b.person("You"), b.channel("general")
	cases := map[string]struct {
		action string
		body   any
		status int
		text   string
	}{
		"nobody":          {"say", map[string]any{"person": "1", "channel": general, "text": "x"}, http.StatusBadRequest, "nobody"},
		"unknown field":   {"say", map[string]any{"person": you.ID, "chanel": general}, http.StatusBadRequest, "chanel"},
		"not an object":   {"say", []int{1}, http.StatusBadRequest, "array"},
		"unknown action":  {"fly", map[string]any{"person": you.ID}, http.StatusNotFound, ""},
		"unknown channel": {"say", map[string]any{"person": you.ID, "channel": "1", "text": "x"}, http.StatusNotFound, `"Unknown Channel","code":10003`},
		"empty":           {"say", map[string]any{"person": you.ID, "channel": general}, http.StatusBadRequest, `"Cannot send an empty message","code":50006`},
		"long": {
			"say",
			map[string]any{"person": you.ID, "channel": general, "text": strings.Repeat("x", 2001)},
			http.StatusBadRequest,
			`"code":50035,"problems":[{"path":"content","code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]`,
		},
		"large file": {
			"say",
			map[string]any{"person": you.ID, "channel": general, "files": []map[string]any{{"name": "f", "data": make([]byte, 10<<20+1)}}},
			http.StatusRequestEntityTooLarge, `"Request entity too large","code":40005`,
		},
		"large request": {
			"say",
			map[string]any{"person": you.ID, "channel": general, "text": strings.Repeat("x", maxBody)},
			http.StatusRequestEntityTooLarge, `"Request entity too large","code":40005`,
		},
		"unknown command": {"slash", map[string]any{"person": you.ID, "channel": general, "name": "fly"}, http.StatusConflict, "no such command"},
		"closed form":     {"submit", map[string]any{"person": you.ID, "interaction": "1"}, http.StatusConflict, "no longer open"},
	}
	for name, c := range cases {
		status, _, text := b.do(http.MethodPost, "/api/"+c.action, c.body)
		if status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestTakenPortTakesTheNext(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	// A pair of ports in a row, the lower one taken.
	var first net.Listener
	var p *Playground
	for range 20 {
		ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if ln.Addr().(*net.TCPAddr).Port < 65000 {
			if p, err = Open(Config{Addr: ln.Addr().String(), Models: []Model{{ID: "m"}}}); err == nil {
				first = ln
				break
			}
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p == nil {
		t.Fatal("no free port was found beside a taken one")
	}
	t.Cleanup(func() {
		p.Close()
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	})
	if p.Taken() != first.Addr().String() {
		t.Errorf("taken is %q, want %q", p.Taken(), first.Addr())
	}
	if got := p.ln.Addr().(*net.TCPAddr).Port; got <= first.Addr().(*net.TCPAddr).Port {
		t.Errorf("port %d is not after the taken one", got)
	}
}

func TestOnlyLoopback(t *testing.T) {
	t.Parallel()
	for addr, host := range map[string]string{
		"127.0.0.1:80": "127.0.0.1", "localhost:80": "127.0.0.1", ":80": "127.0.0.1", "[::1]:80": "::1", "127.8.8.8:80": "127.8.8.8",
		"0.0.0.0:80": "", "192.168.0.1:80": "", "example.com:80": "", "127.0.0.1": "", "127.0.0.1:http": "", "127.0.0.1:70000": "",
	} {
		got, _, err := loopback(addr)
		if got != host || (err == nil) != (host != "") {
			t.Errorf("%s: %q, %v", addr, got, err)
		}
	}
}

func TestBotThatDoesNotStart(t *testing.T) {
	t.Parallel()
	broken := errors.New("no store")
	p, err := Open(Config{Addr: "127.0.0.1:0", Models: []Model{{ID: "m"}}, Boot: func(context.Context, Setup) (Bot, error) { return nil, broken }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), func() { t.Error("it says it is ready") }); !errors.Is(err, broken) {
		t.Errorf("Run answered %v", err)
	}
}

// fallenBot ends before it is ready.
type fallenBot struct{ err error }

func (fallenBot) Ready() <-chan struct{}          { return nil }
func (b fallenBot) Run(ctx context.Context) error { return b.err }

func TestBotThatEndsByItself(t *testing.T) {
	t.Parallel()
	broken := errors.New("token refused")
	for _, want := range []error{broken, nil} {
		p, err := Open(Config{Addr: "127.0.0.1:0", Models: []Model{{ID: "m"}}, Boot: func(context.Context, Setup) (Bot, error) { return fallenBot{want}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), func() { t.Error("it says it is ready") }); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Run answered %v", err)
		}
	}
}

// goleak, after all tests, finds what an end with open pages would leave behind; here it must also be quick.
func TestEndsWithOpenPages(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	for range 3 {
		until(b.stream(b.person("You").ID, ""), "snapshot")
	}
	started := time.Now()
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 2*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

func TestTownIsTheSameInEachRun(t *testing.T) {
	t.Parallel()
	build := func(start time.Time) *town {
		tw, err := buildTown(func() time.Time { return start })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tw.sim.Close)
		return tw
	}
	now := time.Now()
	one, two := build(now), build(now.Add(time.Minute))
	if one.guild != two.guild || one.people[0].ID != two.people[0].ID || one.people[2].dm != two.people[2].dm {
		t.Error("the guild, people or private chats have other ids in the next run")
	}
	if one.world().Bot() == two.world().Bot() {
		t.Error("the bot has the same id in the next run, so it would not register its commands")
	}
	id, err := one.people[0].Say(one.people[0].dm, "now")
	if err != nil {
		t.Fatal(err)
	}
	if got := id.Time().Sub(now); got < -time.Second || got > time.Second {
		t.Errorf("a message said now is dated %s from now", got)
	}
}

// Nothing of the page may come from somewhere else, and everything it names must be embedded.
func TestPageIsWhole(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?:from|import) "\./([^"]+)"|(?:src|href)="([^"]+)"`)
	files := 0
	err := fs.WalkDir(web, "web", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := fs.ReadFile(web, file)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if _, err := fs.Stat(web, path.Join("web", m[1]+m[2])); err != nil {
				t.Errorf("%s names %s, which is not embedded", file, m[1]+m[2])
			}
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<style", " style=\"", "@import", "url("} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s uses %s", file, bad)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, %v", files, err)
	}
}
