package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleybot/parley/store"
)

// jsonText compares documents by what they mean.
var jsonText = cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a) > 0 && len(b) > 0 }, cmp.Comparer(sameJSON))

// begun is a turn as it stands at its start.
func begun(id, channelID string, seconds int) store.Turn {
	return store.Turn{
		ID: id, ChannelID: channelID, GuildID: "1", OwnerID: "ana", TriggerID: "message-" + id, Prompt: "question " + id,
		Model: "small", StartedAt: after(seconds),
	}
}

// ended is the same turn with everything that it has at its end.
func ended(t store.Turn, status store.TurnStatus) store.Turn {
	t.Status, t.Answer, t.Thinking, t.Model = status, "answer "+t.ID, "hm", "large"
	t.Usage = store.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, CostNanos: 1 << 40, Unpriced: true}
	t.AnswerIDs = []string{"a", "b"}
	t.Transcript = json.RawMessage(`{"v":1,"entries":[{"kind":"assistant","id":"x","ts":1,"later":{"n":12345678901234567890}}]}`)
	t.Error = "what the operator reads"
	t.FinishedAt = t.StartedAt.Add(1500 * time.Millisecond)
	return t
}

func turns(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("begin, finish, read, across a restart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		if err := e.Turns.BeginTurn(t.Context(), turn); !errors.Is(err, store.ErrExists) {
			t.Errorf("begun twice: %v, want ErrExists", err)
		}
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if len(recent) != 0 {
			t.Errorf("a running turn is listed as finished: %+v", recent)
		}
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted)))
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		recent, err = e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if diff := cmp.Diff([]store.Turn{ended(turn, store.TurnCompleted)}, recent, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a finished turn stays as it is", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnStoppedByUser)))
		late := ended(turn, store.TurnCompleted)
		late.Answer = "late"
		must(t, e.Turns.FinishTurn(t.Context(), late))
		if err := e.Turns.BeginTurn(t.Context(), turn); !errors.Is(err, store.ErrExists) {
			t.Errorf("begun again: %v, want ErrExists", err)
		}
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if diff := cmp.Diff([]store.Turn{ended(turn, store.TurnStoppedByUser)}, recent, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("finishing needs a final status", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		for _, status := range []store.TurnStatus{"", store.TurnRunning} {
			if err := e.Turns.FinishTurn(t.Context(), ended(turn, status)); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("status %q: %v, want ErrInvalid", status, err)
			}
		}
	})

	t.Run("what was known at the start stays", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Turns.BeginTurn(t.Context(), begun("t1", "c", 0)))
		must(t, e.Turns.FinishTurn(t.Context(), store.Turn{ID: "t1", Status: store.TurnError, FinishedAt: after(9)}))
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		want := begun("t1", "c", 0)
		want.Status, want.Model, want.FinishedAt = store.TurnError, "", after(9)
		if diff := cmp.Diff([]store.Turn{want}, recent, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a turn that could not be begun is written whole", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		want := ended(begun("t1", "c", 0), store.TurnCompleted)
		must(t, e.Turns.FinishTurn(t.Context(), want))
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if diff := cmp.Diff([]store.Turn{want}, recent, jsonText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("the newest of a channel, oldest first", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i := range 5 {
			for _, channel := range []string{"c", "other"} {
				turn := begun(fmt.Sprintf("%s%d", channel, i), channel, i)
				must(t, e.Turns.BeginTurn(t.Context(), turn))
				must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted)))
			}
		}
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 3)
		must(t, err)
		var ids []string
		for _, turn := range recent {
			ids = append(ids, turn.ID)
		}
		if diff := cmp.Diff([]string{"c2", "c3", "c4"}, ids); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, limit := range []int{0, -1} {
			none, err := e.Turns.RecentTurns(t.Context(), "c", limit)
			must(t, err)
			if len(none) != 0 {
				t.Errorf("limit %d gave %d turns", limit, len(none))
			}
		}
	})

	t.Run("64 ends of one turn", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		for _, err := range together(func(i int) error {
			end := ended(turn, store.TurnCompleted)
			end.Answer, end.Thinking = fmt.Sprint(i), fmt.Sprint(i)
			return e.Turns.FinishTurn(t.Context(), end)
		}) {
			must(t, err)
		}
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if len(recent) != 1 || recent[0].Answer != recent[0].Thinking {
			t.Errorf("not one end: %+v", recent)
		}
	})
}
