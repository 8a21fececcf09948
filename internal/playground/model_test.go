package playground

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Another model gets a bot of its own, after the one before has ended; one that does not start leaves the old one.
func TestChoosingAModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var booted []string
	running := 0
	cfg := Config{Models: []Model{{ID: "a", Name: "A", Offline: true}, {ID: "b", Name: "B"}, {ID: "bad", Name: "Bad"}}}
	cfg.Boot = func(_ context.Context, s Setup) (Bot, error) {
		mu.Lock()
		defer mu.Unlock()
		booted = append(booted, s.Model)
		if running != 0 {
			t.Errorf("%s starts beside another bot", s.Model)
		}
		if s.Model == "bad" {
			return nil, errors.New("no such model")
		}
		return &countedBot{newIdleBot(), func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
		}}, nil
	}
	b := open(t, cfg)
	you := b.person("You")
	next := b.stream(you.ID, "")
	now := func(want string) {
		t.Helper()
		for {
			if s := decode[snapshot](t, until(next, "snapshot")); s.ModelID == want {
				return
			}
		}
	}
	now("a")
	b.act("model", map[string]any{"person": you.ID, "name": "b"})
	now("b")
	b.act("model", map[string]any{"person": you.ID, "name": "b"}) // nothing to do
	status, _, text := b.do(http.MethodPost, "/api/model", map[string]any{"person": you.ID, "name": "bad"})
	if status != http.StatusConflict || !strings.Contains(text, "no such model") {
		t.Errorf("a model that does not start: %d %s", status, text)
	}
	now("b")
	if status, _, _ := b.do(http.MethodPost, "/api/fault", map[string]any{"person": you.ID, "channel": b.channel("general"), "name": "slow_tool"}); status != http.StatusConflict {
		t.Errorf("a model that is not the built-in one was told to fail: %d", status)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(booted, " "); got != "a b bad b" || running != 0 {
		t.Errorf("booted %s, %d left", got, running)
	}
}

// countedBot tells when it runs.
type countedBot struct {
	*idleBot
	count func(int)
}

func (b *countedBot) Run(ctx context.Context) error {
	b.count(1)
	defer b.count(-1)
	return b.idleBot.Run(ctx)
}
