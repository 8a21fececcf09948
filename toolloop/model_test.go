package toolloop_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/providers"
)

// A step is one scripted round trip: fragments, waits, an error, or functions to call at that point.
type step []any

// wait passes virtual time inside a step, unless the request's context ends.
type wait time.Duration

func say(text string) providers.Fragment   { return providers.TextDelta{Text: text} }
func think(text string) providers.Fragment { return providers.ThinkingDelta{Text: text} }

// pending is a tool call in a script; its slot is its place among the step's calls.
type pending struct{ name, arguments, id string }

func call(name, arguments string) pending { return pending{name: name, arguments: arguments} }

// answer is a step that ends as it should; cutOff one that ends at the output limit.
func answer(pieces ...any) step {
	return append(step(pieces), providers.End{Reason: providers.FinishStop})
}

func cutOff(pieces ...any) step {
	return append(step(pieces), providers.End{Reason: providers.FinishLength})
}

// model plays a script and keeps what it was sent. Every request it gets is checked for what all vendors demand.
type model struct {
	t    testing.TB
	name string
	// endless repeats the last step for ever.
	endless bool
	// spoil changes what was sent, as a careless wire might.
	spoil bool

	mu       sync.Mutex
	script   []step
	requests []providers.Request
}

func (m *model) Name() string {
	if m.name != "" {
		return m.name
	}
	return "scripted"
}

func (m *model) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := sendable(req.Messages); err != nil {
		m.t.Errorf("request %d: %v", len(m.requests)+1, err)
	}
	m.requests = append(m.requests, req)
	if m.spoil {
		for i := range req.Messages {
			req.Messages[i].Content = "spoilt"
		}
		req.Messages = append(req.Messages, providers.Message{Role: providers.RoleUser, Content: "spoilt"})
	}
	next := answer()
	switch {
	case len(m.script) == 0:
		m.t.Errorf("round trip %d is not in the script", len(m.requests))
	case len(m.script) == 1 && m.endless:
		next = m.script[0]
	default:
		next, m.script = m.script[0], m.script[1:]
	}
	return play(ctx, next)
}

func play(ctx context.Context, s step) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		slot := 0
		for _, piece := range s {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			switch p := piece.(type) {
			case providers.Fragment:
				if !yield(p, nil) {
					return
				}
			case pending:
				d := providers.CallDelta{Slot: slot, ID: p.id, Name: p.name, Arguments: p.arguments}
				slot++
				if !yield(d, nil) {
					return
				}
			case wait:
				select {
				case <-time.After(time.Duration(p)):
				case <-ctx.Done():
				}
			case func():
				p()
			case error:
				yield(nil, p)
				return
			default:
				panic(fmt.Sprintf("a script cannot hold %T", piece))
			}
		}
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
		}
	}
}

// sent is the messages of request n, from 1.
func (m *model) sent(n int) []providers.Message {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > len(m.requests) {
		m.t.Fatalf("%d requests were made, not %d", len(m.requests), n)
	}
	return m.requests[n-1].Messages
}

func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// sendable says what is wrong with a conversation: each call must have exactly one result, in call order, directly after
// the message that made it, with arguments that are an object; nothing local and nothing empty is sent.
func sendable(messages []providers.Message) error {
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		switch m.Role {
		case providers.RoleTool:
			return fmt.Errorf("message %d: a result without a call: %q", i, m.Content)
		case providers.RoleNote:
			return fmt.Errorf("message %d: a note was sent", i)
		case providers.RoleAssistant:
			if strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0 {
				return fmt.Errorf("message %d: an assistant message that says nothing", i)
			}
			for _, c := range m.Calls {
				i++
				if i == len(messages) || messages[i].Role != providers.RoleTool || messages[i].CallKey != c.Key {
					return fmt.Errorf("call %s (%s) has no result right after it", c.Key, c.Name)
				}
				if messages[i].Content == "" {
					return fmt.Errorf("call %s (%s) has an empty result", c.Key, c.Name)
				}
				if strings.TrimSpace(c.Name) == "" || len(c.Name) > 64 {
					return fmt.Errorf("call %s has the name %q", c.Key, c.Name)
				}
				if a := providers.Classify(c.Arguments, providers.FinishStop); a.State != providers.Whole {
					return fmt.Errorf("call %s (%s) is sent with arguments %q", c.Key, c.Name, c.Arguments)
				}
			}
		case providers.RoleSystem, providers.RoleUser:
		}
	}
	return nil
}

// results gives the tool messages of a conversation, as "name: content".
func results(messages []providers.Message) []string {
	var out []string
	for _, m := range messages {
		if m.Role == providers.RoleTool {
			out = append(out, m.ToolName+": "+m.Content)
		}
	}
	return out
}

// told counts the messages in which a text stands.
func told(messages []providers.Message, text string) int {
	n := 0
	for _, m := range messages {
		n += strings.Count(m.Content, text)
	}
	return n
}

// offered are the names of the tools that request n told of.
func (m *model) offered(n int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, spec := range m.requests[n-1].Tools {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	return names
}
