package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// channel is a Discord channel as far as a Streamer can see.
type channel struct {
	t     *testing.T
	begun time.Time

	mu       sync.Mutex
	calls    []string // "0.0s create …", in the order they were answered
	typings  []time.Duration
	messages []*message
	nonces   map[string]*message
	next     int

	delay      time.Duration
	typingHang bool
	fault      func(verb string, m Outgoing) error // after the delay, before the effect
	late       func(verb string) error             // after the effect
}

type message struct {
	id, content, replyTo string
	pinged, silent       bool
	files                int
	gone                 bool
}

func newChannel(t *testing.T) *channel {
	return &channel{t: t, begun: time.Now(), nonces: map[string]*message{}}
}

func (c *channel) enter(ctx context.Context, verb string, m Outgoing) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	delay, fault := c.delay, c.fault
	c.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	if verb != "delete" && (Blank(m.Content) || units(m.Content) > 2000) {
		c.t.Errorf("%s with %d units: %.40q", verb, units(m.Content), m.Content)
	}
	content := m.Content
	if len(content) > 40 {
		content = fmt.Sprintf("%s…(%d)", content[:20], units(content))
	}
	c.calls = append(c.calls, strings.TrimSpace(fmt.Sprintf("%.1fs %s %s", time.Since(c.begun).Seconds(), verb, content)))
	c.mu.Unlock()
	if fault != nil {
		return fault(verb, m)
	}
	return nil
}

// set changes the channel's behaviour while it is in use.
func (c *channel) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *channel) leave(verb string) error {
	if c.late != nil {
		return c.late(verb)
	}
	return nil
}

func (c *channel) Create(ctx context.Context, m Outgoing) (string, error) {
	if len(m.Nonce) == 0 || len(m.Nonce) > 25 {
		c.t.Errorf("nonce %q", m.Nonce)
	}
	if err := c.enter(ctx, "create", m); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.nonces[m.Nonce]; old != nil {
		return old.id, nil
	}
	c.next++
	msg := &message{id: fmt.Sprint("m", c.next), content: m.Content, replyTo: m.ReplyTo, pinged: m.PingReplied, silent: m.Silent, files: len(m.Files)}
	c.messages = append(c.messages, msg)
	c.nonces[m.Nonce] = msg
	return msg.id, c.leave("create")
}

func (c *channel) find(id string) *message {
	for _, m := range c.messages {
		if m.id == id && !m.gone {
			return m
		}
	}
	return nil
}

func (c *channel) Edit(ctx context.Context, id string, m Outgoing) error {
	if m.Nonce != "" || m.ReplyTo != "" || m.PingReplied {
		c.t.Errorf("edit carries %+v", m)
	}
	if err := c.enter(ctx, "edit", m); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	msg := c.find(id)
	if msg == nil {
		return fmt.Errorf("edit: %w", ErrUnknownMessage)
	}
	msg.content, msg.files = m.Content, msg.files+len(m.Files)
	return nil
}

func (c *channel) Delete(ctx context.Context, id string) error {
	if err := c.enter(ctx, "delete", Outgoing{}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	msg := c.find(id)
	if msg == nil {
		return fmt.Errorf("delete: %w", ErrUnknownMessage)
	}
	msg.gone = true
	return nil
}

func (c *channel) Typing(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	c.typings = append(c.typings, time.Since(c.begun))
	c.mu.Unlock()
	if c.typingHang {
		<-ctx.Done()
		return ctx.Err()
	}
	return errors.New("typing is best effort")
}

func (c *channel) shown() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s []string
	for _, m := range c.messages {
		if !m.gone {
			s = append(s, m.content)
		}
	}
	return s
}

func (c *channel) log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.calls...)
}

// stream runs f on a Streamer in a bubble of virtual time and closes it.
func stream(t *testing.T, cfg Config, f func(t *testing.T, ctx context.Context, c *channel, s *Streamer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := newChannel(t)
		cfg.Port = c
		s := Start(ctx, cfg)
		f(t, ctx, c, s)
		if err := s.Close(ctx, ""); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func finish(t *testing.T, ctx context.Context, s *Streamer) {
	t.Helper()
	begun := time.Now()
	if err := s.Finish(ctx); err != nil {
		t.Errorf("Finish: %v", err)
	}
	if d := time.Since(begun); d != 0 {
		t.Errorf("Finish waited %v", d)
	}
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestShortTurnIsOneCreate(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{ModeEdit, ModeMessages, ModeFinal} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			stream(t, Config{Mode: mode, ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
				pass(3 * time.Second) // the model thinks
				for _, d := range []string{"Hel", "lo ", "there."} {
					s.Append(d)
					pass(300 * time.Millisecond)
				}
				finish(t, ctx, s)
				same(t, []string{"3.9s create Hello there."}, c.log())
				same(t, Delivery{IDs: []string{"m1"}, Text: "Hello there.", Complete: true}, s.Delivered())
				if m := c.messages[0]; m.replyTo != "q" || !m.pinged || m.silent {
					t.Errorf("%+v", m)
				}
			})
		})
	}
}

func TestEditsArePacedAndFinishIsNot(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		for i := range 30 {
			s.Append(fmt.Sprintf("%02d ", i))
			pass(100 * time.Millisecond)
		}
		finish(t, ctx, s)
		same(t, []string{
			"1.2s create 00 01 02 03 04 05 06 07 08 09 10 11",
			"2.4s edit 00 01 02 03 04 05 06…(72)",
			"3.0s edit 00 01 02 03 04 05 06…(90)",
		}, c.log())
	})
}

func TestB05StreamOutgrowsOneMessage(t *testing.T) {
	t.Parallel()
	stream(t, Config{ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		text := prose(2600)
		s.Append(text[:1900])
		pass(1300 * time.Millisecond)
		s.Append(text[1900:2100])
		pass(5 * time.Second)
		if got := c.shown(); len(got) != 1 || units(got[0]) > 1950 {
			t.Errorf("preview: %d messages", len(got))
		}
		s.Append(text[2100:])
		finish(t, ctx, s)
		same(t, contents(Plan(text, Limits{})), c.shown())
		same(t, text, s.Delivered().Text)
		if m := c.messages[1]; m.replyTo != "" || m.pinged || !m.silent {
			t.Errorf("part 2: %+v", m)
		}
		if n := len(c.log()); n > 4 {
			t.Errorf("%d requests: %v", n, c.log())
		}
	})
}

// Whatever the rhythm, what stands there in the end is the plan, each message
// was created once, and none was touched again after the next one began.
func TestStreamEndsAsPlanned(t *testing.T) {
	t.Parallel()
	text := prose(3000) + "```go\n" + strings.Repeat("x := compute(1234567890)\n", 200) + "```\n" + prose(9000)
	for _, mode := range []Mode{ModeEdit, ModeMessages, ModeFinal} {
		for _, step := range []int{7, 333, 5000} {
			t.Run(fmt.Sprint(mode, step), func(t *testing.T) {
				t.Parallel()
				stream(t, Config{Mode: mode}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
					for rest := text; rest != ""; {
						n := min(step, len(rest))
						s.Append(rest[:n])
						rest = rest[n:]
						pass(30 * time.Millisecond)
					}
					finish(t, ctx, s)
					want := Plan(text, Limits{Paragraphs: mode == ModeMessages})
					same(t, contents(want), c.shown())
					same(t, text, s.Delivered().Text)
					creates := 0
					for _, call := range c.log() {
						if strings.Contains(call, " create ") {
							creates++
						}
					}
					if creates != len(want) {
						t.Errorf("%d creates for %d messages", creates, len(want))
					}
					if mode == ModeEdit && step == 7 && creates > len(c.log())/2 {
						t.Errorf("hardly streamed: %v", c.log())
					}
				})
			})
		}
	}
}

func TestMessagesMode(t *testing.T) {
	t.Parallel()
	stream(t, Config{Mode: ModeMessages}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("One.\n\nTwo (still ")
		pass(2 * time.Second)
		s.Append("two).\n\nThr")
		pass(2 * time.Second)
		same(t, []string{"One.\n", "Two (still two).\n"}, c.shown())
		s.Append("ee.\n\nFour.")
		finish(t, ctx, s)
		same(t, []string{"One.\n", "Two (still two).\n", "Three.\n", "Four."}, c.shown())
		same(t, "One.\n\nTwo (still two).\n\nThree.\n\nFour.", s.Delivered().Text)
	})
}

func TestPreviewHolds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, preview, final string }{
		"TL140 face":        {"ok :)\nnext", "ok :)\nnext", "ok :)\nnext"},
		"TL141 parenthesis": {"see (this", "see ", "see (this)"},
		"TL142 product":     {"2 * 3 = 6, user_id\n* a", "2 * 3 = 6, user_id\n* a", "2 * 3 = 6, user_id\n* a"},
		"TL143 spoiler":     {"it was ||the bu", "it was ", "it was ||the bu||"},
		"fence":             {"```go\nx", "```go\nx\n```", "```go\nx\n```"},
		"forged status":     {"a\n-# stopped", "a\n\\-# stopped", "a\n\\-# stopped"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
				s.Append(tt.text)
				pass(2 * time.Second)
				same(t, []string{tt.preview}, c.shown())
				finish(t, ctx, s)
				same(t, []string{tt.final}, c.shown())
			})
		})
	}
}

func TestB02NothingToSay(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append(" \n\u200b")
		s.Boundary()
		s.Append("  ")
		pass(3 * time.Second)
		finish(t, ctx, s)
		same(t, []string(nil), c.log())
		same(t, Delivery{Complete: true}, s.Delivered())
	})
}

func TestB03QuestionDeleted(t *testing.T) {
	t.Parallel()
	stream(t, Config{ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		c.fault = func(verb string, m Outgoing) error {
			if m.ReplyTo != "" {
				return fmt.Errorf("create: %w", ErrUnknownMessage)
			}
			return nil
		}
		text := prose(5000)
		s.Append(text)
		finish(t, ctx, s)
		same(t, contents(Plan(text, Limits{})), c.shown())
		if n := len(c.log()); n != 4 {
			t.Errorf("the reference was tried more than once: %v", c.log())
		}
	})
}

func TestMessageDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	stream(t, Config{ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Hello ")
		pass(2 * time.Second)
		c.set(func() { c.messages[0].gone = true })
		s.Append("there")
		finish(t, ctx, s)
		same(t, []string{"Hello there"}, c.shown())
		same(t, []string{"m2"}, s.Delivered().IDs)
		if c.messages[1].pinged {
			t.Error("pinged twice")
		}
	})
}

func TestLostChannel(t *testing.T) {
	t.Parallel()
	for _, fatalErr := range []error{ErrForbidden, ErrUnknownChannel} {
		t.Run(fatalErr.Error(), func(t *testing.T) {
			t.Parallel()
			var lost []error
			stream(t, Config{Lost: func(err error) { lost = append(lost, err) }}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
				c.set(func() { c.fault = func(string, Outgoing) error { return fatalErr } })
				s.Append("Hello ")
				pass(2 * time.Second)
				s.Append("there")
				pass(20 * time.Second)
				s.Boundary()
				s.Append("more")
				if err := s.Finish(ctx); !errors.Is(err, fatalErr) {
					t.Errorf("Finish: %v", err)
				}
				if len(lost) != 1 || len(c.log()) != 1 || len(c.typings) != 1 {
					t.Errorf("lost %v, calls %v, typing %v", lost, c.log(), c.typings)
				}
				same(t, Delivery{}, s.Delivered())
			})
		})
	}
}

func TestX11FailedSendIsNotDelivered(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		failure := errors.New("500")
		creates := 0
		c.fault = func(verb string, _ Outgoing) error {
			if verb == "create" {
				if creates++; creates == 2 {
					return failure
				}
			}
			return nil
		}
		text := prose(5000)
		s.Append(text)
		if err := s.Finish(ctx); !errors.Is(err, failure) {
			t.Errorf("Finish: %v", err)
		}
		got := s.Delivered()
		if got.Complete || len(got.IDs) != 1 || !strings.HasPrefix(text, got.Text) || len(got.Text) > 2000 {
			t.Errorf("delivered %d messages, %d bytes, complete %v", len(got.IDs), len(got.Text), got.Complete)
		}
	})
}

// A create that failed only for us must not become two messages, nor keep the
// text of the first attempt.
func TestCreateThatSucceededAnyway(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		c.late = func(string) error { return errors.New("502") }
		s.Append("Hello ")
		pass(1300 * time.Millisecond)
		c.set(func() { c.late = nil })
		s.Append("there")
		finish(t, ctx, s)
		same(t, []string{"Hello there"}, c.shown())
	})
}

func TestBoundaryAndRetract(t *testing.T) {
	t.Parallel()
	stream(t, Config{ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Let me look.")
		s.Boundary()
		synctest.Wait()
		same(t, []string{"0.0s create Let me look."}, c.log())
		text := prose(3000)
		s.Append(text)
		pass(10 * time.Second)
		if n := len(c.shown()); n != 3 {
			t.Fatalf("%d messages", n)
		}
		if err := s.Retract(ctx); err != nil {
			t.Errorf("Retract: %v", err)
		}
		same(t, []string{"Let me look."}, c.shown())
		same(t, Delivery{IDs: []string{"m1"}, Text: "Let me look."}, s.Delivered())
		s.Append("Found it.")
		finish(t, ctx, s)
		same(t, []string{"Let me look.", "Found it."}, c.shown())
		same(t, "Let me look.\n\nFound it.", s.Delivered().Text)
		if m := c.messages[3]; m.replyTo != "" || m.silent {
			t.Errorf("%+v", m)
		}
	})
}

func TestRetractOfTheFirstMessage(t *testing.T) {
	t.Parallel()
	stream(t, Config{ReplyTo: "q", PingReplied: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Bad")
		pass(2 * time.Second)
		if err := s.Retract(ctx); err != nil {
			t.Errorf("Retract: %v", err)
		}
		s.Append("Good")
		finish(t, ctx, s)
		same(t, []string{"Good"}, c.shown())
		if m := c.messages[1]; m.replyTo != "q" || m.pinged {
			t.Errorf("the answer replies, without a second ping: %+v", m)
		}
	})
}

func TestRetractThatCannotDelete(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		c.fault = func(verb string, _ Outgoing) error {
			if verb == "delete" {
				return errors.New("500")
			}
			return nil
		}
		s.Append("Bad")
		pass(2 * time.Second)
		if err := s.Retract(ctx); err != nil {
			t.Errorf("Retract: %v", err)
		}
		same(t, []string{"-# withdrawn"}, c.shown())
		same(t, Delivery{}, s.Delivered())
	})
}

func TestFinalModeKeepsIterationsApart(t *testing.T) {
	t.Parallel()
	stream(t, Config{Mode: ModeFinal}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("One")
		s.Boundary()
		s.Append("bad")
		pass(5 * time.Second)
		if err := s.Retract(ctx); err != nil {
			t.Errorf("Retract: %v", err)
		}
		s.Append("Two")
		same(t, []string(nil), c.log())
		finish(t, ctx, s)
		same(t, []string{"One", "Two"}, c.shown())
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Looking.")
		s.Boundary()
		s.Progress("quick tool")
		pass(500 * time.Millisecond)
		s.Progress("search…\nforged")
		pass(time.Second)
		s.Progress("read…")
		s.Progress("read 2…")
		pass(2 * time.Second)
		same(t, []string{"Looking.", "-# read 2…"}, c.shown())
		if !c.messages[1].silent {
			t.Error("progress rings")
		}
		s.Append("Done.")
		finish(t, ctx, s)
		same(t, []string{
			"0.0s create Looking.",
			"1.2s create -# search… forged",
			"2.4s edit -# read 2…",
			"3.5s create Done.",
			"3.5s delete",
		}, c.log())
		same(t, []string{"Looking.", "Done."}, c.shown())
		same(t, []string{"m1", "m3"}, s.Delivered().IDs)
	})
}

func TestProgressOfAQuickToolIsNeverSent(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Progress("quick")
		pass(time.Second)
		s.Append("Done.")
		finish(t, ctx, s)
		same(t, []string{"1.0s create Done."}, c.log())
	})
}

func TestProgressEndsWithTheTurn(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Progress("search…")
		pass(2 * time.Second)
		same(t, []string{"-# search…"}, c.shown())
		s.Progress("")
		pass(2 * time.Second)
		same(t, []string(nil), c.shown())
		s.Progress("read…")
		pass(2 * time.Second)
		finish(t, ctx, s)
		same(t, []string(nil), c.shown())
		same(t, Delivery{Complete: true}, s.Delivered())
	})
}

// A progress line that could not be removed with the answer is removed by Close.
func TestProgressThatStays(t *testing.T) {
	t.Parallel()
	var c *channel
	stream(t, Config{}, func(t *testing.T, ctx context.Context, ch *channel, s *Streamer) {
		c = ch
		s.Progress("search…")
		pass(2 * time.Second)
		c.set(func() {
			c.fault = func(verb string, _ Outgoing) error {
				if verb == "delete" {
					return errors.New("500")
				}
				return nil
			}
		})
		s.Append("Done.")
		finish(t, ctx, s)
		c.set(func() { c.fault = nil })
	})
	same(t, []string{"Done."}, c.shown())
}

// A failed iteration blocks what comes after it, and finish makes up for it.
func TestOrderSurvivesAFailure(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		c.set(func() { c.fault = func(string, Outgoing) error { return errors.New("500") } })
		s.Append("One")
		s.Boundary()
		s.Append("Two")
		pass(5 * time.Second)
		if got := c.shown(); got != nil {
			t.Errorf("shown: %v", got)
		}
		c.set(func() { c.fault = nil })
		s.Append(" and more")
		finish(t, ctx, s)
		same(t, []string{"One", "Two and more"}, c.shown())
	})
}

func TestOrderSurvivesAFailureThatPasses(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		failures := 1
		c.set(func() {
			c.fault = func(string, Outgoing) error {
				if failures--; failures >= 0 {
					return errors.New("500")
				}
				return nil
			}
		})
		s.Append("One")
		s.Boundary()
		s.Append("Two")
		pass(5 * time.Second)
		same(t, []string{"One", "Two"}, c.shown())
		finish(t, ctx, s)
	})
}

func TestTypingB07B09(t *testing.T) {
	t.Parallel()
	ends := map[string]func(t *testing.T, ctx context.Context, s *Streamer){
		"answer":  func(_ *testing.T, ctx context.Context, s *Streamer) { s.Append("Hi"); _ = s.Finish(ctx) },
		"silence": func(_ *testing.T, ctx context.Context, s *Streamer) { _ = s.Finish(ctx) },
		"close":   func(t *testing.T, ctx context.Context, s *Streamer) { _ = s.Close(ctx, "") },
	}
	for name, end := range ends {
		for _, hang := range []bool{false, true} {
			t.Run(fmt.Sprint(name, hang), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := newChannel(t)
					c.typingHang = hang
					s := Start(t.Context(), Config{Port: c})
					pass(17 * time.Second)
					end(t, t.Context(), s)
					pass(time.Minute)
					want := []time.Duration{typingAfter, typingAfter + typingEvery, typingAfter + 2*typingEvery}
					if hang {
						want = want[:1]
					}
					same(t, want, c.typings)
					_ = s.Close(t.Context(), "")
				})
			})
		}
	}
}

// A quick answer is not followed by an indicator of its own.
func TestQuickAnswerHasNoTyping(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Hi")
		finish(t, ctx, s)
		pass(time.Minute)
		same(t, 0, len(c.typings))
	})
}

// What is sent after a Flush stands below the text before it.
func TestFlushWaitsForTheText(t *testing.T) {
	t.Parallel()
	stream(t, Config{NoTyping: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		s.Append("Let me ask.")
		if err := s.Flush(ctx); err != nil {
			t.Errorf("Flush: %v", err)
		}
		same(t, []string{"0.0s create Let me ask."}, c.log())
		finish(t, ctx, s)
		if err := s.Flush(ctx); !errors.Is(err, ErrClosed) {
			t.Errorf("Flush after the end: %v", err)
		}
	})
}

func TestTypingOff(t *testing.T) {
	t.Parallel()
	stream(t, Config{NoTyping: true}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		pass(time.Minute)
		same(t, 0, len(c.typings))
	})
}

// killed runs a turn whose context ends while f's text is on its way.
func killed(t *testing.T, f func(c *channel, s *Streamer, kill func())) *channel {
	t.Helper()
	var c *channel
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("killed by Ada")
		ctx, cancelCause := context.WithCancelCause(t.Context())
		cancel := func() { cancelCause(cause) }
		c = newChannel(t)
		s := Start(ctx, Config{Port: c})
		f(c, s, cancel)
		cancel()
		synctest.Wait()
		before := len(c.log())
		pass(time.Minute)
		if n := len(c.log()); n != before {
			t.Errorf("sent after the kill: %v", c.log()[before:])
		}
		if err := s.Finish(ctx); !errors.Is(err, cause) {
			t.Errorf("Finish of a killed turn: %v", err)
		}
		if err := s.Close(ctx, "stopped by Ada"); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := s.Close(ctx, "again"); err != nil {
			t.Errorf("second Close: %v", err)
		}
		s.Append("late")
		s.Boundary()
		pass(time.Minute)
		if s.Delivered().Complete {
			t.Error("a killed answer counts as complete")
		}
	})
	return c
}

func TestX01Killed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		run  func(c *channel, s *Streamer, kill func())
		want []string
	}{
		"before anything": {func(c *channel, s *Streamer, kill func()) {}, nil},
		"before the first message": {func(c *channel, s *Streamer, kill func()) {
			s.Append("Hello")
			synctest.Wait()
		}, nil},
		"streaming": {func(c *channel, s *Streamer, kill func()) {
			s.Append("Hello ")
			pass(2 * time.Second)
			s.Append("there")
		}, []string{"Hello there\n-# stopped by Ada"}},
		"open code": {func(c *channel, s *Streamer, kill func()) {
			s.Append("```go\nx")
			pass(2 * time.Second)
		}, []string{"```go\nx\n```\n-# stopped by Ada"}},
		"full message": {func(c *channel, s *Streamer, kill func()) {
			s.Append(strings.Repeat("a", 1950))
			pass(2 * time.Second)
		}, []string{strings.Repeat("a", 1950) + "\n-# stopped by Ada"}},
		"during the create": {func(c *channel, s *Streamer, kill func()) {
			c.late = func(string) error { c.late = nil; kill(); return context.Canceled }
			s.Append("Hello")
			pass(1500 * time.Millisecond)
		}, []string{"Hello\n-# stopped by Ada"}},
		"during an edit": {func(c *channel, s *Streamer, kill func()) {
			s.Append("Hello")
			pass(1500 * time.Millisecond)
			c.set(func() { c.delay = 10 * time.Second })
			s.Append(" there")
			pass(3 * time.Second)
			kill()
			synctest.Wait()
			c.set(func() { c.delay = 0 })
		}, []string{"Hello there\n-# stopped by Ada"}},
		"during a tool": {func(c *channel, s *Streamer, kill func()) {
			s.Append("Looking.")
			s.Boundary()
			s.Progress("search…")
			pass(3 * time.Second)
		}, []string{"Looking.", "-# stopped by Ada"}},
		"tool, then text": {func(c *channel, s *Streamer, kill func()) {
			s.Progress("search…")
			pass(3 * time.Second)
			s.Append("Found")
			pass(3 * time.Second)
		}, []string{"Found\n-# stopped by Ada"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, tt.want, killed(t, tt.run).shown())
		})
	}
}

// A provider fails after 300 characters: the message ends in a marked state.
func TestX01ProviderFails(t *testing.T) {
	t.Parallel()
	var c *channel
	stream(t, Config{}, func(t *testing.T, ctx context.Context, ch *channel, s *Streamer) {
		c = ch
		s.Append(prose(300))
		pass(2 * time.Second)
		if err := s.Close(ctx, "the model failed, 4f2a"); err != nil {
			t.Errorf("Close: %v", err)
		}
		same(t, []string{prose(300) + "\n-# the model failed, 4f2a"}, c.shown())
		same(t, prose(300), s.Delivered().Text)
	})
}

func TestFinishObeysItsContext(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		c.set(func() { c.delay = time.Minute })
		s.Append("Hello")
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := s.Finish(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Finish: %v", err)
		}
		c.set(func() { c.delay = 0 })
	})
}

func TestSlowTypingNeverDelaysText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChannel(t)
		c.typingHang = true
		s := Start(t.Context(), Config{Port: c})
		pass(time.Second)
		same(t, 1, len(c.typings)) // under way, and it stays so
		s.Append("Hi")
		begun := time.Now()
		if err := s.Finish(t.Context()); err != nil {
			t.Errorf("Finish: %v", err)
		}
		same(t, []string{"1.0s create Hi"}, c.log())
		same(t, typingSettle, time.Since(begun)) // the end of the turn waits a little, the text does not
		if err := s.Close(t.Context(), ""); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestTextIsBounded(t *testing.T) {
	t.Parallel()
	stream(t, Config{}, func(t *testing.T, ctx context.Context, c *channel, s *Streamer) {
		chunk := strings.Repeat("word ", 200_000)
		for range 10 {
			s.Append(chunk)
		}
		finish(t, ctx, s)
		if d := s.Delivered(); len(d.Text) > maxText+100 || !strings.HasSuffix(d.Text, "[truncated 2000000 bytes]") || len(d.IDs) != 8 {
			t.Errorf("%d bytes in %d messages, end %q", len(d.Text), len(d.IDs), d.Text[len(d.Text)-40:])
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	s := Start(b.Context(), Config{Port: newChannel(nil), NoTyping: true, Mode: ModeFinal})
	n := 0
	for b.Loop() {
		if n += len(" token"); n > maxText { // a full answer takes no more
			_ = s.Close(b.Context(), "")
			s, n = Start(b.Context(), Config{Port: newChannel(nil), NoTyping: true, Mode: ModeFinal}), 0
		}
		s.Append(" token")
	}
	_ = s.Close(b.Context(), "")
}

func BenchmarkShortTurn(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c := newChannel(nil)
		s := Start(b.Context(), Config{Port: c, NoTyping: true})
		for range 40 {
			s.Append(" token")
		}
		if err := s.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		_ = s.Close(b.Context(), "")
	}
}
