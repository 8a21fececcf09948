package discordsim_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

const createMessage = "POST /channels/{channel_id}/messages"

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		fault  discordsim.Fault
		status int // 0: the connection is cut
		effect bool
		check  func(*testing.T, reply)
	}{
		{
			"429",
			discordsim.Fault{Kind: discordsim.FaultStatus, Status: 429, RetryAfter: 400 * time.Millisecond},
			429, false,
			func(t *testing.T, r reply) {
				var body struct {
					RetryAfter float64 `json:"retry_after"`
					Global     bool
				}
				r.into(t, &body)
				if body.RetryAfter != 0.4 || body.Global || r.header.Get("Retry-After") != "1" || r.header.Get("X-RateLimit-Scope") != "user" {
					t.Errorf("429: %s %v", r.text, r.header)
				}
			},
		},
		{
			"global 429",
			discordsim.Fault{Kind: discordsim.FaultStatus, Status: 429, RetryAfter: time.Second, Global: true},
			429, false,
			func(t *testing.T, r reply) {
				var body struct{ Global bool }
				r.into(t, &body)
				if !body.Global || r.header.Get("X-RateLimit-Global") != "true" {
					t.Errorf("429: %s %v", r.text, r.header)
				}
			},
		},
		{"502", discordsim.Fault{Kind: discordsim.FaultStatus, Status: 502}, 502, false, nil},
		{"reset", discordsim.Fault{Kind: discordsim.FaultReset}, 0, false, nil},
		{"answer lost", discordsim.Fault{Kind: discordsim.FaultAnswerLost}, 0, true, nil},
		{"delay", discordsim.Fault{Kind: discordsim.FaultDelay, Delay: time.Millisecond}, 200, true, nil},
		{"other channel", discordsim.Fault{Kind: discordsim.FaultReset, Path: "/channels/1/"}, 200, true, nil},
		{"later", discordsim.Fault{Kind: discordsim.FaultReset, After: 1}, 200, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{})
			tt.fault.Route = createMessage
			must(t, tw.world.Inject(tt.fault))
			tw.do(t, "GET", tw.messages(), "") // another route is not hit
			r, err := tw.try(t, "POST", tw.messages(), `{"content":"x"}`)
			if tt.status == 0 && err == nil || tt.status != 0 && (err != nil || r.status != tt.status) {
				t.Fatalf("got %d %s, %v", r.status, r.text, err)
			}
			if effect := len(tw.world.Messages(tw.general)) == 1; effect != tt.effect {
				t.Errorf("effect is %t, want %t", effect, tt.effect)
			}
			if tt.check != nil {
				tt.check(t, r)
			}
			if tt.fault.Path != "" || tt.fault.After > 0 {
				if n := tw.world.ClearFaults(); n != 1 {
					t.Errorf("%d faults left, want 1", n)
				}
				return
			}
			if r := tw.do(t, "POST", tw.messages(), `{"content":"y"}`); r.status != 200 {
				t.Errorf("the fault hits twice: %d", r.status)
			}
		})
	}
}

func TestFaultsOfUnknownRoutesAreRefused(t *testing.T) {
	t.Parallel()
	w := discordsim.New(discordsim.Config{}).World()
	if w.Inject(discordsim.Fault{Route: "POST /nonsense", Kind: discordsim.FaultReset}) == nil {
		t.Error("a fault of an unknown route is taken")
	}
	if w.Inject(discordsim.Fault{Route: createMessage, Kind: discordsim.FaultStatus, Status: 200}) == nil {
		t.Error("a fault that is no failure is taken")
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	must(t, tw.world.EnableRateLimits(discordsim.RateLimits{
		Global: discordsim.RateLimit{Requests: 6, Window: time.Hour},
		Routes: map[string]discordsim.RateLimit{createMessage: {Requests: 2, Window: time.Hour}},
	}))
	other := tw.channel(t, "other")
	post := func(path string) reply { return tw.do(t, "POST", path, `{"content":"x"}`) }
	for want := 1; want >= 0; want-- {
		r := post(tw.messages())
		if got := r.header.Get("X-RateLimit-Remaining"); r.status != 200 || got != strconv.Itoa(want) {
			t.Errorf("got %d with %s remaining, want 200 with %d", r.status, got, want)
		}
	}
	if r := post(tw.messages()); r.status != 429 || r.header.Get("X-RateLimit-Scope") != "user" || r.header.Get("X-RateLimit-Bucket") == "" {
		t.Errorf("third message: %d %v", r.status, r.header)
	}
	if r := post("/channels/" + string(other) + "/messages"); r.status != 200 {
		t.Errorf("another channel shares the bucket: %d", r.status)
	}
	var last reply
	for range 3 {
		last = tw.do(t, "GET", "/users/@me", "")
	}
	if last.status != 429 || last.header.Get("X-RateLimit-Scope") != "global" {
		t.Errorf("seventh request: %d %v", last.status, last.header)
	}
}

func TestHeadersTellOfRoomWithoutLimits(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	r := tw.do(t, "GET", "/users/@me", "")
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Reset-After", "X-RateLimit-Bucket"} {
		if r.header.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
	if r.status != http.StatusOK {
		t.Errorf("status %d", r.status)
	}
}

func TestCloseEndsAFaultsDelay(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	must(t, tw.world.Inject(discordsim.Fault{Delay: time.Hour}))
	ended := make(chan error, 1)
	go func() {
		_, err := tw.try(t, "GET", "/users/@me", "")
		ended <- err
	}()
	must(t, tw.world.Wait(t.Context(), func(v discordsim.View) bool {
		return slices.ContainsFunc(v.Entries(0), func(e discordsim.Entry) bool {
			_, met := e.Event.(discordsim.FaultMet)
			return met
		})
	}))
	tw.server.Close()
	if err := <-ended; err == nil {
		t.Error("the request was answered")
	}
}
