package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

func claims(t *testing.T, open func(t *testing.T) Engine) {
	// claim must not fail.
	claim := func(t *testing.T, e Engine, id string, seconds int) bool {
		t.Helper()
		claimed, err := e.Claims.Claim(t.Context(), store.Claim{ID: id, TTL: time.Minute}, after(seconds))
		must(t, err)
		return claimed.Ours
	}

	t.Run("the first wins until it expires", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if !claim(t, e, "m", 0) {
			t.Error("the first claim lost")
		}
		if claim(t, e, "m", 1) || claim(t, e, "m", 59) {
			t.Error("a second claim within the time won")
		}
		if !claim(t, e, "other", 1) {
			t.Error("a claim of another message lost")
		}
		if e.Reopen != nil {
			e = e.Reopen(t)
			if claim(t, e, "m", 59) {
				t.Error("a restart forgot the claim")
			}
		}
		if !claim(t, e, "m", 60) {
			t.Error("an expired claim was not free")
		}
		if claim(t, e, "m", 119) {
			t.Error("taking an expired claim over did not start its time anew")
		}
	})

	t.Run("64 claims of one message", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		// Twice: a fresh id, and one whose claim has expired.
		for round, now := range []time.Time{start, after(60)} {
			wins := 0
			for _, won := range together(func(int) bool {
				claimed, err := e.Claims.Claim(t.Context(), store.Claim{ID: "m", TTL: time.Minute}, now)
				if err != nil {
					t.Error(err)
				}
				return claimed.Ours
			}) {
				if won {
					wins++
				}
			}
			if wins != 1 {
				t.Errorf("round %d: %d won, want 1", round, wins)
			}
		}
	})

	t.Run("expired claims in number don't matter", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i := range 200 {
			if !claim(t, e, fmt.Sprint(i), 0) {
				t.Fatalf("claim %d lost", i)
			}
		}
		for i := range 200 {
			if !claim(t, e, fmt.Sprint(i), 60) {
				t.Fatalf("expired claim %d was not free", i)
			}
		}
	})
}
