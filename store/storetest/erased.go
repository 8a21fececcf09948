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
	for name, run := range map[string]func(t *testing.T, e Engine){
		"B76 what comes late of an erased turn is left out": lateOfErasedTurn,
		"acts and costs stay, without the name":             lateWithoutName,
		"what comes about later is kept":                    laterThanErasure,
		"a turn that is not on record is not an erased one": turnNotOnRecord,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
}

func eraseAna(t *testing.T, e Engine) {
	t.Helper()
	_, _, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana", Before: idErased})
	must(t, err)
}

func exported(t *testing.T, e Engine, member string) (store.Export, string) {
	t.Helper()
	all, err := e.Members.ExportMember(t.Context(), member)
	must(t, err)
	text, err := json.Marshal(all)
	must(t, err)
	return all, string(text)
}

// older is a turn of Ana's from before the erasure.
func older(id string) store.Turn {
	turn := begun(id, "c", 0)
	turn.TriggerID, turn.Prompt = idBefore, canary
	return turn
}

func lateOfErasedTurn(t *testing.T, e Engine) {
	must(t, e.Turns.BeginTurn(t.Context(), older("running")))
	must(t, e.Journal.OpenCall(t.Context(), call("running", "k", 0)))
	eraseAna(t, e)

	must(t, e.Turns.FinishTurn(t.Context(), ended(older("running"), store.TurnStoppedByUser)))
	must(t, e.Turns.FinishTurn(t.Context(), ended(older("never begun"), store.TurnCompleted)))
	byTime := older("older")
	byTime.TriggerID, byTime.StartedAt = "", start.AddDate(-1, 0, 0)
	inTurn, byCommand, ofServer := fact(anaInOne, canary, 900), fact(anaInOne, canary, 900), guildFact("1", canary, 900) // long after
	inTurn.TurnID, inTurn.MessageID = "running", ""
	byCommand.TurnID, byCommand.MessageID = "", idBefore
	ofServer.TurnID, ofServer.MessageID = "running", idBefore
	remember := func(m store.Memory) error {
		_, err := e.Memories.AddMemory(t.Context(), m, 10)
		return err
	}
	note := inMind("c", "plot", canary, 900)
	note.TurnID = "running"
	line := waiting(idBefore, 900)
	line.OwnerID, line.Payload = "ana", json.RawMessage(`{"text":"`+canary+`"}`)
	card := store.Approval{Token: "late", TurnID: "running", OwnerID: "ana", Arguments: canary, OpenedAt: after(900)}
	another := waiting(idBefore, 0)
	another.OwnerID = "eric"
	must(t, e.Triggers.PutWaiting(t.Context(), another))
	for what, err := range map[string]error{
		"begin":                     e.Turns.BeginTurn(t.Context(), older("late")),
		"begin by its time":         e.Turns.BeginTurn(t.Context(), byTime),
		"begin from the line":       e.Turns.BeginWaited(t.Context(), older("late")),
		"remember in the turn":      remember(inTurn),
		"remember by command":       remember(byCommand),
		"remember about the server": remember(ofServer),
		"note":                      e.ShortTerms.PutShortTerm(t.Context(), note, 5),
		"wait":                      e.Triggers.PutWaiting(t.Context(), line),
		"ask":                       e.Approvals.OpenApproval(t.Context(), card),
	} {
		if !errors.Is(err, store.ErrErased) {
			t.Errorf("%s: %v, want ErrErased", what, err)
		}
	}
	c := call("running", "k", 0)
	c.Result = canary
	if err := e.Journal.CloseCall(t.Context(), done(c)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a call's end: %v, want ErrNotFound", err)
	}
	if err := e.Journal.OpenCall(t.Context(), call("running", "k2", 1)); err == nil {
		t.Error("a call of the erased turn was written")
	}
	if _, text := exported(t, e, "ana"); strings.Contains(text, canary) || strings.Contains(text, `"id":`) {
		t.Errorf("kept of the member after all:\n%s", text)
	}
	recent, err := e.Turns.RecentTurns(t.Context(), "c", 10)
	must(t, err)
	if len(recent) > 0 {
		t.Errorf("turns are back: %+v", recent)
	}
}

func lateWithoutName(t *testing.T, e Engine) {
	must(t, e.Turns.BeginTurn(t.Context(), older("running")))
	card := store.Approval{Token: "another's", TurnID: "another's", OwnerID: "mod", OpenedAt: start}
	must(t, e.Approvals.OpenApproval(t.Context(), card))
	eraseAna(t, e)

	spent := store.ModelUsage{Model: "m", Usage: store.Usage{Input: 7}}
	must(t, e.Turns.FinishTurn(t.Context(), ended(older("running"), store.TurnStoppedByUser), spent))
	private := ended(older("never begun"), store.TurnCompleted)
	private.GuildID, private.ChannelID = "", "dm"
	must(t, e.Turns.FinishTurn(t.Context(), private, spent))
	card.Status, card.DecidedBy, card.Reason, card.DecidedAt = store.ApprovalDenied, "ana", canary, start.AddDate(-1, 0, 0)
	if won, err := e.Approvals.DecideApproval(t.Context(), card); err != nil || !won {
		t.Errorf("a late decision: %t, %v", won, err)
	}
	for _, a := range []store.AuditEntry{{ActorID: "ana"}, {ActorID: "mod", SubjectID: "ana"}} {
		a.GuildID, a.Action, a.Detail, a.At = "1", "killed", canary, start.AddDate(-1, 0, 0)
		must(t, e.Audit.AddAudit(t.Context(), a))
	}

	if _, text := exported(t, e, "ana"); strings.Contains(text, canary) || strings.Contains(text, `"model"`) {
		t.Errorf("kept of the member after all:\n%s", text)
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
		if n := tokensOf(t, e, q); n != want {
			t.Errorf("%+v: %d tokens, want %d", q, n, want)
		}
	}
}

func tokensOf(t *testing.T, e Engine, q store.UsageQuery) int {
	t.Helper()
	totals, err := e.Ledger.UsageOf(t.Context(), q)
	must(t, err)
	n := 0
	for _, u := range totals {
		n += u.Usage.Input
	}
	return n
}

func laterThanErasure(t *testing.T, e Engine) {
	eraseAna(t, e)
	_, _, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana", Before: idBefore}) // does not move it back
	must(t, err)
	if err := e.Turns.BeginTurn(t.Context(), older("late")); !errors.Is(err, store.ErrErased) {
		t.Errorf("the erasure was moved back: %v", err)
	}
	for _, owner := range []string{"ana", "eric"} {
		turn := older("later of " + owner)
		if turn.OwnerID = owner; owner == "ana" {
			turn.TriggerID = idLater
		}
		must(t, e.Turns.BeginTurn(t.Context(), turn))
		writeAll(t, e, turn)
		must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted), store.ModelUsage{Model: "m"}))
		allKept(t, e, owner)
	}
	if _, text := exported(t, e, "ana"); !strings.Contains(text, `"settings":{"erased_before":"`+idErased+`"}`) {
		t.Errorf("the settings are not as they should be:\n%s", text)
	}
}

// writeAll writes one of each record in the turn.
func writeAll(t *testing.T, e Engine, turn store.Turn) {
	t.Helper()
	owner := turn.OwnerID
	must(t, e.Journal.OpenCall(t.Context(), call(turn.ID, "k", 0)))
	m := fact(anaInOne, "likes tea", 0)
	m.MemberID, m.AuthorID, m.TurnID, m.MessageID = owner, owner, turn.ID, turn.TriggerID
	_, err := e.Memories.AddMemory(t.Context(), m, 10)
	must(t, err)
	m.Content = "likes cake"
	if _, err = e.Memories.AddMemory(t.Context(), m, 1); !errors.Is(err, store.ErrLimit) {
		t.Errorf("one too many of %s: %v, want ErrLimit", owner, err)
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
}

// allKept expects one of each record of a member.
func allKept(t *testing.T, e Engine, owner string) {
	t.Helper()
	kept, _ := exported(t, e, owner)
	if len(kept.Turns) != 1 {
		t.Fatalf("%d turns of %s, want 1", len(kept.Turns), owner)
	}
	for what, n := range map[string]int{
		"calls": len(kept.Turns[0].Calls), "memories": len(kept.Memories), "notes": len(kept.ShortTerm), "waiting": len(kept.Waiting),
		"cards": len(kept.Approvals), "acts": len(kept.Audit), "usage": len(kept.Usage),
	} {
		if n != 1 {
			t.Errorf("%d %s of %s, want 1", n, what, owner)
		}
	}
}

// A turn whose beginning could not be recorded has no record until it ends. Of a member who had everything erased once,
// that is no reason to lose what they told since, or whom it is counted against.
func turnNotOnRecord(t *testing.T, e Engine) {
	eraseAna(t, e)
	turn := older("unrecorded")
	turn.TriggerID = idLater
	remembered := fact(anaInOne, "likes tea", 900)
	remembered.TurnID, remembered.MessageID = turn.ID, idLater
	_, err := e.Memories.AddMemory(t.Context(), remembered, 10)
	must(t, err)
	days := 3 * 24 * 60 * 60 // what names no message is told by its time: no turn is as long
	note := inMind("c", "plot", "x", days)
	note.TurnID = turn.ID
	must(t, e.ShortTerms.PutShortTerm(t.Context(), note, 5))
	must(t, e.Approvals.OpenApproval(t.Context(), store.Approval{Token: "t", TurnID: turn.ID, OwnerID: "ana", OpenedAt: after(days)}))
	must(t, e.Turns.FinishTurn(t.Context(), ended(turn, store.TurnCompleted), store.ModelUsage{Model: "m", Usage: store.Usage{Input: 7}}))

	kept, _ := exported(t, e, "ana")
	for what, n := range map[string]int{
		"turns": len(kept.Turns), "memories": len(kept.Memories), "notes": len(kept.ShortTerm), "cards": len(kept.Approvals), "usage": len(kept.Usage),
	} {
		if n != 1 {
			t.Errorf("%d %s, want 1", n, what)
		}
	}
	if n := tokensOf(t, e, store.UsageQuery{MemberID: "ana"}); n != 7 {
		t.Errorf("%d tokens of the member, want 7", n)
	}
}
