package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// Fill writes a record of every kind that the engine keeps: with the member's id wherever a record has a place for one,
// and something else in every other text. What tables and columns then hold shows where an id is kept; one that is empty
// shows that something is missing here.
func Fill(t *testing.T, e Engine, member string) {
	t.Helper()
	if e.Members != nil {
		fillLasting(t, e, member)
	}
	if e.Fleeting == nil {
		return
	}
	_, err := e.Claims.Claim(t.Context(), store.Claim{ID: "message", TTL: time.Minute, Counts: []store.Count{
		{Rate: store.Rate{Name: "turns", GuildID: "1", ChannelID: "c", MemberID: member}, Limit: 9, Window: time.Minute},
	}}, start)
	must(t, err)
	must(t, e.Windows.RetainWindow(t.Context(), "c", "tool", 3, start))
	_, err = e.Windows.ConsumeWindows(t.Context(), "c", "t", start)
	must(t, err)
}

func fillLasting(t *testing.T, e Engine, member string) {
	t.Helper()
	ctx := t.Context()
	for i, m := range []store.Memory{
		{Scope: store.ScopeMember, GuildID: "1", MemberID: member, Content: "a"}, {Scope: store.ScopeGuild, GuildID: "1", Content: "b"},
	} {
		m.AuthorID, m.TurnID, m.MessageID, m.CreatedAt = member, "t", "m", after(i)
		_, err := e.Memories.AddMemory(ctx, m, 9)
		must(t, err)
	}
	turn := begun("t", "c", 0)
	turn.OwnerID = member
	must(t, e.Turns.BeginTurn(ctx, turn))
	refused := call("t", "k", 0)
	refused.Status, refused.Reason, refused.Result, refused.FinishedAt = store.CallError, store.CallReasonDenied, "no", after(1)
	must(t, e.Journal.OpenCall(ctx, refused))
	must(t, e.Turns.FinishTurn(ctx, ended(turn, store.TurnCompleted), store.ModelUsage{Model: "m"}))
	must(t, e.Triggers.PutWaiting(ctx, store.Waiting{
		MessageID: "m", ChannelID: "c", GuildID: "1", OwnerID: member, Payload: json.RawMessage(`{}`), QueuedAt: start,
	}))
	for scope, id := range map[store.SettingScope]string{store.SettingGuild: "1", store.SettingChannel: "c", store.SettingMember: member} {
		must(t, e.Settings.PutSetting(ctx, store.Setting{Scope: scope, ID: id, Name: "n", Value: "v"}))
	}
	note := inMind("c", "plot", "x", 0)
	note.AuthorID, note.TurnID = member, "t"
	must(t, e.ShortTerms.PutShortTerm(ctx, note, 5))
	must(t, e.Audit.AddAudit(ctx, store.AuditEntry{
		GuildID: "1", ChannelID: "c", ActorID: member, SubjectID: member, Action: "killed", Detail: "x", At: start,
	}))
	for token, owner := range map[string]string{"mine": member, "another's": "mod"} {
		card := store.Approval{
			Token: token, TurnID: "t", CallKey: "k", GuildID: "1", ChannelID: "c", MessageID: "m", Tool: "note", Arguments: "{}",
			OwnerID: owner, OpenedAt: start,
		}
		must(t, e.Approvals.OpenApproval(ctx, card))
		if owner != member {
			card.Status, card.DecidedBy, card.Reason, card.DecidedAt = store.ApprovalDenied, member, "no", after(1)
			if won, err := e.Approvals.DecideApproval(ctx, card); err != nil || !won {
				t.Fatal(won, err)
			}
		}
	}
}
