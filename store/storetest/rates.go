package storetest

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// allow claims a new message that counts for one rate, and says whether there was room. It must not fail.
func allow(t *testing.T, e Engine, rate store.Rate, limit, seconds int) bool {
	t.Helper()
	claimed, err := e.Claims.Claim(t.Context(), store.Claim{
		ID: rand.Text(), TTL: time.Minute, Counts: []store.Count{{Rate: rate, Limit: limit, Window: time.Minute}},
	}, after(seconds))
	must(t, err)
	if !claimed.Ours {
		t.Error("a new message was claimed already")
	}
	if none := (store.Rate{}); claimed.Over != none && claimed.Over != rate {
		t.Errorf("over %+v, counted was %+v", claimed.Over, rate)
	}
	return claimed.Over == store.Rate{}
}

func rates(t *testing.T, open func(t *testing.T) Engine) {
	ana := store.Rate{Name: "turns", GuildID: "1", MemberID: "ana"}
	here := store.Rate{Name: "turns", ChannelID: "here"}
	// both counts for ana, with much room, and for the channel, with room for one.
	both := func(id string) store.Claim {
		return store.Claim{ID: id, TTL: time.Minute, Counts: []store.Count{
			{Rate: ana, Limit: 3, Window: time.Minute}, {Rate: here, Limit: 1, Window: time.Minute},
		}}
	}
	claim := func(t *testing.T, e Engine, c store.Claim, want store.Claimed) {
		t.Helper()
		got, err := e.Claims.Claim(t.Context(), c, after(1))
		must(t, err)
		if got != want {
			t.Errorf("claim of %s: %+v, want %+v", c.ID, got, want)
		}
	}
	// room is how often ana may still count.
	room := func(t *testing.T, e Engine) (n int) {
		t.Helper()
		for allow(t, e, ana, 3, 1) {
			n++
		}
		return n
	}

	t.Run("what is claimed already counts nothing", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		claim(t, e, both("m"), store.Claimed{Ours: true})
		claim(t, e, both("m"), store.Claimed{})
		claim(t, e, store.Claim{ID: "m", TTL: time.Minute}, store.Claimed{})
		if n := room(t, e); n != 2 {
			t.Errorf("room for %d more, want 2", n)
		}
	})

	t.Run("one without room and none is counted, though the message stays claimed", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		claim(t, e, both("first"), store.Claimed{Ours: true})
		claim(t, e, both("second"), store.Claimed{Ours: true, Over: here})
		claim(t, e, both("second"), store.Claimed{})
		if e.Reopen != nil {
			e = e.Reopen(t)
			claim(t, e, both("second"), store.Claimed{})
		}
		if n := room(t, e); n != 2 {
			t.Errorf("room for %d more, want 2", n)
		}
		claim(t, e, both("third"), store.Claimed{Ours: true, Over: ana}) // the first of two is named
	})

	t.Run("what is free is counted where there is room, and never over", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, id := range []string{"first", "second"} {
			c := both(id)
			c.Free = true
			claim(t, e, c, store.Claimed{Ours: true})
		}
		claim(t, e, both("third"), store.Claimed{Ours: true, Over: here})
		if n := room(t, e); n != 1 {
			t.Errorf("room for %d more, want 1", n)
		}
	})

	t.Run("the window slides, a refusal does not count", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, step := range []struct {
			second int
			want   bool
		}{{0, true}, {30, true}, {31, false}, {59, false}, {60, true}, {61, false}, {89, false}, {90, true}, {119, false}, {120, true}} {
			if i == 4 && e.Reopen != nil {
				e = e.Reopen(t)
			}
			if got := allow(t, e, ana, 2, step.second); got != step.want {
				t.Errorf("at second %d: %t, want %t", step.second, got, step.want)
			}
		}
	})

	t.Run("each rate counts for itself", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, rate := range []store.Rate{
			ana,
			{Name: "turns", GuildID: "1", MemberID: "eric"},
			{Name: "turns", GuildID: "2", MemberID: "ana"},
			{Name: "tools", GuildID: "1", MemberID: "ana"},
			{Name: "turns", MemberID: "ana"},
			{Name: "turns", GuildID: "1"},
			{Name: "turns", ChannelID: "1"},
			{Name: "turns", GuildID: "1:m=ana"},
		} {
			if !allow(t, e, rate, 1, 0) {
				t.Errorf("%+v was counted before", rate)
			}
			if allow(t, e, rate, 1, 1) {
				t.Errorf("%+v was not counted", rate)
			}
		}
	})

	t.Run("a limit below one allows nothing", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if allow(t, e, ana, 0, 0) || allow(t, e, ana, -1, 0) {
			t.Error("allowed")
		}
		if !allow(t, e, ana, 1, 0) {
			t.Error("a refusal counted")
		}
	})

	t.Run("64 events on a limit of 10", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		allowed := 0
		for _, ok := range together(func(i int) bool {
			claimed, err := e.Claims.Claim(t.Context(), store.Claim{ID: fmt.Sprint(i), TTL: time.Minute, Counts: []store.Count{
				{Rate: ana, Limit: 10, Window: time.Minute}, {Rate: here, Limit: 100, Window: time.Minute},
			}}, start)
			if err != nil || !claimed.Ours {
				t.Errorf("%+v, %v", claimed, err)
			}
			return claimed.Over == store.Rate{}
		}) {
			if ok {
				allowed++
			}
		}
		if allowed != 10 {
			t.Errorf("%d allowed, want 10", allowed)
		}
		left := 0
		for allow(t, e, here, 100, 1) {
			left++
		}
		if left != 90 {
			t.Errorf("the channel has room for %d more, want 90: the refused were counted in it", left)
		}
	})
}
