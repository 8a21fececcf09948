package toolloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// How many random turns are compared with the reference: in the tests, and in `make soak`.
const (
	scriptsInTests = 2_000
	scriptsInSoak  = 100_000
)

func TestModel(t *testing.T) { compare(t, scriptsInTests) }

func TestSoakModel(t *testing.T) {
	if os.Getenv("SOAK") != "1" {
		t.Skip("set SOAK=1 to run 100,000 scripts")
	}
	compare(t, scriptsInSoak)
}

func compare(t *testing.T, scripts int) {
	t.Helper()
	if err := flag.Set("rapid.checks", strconv.Itoa(scripts)); err != nil {
		t.Fatal(err)
	}
	ran, ends := 0, map[store.TurnStatus]int{}
	rapid.Check(t, func(rt *rapid.T) {
		s := scenarios().Draw(rt, "turn")
		want := refer(s)
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = perform(t, s, want) })
		if len(problems) > 0 {
			rt.Fatalf("%s\n%s", s, strings.Join(problems, "\n"))
		}
		ran++
		ends[want.Status]++
	})
	t.Logf("%d scripts: %v", ran, ends)
}

func scenarios() *rapid.Generator[scenario] {
	return rapid.Custom(func(t *rapid.T) scenario {
		n := 0
		var s scenario
		for i := range rapid.IntRange(1, 5).Draw(t, "responses") {
			s.responses = append(s.responses, response(t, i, &n))
		}
		s.maxIterations = rapid.IntRange(1, 6).Draw(t, "iterations")
		s.maxFailures = rapid.IntRange(1, 5).Draw(t, "failures")
		s.deliberate = rapid.Bool().Draw(t, "deliberate")
		s.fallback = rapid.Bool().Draw(t, "fallback")
		s.observerDies = rapid.IntRange(0, 9).Draw(t, "observer dies") == 0
		s.journalAway = rapid.IntRange(0, 19).Draw(t, "journal away") == 0
		if rapid.IntRange(0, 3).Draw(t, "mode on") == 0 {
			s.allow = append([]string{}, rapid.SliceOfDistinct(rapid.SampledFrom(tools), rapid.ID[string]).Draw(t, "allowed")...)
		}
		s.killAt = moment(t, "kill")
		if s.followUpAt = moment(t, "follow-up"); s.followUpAt > 0 {
			s.followUpAt += 100 * time.Microsecond
		}
		return s
	})
}

var tools = []string{toolFree, toolRead, toolLook, toolWrite, toolSTM, toolSticker, toolClosed, toolForeign}

// moment is when a person does something: in a third of all turns, and between two milliseconds.
func moment(t *rapid.T, what string) time.Duration {
	if rapid.IntRange(0, 2).Draw(t, what) != 0 {
		return 0
	}
	return time.Duration(rapid.IntRange(0, 40_000).Draw(t, what+" at"))*time.Millisecond + 500*time.Microsecond
}

func response(t *rapid.T, i int, n *int) scriptedResponse {
	pauses := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, 5 * time.Second, 21 * time.Second, 31 * time.Second})
	r := scriptedResponse{
		think: pauses.Draw(t, "think"), pause: pauses.Draw(t, "pause"),
		end: rapid.SampledFrom([]ending{endsWell, endsWell, endsWell, endsWell, endsWell, endsLong, endsError, endsGone, endsFault}).Draw(t, "end"),
	}
	if rapid.Bool().Draw(t, "speaks") {
		r.text = fmt.Sprintf("text-%d.", i)
	}
	count := rapid.IntRange(0, 5).Draw(t, "calls")
	if rapid.IntRange(0, 49).Draw(t, "many") == 49 {
		count = 35
	}
	for range count {
		*n++
		c := scriptedCall{
			n:    *n,
			tool: rapid.SampledFrom(append(tools, toolFree, toolFree, toolSTM, toolUnknown)).Draw(t, "tool"),
			args: rapid.SampledFrom([]argState{argsWhole, argsWhole, argsWhole, argsWhole, argsCut, argsMalformed}).Draw(t, "args"),
			does: rapid.SampledFrom([]behaviour{doesOK, doesOK, doesOK, doesFail, doesPanic, doesDeaf, doesRestart, doesEnd, doesFailEnd}).Draw(t, "does"),
			takes: rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, 9 * time.Second, 11 * time.Second, time.Hour}).
				Draw(t, "takes"),
			decision: rapid.SampledFrom([]decision{approves, approves, denies, denySaying, ignores, cannotShow}).Draw(t, "decides"),
			waits:    rapid.SampledFrom([]time.Duration{0, time.Second, 59 * time.Second, 61 * time.Second}).Draw(t, "waits") + time.Microsecond,
		}
		if rapid.IntRange(0, 39).Draw(t, "nameless") == 39 {
			c.tool = toolNameless
		}
		r.calls = append(r.calls, c)
	}
	return r
}

// stage performs a scenario on the real loop and watches what must always hold.
type stage struct {
	testing.TB
	s       scenario
	byCount map[int]scriptedCall

	mu         sync.Mutex
	problems   []string
	dispatched []int
	approved   map[int]bool
	killedNow  bool
}

func (p *stage) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}
func (p *stage) Helper() {}

func perform(t *testing.T, s scenario, want expected) []string {
	p := &stage{TB: t, s: s, byCount: map[int]scriptedCall{}, approved: map[int]bool{}}
	for _, r := range s.responses {
		for _, c := range r.calls {
			p.byCount[c.n] = c
		}
	}
	broker := toolloop.NewBroker()
	events := &events{}
	if s.observerDies {
		events.each = func(toolloop.Event) { panic("broken") }
	}
	journal := &journal{t: p, rows: map[string]store.Call{}}
	if s.journalAway {
		journal.away = errors.New("away")
	}
	turn := &toolloop.Turn{
		ID: "t", ChannelID: "c", UserID: "u", Deliberate: s.deliberate, WindowTurns: 4, Shared: registry.NewShared(nil, nil, nil),
		Observer: events, Notices: &notices{}, Cards: &people{stage: p, broker: broker},
	}
	if s.allow != nil {
		var allowed []registry.Allowed
		for _, name := range s.allow {
			allowed = append(allowed, registry.Allowed{Tool: name, Source: registry.SourceAlways})
		}
		turn.Allow = registry.Restrict(allowed...)
	}
	loop := toolloop.New(toolloop.Deps{
		Registry: p.registry(), Journal: journal, Windows: &windows{}, Stickers: stickers{knownSticker: true}, Broker: broker, Log: zerolog.Nop(),
		Limits: toolloop.Limits{
			ToolTimeout: toolTimeout, FirstToken: firstToken, StreamIdle: streamIdle, ApprovalTimeout: cardTimeout,
			MaxIterations: s.maxIterations, MaxConsecutiveErrors: s.maxFailures, SoftWarnIterations: 2, ResultMaxBytes: 64,
		},
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if s.killAt > 0 {
		defer time.AfterFunc(s.killAt, func() {
			p.mu.Lock()
			p.killedNow = true
			p.mu.Unlock()
			cancel(abort.Killed{By: "mod"})
		}).Stop()
	}
	if s.followUpAt > 0 {
		defer time.AfterFunc(s.followUpAt, func() { turn.FollowUp() }).Stop()
	}
	before := []providers.Message{{Role: providers.RoleUser, Content: "u: go"}}
	began, m := time.Now(), &model{t: p, script: p.script()}
	res := loop.Run(ctx, turn, toolloop.Attempt{Provider: m, Model: "m", Messages: before})
	failed := res.Status == store.TurnError && !errors.Is(res.Err, toolloop.ErrTooManyFailures) || res.Status == store.TurnTimeout
	if failed && s.fallback && ctx.Err() == nil {
		res = loop.Run(ctx, turn, toolloop.Attempt{Provider: m, Model: "m", Messages: before})
	}
	took := time.Since(began)
	if err := loop.Wait(t.Context()); err != nil || loop.Abandoned() != 0 {
		p.Errorf("%d runs are left: %v", loop.Abandoned(), err)
	}
	synctest.Wait()
	p.compare(want, p.actual(res, turn, events, m, took))
	p.always(res, m, events, journal, before)
	return p.problems
}

func (p *stage) actual(res toolloop.Result, turn *toolloop.Turn, events *events, m *model, took time.Duration) expected {
	got := expected{
		Status: res.Status, Dispatched: p.dispatched, Shown: res.Shown, Sticker: res.StickerID, Requests: m.count(), Elapsed: took,
		Closed: events.results(),
	}
	for _, e := range turn.Entries() {
		how := ":failed"
		if e.Success {
			how = ":ok"
		}
		got.Entries = append(got.Entries, e.FunctionResponse.Name+how)
	}
	return got
}

func (p *stage) compare(want, got expected) {
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		p.Errorf("not as the reference says (-want +got):\n%s", d)
	}
}

// always holds for every turn, whatever the reference says.
func (p *stage) always(res toolloop.Result, m *model, events *events, journal *journal, before []providers.Message) {
	if !slices.Equal(slices.Sorted(slices.Values(p.dispatched)), slices.Compact(slices.Sorted(slices.Values(p.dispatched)))) {
		p.Errorf("dispatched more than once: %v", p.dispatched)
	}
	announced, closed := events.calls()
	if !slices.Equal(announced, closed) {
		p.Errorf("announced %v, closed %v", announced, closed)
	}
	for _, key := range announced {
		if c := journal.row(key); !p.s.journalAway && (c.Status != store.CallDone && c.Status != store.CallError) {
			p.Errorf("the journal has call %s as %q", key, c.Status)
		}
	}
	if m.count() > p.s.maxIterations {
		p.Errorf("%d round trips", m.count())
	}
	for i, req := range m.requests {
		for j := range p.s.responses {
			if n := told(req.Messages, fmt.Sprintf("text-%d.", j)); n > 1 {
				p.Errorf("request %d holds text %d %d times", i+1, j, n)
			}
		}
	}
	if len(before) != 1 || before[0].Content != "u: go" {
		p.Errorf("the caller's messages changed: %v", before)
	}
	if err := sendable(providers.Repair(append(slices.Clone(before), res.Messages...))); err != nil {
		p.Errorf("what the turn leaves cannot be sent: %v", err)
	}
}

// registry holds the tools; each does what the script says of the call it finds in its arguments.
func (p *stage) registry() *registry.Registry {
	var specs []registry.Tool
	for _, name := range tools {
		spec := registry.Tool{
			Name: name, Description: "a fixture", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
			ReadOnly: name == toolRead, NeedsFollowUp: name == toolLook, OneShot: name == toolSTM, EndsTurnAfterText: name == toolSTM,
			Run: p.run,
		}
		switch name {
		case toolWrite:
			spec.Approval = registry.ApproverModerator
		case toolClosed:
			spec.Turn = func(registry.TurnView) bool { return false }
		case toolForeign:
			spec.Provider = func(string) bool { return false }
		}
		specs = append(specs, spec)
	}
	r, err := registry.New(specs...)
	if err != nil {
		panic(err)
	}
	return r
}

func (p *stage) run(ctx context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
	var a struct{ N int }
	if err := json.Unmarshal(args, &a); err != nil {
		p.Errorf("dispatched with %q", args)
	}
	c := p.byCount[a.N]
	p.mu.Lock()
	p.dispatched = append(p.dispatched, c.n)
	unapproved, late := c.tool == toolWrite && !p.approved[c.n], p.killedNow
	p.mu.Unlock()
	if unapproved || late || c.args != argsWhole {
		p.Errorf("call %d was dispatched: unapproved %v, after the stop %v, arguments %s", c.n, unapproved, late, c.args)
	}
	if c.takes > 0 {
		done := ctx.Done()
		if c.does == doesDeaf {
			done = nil
		}
		select {
		case <-time.After(c.takes):
		case <-done:
			return registry.Fail(ctx.Err().Error())
		}
	}
	switch c.does {
	case doesFail:
		return registry.Fail("no")
	case doesFailEnd:
		return registry.Result{Error: "no", EndTurn: true}
	case doesPanic:
		panic("broken")
	case doesRestart:
		return restartWith(strings.Repeat("context ", 20), toolLook)
	case doesEnd, doesOK, doesDeaf:
	}
	sticker := "unknown"
	if c.n%2 == 0 {
		sticker = knownSticker
	}
	return registry.Result{Success: true, EndTurn: c.does == doesEnd, Data: map[string]string{"sticker_id": sticker}}
}

// script is the scenario as the model plays it; after its end the model says a last word whenever it is asked.
func (p *stage) script() []step {
	var out []step
	for _, r := range p.s.responses {
		s := step{wait(r.think)}
		if r.text != "" {
			s = append(s, say(r.text))
		}
		s = append(s, wait(r.pause))
		for _, c := range r.calls {
			args := fmt.Sprintf(`{"n":%d}`, c.n)
			switch c.args {
			case argsCut:
				args = args[:len(args)-1]
			case argsMalformed:
				args += "}"
			case argsWhole:
			}
			s = append(s, call(c.tool, args))
		}
		switch r.end {
		case endsWell:
			s = append(s, providers.End{Reason: providers.FinishStop})
		case endsLong:
			s = append(s, providers.End{Reason: providers.FinishLength})
		case endsError:
			s = append(s, providers.End{Reason: providers.FinishError})
		case endsFault:
			s = append(s, error(&providers.Error{Provider: "scripted", Kind: providers.KindNetwork}))
		case endsGone:
		}
		out = append(out, s)
	}
	for range p.s.maxIterations {
		out = append(out, answer(say("the end")))
	}
	return out
}

// people see the cards of a scenario and do what it says.
type people struct {
	*stage
	broker *toolloop.Broker
}

func (p *people) Show(_ context.Context, card toolloop.Card) error {
	var a struct{ N int }
	if err := json.Unmarshal([]byte(card.Arguments), &a); err != nil {
		p.Errorf("a card shows %q", card.Arguments)
	}
	c := p.byCount[a.N]
	d := toolloop.Decision{Approve: c.decision == approves, By: "mod"}
	switch c.decision {
	case cannotShow:
		return errors.New("missing access")
	case ignores:
		return nil
	case denySaying:
		d.Reason = "not there"
	case approves, denies:
	}
	time.AfterFunc(c.waits, func() {
		p.mu.Lock() // the tool may start before Decide returns
		if p.broker.Decide(card.Token, d) && d.Approve {
			p.approved[c.n] = true
		}
		p.mu.Unlock()
		if p.broker.Decide(card.Token, toolloop.Decision{Approve: true}) {
			p.Errorf("a second answer was taken")
		}
	})
	return nil
}

func (p *people) Close(context.Context, string, toolloop.CardState, toolloop.Decision) {}
