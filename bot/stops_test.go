package bot

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// Who stopped a turn is said once in its channel: by the answer to /kill where that was given, else below the turn.
func TestWhoStoppedIsSaidOnce(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tea := tw.channel(t, "tea")
	// finish ends the turns of both channels; when says before or after the kill has returned.
	var finish func()
	during := false
	tw.turns.kill = func(_ context.Context, r turn.KillRequest) turn.KillReport {
		if during {
			finish()
		}
		var rep turn.KillReport
		for n, c := range []discordsim.ID{tw.general, tea} {
			if r.ChannelID == "" || r.ChannelID == string(c) {
				rep.Killed = append(rep.Killed, turn.KilledTurn{TurnID: turn.ID([]string{"t1", "t2"}[n]), ChannelID: string(c), OwnerName: "ana"})
			}
		}
		return rep
	}
	tw.start(t)
	said := func(c discordsim.ID) (n int) {
		for _, m := range tw.world.Messages(c) {
			if m.Deleted.IsZero() {
				n += strings.Count(m.Content, "Stopped by")
			}
		}
		return n
	}
	for _, c := range []struct {
		name   string
		during bool
	}{{"the turn ends after the answer", false}, {"the turn ends before the answer", true}} {
		t.Run(c.name, func(t *testing.T) {
			during = c.during
			before := [2]int{said(tw.general), said(tea)}
			open := [2]turn.Surface{
				tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild)}),
				tw.bot.Open(turn.Opening{TurnID: "t2", ChannelID: string(tea), GuildID: string(tw.guild)}),
			}
			half := "Half an answer, since " + c.name
			for n, ch := range []discordsim.ID{tw.general, tea} {
				open[n].Text(half)
				tw.said(t, ch, func(m discordsim.Message) bool { return m.Content == half })
			}
			finish = func() {
				for _, s := range open {
					s.Finish(context.Background(), turn.Ending{
						Status: store.TurnStoppedByUser, Cause: abort.Killed{By: string(tw.olga.ID), Guild: true}, Public: "Stopped by <@" + string(tw.olga.ID) + ">.",
					})
				}
			}
			text, private := tw.use(t, tw.olga, tw.general, "kill", opt("scope", "guild"))
			if private || !strings.Contains(text, "Stopped by") {
				t.Errorf("%q, private %v", text, private)
			}
			if !c.during {
				finish()
			}
			if got := [2]int{said(tw.general) - before[0], said(tea) - before[1]}; got != [2]int{1, 1} {
				t.Errorf("said %v times in the channel of the command and in the other", got)
			}
			for _, ch := range []discordsim.ID{tw.general, tea} {
				tw.said(t, ch, func(m discordsim.Message) bool { return strings.HasPrefix(m.Content, half+"\n-# stopped") })
			}
		})
	}
	t.Run("killed from elsewhere later", func(t *testing.T) {
		before := said(tw.general)
		tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general)}).Finish(t.Context(), turn.Ending{
			Status: store.TurnStoppedByUser, Cause: abort.Killed{By: string(tw.olga.ID)}, Public: "Stopped by <@1>.",
		})
		if got := said(tw.general) - before; got != 1 {
			t.Errorf("said %d times", got)
		}
	})
}

// A kill while a card is open says that the tool was not run; once it was approved, that it ran.
func TestKillOfAnOpenCard(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.turns.kill = func(context.Context, turn.KillRequest) turn.KillReport {
		return turn.KillReport{Killed: []turn.KilledTurn{{TurnID: "t1", ChannelID: string(tw.general), OwnerName: "ana", Tool: "draw"}}}
	}
	tw.turns.status = turn.ChannelStatus{Running: &turn.RunningStatus{TurnID: "t1", Tool: "draw", Approval: true}}
	tw.start(t)
	s := tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general)})
	must(t, errOf(s.Ask(t.Context(), testCard(tw, "tok", turn.Card{TurnID: "t1", Tool: "draw", Approver: turn.ApproverModerator}))))
	if text, _ := tw.use(t, tw.mod, tw.general, "kill"); !strings.Contains(text, "draw waited for an approval: it was not run") {
		t.Errorf("open card: %q", text)
	}
	if text, _ := tw.use(t, tw.mod, tw.general, "status"); !strings.Contains(text, "waiting for an approval") {
		t.Errorf("status with an open card: %q", text)
	}
	m := tw.said(t, tw.general, func(m discordsim.Message) bool { return len(m.Components) > 0 })
	tw.answered(t, try(tw.mod.Click(m.ID, cardID("tok", actionApprove))).ID)
	if text, _ := tw.use(t, tw.mod, tw.general, "kill"); !strings.Contains(text, "while draw ran") {
		t.Errorf("approved: %q", text)
	}
	if text, _ := tw.use(t, tw.mod, tw.general, "status"); strings.Contains(text, "waiting for an approval") {
		t.Errorf("status when approved: %q", text)
	}
	s.CloseCard(t.Context(), "tok", turn.CardApproved)
	s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted})
}

// What runs in a channel that is deleted, in its threads, or in a server that the bot has left, is stopped.
func TestGoneChannelsAreStopped(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tea := tw.channel(t, "tea")
	tw.start(t)
	thread := try(tw.ana.Thread(tea, "cups", ""))
	try(tw.ana.Say(thread, "in the thread"))
	tw.turns.inbound(t, "in the thread")
	must(t, tw.world.DeleteChannel(tea))
	tw.turns.wait(t, "the stops", func() bool { return len(tw.turns.gone) == 1 })
	tw.bot.handle(t.Context(), event{kind: "GUILD_DELETE", data: []byte(`{"id":"` + tw.guild + `","unavailable":true}`)})
	tw.bot.handle(t.Context(), event{kind: "GUILD_DELETE", data: []byte(`{"id":"` + tw.guild + `"}`)})
	tw.turns.mu.Lock()
	defer tw.turns.mu.Unlock()
	slices.Sort(tw.turns.gone)
	one, other := string(tea), string(thread)
	if strings.Index(strings.Join(tw.turns.gone, " "), one) > strings.Index(strings.Join(tw.turns.gone, " "), other) {
		one, other = other, one
	}
	want := []string{string(tw.guild) + ": ", string(tw.guild) + ": " + one + " " + other}
	if !slices.Equal(tw.turns.gone, want) || len(tw.turns.kills) != 0 {
		t.Errorf("gone are %q, killed %v; want %q: an outage stops nothing", tw.turns.gone, tw.turns.kills, want)
	}
}
