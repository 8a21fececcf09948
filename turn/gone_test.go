package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestGone(t *testing.T) {
	t.Parallel()
	check(t, "a deleted channel ends its turn without anybody's kill and drops what waits, and no other", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs("I"), hangs("I"))
		w.say("ana", "c", "@bot one")
		waiting := w.say("ben", "c", "@bot two")
		w.say("cleo", "d", "@bot three")
		gone := w.edge.shown()[0]
		w.m.Gone(guildID, "c")
		w.pass(time.Second)
		w.ended(store.TurnSkipped)
		w.admission(waiting, "discard:channel_gone")
		if got := gone.public(); got != "" {
			t.Errorf("the channel that is gone was told %q", got)
		}
		if !w.m.IsBusy("d") {
			t.Error("the turn of the other channel ended too")
		}
		w.m.Gone(guildID)
		w.pass(time.Second)
		w.ended(store.TurnSkipped, store.TurnSkipped)
	})
	check(t, "another guild's channel is left alone", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs("I"))
		w.say("ana", "c", "@bot one")
		w.m.Gone("7001", "c")
		w.m.Gone("7001")
		w.pass(time.Second)
		w.ended()
	})
}

// A card that was approved is no card that is open: while its tool runs, the turn waits for nobody.
func TestApprovedToolIsNoOpenCard(t *testing.T) {
	t.Parallel()
	check(t, "status before and after the click", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("risky", sleeping(time.Minute), func(x *registry.Tool) { x.Approval = registry.ApproverOwner })}
		w.start()
		defer w.stop()
		w.model.will(calls("risky", "{}"))
		w.say("ana", "c", "@bot go")
		if r := w.m.Status("c").Running; r == nil || !r.Approval {
			t.Fatalf("with the card open the status is %+v", r)
		}
		w.m.Approve(w.edge.last().cards[0].Token, turn.Decision{Approve: true, By: person("ana").ID})
		w.pass(time.Second)
		if r := w.m.Status("c").Running; r == nil || r.Approval || r.Tool != "risky" {
			t.Errorf("while the approved tool runs the status is %+v", r)
		}
	})
}

// shared counts events for several managers, as a server does.
type shared struct {
	mu     sync.Mutex
	counts map[store.Rate]int
	away   bool
}

func (s *shared) count(c store.Claim) (over store.Rate, err error) {
	if s == nil {
		return over, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return over, store.ErrUnavailable
	}
	for _, x := range c.Counts {
		if s.counts[x.Rate] >= x.Limit && !c.Free {
			return x.Rate, nil
		}
	}
	for _, x := range c.Counts {
		s.counts[x.Rate]++
	}
	return over, nil
}

func TestSharedRates(t *testing.T) {
	t.Parallel()
	two := func(t *testing.T, rates *shared) (a, b *world) {
		a, b = newWorld(t), newWorld(t)
		for _, w := range []*world{a, b} {
			w.limits.TurnsPerMinuteMember = 2
			w.store.rates, w.shared = rates, true
			w.start()
		}
		return a, b
	}
	check(t, "two processes count together, and the member is told by the one that refuses", func(t *testing.T) {
		a, b := two(t, &shared{counts: map[store.Rate]int{}})
		defer a.stop()
		defer b.stop()
		a.admission(a.say("ana", "c", "@bot 1"), "admit:mention")
		b.admission(b.say("ana", "d", "@bot 2"), "admit:mention")
		a.admission(a.say("ana", "c", "@bot 3"), "refuse:member_rate")
		b.admission(b.say("ben", "d", "@bot 4"), "admit:mention")
		if got := a.edge.told(turn.NoticeRefused); len(got) != 1 || !strings.Contains(got[0].Text, "in a minute") {
			t.Errorf("told %+v", got)
		}
		if n := a.m.Reserved(); n != 0 {
			t.Errorf("%d turns stay counted", n)
		}
	})
	check(t, "a moderator who is exempt is not refused", func(t *testing.T) {
		a, b := two(t, &shared{counts: map[store.Rate]int{}})
		defer a.stop()
		defer b.stop()
		a.must(a.m.SetGuildSwitch(context.Background(), a.place("c"), turn.SwitchExemptModerators, true))
		for range 4 {
			a.admission(a.say("mod", "c", "@bot hi", moderator), "admit:mention")
			a.pass(time.Second)
		}
	})
	check(t, "what another process has claimed and text commands count for nobody", func(t *testing.T) {
		rates := &shared{counts: map[store.Rate]int{}}
		a, b := two(t, rates)
		defer a.stop()
		defer b.stop()
		in := a.say("ana", "c", "@bot 1")
		a.admission(in, "admit:mention")
		b.store.claims[in.MessageID] = time.Now() // by the other process: they share one server
		b.m.Receive(context.Background(), in)
		b.pass(time.Second)
		b.admission(in, "ignore:duplicate")
		b.say("ana", "c", "@bot /cost")
		if n := len(b.edge.told(turn.NoticeCommand)); n != 1 {
			t.Errorf("%d commands were answered", n)
		}
		for of, n := range rates.counts {
			if n != 1 {
				t.Errorf("%+v counted %d", of, n)
			}
		}
		if len(rates.counts) != 2 {
			t.Errorf("counted %v, want the member and the channel", rates.counts)
		}
	})
	check(t, "with the server away each counts by itself", func(t *testing.T) {
		a, b := two(t, &shared{counts: map[store.Rate]int{}, away: true})
		defer a.stop()
		defer b.stop()
		a.admission(a.say("ana", "c", "@bot 1"), "admit:mention")
		b.admission(b.say("ana", "d", "@bot 2"), "admit:mention")
		a.admission(a.say("ana", "c", "@bot 3"), "admit:mention")
		a.admission(a.say("ana", "c", "@bot 4"), "refuse:member_rate")
	})
}

// What a page said may try to steer the model: after it, tools that keep things know that the turn holds others' words.
func TestOutsideContent(t *testing.T) {
	t.Parallel()
	row(t, "B77", "in the turn that read it, and in later ones whose member did not ask for it", func(t *testing.T) {
		w := newWorld(t)
		var outside []bool
		w.tools = []registry.Tool{
			tool("fetch", nil, func(x *registry.Tool) { x.Outside = true }),
			{Name: "keep", Description: "a fixture", Schema: object, NeedsFollowUp: true, Run: func(_ context.Context, tc registry.ToolContext, _ json.RawMessage) registry.Result {
				outside = append(outside, tc.OutsideContent)
				return registry.OK(nil)
			}},
		}
		w.edge.echo = true
		w.start()
		defer w.stop()
		w.model.will(calls("keep", "{}"), calls("fetch", "{}"), calls("keep", "{}"), says("done"))
		w.say("ana", "c", "@bot read this")
		w.pass(time.Second)
		w.model.will(calls("keep", "{}"), says("done"))
		w.say("ben", "c", "@bot thanks")
		w.pass(time.Second)
		w.model.will(calls("keep", "{}"), says("done"))
		w.say("ben", "c", "@bot remember that I like tea")
		w.pass(time.Second)
		w.model.will(calls("keep", "{}"), says("done"))
		w.say("ben", "d", "@bot elsewhere")
		if want := []bool{false, true, true, false, false}; !slices.Equal(outside, want) {
			t.Errorf("the tool was told %v, want %v", outside, want)
		}
	})
}
