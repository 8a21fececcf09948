package toolloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// noJournal is a store that is off.
type noJournal struct{}

func (noJournal) OpenCall(context.Context, store.Call) error  { return nil }
func (noJournal) CloseCall(context.Context, store.Call) error { return nil }

// caller is a model that makes the same answer to every request until n were made, and then says a word.
type caller struct {
	calls []providers.Fragment
	n     int
	asked int
}

func (c *caller) Name() string { return "bench" }

func (c *caller) Stream(context.Context, providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		if c.asked++; c.asked <= c.n {
			for _, f := range c.calls {
				if !yield(f, nil) {
					return
				}
			}
		} else if !yield(providers.TextDelta{Text: "done"}, nil) {
			return
		}
		yield(providers.End{Reason: providers.FinishStop}, nil)
	}
}

// BenchmarkTurn measures what the loop adds to a turn: round trips that say a word (per iteration), and calls of a tool
// that does nothing (per call), with the store off. The difference of two lines divided by their calls is the cost of one.
func BenchmarkTurn(b *testing.B) {
	for _, shape := range []struct{ iterations, calls int }{{0, 0}, {1, 1}, {1, 16}, {10, 1}, {99, 1}} {
		b.Run(fmt.Sprintf("iterations=%d/calls=%d", shape.iterations, shape.calls), func(b *testing.B) {
			r, err := registry.New(registry.Tool{
				Name: "noop", Description: "does nothing", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
				Run: func(context.Context, registry.ToolContext, json.RawMessage) registry.Result { return registry.OK("ok") },
			})
			if err != nil {
				b.Fatal(err)
			}
			limits := toolloop.DefaultLimits()
			loop := toolloop.New(toolloop.Deps{Registry: r, Journal: noJournal{}, Broker: toolloop.NewBroker(), Limits: limits, Log: zerolog.Nop()})
			var calls []providers.Fragment
			for i := range shape.calls {
				calls = append(calls, providers.CallDelta{Slot: i, ID: "call", Name: "noop", Arguments: `{"n":1}`})
			}
			before := []providers.Message{{Role: providers.RoleUser, Content: "ada: go"}}
			b.ReportAllocs()
			began := time.Now()
			for b.Loop() {
				turn := &toolloop.Turn{ID: "t", ChannelID: "c", UserID: "u", Shared: registry.NewShared(nil, nil, nil)}
				res := loop.Run(b.Context(), turn, toolloop.Attempt{
					Provider: &caller{calls: calls, n: shape.iterations}, Model: "m", Messages: before,
				})
				if res.Status != store.TurnCompleted {
					b.Fatalf("%s: %v", res.Status, res.Err)
				}
			}
			if n := shape.iterations * shape.calls; n > 0 {
				b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N*n), "µs/call")
			}
		})
	}
}
