package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

func retention(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("the newest turns of each channel stay while they are young, and what is open always", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		ctx := t.Context()
		const day = 24 * 3600
		for i, channel := range []string{"a", "b"} {
			for n := range 6 {
				id := fmt.Sprintf("%s%d", channel, n)
				turn := begun(id, channel, n*day+i)
				must(t, e.Turns.BeginTurn(ctx, turn))
				must(t, e.Journal.OpenCall(ctx, call(id, "k", n*day)))
				must(t, e.Journal.CloseCall(ctx, done(call(id, "k", n*day))))
				if id != "a0" { // it still runs, however old
					end, spent := ended(turn, store.TurnCompleted), []store.ModelUsage(nil)
					if channel == "b" && n < 4 {
						end.FinishedAt, spent = after(n*day), []store.ModelUsage{{Model: "m", Usage: store.Usage{Input: 1 << n}}}
					}
					must(t, e.Turns.FinishTurn(ctx, end, spent...))
				}
			}
		}
		for n := range 4 {
			must(t, e.Audit.AddAudit(ctx, store.AuditEntry{GuildID: "1", Action: "kill", At: after(n * day)}))
			token := fmt.Sprint(n)
			must(t, e.Approvals.OpenApproval(ctx, store.Approval{Token: token, OpenedAt: after(n * day)}))
			if n > 0 {
				_, err := e.Approvals.DecideApproval(ctx, store.Approval{Token: token, Status: store.ApprovalDenied, DecidedAt: after(n * day)})
				must(t, err)
			}
		}
		must(t, e.ShortTerms.PutShortTerm(ctx, store.ShortTerm{ChannelID: "b", Category: "new", UpdatedAt: after(6 * day)}, 5))
		must(t, e.ShortTerms.PutShortTerm(ctx, store.ShortTerm{ChannelID: "a", Category: "old", UpdatedAt: after(0)}, 5))

		keep := store.Retention{TurnsPerChannel: 4, Turns: 4 * 24 * time.Hour, Ledgers: 5 * 24 * time.Hour}
		erased, err := e.Pruner.Prune(ctx, keep, after(6*day+2)) // turns before day 2, ledgers before day 1, both with 2 s to spare
		must(t, err)
		want := store.Erased{
			store.KindTurns: 5, store.KindCalls: 5, store.KindApprovals: 2, store.KindUsage: 2, store.KindAudit: 2, store.KindShortTerm: 1,
		}
		if diff := cmp.Diff(want, erased); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, channel := range []string{"a", "b"} {
			turns, err := e.Turns.RecentTurns(ctx, channel, 100)
			must(t, err)
			if len(turns) != 3 || turns[0].ID != channel+"3" {
				t.Errorf("%s keeps %d turns", channel, len(turns))
			}
		}
		// b2 is gone, and what it cost is not; finishing a turn that is gone writes it once more, and not what it cost.
		again := ended(begun("b2", "b", 2*day), store.TurnCompleted)
		must(t, e.Turns.FinishTurn(ctx, again, store.ModelUsage{Model: "m", Usage: store.Usage{Input: 1000}}))
		if totals, err := e.Ledger.UsageOf(ctx, store.UsageQuery{}); err != nil || len(totals) != 1 || totals[0].Usage.Input != 4+8 {
			t.Errorf("the ledger keeps %+v, %v", totals, err)
		}
		if calls, err := e.Journal.Calls(ctx, "a0"); err != nil || len(calls) != 1 {
			t.Errorf("the running turn has %d calls, %v", len(calls), err)
		}
		if cards, err := e.Approvals.OpenApprovals(ctx); err != nil || len(cards) != 1 {
			t.Errorf("%d open cards, %v", len(cards), err)
		}
		keep = store.Retention{TurnsPerChannel: 1}
		erased, err = e.Pruner.Prune(ctx, keep, after(1000*day))
		must(t, err)
		if erased[store.KindTurns] != 5 || erased[store.KindUsage] != 0 {
			t.Errorf("by number alone: %v", erased)
		}
		erased, err = e.Pruner.Prune(ctx, store.Retention{}, after(2000*day))
		must(t, err)
		if len(erased) > 0 {
			t.Errorf("without a rule: %v", erased)
		}
	})
}
