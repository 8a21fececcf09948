package bot

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestKill(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	killed := turn.KillReport{Discarded: 2, Killed: []turn.KilledTurn{{
		TurnID: "t1", ChannelID: string(tw.general), OwnerID: string(tw.ana.ID), OwnerName: "@everyone *ana*",
		Tool: "web_search", Finished: []string{"remember", "remember", "list_dir"},
	}}}
	var (
		mu     sync.Mutex
		report turn.KillReport
		hold   chan struct{}
	)
	set := func(r turn.KillReport, h chan struct{}) {
		mu.Lock()
		defer mu.Unlock()
		report, hold = r, h
	}
	tw.turns.kill = func(ctx context.Context, _ turn.KillRequest) turn.KillReport {
		mu.Lock()
		r, h := report, hold
		mu.Unlock()
		if h != nil {
			select {
			case <-h:
			case <-ctx.Done():
			}
		}
		return r
	}
	tw.start(t)

	t.Run("by a moderator", func(t *testing.T) {
		set(killed, nil)
		i := try(tw.mod.Slash(tw.general, "kill"))
		s := tw.answered(t, i.ID)
		got := tw.text(s.Original)
		for _, want := range []string{"<@" + string(tw.mod.ID) + ">", "while web\\_search ran", "Already done: remember (2×), list\\_dir", "dropped: 2"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in %q", want, got)
			}
		}
		m, _ := tw.world.Message(s.Original)
		if s.Ephemeral || !m.Pings.None() {
			t.Errorf("ephemeral %v, pings %+v", s.Ephemeral, m.Pings)
		}
		req := tw.turns.kills[len(tw.turns.kills)-1]
		if req.ChannelID != string(tw.general) || req.GuildID != string(tw.guild) || !req.Actor.ManageMessages || req.Actor.ManageGuild {
			t.Errorf("request %+v", req)
		}
	})
	t.Run("whole server by its owner", func(t *testing.T) {
		set(killed, nil)
		i := try(tw.olga.Slash(tw.general, "kill", discordsim.Option{Name: "scope", Value: "guild"}))
		tw.answered(t, i.ID)
		req := tw.turns.kills[len(tw.turns.kills)-1]
		if req.ChannelID != "" || req.GuildID != string(tw.guild) || !req.Actor.ManageGuild || !req.Actor.ManageMessages {
			t.Errorf("request %+v", req)
		}
	})
	t.Run("refused", func(t *testing.T) {
		set(turn.KillReport{Refused: true}, nil)
		s := tw.answered(t, try(tw.ana.Slash(tw.general, "kill")).ID)
		if !s.Ephemeral || !strings.Contains(tw.text(s.Original), "Nothing was stopped") {
			t.Errorf("%+v %q", s, tw.text(s.Original))
		}
	})
	t.Run("no server in private", func(t *testing.T) {
		s := tw.answered(t, try(tw.ana.Slash(tw.ana.DM(), "kill", discordsim.Option{Name: "scope", Value: "guild"})).ID)
		if !s.Ephemeral {
			t.Errorf("%+v", s)
		}
	})
	t.Run("slow and public", func(t *testing.T) {
		h := make(chan struct{})
		set(killed, h)
		i := try(tw.mod.Slash(tw.general, "kill"))
		if s := tw.answered(t, i.ID); s.Answer != discordsim.AnswerDeferred || s.Answered.Sub(s.Sent) > 2*time.Second {
			t.Errorf("%+v", s)
		}
		close(h)
		tw.wait(t, "the text", func(v discordsim.View) bool {
			s, _ := v.Interaction(i.ID)
			m, _ := v.Message(s.Original)
			return strings.Contains(m.Content, "Stopped by") && m.Pings.None()
		})
	})
	t.Run("slow and refused", func(t *testing.T) {
		h := make(chan struct{})
		set(turn.KillReport{Refused: true}, h)
		i := try(tw.ana.Slash(tw.general, "kill"))
		tw.answered(t, i.ID)
		close(h)
		tw.wait(t, "a private answer", func(v discordsim.View) bool {
			s, _ := v.Interaction(i.ID)
			first, _ := v.Message(s.Original)
			if len(s.FollowUps) != 1 || first.Deleted.IsZero() {
				return false
			}
			m, _ := v.Message(s.FollowUps[0])
			return m.VisibleTo == tw.ana.ID && strings.Contains(m.Content, "Nothing was stopped")
		})
	})
}

// B102: when the token is gone, a public answer goes to the channel, a private one nowhere.
func TestExpiredTokenFallsBackToTheChannel(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{now: time.Now()}
	tw := newTown(t, discordsim.Config{Clock: clock.read}, nil)
	release := make(chan struct{})
	tw.turns.kill = func(context.Context, turn.KillRequest) turn.KillReport {
		<-release
		return turn.KillReport{Discarded: 1}
	}
	tw.start(t)
	i := try(tw.mod.Slash(tw.general, "kill"))
	tw.answered(t, i.ID)
	clock.advance(16 * time.Minute)
	close(release)
	m := tw.said(t, tw.general, func(m discordsim.Message) bool { return strings.Contains(m.Content, "dropped: 1") })
	if m.Interaction != "" || m.VisibleTo != "" {
		t.Errorf("%+v", m)
	}
}

type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestStatusAndHelp(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.turns.status = turn.ChannelStatus{Waiting: 3, Running: &turn.RunningStatus{
		OwnerName: "ana", StartedAt: time.Now().Add(-90 * time.Second), Iteration: 1, Tool: "web_search", Model: "m-1", Provider: "rehearsal",
	}, Last: &store.Turn{Status: store.TurnCompleted}}
	tw.start(t)
	s := tw.answered(t, try(tw.ana.Slash(tw.general, "status")).ID)
	got := tw.text(s.Original)
	for _, want := range []string{"1 min 30 s: ana's turn, round 2, tool web\\_search", "Model: m-1 (rehearsal)", "Waiting here: 3", "Up for"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	h := tw.answered(t, try(tw.ana.Slash(tw.ana.DM(), "help")).ID)
	if !s.Ephemeral || !h.Ephemeral || !strings.Contains(tw.text(h.Original), "`/kill`") {
		t.Errorf("help: %q", tw.text(h.Original))
	}
}

// B79: whoever is blocked is refused alike by message, command and button.
func TestBlockedEverywhere(t *testing.T) {
	t.Parallel()
	var blockedID string
	tw := newTown(t, discordsim.Config{}, func(c *Config, _ *Deps) {
		c.Blocked = func(_, _, user string) bool { return user == blockedID }
	})
	tw.turns.tools.Tools = []turn.ToolInfo{{Name: "draw"}}
	blockedID = string(tw.mod.ID)
	tw.start(t)
	card := testCard(tw, "tok", turn.Card{Approver: "moderator"})
	s := tw.bot.Open(turn.Opening{ChannelID: string(tw.general)})
	must(t, errOf(s.Ask(t.Context(), card)))
	m := tw.said(t, tw.general, func(m discordsim.Message) bool { return len(m.Components) > 0 })
	try(tw.mod.Say(tw.general, "from mod"))
	for _, i := range []*discordsim.Interaction{
		try(tw.mod.Slash(tw.general, "kill")), try(tw.mod.Click(m.ID, cardID("tok", actionApprove))),
	} {
		if got := tw.answered(t, i.ID); !got.Ephemeral || tw.text(got.Original) != string(refusedBlocked) {
			t.Errorf("%+v %q", got, tw.text(got.Original))
		}
	}
	if got := tw.answered(t, try(tw.mod.Autocomplete(tw.general, "tools off", "tool", opt("tool", ""))).ID); len(got.Choices) != 0 {
		t.Errorf("completions %+v", got.Choices)
	}
	try(tw.ana.Say(tw.general, "from ana"))
	tw.turns.inbound(t, "from ana")
	tw.turns.mu.Lock()
	fromMod := func(in turn.Inbound) bool { return in.Author.ID == blockedID }
	if slices.ContainsFunc(tw.turns.inbounds, fromMod) || len(tw.turns.kills) != 0 || len(tw.turns.decided) != 0 {
		t.Errorf("got through: %+v %+v %+v", tw.turns.inbounds, tw.turns.kills, tw.turns.decided)
	}
	tw.turns.mu.Unlock()
	s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted})
}

type memoryHash struct {
	mu    sync.Mutex
	value string
	saves int
}

func (m *memoryHash) Load(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, nil
}

func (m *memoryHash) Save(_ context.Context, v string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value = v
	m.saves++
	return nil
}

// B87: an unchanged set is written once, over restarts; a changed one once more.
func TestCommandsAreWrittenWhenTheyChanged(t *testing.T) {
	t.Parallel()
	saved := &memoryHash{}
	tw := newTown(t, discordsim.Config{}, nil)
	app := string(tw.world.Bot())
	start := func(t *testing.T) {
		t.Helper()
		tw.newBot(t, func(_ *Config, d *Deps) { d.Commands = saved })
		defer tw.bot.Close()
		_, err := tw.bot.writeCommands(t.Context(), app)
		must(t, err)
	}
	writes := func() (n int) {
		tw.world.Look(func(v discordsim.View) { n = count[discordsim.CommandsRegistered](v) })
		return n
	}
	for range 20 {
		start(t)
	}
	if writes() != 1 || saved.saves != 1 {
		t.Errorf("%d writes, %d saves of an unchanged set", writes(), saved.saves)
	}
	saved.value = "of an older set"
	start(t)
	if writes() != 2 || saved.saves != 2 {
		t.Errorf("%d writes, %d saves after a change", writes(), saved.saves)
	}
	must(t, tw.world.Inject(discordsim.Fault{Route: "PUT /applications/{application_id}/commands", Kind: discordsim.FaultStatus, Status: 403}))
	saved.value = "of an older set"
	tw.newBot(t, func(_ *Config, d *Deps) { d.Commands = saved })
	defer tw.bot.Close()
	if _, err := tw.bot.writeCommands(t.Context(), app); err == nil || saved.value != "of an older set" {
		t.Errorf("a refused write: %v, saved %q", err, saved.value)
	}
}
