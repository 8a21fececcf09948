package toolloop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// fixture is a loop with everything around it faked. Change what a test needs before run.
type fixture struct {
	t        *testing.T
	model    *model
	turn     *toolloop.Turn
	loop     *toolloop.Loop
	broker   *toolloop.Broker
	limits   toolloop.Limits
	tools    []registry.Tool
	journal  *journal
	windows  *windows
	stickers stickers
	events   *events
	notices  *notices
	cards    *cards
	log      *logBuffer
	before   []providers.Message
	ctx      context.Context
	stop     context.CancelCauseFunc
}

func newFixture(t *testing.T, script ...step) *fixture {
	t.Helper()
	f := &fixture{
		t: t, model: &model{t: t, script: script}, broker: toolloop.NewBroker(), limits: toolloop.DefaultLimits(),
		journal: &journal{t: t, rows: map[string]store.Call{}}, windows: &windows{}, stickers: stickers{}, events: &events{},
		notices: &notices{}, cards: &cards{}, log: &logBuffer{},
		before: []providers.Message{{Role: providers.RoleUser, Content: "ada: hello"}},
	}
	f.turn = &toolloop.Turn{
		ID: "t1", ChannelID: "chan", GuildID: "guild", UserID: "ada", Deliberate: true, WindowTurns: 4,
		Shared: registry.NewShared(nil, map[string]string{"ref_3": "123456789012345678"}, nil),
	}
	f.turn.Observer, f.turn.Notices, f.turn.Cards = f.events, f.notices, f.cards
	f.ctx, f.stop = context.WithCancelCause(t.Context())
	t.Cleanup(func() { f.stop(nil) })
	return f
}

// with registers tools.
func (f *fixture) with(tools ...registry.Tool) *fixture {
	f.tools = append(f.tools, tools...)
	return f
}

// run runs the turn and checks what must hold for every run: one result for each announced call, one closed row for each
// call, and requests that vendors accept.
func (f *fixture) run() toolloop.Result {
	f.t.Helper()
	if f.loop == nil {
		r, err := registry.New(f.tools...)
		if err != nil {
			f.t.Fatal(err)
		}
		f.loop = toolloop.New(toolloop.Deps{
			Registry: r, Journal: f.journal, Windows: f.windows, Stickers: f.stickers, Broker: f.broker, Limits: f.limits,
			Log: zerolog.New(f.log),
		})
	}
	res := f.attempt(f.model)
	f.settled()
	return res
}

func (f *fixture) attempt(m *model) toolloop.Result {
	return f.loop.Run(f.ctx, f.turn, toolloop.Attempt{Provider: m, Model: "m-1", Messages: f.before})
}

func (f *fixture) settled() {
	f.t.Helper()
	announced, closed := f.events.calls()
	slices.Sort(announced)
	slices.Sort(closed)
	if !slices.Equal(announced, closed) {
		f.t.Errorf("announced %v, but closed %v", announced, closed)
	}
	if f.journal.away == nil {
		for _, key := range announced {
			if c := f.journal.row(key); c.Status != store.CallDone && c.Status != store.CallError {
				f.t.Errorf("the journal has call %s as %q", key, c.Status)
			}
		}
	}
}

// status fails unless the run ended so.
func (f *fixture) status(res toolloop.Result, want store.TurnStatus) {
	f.t.Helper()
	if res.Status != want {
		f.t.Fatalf("status %q (%v), want %q", res.Status, res.Err, want)
	}
}

// after calls do once virtual time has passed.
func (f *fixture) after(d time.Duration, do func()) { time.AfterFunc(d, do) }

func (f *fixture) kill() { f.stop(abort.Killed{By: "mod"}) }

// tool is a fixture tool that counts and keeps what it was called with.
type tool struct {
	mu   sync.Mutex
	args []string
	tcs  []registry.ToolContext
	spec registry.Tool
}

func newTool(name string, run func(ctx context.Context, tc registry.ToolContext) registry.Result, change ...func(*registry.Tool)) *tool {
	x := &tool{}
	x.spec = registry.Tool{
		Name: name, Description: "a fixture", Schema: json.RawMessage(`{"type":"object","additionalProperties":true}`),
		Run: func(ctx context.Context, tc registry.ToolContext, args json.RawMessage) registry.Result {
			x.mu.Lock()
			x.args, x.tcs = append(x.args, string(args)), append(x.tcs, tc)
			x.mu.Unlock()
			if run == nil {
				return registry.OK(map[string]string{"from": name})
			}
			return run(ctx, tc)
		},
	}
	for _, c := range change {
		c(&x.spec)
	}
	return x
}

// runs is how often the tool was dispatched.
func (x *tool) runs() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.args)
}

func (x *tool) context(n int) registry.ToolContext {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.tcs[n]
}

func gives(res registry.Result) func(context.Context, registry.ToolContext) registry.Result {
	return func(context.Context, registry.ToolContext) registry.Result { return res }
}

// slow takes its time but honours its context; deaf does not.
func slow(d time.Duration) func(context.Context, registry.ToolContext) registry.Result {
	return func(ctx context.Context, _ registry.ToolContext) registry.Result {
		select {
		case <-time.After(d):
			return registry.OK("slept")
		case <-ctx.Done():
			return registry.Fail(context.Cause(ctx).Error())
		}
	}
}

func deaf(d time.Duration) func(context.Context, registry.ToolContext) registry.Result {
	return func(context.Context, registry.ToolContext) registry.Result {
		<-time.After(d)
		return registry.OK("late")
	}
}

func approval(who registry.Approver) func(*registry.Tool) {
	return func(t *registry.Tool) { t.Approval = who }
}
func readOnly(t *registry.Tool)   { t.ReadOnly = true }
func needsMore(t *registry.Tool)  { t.NeedsFollowUp = true }
func oneShot(t *registry.Tool)    { t.OneShot = true }
func endsSpoken(t *registry.Tool) { t.EndsTurnAfterText = true }

// journal is held to store.Journal's contract.
type journal struct {
	t    testing.TB
	away error
	// hang keeps each write until its context ends.
	hang bool

	mu   sync.Mutex
	rows map[string]store.Call
	keys []string
}

func (j *journal) hold(ctx context.Context) error {
	if j.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if j.away != nil {
		return j.away
	}
	return ctx.Err()
}

func (j *journal) OpenCall(ctx context.Context, c store.Call) error {
	if err := j.hold(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.rows[c.Key]; ok {
		j.t.Errorf("call %s was opened twice", c.Key)
		return store.ErrExists
	}
	j.rows[c.Key], j.keys = c, append(j.keys, c.Key)
	return nil
}

func (j *journal) CloseCall(ctx context.Context, c store.Call) error {
	if err := j.hold(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	old, ok := j.rows[c.Key]
	if !ok {
		return store.ErrNotFound
	}
	if old.Status != store.CallRunning || c.Status == store.CallRunning {
		j.t.Errorf("call %s was closed as %q over %q", c.Key, c.Status, old.Status)
	}
	old.Status, old.Reason, old.Result, old.FinishedAt = c.Status, c.Reason, c.Result, c.FinishedAt
	j.rows[c.Key] = old
	return nil
}

func (j *journal) row(key string) store.Call {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rows[key]
}

// list gives the rows in order, as "tool status/reason".
func (j *journal) list() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, k := range j.keys {
		out = append(out, fmt.Sprintf("%s %s/%s", j.rows[k].Tool, j.rows[k].Status, j.rows[k].Reason))
	}
	return out
}

type windows struct {
	mu       sync.Mutex
	retained []string
}

func (w *windows) RetainWindow(ctx context.Context, channelID, tool string, n int, _ time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retained = append(w.retained, fmt.Sprintf("%s %s %d", channelID, tool, n))
	return ctx.Err()
}

type stickers map[string]bool

func (s stickers) KnownSticker(_, id string) bool { return s[id] }

// events keeps what the observer was told; each runs first.
type events struct {
	each func(toolloop.Event)

	mu  sync.Mutex
	all []toolloop.Event
}

func (o *events) Observe(e toolloop.Event) {
	o.mu.Lock()
	o.all = append(o.all, e)
	o.mu.Unlock()
	if o.each != nil {
		o.each(e)
	}
}

// calls gives the keys of announced calls (cards aside) and of results.
func (o *events) calls() (announced, closed []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.all {
		switch e := e.(type) {
		case toolloop.ToolCall:
			if !e.Card {
				announced = append(announced, e.Key)
			}
		case toolloop.ToolResult:
			closed = append(closed, e.Key)
		case toolloop.Delta, toolloop.Thinking, toolloop.Used, toolloop.ContextAdded:
		}
	}
	return announced, closed
}

// results gives the results in order, as "tool status/reason".
func (o *events) results() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, e := range o.all {
		if r, ok := e.(toolloop.ToolResult); ok {
			out = append(out, fmt.Sprintf("%s %s/%s", r.Tool, r.Status, r.Reason))
		}
	}
	return out
}

type notices struct {
	mu     sync.Mutex
	busy   int
	hidden []toolloop.HiddenNotice
}

func (n *notices) StillWorking() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy++
}

func (n *notices) Hidden(h toolloop.HiddenNotice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hidden = append(n.hidden, h)
}

func (n *notices) titled(title string) []toolloop.HiddenNotice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.hidden), func(h toolloop.HiddenNotice) bool { return h.Title != title })
}

// cards shows cards; show decides what happens then.
type cards struct {
	show  func(context.Context, toolloop.Card) error
	close func(context.Context)

	mu    sync.Mutex
	shown []toolloop.Card
	ended []toolloop.CardState
}

func (c *cards) Show(ctx context.Context, card toolloop.Card) error {
	c.mu.Lock()
	c.shown = append(c.shown, card)
	c.mu.Unlock()
	if c.show == nil {
		return nil
	}
	return c.show(ctx, card)
}

func (c *cards) Close(ctx context.Context, _ string, s toolloop.CardState, _ toolloop.Decision) {
	c.mu.Lock()
	c.ended = append(c.ended, s)
	c.mu.Unlock()
	if c.close != nil {
		c.close(ctx)
	}
}

// decides answers every card after d.
func (f *fixture) decides(d time.Duration, decision toolloop.Decision) {
	f.cards.show = func(_ context.Context, c toolloop.Card) error {
		time.AfterFunc(d, func() { f.broker.Decide(c.Token, decision) })
		return nil
	}
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines gives the log lines that hold all of the parts.
func (l *logBuffer) lines(parts ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
next:
	for line := range strings.Lines(l.b.String()) {
		for _, p := range parts {
			if !strings.Contains(line, p) {
				continue next
			}
		}
		out = append(out, line)
	}
	return out
}
