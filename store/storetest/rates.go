package storetest

import (
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

func rates(t *testing.T, open func(t *testing.T) Engine) {
	ana := store.Rate{Name: "turns", GuildID: "1", MemberID: "ana"}
	// allow must not fail.
	allow := func(t *testing.T, e Engine, rate store.Rate, limit, seconds int) bool {
		t.Helper()
		ok, err := e.Rates.AllowEvent(t.Context(), rate, limit, time.Minute, after(seconds))
		must(t, err)
		return ok
	}

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
		for _, ok := range together(func(int) bool {
			ok, err := e.Rates.AllowEvent(t.Context(), ana, 10, time.Minute, start)
			if err != nil {
				t.Error(err)
			}
			return ok
		}) {
			if ok {
				allowed++
			}
		}
		if allowed != 10 {
			t.Errorf("%d allowed, want 10", allowed)
		}
	})
}
