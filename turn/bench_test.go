package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/turn"
)

// busyWorld has n channels with a running turn each: every second one streams, the others are inside a tool. closed is
// called when the stream or the tool of a channel's turn hears of its end. Without one, all end by themselves with release.
func busyWorld(b *testing.B, n int, release <-chan struct{}, closed func(channel string, at time.Time)) *world {
	b.Helper()
	w := newWorld(b)
	w.limits.ActivePerGuild, w.limits.ActivePerMember = n+1, n+1
	var running sync.WaitGroup
	running.Add(n)
	w.tools = []registry.Tool{{
		Name: "hold", Description: "a fixture", Schema: object,
		Run: func(ctx context.Context, tc registry.ToolContext, _ json.RawMessage) registry.Result {
			running.Done()
			select {
			case <-ctx.Done():
				closed(tc.ChannelID, time.Now())
			case <-release:
			}
			return registry.Result{Success: true, EndTurn: true}
		},
	}}
	w.models = []turn.Model{{Name: "m-1", Provider: holding{running: &running, release: release, closed: closed}}}
	w.start()
	for i := range n {
		w.m.Receive(context.Background(), w.message(fmt.Sprint("p", i), fmt.Sprint("c", i), "@bot go"))
	}
	running.Wait()
	return w
}

// holding is a model that streams for ever in even channels, and calls the tool in odd ones.
type holding struct {
	running *sync.WaitGroup
	release <-chan struct{}
	closed  func(channel string, at time.Time)
}

func (holding) Name() string { return "fixture" }

func (h holding) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	var who int
	_, _ = fmt.Sscanf(req.Messages[len(req.Messages)-1].Content, "p%d:", &who)
	return func(yield func(providers.Fragment, error) bool) {
		if who%2 == 1 {
			_ = yield(providers.CallDelta{ID: "x", Name: "hold", Arguments: "{}"}, nil) && yield(providers.End{Reason: providers.FinishStop}, nil)
			return
		}
		if !yield(providers.TextDelta{Text: "I"}, nil) {
			return
		}
		h.running.Done()
		select {
		case <-ctx.Done():
			h.closed(fmt.Sprint("c", who), time.Now())
			yield(nil, ctx.Err())
		case <-h.release:
			yield(providers.End{Reason: providers.FinishStop}, nil)
		}
	}
}

// BenchmarkKill measures, with 1,000 channels active, how long it takes from a kill to the end of the stream or tool that
// runs, and to the end of the turn, when the channel is free again.
func BenchmarkKill(b *testing.B) {
	const channels = 1000
	var heard, freed []time.Duration
	for b.Loop() {
		b.StopTimer()
		ended := make(chan time.Time, 1)
		w := busyWorld(b, channels, nil, func(_ string, at time.Time) {
			select {
			case ended <- at:
			default:
			}
		})
		free := make(chan time.Time, 1)
		w.tape.on = func(e turn.Event) {
			if e.Kind == turn.EventDone {
				select {
				case free <- time.Now():
				default:
				}
			}
		}
		b.StartTimer()
		for i := range 200 {
			began := time.Now()
			rep := w.m.Kill(context.Background(), turn.KillRequest{
				ChannelID: fmt.Sprint("c", i), GuildID: guildID, Actor: turn.Actor{ID: "9mod", ManageMessages: true},
			})
			if len(rep.Killed) != 1 {
				b.Fatalf("the kill reported %+v", rep)
			}
			heard = append(heard, (<-ended).Sub(began))
			freed = append(freed, (<-free).Sub(began))
		}
		b.StopTimer()
		w.tape.on = nil
		w.stop()
		b.StartTimer()
	}
	for name, all := range map[string][]time.Duration{"cancelled": heard, "free": freed} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-p50-µs")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-µs")
	}
}

func inUse() (heap, stacks uint64) {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc, s.StackInuse
}

// BenchmarkChannelMemory measures what a channel costs in which a turn has run, and one in which a turn runs.
func BenchmarkChannelMemory(b *testing.B) {
	const channels = 1000
	for b.Loop() {
		empty, unstacked := inUse()
		release := make(chan struct{})
		w := busyWorld(b, channels, release, nil)
		w.tape.events = nil
		heap, stacks := inUse()
		b.ReportMetric(float64(heap+stacks-empty-unstacked)/channels, "active-B/channel")
		close(release)
		for w.m.Totals().ActiveChannels > 0 {
			runtime.Gosched()
		}
		w.tape.events, w.edge.surfaces = nil, nil // the fixture's own, and the records, which a database would hold
		w.store.set(func(s *memory) {
			s.turns, s.rows, s.journal, s.claims, s.counted = nil, nil, nil, map[string]time.Time{}, map[string][]string{}
		})
		heap, _ = inUse() // an idle channel has no goroutine; the runtime keeps the stacks of the ended ones for a while
		b.ReportMetric(float64(heap-empty)/channels, "idle-B/channel")
		w.stop()
	}
}
