package turn_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{
			tool("sleep", sleeping(time.Hour)),
			tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverModerator }),
		}
		w.start()
		defer w.stop()
		ctx, mod := context.Background(), w.place("c")
		w.must(w.m.SetLogChannel(ctx, mod, "77"))
		_, err := w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "sleep", Scope: turn.ScopeChannel})
		w.must(err)
		_, err = w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "sleep", Scope: turn.ScopeChannel, On: true})
		w.must(err)
		_, err = w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Scope: turn.ScopeGuild, On: true})
		w.must(err)
		w.must(w.m.Clear(ctx, mod))
		w.must(w.m.SetMemberDeliberate(ctx, mod, turn.DeliberateOn)) // a member's own business
		w.must(w.m.SetSystem(ctx, w.at("ana", "", "dm"), "secret"))  // and so is a private chat
		w.must(w.m.SetMemberDeliberate(ctx, mod, turn.DeliberateOff))
		w.model.will(calls("note", `{}`))
		w.model.will(says("Noted."))
		asked := w.say("ana", "c", "@bot note it")
		card := w.edge.last().cards[0]
		if !w.m.Approve(card.Token, turn.Decision{Approve: true, By: "9mod"}) || w.m.Approve(card.Token, turn.Decision{By: "9late"}) {
			t.Fatal("the first click did not count, or the second did")
		}
		synctest.Wait()
		w.model.will(calls("sleep", `{}`))
		w.say("ana", "c", "@bot sleep")
		w.say("ben", "c", "@bot and me?")
		w.kill("mod", "c", true)
		first, _ := w.store.record(asked.MessageID)
		got := w.audited()
		for i := range got { // the killed turn's id is random
			if at := strings.LastIndex(got[i], "turn "); at >= 0 && !strings.HasPrefix(got[i], "approved") {
				got[i] = got[i][:at] + "turn"
			}
		}
		if diff := cmp.Diff([]string{
			"setting_changed 9mod> c log_channel in this server: 77",
			"tool_switched 9mod> c sleep off in this channel",
			"tool_switched 9mod> c sleep on in this channel",
			"tool_switched 9mod> c all tools on in this server",
			"conversation_cleared 9mod> c ",
			"approved 9mod>9ana c note, turn " + first.ID,
			"killed 9mod>9ana c turn",
			"killed 9mod> c waiting messages dropped: 1",
		}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}

		if _, err := w.m.AuditLog(ctx, w.at("ana", guildID, "c")); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member: %v", err)
		}
		if _, err := w.m.AuditLog(ctx, turn.Place{ChannelID: "dm", Actor: mod.Actor}); refusedAs(t, err) != turn.RefusedElsewhere {
			t.Errorf("in private: %v", err)
		}
		if all, err := w.m.AuditLog(ctx, mod); err != nil || len(all) != len(got) || all[0].Action != turn.ActionKilled {
			t.Errorf("%+v, %v", all, err)
		}
		here := w.at("mod", guildID, "elsewhere")
		here.Actor.ManageMessages = true
		if all, err := w.m.AuditLog(ctx, here); err != nil || len(all) != 0 {
			t.Errorf("a moderator of another channel sees %+v, %v", all, err)
		}
		here.ChannelID = "c"
		if all, err := w.m.AuditLog(ctx, here); err != nil || len(all) != len(got) {
			t.Errorf("a moderator of the channel sees %d, %v", len(all), err)
		}
	})
}

// A store that is away keeps nobody from stopping, switching or approving.
func TestAuditFailsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverOwner })}
		w.start()
		defer w.stop()
		w.model.will(calls("note", `{}`))
		w.model.will(says("Noted."))
		w.store.set(func(s *memory) { s.broken = true })
		w.say("ana", "c", "@bot note it")
		w.pass(time.Minute)
		if cards := w.edge.last().cards; len(cards) > 0 {
			w.m.Approve(cards[0].Token, turn.Decision{Approve: true, By: "9ana"})
		}
		w.pass(time.Minute)
		if n := len(w.tape.statuses()); n != 1 {
			t.Errorf("%d turns ended", n)
		}
	})
}

func TestApprovalsAreRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(w *world, token string)
		want   store.Approval
	}{
		"approved": {
			func(w *world, token string) { w.m.Approve(token, turn.Decision{Approve: true, By: "9ana"}) },
			store.Approval{Status: store.ApprovalApproved, DecidedBy: "9ana"},
		},
		"denied with a reason": {
			func(w *world, token string) { w.m.Approve(token, turn.Decision{Reason: " later ", By: "9ana"}) },
			store.Approval{Status: store.ApprovalDenied, DecidedBy: "9ana", Reason: "later"},
		},
		"killed":  {func(w *world, _ string) { w.kill("ana", "c", false) }, store.Approval{Status: store.ApprovalStopped}},
		"expired": {func(w *world, _ string) { w.pass(time.Hour) }, store.Approval{Status: store.ApprovalExpired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.tools = []registry.Tool{tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverOwner })}
				w.start()
				defer w.stop()
				w.model.will(calls("note", `{"text":"tea"}`))
				w.model.will(says("Well."))
				w.say("ana", "c", "@bot note it")
				token := w.edge.last().cards[0].Token
				w.store.mu.Lock()
				open := w.store.approvals[0]
				w.store.mu.Unlock()
				if open.Status != store.ApprovalOpen || open.MessageID != "card "+token || open.Arguments != `{"text":"tea"}` || open.OwnerID != "9ana" {
					t.Errorf("recorded as %+v", open)
				}
				c.decide(w, token)
				w.pass(time.Second)
				w.store.mu.Lock()
				got := w.store.approvals[0]
				w.store.mu.Unlock()
				if got.Status != c.want.Status || got.DecidedBy != c.want.DecidedBy || got.Reason != c.want.Reason || got.DecidedAt.IsZero() {
					t.Errorf("recorded as %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

// B52: a card that was open when the process died is closed at the next start, and tried again when that fails.
func TestOpenCardsAreWithdrawnAtTheNextStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store.approvals = []store.Approval{
			{Token: "a", TurnID: "t", ChannelID: "c", GuildID: guildID, MessageID: "m", Tool: "note", OwnerID: "9ana", Status: store.ApprovalOpen},
			{Token: "b", TurnID: "t", MessageID: "decided", Status: store.ApprovalDenied},
		}
		w.edge.broken = map[string]bool{"withdraw": true}
		w.start()
		synctest.Wait()
		w.stop()
		if got := w.store.approvals[0]; got.Status != store.ApprovalOpen {
			t.Errorf("closed though it could not be shown: %+v", got)
		}
		w.edge.broken = nil
		w.start()
		defer w.stop()
		synctest.Wait()
		if diff := cmp.Diff([]string{"m note"}, w.edge.withdrawn); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := w.store.approvals[0]; got.Status != store.ApprovalStopped {
			t.Errorf("%+v", got)
		}
	})
}
