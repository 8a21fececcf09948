package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		nanos    int64
		unpriced bool
		want     string
	}{
		{0, false, "$0"},
		{0, true, "price unknown"},
		{12_345_000, false, "$0.0123"},
		{12_350_000, false, "$0.0124"},
		{12_399_999, true, "at least $0.0123"},
		{123_456, false, "$0.000123"},
		{9_999_999_999, false, "$10.0000"},
		{9_999_999_999, true, "at least $9.9999"},
		{400, false, "less than $0.000001"},
		{1, true, "less than $0.000001"},
		{-5, false, "$0"},
	} {
		if got := turn.Money(store.Usage{CostNanos: test.nanos, Unpriced: test.unpriced}); got != test.want {
			t.Errorf("%d, %t: %q, want %q", test.nanos, test.unpriced, got, test.want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	check(t, "CD137 what failed attempts used counts, and each model has its own line", func(t *testing.T) {
		w := newWorld(t)
		w.models = append(w.models, turn.Model{Provider: w.model, Name: "m-2"})
		w.start()
		defer func() { w.stop() }()
		price := providers.Usage{Input: 100, Output: 10, CacheRead: 50, CostNanos: 20_000_000}
		unknown := providers.Usage{Input: 7, Unpriced: true}
		w.model.will(
			reply{pieces: []string{"a"}, used: price},
			reply{pieces: []string{"half"}, used: unknown, err: errors.New("gone")},
			reply{pieces: []string{"b"}, used: price},
		)
		w.say("ana", "c", "@bot 1")
		w.say("ana", "c", "@bot 2")
		synctest.Wait()
		want := "2 turns here since the last `/clear`: at least $0.0400: 207 in, 20 tokens out (48% of those in came from the cache)"
		rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostHere)
		if w.must(err); !strings.HasPrefix(rep.String(), want+"\n") {
			t.Errorf("%q, want %q", rep.String(), want)
		}
		for scope, start := range map[turn.CostScope]string{
			turn.CostHereToday: "Used here today: at least $0.0400", turn.CostHereMonth: "Used here this month: at least",
			turn.CostServerToday: "Used in this server today: ", turn.CostServerMonth: "Used in this server this month: ",
		} {
			rep, err := w.m.Cost(context.Background(), w.place("c"), scope)
			if w.must(err); !strings.HasPrefix(rep.String(), start) {
				t.Errorf("%s: %q", scope, rep)
			}
			wantModels := []store.UsageTotal{
				{Model: "m-1", Turns: 2, Usage: store.Usage{Input: 107, Output: 10, CacheRead: 50, CostNanos: 20_000_000, Unpriced: true}},
				{Model: "m-2", Turns: 1, Usage: store.Usage{Input: 100, Output: 10, CacheRead: 50, CostNanos: 20_000_000}},
			}
			if diff := cmp.Diff(wantModels, rep.Models); diff != "" {
				t.Errorf("%s (-want +got):\n%s", scope, diff)
			}
		}
		mine := w.place("elsewhere")
		mine.Actor = turn.Actor{ID: person("ana").ID}
		rep, err = w.m.Cost(context.Background(), mine, turn.CostMine)
		if w.must(err); rep.Usage.Input != 207 {
			t.Errorf("ana's: %+v", rep)
		}
		mine.Actor.ID = "9stranger"
		rep, err = w.m.Cost(context.Background(), mine, turn.CostMine)
		if w.must(err); rep.String() != "Nothing has been used by you this month." {
			t.Errorf("a stranger's: %s", rep)
		}
		_, err = w.m.Cost(context.Background(), mine, turn.CostServerMonth)
		refusal(t, err, turn.RefusedForbidden)
		elapse(31 * 24 * time.Hour)
		rep, err = w.m.Cost(context.Background(), w.place("c"), turn.CostHereMonth)
		if w.must(err); rep.Usage.Input != 0 {
			t.Errorf("a month later: %+v", rep)
		}
	})
	check(t, "a ledger that is away fails no turn", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.store.set(func(s *memory) { s.away = true })
		w.model.will(reply{pieces: []string{"a"}, usage: 100})
		w.say("ana", "c", "@bot 1")
		w.ended(store.TurnCompleted)
		_, err := w.m.Cost(context.Background(), w.place("c"), turn.CostHereMonth)
		refusal(t, err, turn.RefusedUnavailable)
	})
}
