package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleybot/parley/store"
)

func inMind(channel, category, content string, seconds int) store.ShortTerm {
	return store.ShortTerm{
		ChannelID: channel, Category: category, GuildID: "1", AuthorID: "ana", TurnID: "t", Content: content, UpdatedAt: after(seconds),
	}
}

func shortTerms(t *testing.T, open func(t *testing.T) Engine) {
	of := func(t *testing.T, e Engine, channel string, now time.Time) []store.ShortTerm {
		t.Helper()
		all, err := e.ShortTerms.ShortTermOf(t.Context(), channel, now)
		must(t, err)
		return all
	}

	t.Run("TL166 TL167 TL168 one category is written, the others stay", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "plot", "a heist", 0), 5))
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "mood", "tense", 1), 5))
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "plot", "a heist gone wrong", 2), 5))
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("other", "plot", "a wedding", 3), 5))
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		want := []store.ShortTerm{inMind("c", "mood", "tense", 1), inMind("c", "plot", "a heist gone wrong", 2)}
		if diff := cmp.Diff(want, of(t, e, "c", after(3))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		must(t, e.ShortTerms.ClearShortTerm(t.Context(), "c"))
		if left := of(t, e, "c", after(3)); len(left) > 0 {
			t.Errorf("left after clear: %+v", left)
		}
		if left := of(t, e, "other", after(3)); len(left) != 1 {
			t.Errorf("clear emptied another channel")
		}
	})

	t.Run("24 hours, and what is over counts no more", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "old", "x", 0), 1))
		if all := of(t, e, "c", start.Add(store.ShortTermTTL-time.Second)); len(all) != 1 {
			t.Errorf("just before: %+v", all)
		}
		if all := of(t, e, "c", start.Add(store.ShortTermTTL)); len(all) != 0 {
			t.Errorf("a day later: %+v", all)
		}
		err := e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "new", "x", 1), 1)
		if !errors.Is(err, store.ErrLimit) {
			t.Errorf("beside one that is kept: %v, want ErrLimit", err)
		}
		must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind("c", "new", "x", 24*3600), 1))
	})

	t.Run("64 categories on a limit of 5", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		written := 0
		for _, err := range together(func(i int) error {
			return e.ShortTerms.PutShortTerm(t.Context(), inMind("c", fmt.Sprint(i), "x", 0), store.ShortTermCategories)
		}) {
			switch {
			case err == nil:
				written++
			case !errors.Is(err, store.ErrLimit):
				t.Error(err)
			}
		}
		if kept := len(of(t, e, "c", start)); written != store.ShortTermCategories || kept != written {
			t.Errorf("%d written, %d kept, want %d", written, kept, store.ShortTermCategories)
		}
	})
}

func ledger(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("sums by model, once per turn", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, end := range []struct {
			id, guild, channel, member string
			spent                      []store.ModelUsage
		}{
			{"1", "1", "c", "ana", []store.ModelUsage{{Model: "big", Usage: store.Usage{
				Input: 10, Output: 1, CacheRead: 5, CacheWrite: 2, Reasoning: 1, CostNanos: 1 << 40,
			}}, {Model: "small", Usage: store.Usage{Input: 7}}}},
			{"2", "1", "d", "eric", []store.ModelUsage{{Model: "big", Usage: store.Usage{Input: 20, Output: 2, CostNanos: 3, Unpriced: true}}}},
			{"3", "2", "e", "ana", []store.ModelUsage{{Model: "big", Usage: store.Usage{Input: 40, Output: 4, CostNanos: 7}}}},
			{"3", "2", "e", "ana", []store.ModelUsage{{Model: "big", Usage: store.Usage{Input: 9999}}}},
			{"4", "2", "e", "ana", nil},
		} {
			turn := begun(end.id, end.channel, i)
			turn.GuildID, turn.OwnerID = end.guild, end.member
			if i%2 == 0 { // the others could not be begun
				must(t, e.Turns.BeginTurn(t.Context(), turn))
			}
			turn = ended(turn, store.TurnCompleted)
			turn.FinishedAt = after(i)
			must(t, e.Turns.FinishTurn(t.Context(), turn, end.spent...))
		}
		for _, test := range []struct {
			q    store.UsageQuery
			want []store.UsageTotal
		}{
			{store.UsageQuery{}, []store.UsageTotal{
				{Model: "big", Turns: 3, Usage: store.Usage{
					Input: 70, Output: 7, CacheRead: 5, CacheWrite: 2, Reasoning: 1, CostNanos: 1<<40 + 10, Unpriced: true,
				}}, {Model: "small", Turns: 1, Usage: store.Usage{Input: 7}},
			}},
			{store.UsageQuery{GuildID: "1", Since: after(1)}, []store.UsageTotal{
				{Model: "big", Turns: 1, Usage: store.Usage{Input: 20, Output: 2, CostNanos: 3, Unpriced: true}},
			}},
			{store.UsageQuery{MemberID: "ana", ChannelID: "e"}, []store.UsageTotal{{Model: "big", Turns: 1, Usage: store.Usage{Input: 40, Output: 4, CostNanos: 7}}}},
			{store.UsageQuery{MemberID: "nobody"}, nil},
		} {
			totals, err := e.Ledger.UsageOf(t.Context(), test.q)
			must(t, err)
			if diff := cmp.Diff(test.want, totals); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", test.q, diff)
			}
		}
	})

	t.Run("a turn that ends with no final status costs nothing, and one that a sweep has closed what it did", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn, spent := begun("t1", "c", 0), store.ModelUsage{Model: "big", Usage: store.Usage{Input: 7}}
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		if err := e.Turns.FinishTurn(t.Context(), turn, spent); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%v, want ErrInvalid", err)
		}
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnInterrupted)))
		totals, err := e.Ledger.UsageOf(t.Context(), store.UsageQuery{})
		if must(t, err); len(totals) > 0 {
			t.Errorf("before it has told what it cost: %+v", totals)
		}
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted), spent))
		totals, err = e.Ledger.UsageOf(t.Context(), store.UsageQuery{})
		must(t, err)
		if diff := cmp.Diff([]store.UsageTotal{{Model: "big", Turns: 1, Usage: spent.Usage}}, totals); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("64 ends of one turn", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := begun("t1", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		for _, err := range together(func(int) error {
			return e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted),
				store.ModelUsage{Model: "big", Usage: store.Usage{Input: 10}}, store.ModelUsage{Model: "small", Usage: store.Usage{Input: 1}})
		}) {
			must(t, err)
		}
		totals, err := e.Ledger.UsageOf(t.Context(), store.UsageQuery{})
		must(t, err)
		want := []store.UsageTotal{{Model: "big", Turns: 1, Usage: store.Usage{Input: 10}}, {Model: "small", Turns: 1, Usage: store.Usage{Input: 1}}}
		if diff := cmp.Diff(want, totals); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func audit(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("newest first, a guild's own", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		entry := func(guild, detail string, seconds int) store.AuditEntry {
			return store.AuditEntry{GuildID: guild, ChannelID: "c", ActorID: "mod", SubjectID: "ana", Action: "kill", Detail: detail, At: after(seconds)}
		}
		for _, a := range []store.AuditEntry{entry("1", "first", 0), entry("2", "elsewhere", 1), entry("1", "second", 2), entry("1", "third", 2)} {
			must(t, e.Audit.AddAudit(t.Context(), a))
		}
		all, err := e.Audit.AuditOf(t.Context(), "1", 2)
		must(t, err)
		want := []store.AuditEntry{entry("1", "third", 2), entry("1", "second", 2)}
		if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(store.AuditEntry{}, "ID")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func card(token string, seconds int) store.Approval {
	return store.Approval{
		Token: token, TurnID: "t", CallKey: "k", GuildID: "1", ChannelID: "c", MessageID: "m", Tool: "write_file",
		Arguments: `{"path":"a"}`, OwnerID: "ana", Status: store.ApprovalOpen, OpenedAt: after(seconds),
	}
}

func approvals(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("open, decide once, across a restart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Approvals.OpenApproval(t.Context(), card("late", 5)))
		must(t, e.Approvals.OpenApproval(t.Context(), card("early", 1)))
		if err := e.Approvals.OpenApproval(t.Context(), card("late", 9)); !errors.Is(err, store.ErrExists) {
			t.Errorf("opened twice: %v, want ErrExists", err)
		}
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		must(t, e.Approvals.ShowApproval(t.Context(), "unknown", "m"))
		must(t, e.Approvals.ShowApproval(t.Context(), "early", "its message"))
		early := card("early", 1)
		early.MessageID = "its message"
		running := begun("running", "c", 0)
		must(t, e.Turns.BeginTurn(t.Context(), running))
		waited := card("waited for", 6)
		waited.TurnID = running.ID
		must(t, e.Approvals.OpenApproval(t.Context(), waited))
		all, err := e.Approvals.OpenApprovals(t.Context())
		must(t, err)
		if diff := cmp.Diff([]store.Approval{early, card("late", 5)}, all); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := e.Approvals.DecideApproval(t.Context(), card("late", 5)); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("decided as open: %v, want ErrInvalid", err)
		}
		decided := card("late", 5)
		decided.Status, decided.DecidedBy, decided.Reason, decided.DecidedAt = store.ApprovalDenied, "mod", "no", after(9)
		for i, want := range []bool{true, false} {
			if won, err := e.Approvals.DecideApproval(t.Context(), decided); err != nil || won != want {
				t.Errorf("decision %d: %t, %v", i, won, err)
			}
		}
		decided.Token = "unknown"
		if won, err := e.Approvals.DecideApproval(t.Context(), decided); err != nil || won {
			t.Errorf("an unknown card: %t, %v", won, err)
		}
		all, err = e.Approvals.OpenApprovals(t.Context())
		must(t, err)
		if diff := cmp.Diff([]store.Approval{early}, all); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		must(t, e.Turns.FinishTurn(t.Context(), ended(running, store.TurnInterrupted)))
		all, err = e.Approvals.OpenApprovals(t.Context())
		must(t, err)
		if diff := cmp.Diff([]store.Approval{early, waited}, all); diff != "" {
			t.Errorf("when its turn has ended (-want +got):\n%s", diff)
		}
	})

	t.Run("64 clicks", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Approvals.OpenApproval(t.Context(), card("a", 0)))
		wins := 0
		for _, won := range together(func(i int) bool {
			a := card("a", 0)
			a.Status, a.DecidedBy = store.ApprovalApproved, fmt.Sprint(i)
			won, err := e.Approvals.DecideApproval(t.Context(), a)
			if err != nil {
				t.Error(err)
			}
			return won
		}) {
			if won {
				wins++
			}
		}
		if wins != 1 {
			t.Errorf("%d won, want 1", wins)
		}
	})
}
