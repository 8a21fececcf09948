package turn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

const (
	simChannels = 50
	simPeople   = 200
)

// TestSimulation lets random people do random things in virtual time and holds what happened to what must always hold.
func TestSimulation(t *testing.T) {
	t.Parallel()
	turns := 0
	for turns < 2000 {
		turns += simulateOnce(t)
	}
	t.Logf("%d turns", turns)
}

// TestSoakSimulation is the same for long: SOAK=1, and SOAK_TURNS for another number than a million.
func TestSoakSimulation(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("SOAK is not set")
	}
	want := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("SOAK_TURNS")); err == nil {
		want = n
	}
	turns, began := 0, time.Now()
	for turns < want && !t.Failed() {
		turns += simulateOnce(t)
	}
	t.Logf("%d turns in %s", turns, time.Since(began).Round(time.Second))
}

// simulateOnce runs one property check and returns how many turns ended in it.
func simulateOnce(t *testing.T) int {
	turns := 0
	rapid.Check(t, func(rt *rapid.T) {
		// All is drawn outside the bubble: rapid ends a case by a panic.
		p := simPlan{
			seed: rapid.Uint64().Draw(rt, "seed"),
			// Few of the channels in some runs, so that people meet; all of them in others.
			channels: rapid.SampledFrom([]int{1, 3, simChannels}).Draw(rt, "channels"),
			slow:     time.Duration(rapid.IntRange(0, 2).Draw(rt, "slow seconds")) * time.Second,
			steps:    rapid.SliceOfN(rapid.IntRange(0, 99), 20, 80).Draw(rt, "steps"),
		}
		var problems []string
		synctest.Test(t, func(t *testing.T) {
			var n int
			n, problems = simulate(t, p)
			turns += n
		})
		if len(problems) > 0 { // outside the bubble, so that rapid can shrink it
			rt.Fatal(strings.Join(problems, "\n"))
		}
	})
	return turns
}

// simPlan is what a run of the simulation is made of.
type simPlan struct {
	seed     uint64
	channels int
	// slow is how long last words take.
	slow  time.Duration
	steps []int
}

// sim is one simulated town.
type sim struct {
	*world
	rng *rand.Rand

	mu sync.Mutex
	// sent are the messages that were written, deleted those taken back.
	sent    map[string]turn.Inbound
	kills   map[turn.ID]bool
	actives map[string]int
	broken  []string
}

func simulate(t *testing.T, p simPlan) (turns int, problems []string) {
	s := &sim{
		world: newWorld(t), sent: map[string]turn.Inbound{}, kills: map[turn.ID]bool{}, actives: map[string]int{},
	}
	s.rng = rand.New(rand.NewPCG(p.seed, 1))
	s.tools = []registry.Tool{
		tool("quick", nil), tool("slow", sleeping(7*time.Second)), tool("fails", func(context.Context) registry.Result { return registry.Fail("no") }),
		tool("deaf", func(context.Context) registry.Result { elapse(20 * time.Second); return registry.OK(nil) }),
		tool("risky", nil, func(x *registry.Tool) { x.Approval = registry.ApproverOwner }),
	}
	s.loop.ApprovalTimeout = 30 * time.Second
	s.limits.TurnTimeout = 2 * time.Minute
	s.limits.ActivePerGuild = simChannels
	s.edge.echo = true
	s.edge.slow = p.slow
	s.model.brain = s.think
	s.tape.on = s.watch
	s.start()
	for _, what := range p.steps {
		s.mu.Lock()
		channel := fmt.Sprint(8000 + s.rng.IntN(p.channels))
		s.mu.Unlock()
		s.act(what, channel)
	}
	s.pass(10 * time.Minute) // all that waits gets its turn
	if n := s.m.Reserved(); n != 0 {
		s.wrong("%d turns are counted as running after the end", n)
	}
	if got := s.m.Totals(); got.RunningTurns != 0 || got.Waiting != 0 || got.ActiveChannels != 0 {
		s.wrong("after the end the totals are %+v", got)
	}
	s.stop()
	s.pass(time.Minute)
	s.judge()
	return len(s.tape.statuses()), s.broken
}

func (s *sim) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.broken) < 10 {
		s.broken = append(s.broken, fmt.Sprintf(format, args...))
	}
}

// think is what the model does next.
func (s *sim) think(r providers.Request) reply {
	s.mu.Lock()
	n := s.rng.IntN(100)
	s.mu.Unlock()
	if r.Messages[len(r.Messages)-1].Role == providers.RoleTool && n < 60 {
		return says("done")
	}
	switch {
	case n < 40:
		return reply{pieces: []string{"some ", "text"}, pace: time.Duration(n) * 100 * time.Millisecond, usage: 100}
	case n < 50:
		return calls("quick", "{}", "let me see")
	case n < 60:
		return calls("slow", "{}")
	case n < 64:
		return calls("fails", "{}")
	case n < 67:
		return calls("deaf", "{}")
	case n < 71:
		return calls("risky", "{}")
	case n < 78:
		return fails(providers.KindNetwork, "half")
	case n < 82:
		return says("")
	case n < 90:
		return reply{pieces: []string{"a", "b", "c"}, pace: 5 * time.Second}
	case n < 93:
		return hangs("I")
	case n < 94:
		return reply{panic: "broken model"}
	}
	return says("short")
}

// watch checks on every event what must hold at once.
func (s *sim) watch(e turn.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind == turn.EventDone {
		s.actives[e.ChannelID]--
	}
	if e.Kind == turn.EventStarted {
		if s.actives[e.ChannelID]++; s.actives[e.ChannelID] > 1 {
			s.broken = append(s.broken, "two turns run in channel "+e.ChannelID)
		}
		if _, ok := s.sent[e.MessageID]; !ok {
			s.broken = append(s.broken, "a turn began without a trigger: "+e.MessageID)
		}
	}
}

// act lets one random thing happen.
func (s *sim) act(what int, channel string) {
	s.mu.Lock()
	who := fmt.Sprintf("p%d", s.rng.IntN(simPeople))
	pause := time.Duration(s.rng.IntN(3000)) * time.Millisecond
	pick, text := s.rng.IntN(1000), s.rng.IntN(8)
	s.mu.Unlock()
	if running := s.m.Status(channel).Running; running != nil && pick < 300 {
		who = strings.TrimPrefix(running.OwnerID, "9") // the owner goes on
	}
	switch {
	case what < 60:
		words := []string{"@bot hello", "@bot do it", "hm", "@bot and?", "stop", "@bot please", "<@77> you", "and also"}
		in := s.message(who, channel, words[text])
		s.note(in)
		s.m.Receive(context.Background(), in)
		if pick%10 == 0 { // Discord sends it again
			s.m.Receive(context.Background(), in)
		}
	case what < 66:
		if in, ok := s.any(pick); ok {
			s.m.Edited(in.ChannelID, in.MessageID, in.Content+" indeed")
		}
	case what < 72:
		if in, ok := s.any(pick); ok {
			s.m.Deleted(in.ChannelID, in.MessageID)
		}
	case what < 80:
		s.noteKill(s.m.Kill(context.Background(), turn.KillRequest{
			ChannelID: channel, GuildID: guildID, Actor: turn.Actor{ID: person(who).ID, ManageMessages: pick%2 == 0},
		}))
	case what < 82:
		s.noteKill(s.m.Kill(context.Background(), turn.KillRequest{GuildID: guildID, Actor: turn.Actor{ID: "9mod", ManageGuild: true}}))
	case what < 86:
		for _, shown := range s.edge.shown() {
			shown.mu.Lock()
			cards := slices.Clone(shown.cards)
			shown.mu.Unlock()
			for _, c := range cards {
				s.m.Approve(c.Token, turn.Decision{Approve: pick%2 == 0, By: c.OwnerID})
			}
		}
	case what < 89:
		_ = s.m.Clear(context.Background(), s.place(channel))
	case what < 91:
		s.store.set(func(m *memory) { m.away = pick%3 == 0; m.delay = time.Duration(pick%3) * 300 * time.Millisecond })
	case what < 94:
		s.restart(time.Duration(pick%3) * 5 * time.Second)
	case what < 95 && pick%4 == 0: // the channel is deleted; Discord may be late with what was written there
		s.m.Gone(guildID, channel)
	case what < 95:
		_, _ = s.m.Submit(context.Background(), s.command(who, channel), turn.Mode(pick%2))
	default:
		s.pass(pause * 10)
	}
	elapse(pause)
	if st := s.m.Status(channel); st.Waiting > s.limits.QueueLimit+1 {
		s.wrong("%d wait in channel %s", st.Waiting, channel)
	}
}

func (s *sim) command(who, channel string) turn.Inbound {
	in := s.message(who, channel, "go")
	in.Kind = turn.KindCommand
	s.note(in)
	return in
}

func (s *sim) note(in turn.Inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[in.MessageID] = in
}

func (s *sim) noteKill(rep turn.KillReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range rep.Killed {
		if s.kills[k.TurnID] {
			s.broken = append(s.broken, "killed twice: "+string(k.TurnID))
		}
		s.kills[k.TurnID] = true
	}
}

// any is one of the messages that were sent.
func (s *sim) any(pick int) (turn.Inbound, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.sent))
	for id := range s.sent {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return turn.Inbound{}, false
	}
	slices.Sort(ids)
	return s.sent[ids[len(ids)-1-pick%min(len(ids), 12)]], true
}

// restart ends the process within a grace and starts the next one on the same store.
func (s *sim) restart(grace time.Duration) {
	// A store that stays away to the end leaves the next process without what only this one knew.
	s.store.set(func(m *memory) { m.away, m.delay = false, 0 })
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.m.Drain(ctx)
	if n := s.m.Reserved(); n != 0 {
		s.wrong("%d turns are counted as running after the drain", n)
	}
	s.start()
}

// judge looks back at what happened.
func (s *sim) judge() {
	type life struct {
		admitted, ended int
		status          store.TurnStatus
		message         string
	}
	lives, started := map[turn.ID]*life{}, map[string][]turn.Event{}
	of := func(id turn.ID) *life {
		if lives[id] == nil {
			lives[id] = &life{}
		}
		return lives[id]
	}
	natural := map[turn.ID]bool{}
	answered := map[string]int{}
	for _, e := range s.tape.all() {
		switch {
		case e.Kind == turn.EventAdmission && strings.HasPrefix(e.Text, "admit:"):
			of(e.TurnID).admitted++
			of(e.TurnID).message = e.MessageID
		case e.Kind == turn.EventAdmission && strings.HasPrefix(e.Text, "discard:") && e.TurnID != "":
			of(e.TurnID).ended++
		case e.Kind == turn.EventAdmission && strings.HasPrefix(e.Text, "stop:"):
			natural[e.TurnID] = true
		case e.Kind == turn.EventStarted:
			started[e.ChannelID] = append(started[e.ChannelID], e)
			answered[e.MessageID]++
		case e.Kind == turn.EventDone:
			of(e.TurnID).ended++
			of(e.TurnID).status = e.Status
		}
	}
	for id, l := range lives {
		if l.admitted != 1 || l.ended != 1 {
			s.wrong("turn %s was admitted %d times and ended %d times", id, l.admitted, l.ended)
		}
		if s.kills[id] && l.status != store.TurnStoppedByUser {
			s.wrong("the killed turn %s ended as %q", id, l.status)
		}
		if l.status == store.TurnStoppedByUser && !s.kills[id] && !natural[id] {
			s.wrong("turn %s was stopped by nobody", id)
		}
	}
	for id, n := range answered {
		if n > 1 {
			s.wrong("message %s was answered %d times", id, n)
		}
	}
	for channel, events := range started {
		s.judgeOrder(channel, events, func(id turn.ID) store.TurnStatus { return lives[id].status })
	}
	for _, shown := range s.edge.shown() {
		if shown.ends != 1 {
			s.wrong("a surface was finished %d times", shown.ends)
		}
	}
}

// judgeOrder: turns begin in the order in which their messages were written, but for a follow-up, which takes the place
// of the turn that it interrupted or that ended just then, and for what is submitted, which needs no admission and so
// does not wait for a guild's settings to be read.
func (s *sim) judgeOrder(channel string, started []turn.Event, status func(turn.ID) store.TurnStatus) {
	last := ""
	for i, e := range started {
		if e.Text == string(turn.ReasonCommand) || i > 0 && status(started[i-1].TurnID) != store.TurnCompleted && started[i-1].OwnerID == e.OwnerID {
			continue
		}
		if last != "" && turn.CompareIDs(e.MessageID, last) < 0 {
			s.wrong("in channel %s the turn of %s began late, after one of %s that ended as %s", channel, e.OwnerID, started[i-1].OwnerID, status(started[i-1].TurnID))
		}
		last = e.MessageID
	}
}
