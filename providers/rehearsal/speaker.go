package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/parleybot/parley/providers"
)

// pieceRunes is how much text one fragment carries: little, so that everything downstream meets many fragments.
const pieceRunes = 4

// bytesPerToken turns bytes into the token numbers the model reports; a rule of thumb is all a rehearsal needs.
const bytesPerToken = 4

// speaker streams one answer.
type speaker struct {
	ctx     context.Context
	yield   func(providers.Fragment, error) bool
	pace    time.Duration
	finish  providers.FinishReason
	attempt int
	slot    int
	out     int
}

// send yields one fragment after the pace; false means that the stream is over, with the context's error told.
func (s *speaker) send(f providers.Fragment) bool {
	if s.pace > 0 {
		timer := time.NewTimer(s.pace)
		defer timer.Stop()
		select {
		case <-s.ctx.Done():
		case <-timer.C:
		}
	}
	if err := s.ctx.Err(); err != nil {
		s.yield(nil, err)
		return false
	}
	return s.yield(f, nil)
}

// pieces cuts text into fragments and sends them.
func (s *speaker) pieces(text string, fragment func(string) providers.Fragment) bool {
	s.out += len(text)
	for text != "" {
		n, end := 0, 0
		for ; n < pieceRunes && end < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if !s.send(fragment(text[:end])) {
			return false
		}
		text = text[end:]
	}
	return true
}

// end reports usage and the finish; a missing finish is a stream that just stops.
func (s *speaker) end(req providers.Request) {
	in := len(req.System)
	for _, m := range req.Messages {
		in += len(m.Content)
	}
	usage := providers.UsageReport{
		Usage: providers.Usage{Input: tokens(in), Output: tokens(s.out)},
		Model: Name,
	}
	if !s.send(usage) || s.finish == providers.FinishMissing {
		return
	}
	s.send(providers.End{Reason: s.finish, Raw: string(s.finish)})
}

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// act is one thing a step does. perform reports whether the answer goes on.
type act interface{ perform(*speaker) bool }

type say struct{ text string }

func (a say) perform(s *speaker) bool {
	return s.pieces(a.text, func(p string) providers.Fragment { return providers.TextDelta{Text: p} })
}

type think struct{ text string }

func (a think) perform(s *speaker) bool {
	return s.pieces(a.text, func(p string) providers.Fragment { return providers.ThinkingDelta{Text: p} })
}

// call sends a tool call with the argument text as it stands, which need not be JSON.
type call struct{ name, arguments string }

func (a call) perform(s *speaker) bool {
	slot := s.slot
	s.slot++
	first := providers.CallDelta{Slot: slot, ID: fmt.Sprintf("call_%d", slot), Name: a.name}
	return s.send(first) && s.pieces(a.arguments, func(p string) providers.Fragment {
		return providers.CallDelta{Slot: slot, Arguments: p}
	})
}

func callWith(name string, arguments any) call {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(fmt.Sprintf("rehearsal: marshal own arguments of %s: %v", name, err))
	}
	return call{name, string(b)}
}

type slow struct{ pace time.Duration }

func (a slow) perform(s *speaker) bool { s.pace = a.pace; return true }

type finish struct{ reason providers.FinishReason }

func (a finish) perform(s *speaker) bool { s.finish = a.reason; return true }

type nothing struct{}

func (nothing) perform(*speaker) bool { return true }

type stall struct{}

func (stall) perform(s *speaker) bool {
	<-s.ctx.Done()
	s.yield(nil, s.ctx.Err())
	return false
}

// fail ends the stream with an error; with once set, only on the first request of a turn.
type fail struct {
	err  providers.Error
	once bool
}

func (a fail) perform(s *speaker) bool {
	if a.once && s.attempt > 1 {
		return true
	}
	err := a.err
	err.Retryable = err.Retryable && s.out == 0
	s.yield(nil, &err)
	return false
}

// next separates the steps of a script; it is never performed.
type next struct{}

func (next) perform(*speaker) bool { return true }
