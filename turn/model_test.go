package turn_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/providers"
)

// reply is what the model does with one request.
type reply struct {
	// pieces come one by one, every pace.
	pieces []string
	pace   time.Duration
	// wait is how long it is silent first; hang: for ever after the pieces.
	wait time.Duration
	hang bool
	// deaf is how long it takes to notice that the request has ended.
	deaf  time.Duration
	calls []providers.CallDelta
	err   error
	panic string
	usage int
	used  providers.Usage
}

func says(pieces ...string) reply { return reply{pieces: pieces} }

func hangs(pieces ...string) reply { return reply{pieces: pieces, hang: true} }

func calls(name, arguments string, text ...string) reply {
	return reply{pieces: text, calls: []providers.CallDelta{{ID: "x", Name: name, Arguments: arguments}}}
}

func fails(kind providers.ErrorKind, pieces ...string) reply {
	return reply{pieces: pieces, err: &providers.Error{Provider: "fixture", Kind: kind, Message: "no"}}
}

// model plays replies in order, then says "ok". It keeps what it was asked and how many requests are open.
type model struct {
	mu       sync.Mutex
	script   []reply
	brain    func(providers.Request) reply
	requests []providers.Request
	open     int
}

func (m *model) will(replies ...reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, replies...)
}

func (m *model) Name() string { return "fixture" }

func (m *model) next(req providers.Request) reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	m.open++
	if m.brain != nil {
		return m.brain(req)
	}
	if len(m.script) == 0 {
		return says("ok")
	}
	r := m.script[0]
	m.script = m.script[1:]
	return r
}

func (m *model) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	r := m.next(req)
	if r.panic != "" {
		panic(r.panic)
	}
	return func(yield func(providers.Fragment, error) bool) {
		defer func() {
			m.mu.Lock()
			m.open--
			m.mu.Unlock()
		}()
		pause := func(d time.Duration) bool {
			if d <= 0 {
				return true
			}
			select {
			case <-time.After(d):
				return true
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return false
			}
		}
		if !pause(r.wait) {
			return
		}
		for i, p := range r.pieces {
			if i > 0 && !pause(r.pace) || !yield(providers.TextDelta{Text: p}, nil) {
				return
			}
		}
		if r.used != (providers.Usage{}) && !yield(providers.UsageReport{Usage: r.used}, nil) {
			return
		}
		switch {
		case r.hang:
			<-ctx.Done()
			elapse(r.deaf)
			yield(nil, context.Cause(ctx))
			return
		case r.err != nil:
			yield(nil, r.err)
			return
		}
		for _, c := range r.calls {
			if !yield(c, nil) {
				return
			}
		}
		if r.usage > 0 && !yield(providers.UsageReport{Usage: providers.Usage{Input: r.usage, Output: 1}}, nil) {
			return
		}
		yield(providers.End{Reason: providers.FinishStop}, nil)
	}
}

func (m *model) asked() []providers.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// prompt is all the text of a request, one message a line.
func prompt(r providers.Request) string {
	lines := make([]string, len(r.Messages))
	for i, x := range r.Messages {
		lines[i] = string(x.Role) + "> " + x.Content
	}
	return strings.Join(lines, "\n")
}

func offered(r providers.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}
