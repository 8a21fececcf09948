package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

// text holds an engine to what B71 asks of it: a byte that cannot be stored costs that byte, not the record.
func text(t *testing.T, open func(t *testing.T) Engine) {
	const dirty, cleaned = "a\x00b\xffc\xed\xa0\x80d 😀 \\u0000 \u2028", "ab\uFFFDc\uFFFDd 😀 \\u0000 \u2028"
	dirtyJSON := json.RawMessage(`{"v":1,"entries":[],"a":"x\u0000y","b":["\ud800","\udc00\ud83d\ude00","\\u0000"],"n":12345678901234567890}`)
	cleanJSON := json.RawMessage(`{"v":1,"entries":[],"a":"xy","b":["\ufffd","\ufffd😀","\\u0000"],"n":12345678901234567890}`)

	t.Run("B30 B71 turn, call, trigger, memory", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		turn.Prompt = dirty
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		c := call("t1", "k", 0)
		c.Arguments = dirty
		must(t, e.Journal.OpenCall(t.Context(), c))
		c = done(c)
		c.Result = dirty
		must(t, e.Journal.CloseCall(t.Context(), c))
		turn = ended(turn, store.TurnCompleted)
		turn.Answer, turn.Thinking, turn.Error, turn.Transcript = dirty, dirty, dirty, dirtyJSON
		must(t, e.Turns.FinishTurn(t.Context(), turn))
		w := waiting("m", 0)
		w.Payload = dirtyJSON
		must(t, e.Triggers.PutWaiting(t.Context(), w))
		told, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, dirty, 0), 10)
		must(t, err)
		if told.Content != cleaned {
			t.Errorf("AddMemory returned %q, want %q", told.Content, cleaned)
		}
		same, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, cleaned, 0), 10)
		must(t, err)
		if same.ID != told.ID {
			t.Error("the clean text was taken for another fact than the dirty one")
		}

		turns, err := e.Turns.RecentTurns(t.Context(), "c", 1)
		must(t, err)
		turn.Prompt, turn.Answer, turn.Thinking, turn.Error, turn.Transcript = cleaned, cleaned, cleaned, cleaned, cleanJSON
		if diff := cmp.Diff([]store.Turn{turn}, turns, jsonText); diff != "" {
			t.Errorf("turn (-want +got):\n%s", diff)
		}
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		c.Arguments, c.Result = cleaned, cleaned
		if diff := cmp.Diff([]store.Call{c}, calls); diff != "" {
			t.Errorf("call (-want +got):\n%s", diff)
		}
		all, err := e.Triggers.AllWaiting(t.Context())
		must(t, err)
		w.Payload = cleanJSON
		if diff := cmp.Diff([]store.Waiting{w}, all, jsonText); diff != "" {
			t.Errorf("trigger (-want +got):\n%s", diff)
		}
	})

	t.Run("times come back in UTC to the microsecond", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		zone := time.FixedZone("there", 5*3600+1800)
		m := fact(anaInOne, "likes tea", 0)
		m.CreatedAt = time.Date(2026, 1, 2, 3, 4, 5, 123456000, zone)
		m.UpdatedAt = time.Date(1969, 1, 2, 3, 4, 5, 1000, zone)
		added, err := e.Memories.AddMemory(t.Context(), m, 10)
		must(t, err)
		if added.CreatedAt != m.CreatedAt.UTC() || added.UpdatedAt != m.UpdatedAt.UTC() {
			t.Errorf("got %v and %v, want %v and %v", added.CreatedAt, added.UpdatedAt, m.CreatedAt.UTC(), m.UpdatedAt.UTC())
		}
	})
}
