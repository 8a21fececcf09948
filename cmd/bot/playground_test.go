package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/config"
)

// The playground with the real bot, as its page uses it: an answer, a private answer to a command, a form, an end. Tests
// that start one are not parallel: discordgo's logger is one for the whole process.
func TestPlayground(t *testing.T) {
	p := startPlayground(t)
	general, you := p.ids("general", "You")

	p.post("say", map[string]any{"person": you, "channel": general, "text": "<@" + p.bot + "> remember that I like tea"})
	p.sees("I'll remember", func(e event) bool {
		return e.is("message") && e.get("author") == p.bot && strings.Contains(e.get("content"), "I'll remember: I like tea")
	})
	p.sees("the end of the turn", func(e event) bool { return e.is("turn") && e.get("kind") == "done" && e.get("status") == "completed" })

	p.post("slash", map[string]any{"person": you, "channel": general, "name": "status", "options": map[string]any{}})
	p.sees("the private status", func(e event) bool {
		return e.is("message") && e.body["ephemeral"] == true && strings.Contains(e.get("content"), "Idle")
	})

	p.post("say", map[string]any{"person": you, "channel": general, "text": "<@" + p.bot + `> call risky_note {"text":"hi"}; then; say as you wish`})
	card := p.sees("the card", func(e event) bool {
		return e.is("message") && strings.Contains(e.get("content"), "Approval needed") && e.body["components"] != nil
	})
	custom := regexp.MustCompile(`"custom_id":"([^"]+)"`).FindAllStringSubmatch(card.raw, -1)
	if len(custom) != 3 {
		t.Fatalf("the card has %d buttons: %s", len(custom), card.raw)
	}
	form := p.post("click", map[string]any{"person": you, "message": card.get("id"), "custom_id": custom[2][1]})
	modal, _ := form["modal"].(map[string]any)
	inputs, _ := modal["inputs"].([]any)
	if len(inputs) != 1 {
		t.Fatalf("denying with a reason opened %v", form)
	}
	field := fmt.Sprint(inputs[0].(map[string]any)["id"])
	p.post("submit", map[string]any{"person": you, "interaction": form["interaction"], "values": map[string]string{field: "not today"}})
	p.sees("the denied call", func(e event) bool { return e.is("turn") && strings.Contains(e.raw, "denied by user: not today") })
	p.sees("the answer to it", func(e event) bool { return e.is("message") && e.get("content") == "as you wish" })

	started := time.Now()
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(started); took > 2*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if p.stderr.Len() > 0 {
		t.Errorf("it logged: %s", p.stderr)
	}
}

func TestPlaygroundKeepsItsData(t *testing.T) {
	dir := t.TempDir()
	p := startPlayground(t, "-data", dir)
	general, you := p.ids("general", "You")
	p.post("say", map[string]any{"person": you, "channel": general, "text": "<@" + p.bot + "> remember that I like tea"})
	p.sees("the end of the turn", func(e event) bool { return e.is("turn") && e.get("kind") == "done" })
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = startPlayground(t, "-data", dir)
	general, you = p.ids("general", "You")
	p.post("say", map[string]any{"person": you, "channel": general, "text": "<@" + p.bot + "> what do you know about me"})
	p.sees("the memory", func(e event) bool {
		return e.is("message") && e.get("author") == p.bot && strings.Contains(e.get("content"), "I like tea")
	})
	// The commands are registered in the new world, too.
	p.post("slash", map[string]any{"person": you, "channel": general, "name": "help", "options": map[string]any{}})
}

func TestPlaygroundRefusesBadFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-addr 0.0.0.0:80": "not on loopback", "-addr nowhere": "not HOST:PORT", "-port 3": "the flags are", "extra": "not expected",
		"-ollama http://192.168.0.1:11434": "not on this machine", "-ollama nowhere": "takes off or an address",
	} {
		var stdout, stderr bytes.Buffer
		code := dispatch(t.Context(), process{stdout: &stdout, stderr: &stderr}, append([]string{"playground"}, strings.Fields(args)...))
		text := stderr.String()
		if code == exitOK || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %q", args, code, text, &stdout)
		}
	}
}

// Where the data goes is told as it is: with servers in the environment it stays there.
func TestPlaygroundData(t *testing.T) {
	t.Parallel()
	servers := config.Store{DatabaseURL: config.NewSecret("postgres://h/d"), RedisURL: config.NewSecret("redis://h")}
	dir := t.TempDir()
	for _, test := range []struct {
		dir        string
		at         config.Store
		page, line string
	}{
		{"", servers, "stays in the database of DATABASE_URL", "stays in the database of DATABASE_URL"},
		{dir, config.Store{}, "stays in " + dir, ""},
		{"", config.Store{}, "is gone when you end it", "-data DIR keeps it"},
	} {
		kept, err := playgroundData(test.dir, test.at)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(kept.page, test.page) || !strings.Contains(kept.line, test.line) || (kept.dir == "") != test.at.Servers() {
			t.Errorf("%+v", kept)
		}
		if err := kept.release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Error("a folder of the user's is gone: ", err)
		}
	}
	if _, err := playgroundData(dir, servers); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "leave one of them out") {
		t.Errorf("both: %v", err)
	}
}

// event is one event of the page's stream.
type event struct {
	name, raw string
	body      map[string]any
}

func (e event) is(name string) bool { return e.name == name }

func (e event) get(field string) string {
	s, _ := e.body[field].(string)
	return s
}

// played is a running playground, seen by its page as You.
type played struct {
	t      *testing.T
	url    string
	bot    string
	first  event // the snapshot
	events chan event
	// passed came while something else was waited for: messages and turns are told by different parts, in no set order.
	passed []event
	stderr *bytes.Buffer
	stop   func() error
}

func startPlayground(t *testing.T, args ...string) *played {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, printed := io.Pipe()
	p := &played{t: t, events: make(chan event, 10_000), stderr: &bytes.Buffer{}}
	ended := make(chan error, 1)
	go func() {
		err := runPlayground(ctx, process{environ: []string{"TMPDIR=" + os.TempDir()}, stdout: printed, stderr: p.stderr}, append([]string{"-addr", "127.0.0.1:0", "-ollama", "off"}, args...))
		_ = printed.CloseWithError(fmt.Errorf("it ended: %w", err))
		ended <- err
	}()
	stopped := false
	p.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	p.url = regexp.MustCompile(`http://\S+/`).FindString(line)
	p.follow()
	return p
}

// follow reads the stream until it ends.
func (p *played) follow() {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+"api/stream", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(p.events)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewReader(resp.Body)
		name := ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			switch field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); field {
			case "event":
				name = value
			case "data":
				e := event{name: name, raw: value}
				_ = json.Unmarshal([]byte(value), &e.body)
				p.events <- e
			}
		}
	}()
	p.first = p.sees("the snapshot", func(e event) bool { return e.is("snapshot") })
	p.bot = p.first.get("bot")
}

// ids finds a channel and a person in the snapshot.
func (p *played) ids(channel, person string) (string, string) {
	p.t.Helper()
	found := ""
	for _, c := range p.first.body["channels"].([]any) {
		if c := c.(map[string]any); c["name"] == channel {
			found = c["id"].(string)
		}
	}
	for id, u := range p.first.body["users"].(map[string]any) {
		if u.(map[string]any)["name"] == person && found != "" {
			return found, id
		}
	}
	p.t.Fatalf("no #%s or %s in %s", channel, person, p.first.raw)
	return "", ""
}

// sees waits for an event, or finds it among those that came before.
func (p *played) sees(what string, want func(event) bool) event {
	p.t.Helper()
	if i := slices.IndexFunc(p.passed, want); i >= 0 {
		e := p.passed[i]
		p.passed = slices.Delete(p.passed, i, i+1)
		return e
	}
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for {
		select {
		case e, ok := <-p.events:
			if !ok {
				p.t.Fatalf("the stream ended before %s", what)
			}
			if want(e) {
				return e
			}
			p.passed = append(p.passed, e)
		case <-late.C:
			var others []string
			for _, e := range p.passed {
				others = append(others, e.name+" "+e.raw)
			}
			p.t.Fatalf("%s never came; what came was:\n%s\nthe log: %s", what, strings.Join(others, "\n"), p.stderr)
		}
	}
}

// post does something as the page.
func (p *played) post(action string, body map[string]any) (answer map[string]any) {
	p.t.Helper()
	status, text := p.try(action, body)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK || answer["silent"] == true {
		p.t.Fatalf("%s: %d %s %v", action, status, text, err)
	}
	return answer
}

// try asks for something as the page and gives the answer, whatever it is.
func (p *played) try(action string, body map[string]any) (status int, text string) {
	p.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"api/"+action, bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", strings.TrimSuffix(p.url, "/"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}
