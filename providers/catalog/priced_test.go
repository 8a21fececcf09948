package catalog

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
)

// played is a wire that says what it is told to.
type played struct {
	fragments []providers.Fragment
	err       error
}

func (played) Name() string { return "openai" }

func (p played) Stream(context.Context, providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		for _, f := range p.fragments {
			if !yield(f, nil) {
				return
			}
		}
		if p.err != nil {
			yield(nil, p.err)
		}
	}
}

func TestPriced(t *testing.T) {
	t.Parallel()
	text, end := providers.TextDelta{Text: "hi"}, providers.End{Reason: providers.FinishStop}
	used := providers.UsageReport{Usage: providers.Usage{Input: 10, Output: 2}, Model: "gpt-4o-2024-08-06"}
	cost, free := int64(10*2500+2*10000), int64(0)
	for _, test := range []struct {
		name, vendor, model string
		wire                played
		want                providers.Usage
	}{
		{"whole", "openai", "gpt-4o", played{fragments: []providers.Fragment{text, used, end}}, providers.Usage{Input: 10, Output: 2, CostNanos: cost}},
		{"usage after the end", "openai", "gpt-4o", played{fragments: []providers.Fragment{text, end, used}}, providers.Usage{Input: 10, Output: 2, CostNanos: cost}},
		{"cumulative usage", "openai", "gpt-4o", played{fragments: []providers.Fragment{
			providers.UsageReport{Usage: providers.Usage{Input: 10}}, text, used, end,
		}}, providers.Usage{Input: 10, Output: 2, CostNanos: cost}},
		{"cut off: at least what was known", "openai", "gpt-4o", played{fragments: []providers.Fragment{
			providers.UsageReport{Usage: providers.Usage{Input: 10}}, text,
		}}, providers.Usage{Input: 10, CostNanos: 25000, Unpriced: true}},
		{"broken off before any usage", "openai", "gpt-4o", played{fragments: []providers.Fragment{text}, err: context.Canceled}, providers.Usage{Unpriced: true}},
		{"refused: nothing was used", "openai", "gpt-4o", played{err: &providers.Error{Kind: providers.KindAuth}}, providers.Usage{}},
		{"no usage at all", "openai", "gpt-4o", played{fragments: []providers.Fragment{text, end}}, providers.Usage{Unpriced: true}},
		{"an unknown price", "openai", "none-such", played{fragments: []providers.Fragment{
			text, providers.UsageReport{Usage: providers.Usage{Input: 10}}, end,
		}}, providers.Usage{Input: 10, Unpriced: true}},
		{"the service's own word", "openrouter", "none/such", played{fragments: []providers.Fragment{
			text, providers.UsageReport{Usage: providers.Usage{Input: 10}, Reported: &cost}, end,
		}}, providers.Usage{Input: 10, CostNanos: cost}},
		{"the service's own word: free", "openrouter", "none/such", played{fragments: []providers.Fragment{
			text, providers.UsageReport{Usage: providers.Usage{Input: 10}, Reported: &free}, end,
		}}, providers.Usage{Input: 10}},
		{"a model that costs nothing, cut off", "ollama", "llama3.2:1b", played{fragments: []providers.Fragment{text}}, providers.Usage{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := Priced(test.wire, load(t, ""), test.vendor)
			got, err := providers.Collect(p.Stream(t.Context(), providers.Request{Model: test.model}), nil)
			if test.wire.err != nil && !errors.Is(err, test.wire.err) {
				t.Errorf("the error became %v", err)
			}
			if diff := cmp.Diff(test.want, got.Usage); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A request that is sent again was refused before it cost anything, and leaving a stream leaves the wire's.
func TestPricedBelowRetrying(t *testing.T) {
	t.Parallel()
	wire := &flaky{}
	p := providers.Retrying(Priced(wire, load(t, ""), "openai"), providers.RetryPolicy{})
	resp, err := providers.Collect(p.Stream(t.Context(), providers.Request{Model: "gpt-4o"}), nil)
	if err != nil || resp.Usage != (providers.Usage{Input: 1, CostNanos: 2500}) || wire.asked != 2 {
		t.Errorf("%+v, %v after %d requests", resp.Usage, err, wire.asked)
	}
	for f, err := range p.Stream(t.Context(), providers.Request{Model: "gpt-4o"}) {
		if f == nil || err != nil {
			t.Errorf("%v, %v", f, err)
		}
		break
	}
	if !wire.left {
		t.Error("leaving the stream did not reach the wire")
	}
}

type flaky struct {
	asked int
	left  bool
}

func (*flaky) Name() string { return "openai" }

func (f *flaky) Stream(context.Context, providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		if f.asked++; f.asked == 1 {
			yield(nil, &providers.Error{Kind: providers.KindOverloaded, Retryable: true, RetryAfter: 1})
			return
		}
		for _, x := range []providers.Fragment{
			providers.TextDelta{Text: "hi"}, providers.UsageReport{Usage: providers.Usage{Input: 1}}, providers.End{Reason: providers.FinishStop},
		} {
			if !yield(x, nil) {
				f.left = true
				return
			}
		}
	}
}
