package toolloop_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

// CD134: signed reasoning goes back with the calls it led to, unchanged and in every later request of the exchange, whoever
// is asked: the blocks say where they are from, and the wire decides. An answer without calls needs none.
func TestCD134SignedReasoningIsSentBackWithItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signed := func(text string) providers.ThinkingBlock {
			return providers.ThinkingBlock{Provider: "scripted", Model: "m-1", Raw: json.RawMessage(`{"thinking":"` + text + `","signature":"s"}`), AfterText: 2}
		}
		done := func(text string) providers.Fragment { return providers.ThinkingDone{Block: signed(text)} }
		f := newFixture(
			t,
			answer(think("one"), done("one"), say("hm"), done("two"), call("echo", `{"n":1}`), call("echo", `{"n":2}`)),
			answer(done("three"), call("echo", `{"n":3}`)),
			step{done("four"), call("echo", `{"n":4}`), errors.New("the connection broke")},
		).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnError)
		next := &model{t: t, name: "another", script: []step{answer(done("five"), say("well"))}}
		res := f.attempt(next)
		f.status(res, store.TurnCompleted)

		want := [][]providers.ThinkingBlock{{signed("one"), signed("two")}, {signed("three")}}
		for name, sent := range map[string][]providers.Message{"the third request": f.model.sent(3), "another model": next.sent(1), "the record": res.Messages} {
			var got [][]providers.ThinkingBlock
			for _, m := range sent {
				if len(m.ThinkingBlocks) > 0 {
					got = append(got, m.ThinkingBlocks)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
		if first := f.model.sent(2); len(first[1].ThinkingBlocks) != 2 || len(first[1].Calls) != 2 {
			t.Errorf("the second request has %+v", first[1])
		}
	})
}
