package redis

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// proxied gives a store that talks to its server through a proxy.
func proxied(t *testing.T, prefix string, with ...func(*Config)) (*DB, *storetest.Proxy) {
	t.Helper()
	open(t, prefix) // skips without a server
	at, err := url.Parse(address())
	if err != nil {
		t.Fatal(err)
	}
	proxy := storetest.NewProxy(t, at.Host)
	at.Host = proxy.Addr()
	cfg := Config{URL: at.String(), Prefix: prefix, Patience: -1}
	for _, change := range with {
		change(&cfg)
	}
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test of its content, not of Close
	return db, proxy
}

func TestAwayAtStart(t *testing.T) {
	t.Parallel()
	_, proxy := proxied(t, prefix(t))
	proxy.Cut()
	var waits []time.Duration
	db, err := Open(t.Context(), Config{URL: "redis://" + proxy.Addr() + "/9", Waiting: func(err error, next time.Duration) {
		if waits = append(waits, next); len(waits) == 3 {
			proxy.Restore(t)
		}
		if err == nil {
			t.Error("told of nothing")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if want := []time.Duration{firstWait, 2 * firstWait, 4 * firstWait}; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		url, says   string
		unavailable bool
	}{
		"nothing":               {"", "REDIS_URL cannot be read", false},
		"something else":        {"http://u:hunter2@127.0.0.1", "REDIS_URL cannot be read", false},
		"a server that is away": {"redis://u:hunter2@127.0.0.1:1/0", "the server is away", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Open(t.Context(), Config{URL: test.url, Patience: -1})
			if err == nil {
				t.Fatal("opened", db.Close())
			}
			if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %q; want it to say %q and no password", err, test.says)
			}
			if errors.Is(err, store.ErrUnavailable) != test.unavailable {
				t.Errorf("ErrUnavailable is %t: %v", !test.unavailable, err)
			}
		})
	}
}

// TestCut: while the server is away every call says so, and afterwards what was kept is there.
func TestCut(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t, prefix(t))
	ctx, now := t.Context(), time.Now()
	if claimed, err := db.Claim(ctx, store.Claim{ID: "m", TTL: time.Minute}, now); err != nil || !claimed.Ours {
		t.Fatal(claimed, err)
	}
	proxy.Cut()
	_, claimErr := db.Claim(ctx, store.Claim{ID: "n", TTL: time.Minute}, now)
	_, consumeErr := db.ConsumeWindows(ctx, "c", "t", now)
	_, takeErr := db.TakeRequests(ctx, 1, store.Pace{PerSecond: 50, Burst: 5}, now)
	_, eraseErr := db.EraseFleeting(ctx, "ana", nil)
	for i, err := range []error{
		claimErr, consumeErr, takeErr, eraseErr, db.RetainWindow(ctx, "c", "a", 1, now), db.ClearWindows(ctx, "c"),
		db.PublishKill(ctx, "ana", nil), db.Ping(ctx),
	} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("call %d while away: %v, want ErrUnavailable", i, err)
		}
	}
	proxy.Restore(t)
	if claimed, err := db.Claim(ctx, store.Claim{ID: "m", TTL: time.Minute}, now); err != nil || claimed.Ours {
		t.Errorf("back again, the claim is %+v, %v; want it held", claimed, err)
	}
}

// TestSilenceHoldsNobody: a server that does not answer holds a caller until its deadline and no longer.
func TestSilenceHoldsNobody(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t, prefix(t))
	proxy.Silence()
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	begin := time.Now()
	_, err := db.ConsumeWindows(ctx, "c", "t", time.Now())
	if !errors.Is(err, late) {
		t.Errorf("%v, want the context's cause", err)
	}
	if took := time.Since(begin); took > answerTimeout {
		t.Errorf("held for %v", took)
	}
}

// TestSilenceHoldsTheFirst: once a server is known to say nothing, nobody waits for it any more, until it answers again.
func TestSilenceHoldsTheFirst(t *testing.T) {
	t.Parallel()
	told := make(chan bool, 9)
	db, proxy := proxied(t, prefix(t), func(cfg *Config) { cfg.Silent = func(silent bool) { told <- silent } })
	claim := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := db.Claim(ctx, store.Claim{ID: "m", TTL: time.Minute}, time.Now())
		return err
	}
	proxy.Silence()
	if err := claim(5 * time.Second); !errors.Is(err, store.ErrUnavailable) { // after the time that the connection allows
		t.Errorf("the first: %v", err)
	}
	if silent := <-told; !silent {
		t.Error("it is told to answer")
	}
	for range 100 { // together they would take minutes
		if err := claim(5 * time.Second); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "says nothing") {
			t.Fatalf("while it is silent: %v", err)
		}
	}
	proxy.Speak()
	if silent := <-told; silent {
		t.Error("it is told to be silent still")
	}
	if err := claim(5 * time.Second); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestKillBusComesBack: what was given while a process could not hear it arrives when it can again, once.
func TestKillBusComesBack(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(*storetest.Proxy) }{
		"gone":   {(*storetest.Proxy).Cut, func(p *storetest.Proxy) { p.Restore(t) }},
		"silent": {(*storetest.Proxy).Silence, (*storetest.Proxy).Speak},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := prefix(t)
			db, proxy := proxied(t, shared)
			other := open(t, shared)
			ctx, stop := context.WithCancel(t.Context())
			states, heard, ended := make(chan error, 99), make(chan string, 99), make(chan struct{})
			go func() {
				defer close(ended)
				db.SubscribeKills(ctx, func(err error) { states <- err }, func(order []byte) { heard <- string(order) })
			}()
			publish := func(order string) {
				t.Helper()
				if err := other.PublishKill(t.Context(), "ana", []byte(order)); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-states; err != nil {
				t.Fatal(err)
			}
			publish("first")
			if order := <-heard; order != "first" {
				t.Errorf("heard %q", order)
			}
			fault.begin(proxy)
			if err := <-states; err == nil {
				t.Error("the loss is told as hearing")
			}
			publish("second")
			publish("third")
			fault.end(proxy)
			if err := <-states; err != nil {
				t.Errorf("the return is told as %v", err)
			}
			publish("fourth")
			for _, want := range []string{"second", "third", "fourth"} {
				if order := <-heard; order != want {
					t.Errorf("heard %q, want %q", order, want)
				}
			}
			stop()
			<-ended
			if len(heard) > 0 || len(states) > 0 {
				t.Errorf("then %d orders and %d states", len(heard), len(states))
			}
		})
	}
}
