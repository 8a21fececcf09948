package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parleybot/parley/store"
)

// Ids that Discord counts up with time: what came before an erasure, the erasure, and what came later, a minute
// apart around the time at which the tests begin.
const (
	idBefore = "1477636270325760000"
	idErased = "1477636521984000000"
	idLater  = "1477636773642240000"
)

// tooLate is about what comes after an erasure though it came about before: from this process or another.
func tooLate(t *testing.T, open func(t *testing.T) Engine) {
	erase := func(t *testing.T, e Engine) {
		t.Helper()
		_, _, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana", Before: idErased})
		must(t, err)
	}
	export := func(t *testing.T, e Engine, member string) string {
		t.Helper()
		exported, err := e.Members.ExportMember(t.Context(), member)
		must(t, err)
		text, err := json.Marshal(exported)
		must(t, err)
		return string(text)
	}
	old := func(id string) store.Turn {
		turn := begun(id, "c", 0)
		turn.TriggerID, turn.Prompt = idBefore, canary
		return turn
	}

	t.Run("B76 what comes late of an erased turn is left out", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		running := old("running")
		must(t, e.Turns.BeginTurn(t.Context(), running))
		must(t, e.Journal.OpenCall(t.Context(), call("running", "k", 0)))
		card := store.Approval{Token: "another's", TurnID: "another's", OwnerID: "mod", OpenedAt: start}
		must(t, e.Approvals.OpenApproval(t.Context(), card))
		erase(t, e)

		must(t, e.Turns.FinishTurn(t.Context(), ended(running, store.TurnStoppedByUser), store.ModelUsage{Model: "m", Usage: store.Usage{Input: 7}}))
		unknown := ended(old("never begun"), store.TurnCompleted)
		unknown.GuildID, unknown.ChannelID = "", "dm"
		must(t, e.Turns.FinishTurn(t.Context(), unknown, store.ModelUsage{Model: "m", Usage: store.Usage{Input: 7}}))
		c := call("running", "k", 0)
		c.Result = canary
		for what, err := range map[string]error{
			"begin": e.Turns.BeginTurn(t.Context(), old("late")),
			"begin by its time": func() error {
				turn := old("older")
				turn.TriggerID = ""
				turn.StartedAt = start.AddDate(-1, 0, 0)
				return e.Turns.BeginTurn(t.Context(), turn)
			}(),
			"remember in the turn": func() error {
				m := fact(anaInOne, canary, 900) // long after
				m.AuthorID, m.TurnID, m.MessageID = "ana", "running", ""
				_, err := e.Memories.AddMemory(t.Context(), m, 10)
				return err
			}(),
			"remember by command": func() error {
				m := fact(anaInOne, canary, 900)
				m.AuthorID, m.TurnID, m.MessageID = "ana", "", idBefore
				_, err := e.Memories.AddMemory(t.Context(), m, 10)
				return err
			}(),
			"remember about the server": func() error {
				m := guildFact("1", canary, 900)
				m.AuthorID, m.TurnID, m.MessageID = "ana", "running", idBefore
				_, err := e.Memories.AddMemory(t.Context(), m, 10)
				return err
			}(),
			"note": func() error {
				n := inMind("c", "plot", canary, 900)
				n.AuthorID, n.TurnID = "ana", "running"
				return e.ShortTerms.PutShortTerm(t.Context(), n, 5)
			}(),
			"wait": func() error {
				w := waiting(idBefore, 900)
				w.OwnerID, w.Payload = "ana", json.RawMessage(`{"text":"`+canary+`"}`)
				return e.Triggers.PutWaiting(t.Context(), w)
			}(),
			"ask": e.Approvals.OpenApproval(t.Context(), store.Approval{
				Token: "late", TurnID: "running", OwnerID: "ana", Arguments: canary, OpenedAt: after(900),
			}),
		} {
			if !errors.Is(err, store.ErrErased) {
				t.Errorf("%s: %v, want ErrErased", what, err)
			}
		}
		if err := e.Journal.CloseCall(t.Context(), done(c)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a call's end: %v, want ErrNotFound", err)
		}
		if err := e.Journal.OpenCall(t.Context(), call("running", "k2", 1)); err == nil {
			t.Error("a call of the erased turn was written")
		}
		card.Status, card.DecidedBy, card.Reason, card.DecidedAt = store.ApprovalDenied, "ana", canary, start.AddDate(-1, 0, 0)
		if won, err := e.Approvals.DecideApproval(t.Context(), card); err != nil || !won {
			t.Errorf("a late decision: %t, %v", won, err)
		}
		for _, a := range []store.AuditEntry{{ActorID: "ana"}, {ActorID: "mod", SubjectID: "ana"}} {
			a.GuildID, a.Action, a.Detail, a.At = "1", "killed", canary, start.AddDate(-1, 0, 0)
			must(t, e.Audit.AddAudit(t.Context(), a))
		}

		if text := export(t, e, "ana"); strings.Contains(text, canary) || strings.Contains(text, `"id":`) || strings.Contains(text, `"model"`) {
			t.Errorf("kept of the member after all:\n%s", text)
		}
		recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
		must(t, err)
		if len(recent) > 0 {
			t.Errorf("turns are back: %+v", recent)
		}
		acts, err := e.Audit.AuditOf(t.Context(), "1", 10)
		must(t, err)
		for _, a := range acts {
			if a.ActorID == "ana" || a.SubjectID == "ana" || a.Detail != "" {
				t.Errorf("an act with the name: %+v", a)
			}
		}
		if len(acts) != 2 {
			t.Errorf("%d acts, want 2", len(acts))
		}
		for q, want := range map[store.UsageQuery]int{{}: 14, {MemberID: "ana"}: 0, {ChannelID: "dm"}: 0} {
			totals, err := e.Ledger.UsageOf(t.Context(), q)
			must(t, err)
			n := 0
			for _, u := range totals {
				n += u.Usage.Input
			}
			if n != want {
				t.Errorf("%+v: %d tokens, want %d", q, n, want)
			}
		}
	})

	t.Run("what comes about later is kept", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		erase(t, e)
		_, _, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana", Before: idBefore}) // does not move it back
		must(t, err)
		if err := e.Turns.BeginTurn(t.Context(), old("late")); !errors.Is(err, store.ErrErased) {
			t.Errorf("the erasure was moved back: %v", err)
		}
		for _, owner := range []string{"ana", "eric"} {
			turn := old("later of " + owner)
			if turn.OwnerID = owner; owner == "ana" {
				turn.TriggerID = idLater
			}
			must(t, e.Turns.BeginTurn(t.Context(), turn))
			must(t, e.Journal.OpenCall(t.Context(), call(turn.ID, "k", 0)))
			m := fact(anaInOne, "likes tea", 0)
			m.MemberID, m.AuthorID, m.TurnID, m.MessageID = owner, owner, turn.ID, turn.TriggerID
			_, err := e.Memories.AddMemory(t.Context(), m, 10)
			must(t, err)
			if m.Content = "likes cake"; owner == "ana" {
				_, err = e.Memories.AddMemory(t.Context(), m, 1)
				if !errors.Is(err, store.ErrLimit) {
					t.Errorf("one too many: %v, want ErrLimit", err)
				}
			}
			n := inMind("c of "+owner, "plot", "x", 900)
			n.AuthorID, n.TurnID = owner, turn.ID
			must(t, e.ShortTerms.PutShortTerm(t.Context(), n, 5))
			w := waiting(turn.TriggerID, 0)
			w.OwnerID = owner
			must(t, e.Triggers.PutWaiting(t.Context(), w))
			card := store.Approval{Token: owner, TurnID: turn.ID, OwnerID: owner, OpenedAt: after(900)}
			must(t, e.Approvals.OpenApproval(t.Context(), card))
			card.Status, card.DecidedBy, card.DecidedAt = store.ApprovalDenied, owner, after(900)
			_, err = e.Approvals.DecideApproval(t.Context(), card)
			must(t, err)
			must(t, e.Audit.AddAudit(t.Context(), store.AuditEntry{GuildID: "1", ActorID: owner, Action: "killed", Detail: "x", At: after(900)}))
			must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted), store.ModelUsage{Model: "m"}))

			kept, err := e.Members.ExportMember(t.Context(), owner)
			must(t, err)
			for what, n := range map[string]int{
				"turns": len(kept.Turns), "calls": len(kept.Turns[0].Calls), "memories": len(kept.Memories), "notes": len(kept.ShortTerm),
				"waiting": len(kept.Waiting), "cards": len(kept.Approvals), "acts": len(kept.Audit), "usage": len(kept.Usage),
			} {
				if n != 1 {
					t.Errorf("%d %s of %s, want 1", n, what, owner)
				}
			}
		}
		if text := export(t, e, "ana"); !strings.Contains(text, `"settings":{"erased_before":"`+idErased+`"}`) {
			t.Errorf("the settings are not as they should be:\n%s", text)
		}
	})
}
