package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

func waiting(id string, seconds int) store.Waiting {
	return store.Waiting{
		MessageID: id, ChannelID: "c", GuildID: "1", OwnerID: "ana", QueuedAt: after(seconds),
		Payload: json.RawMessage(`{"text":"hello ` + id + `","n":12345678901234567890}`),
	}
}

func triggers(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("put, update, list oldest first, delete, across a restart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, w := range []store.Waiting{waiting("late", 9), waiting("z first of two", 5), waiting("a second of two", 5)} {
			must(t, e.Triggers.PutWaiting(t.Context(), w))
		}
		edited := waiting("late", 9)
		edited.Payload = json.RawMessage(`{"text":"edited"}`)
		must(t, e.Triggers.UpdateWaiting(t.Context(), "late", edited.Payload))
		if err := e.Triggers.UpdateWaiting(t.Context(), "unknown", edited.Payload); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("update of what does not wait: %v, want ErrNotFound", err)
		}
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		all, err := e.Triggers.AllWaiting(t.Context())
		must(t, err)
		want := []store.Waiting{waiting("z first of two", 5), waiting("a second of two", 5), edited}
		if diff := cmp.Diff(want, all, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		must(t, e.Triggers.DeleteWaiting(t.Context()))
		must(t, e.Triggers.DeleteWaiting(t.Context(), "late", "unknown", "a second of two"))
		all, err = e.Triggers.AllWaiting(t.Context())
		must(t, err)
		if diff := cmp.Diff(want[:1], all, jsonText); diff != "" {
			t.Errorf("after delete (-want +got):\n%s", diff)
		}
	})

	t.Run("put again replaces and keeps the place", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Triggers.PutWaiting(t.Context(), waiting("one", 1)))
		must(t, e.Triggers.PutWaiting(t.Context(), waiting("two", 2)))
		again := waiting("one", 3)
		again.Payload = json.RawMessage(`{"text":"again"}`)
		must(t, e.Triggers.PutWaiting(t.Context(), again))
		all, err := e.Triggers.AllWaiting(t.Context())
		must(t, err)
		again.QueuedAt = after(1)
		if diff := cmp.Diff([]store.Waiting{again, waiting("two", 2)}, all, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a turn takes its trigger out of the line", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		if err := e.Turns.BeginWaited(t.Context(), turn); !errors.Is(err, store.ErrTaken) {
			t.Errorf("what does not wait: %v, want ErrTaken", err)
		}
		must(t, e.Triggers.PutWaiting(t.Context(), waiting(turn.TriggerID, 0)))
		must(t, e.Triggers.PutWaiting(t.Context(), waiting("another", 1)))
		if e.Reopen != nil {
			e = e.Reopen(t)
			_, err := e.Triggers.AllWaiting(t.Context()) // takes the line over
			must(t, err)
		}
		must(t, e.Turns.BeginWaited(t.Context(), turn))
		must(t, e.Triggers.PutWaiting(t.Context(), waiting(turn.TriggerID, 0)))
		if err := e.Turns.BeginWaited(t.Context(), turn); !errors.Is(err, store.ErrExists) {
			t.Errorf("begun twice: %v, want ErrExists", err)
		}
		all, err := e.Triggers.AllWaiting(t.Context())
		must(t, err)
		if len(all) != 2 { // the failed one has taken nothing
			t.Errorf("%d wait, want 2", len(all))
		}
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted)))
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 9)
		must(t, err)
		if diff := cmp.Diff([]store.Turn{ended(turn, store.TurnCompleted)}, recent, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("64 turns of one trigger", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Triggers.PutWaiting(t.Context(), waiting("m", 0)))
		won := 0
		for i, err := range together(func(i int) error {
			turn := begun(fmt.Sprint(i), "c", 0)
			turn.TriggerID = "m"
			return e.Turns.BeginWaited(t.Context(), turn)
		}) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrTaken):
				t.Errorf("turn %d: %v, want ErrTaken", i, err)
			}
		}
		if won != 1 {
			t.Errorf("%d turns have it", won)
		}
	})

	t.Run("64 writers", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, err := range together(func(i int) error {
			return e.Triggers.PutWaiting(t.Context(), waiting(fmt.Sprint(i), i))
		}) {
			must(t, err)
		}
		all, err := e.Triggers.AllWaiting(t.Context())
		must(t, err)
		for i, w := range all {
			if w.MessageID != fmt.Sprint(i) {
				t.Fatalf("place %d holds %s", i, w.MessageID)
			}
		}
		if len(all) != Writers {
			t.Errorf("%d wait, want %d", len(all), Writers)
		}
	})
}
