package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
	"github.com/parleybot/parley/turn"
)

const (
	botID   = "1"
	guildID = "7000"
)

// world is a manager with everything around it faked. Its time is virtual.
type world struct {
	t      testing.TB
	edge   *edge
	store  *memory
	model  *model
	models []turn.Model
	tools  []registry.Tool
	limits turn.Limits
	// shared lets claims count for several processes.
	shared bool
	// pictures are what people attach; nil when none can be fetched.
	pictures turn.Pictures
	loop     toolloop.Limits
	m        *turn.Manager
	tape     *tape
	ids      atomic.Int64
}

// newWorld returns a world whose manager starts with the first use of it, so that a test can change what it needs.
func newWorld(t testing.TB) *world {
	w := &world{t: t, store: newMemory(), model: &model{}, limits: turn.DefaultLimits(), loop: toolloop.DefaultLimits(), tape: &tape{}}
	w.edge = &edge{w: w, histories: map[string][]turn.Message{}}
	w.models = []turn.Model{{Provider: w.model, Name: "m-1"}}
	w.limits.TurnsPerMinuteMember, w.limits.TurnsPerMinuteChannel = 1000, 1000
	return w
}

// start builds the manager and takes over what an earlier one left.
func (w *world) start() *world {
	w.t.Helper()
	w.build()
	left, err := w.m.Sweep(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	w.m.Resume(left)
	return w
}

// build makes the manager and leaves it at that.
func (w *world) build() {
	w.t.Helper()
	tools, err := registry.New(w.tools...)
	if err != nil {
		w.t.Fatal(err)
	}
	broker := toolloop.NewBroker()
	loop := toolloop.New(toolloop.Deps{
		Registry: tools, Journal: w.store, Windows: w.store, Broker: broker, Limits: w.loop, Log: zerolog.Nop(),
	})
	w.m = turn.NewManager(turn.Deps{
		Edge: w.edge, Store: w.store, Loop: loop, Broker: broker, Registry: tools, Models: w.models, Pictures: w.pictures, Limits: w.limits, SharedRates: w.shared,
		Observers: []turn.Observer{w.tape}, Log: zerolog.Nop(),
	})
}

// stop drains the manager at once and waits for tools that don't end.
func (w *world) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.m.Drain(ctx)
}

// elapse lets virtual time pass.
func elapse(d time.Duration) { <-time.After(d) }

// pass lets virtual time pass, then waits until nothing moves without it.
func (w *world) pass(d time.Duration) {
	elapse(d)
	synctest.Wait()
}

func (w *world) newID() string {
	// Virtual time begins in the year 2000, before Discord's ids do.
	return strconv.FormatInt(1e18+(time.Now().UnixMilli()-946684800000)<<22+w.ids.Add(1), 10)
}

// change alters an inbound before it is received.
type change func(*turn.Inbound)

func private(in *turn.Inbound) { in.Private, in.GuildID = true, "" }

func moderator(in *turn.Inbound) { in.Author.ManageMessages, in.Author.ManageGuild = true, true }

func replyTo(who turn.Person, content string) change {
	return func(in *turn.Inbound) { in.ReplyTo = &turn.Quote{MessageID: "77", Author: who, Content: content} }
}

func person(name string) turn.Person { return turn.Person{ID: "9" + name, Name: name} }

// message is what somebody writes; "@bot" in it becomes a mention.
func (w *world) message(who, channel, text string, changes ...change) turn.Inbound {
	in := turn.Inbound{
		Kind: turn.KindMessage, MessageID: w.newID(), ChannelID: channel, GuildID: guildID, Author: person(who),
		MentionsBot: strings.Contains(text, "@bot"), Content: strings.ReplaceAll(text, "@bot", "<@"+botID+">"),
		Names: map[string]string{botID: "Parley"}, CanReply: true, SentAt: time.Now(), ReceivedAt: time.Now(),
	}
	for _, c := range changes {
		c(&in)
	}
	return in
}

// say lets somebody write and waits until nothing moves without time passing.
func (w *world) say(who, channel, text string, changes ...change) turn.Inbound {
	in := w.message(who, channel, text, changes...)
	w.m.Receive(context.Background(), in)
	synctest.Wait()
	return in
}

func (w *world) kill(who, channel string, mod bool) turn.KillReport {
	rep := w.m.Kill(context.Background(), turn.KillRequest{
		ChannelID: channel, GuildID: guildID, Actor: turn.Actor{ID: person(who).ID, Name: who, ManageMessages: mod, ManageGuild: mod},
	})
	synctest.Wait()
	return rep
}

func (w *world) place(channel string) turn.Place {
	return turn.Place{
		GuildID: guildID, ChannelID: channel, MessageID: w.newID(),
		Actor: turn.Actor{ID: "9mod", Name: "mod", ManageMessages: true, ManageGuild: true},
	}
}

// must fails on an error of a setting that a scenario needs.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// ended fails unless the turns that have ended are these, in order.
func (w *world) ended(want ...store.TurnStatus) {
	w.t.Helper()
	if got := w.tape.statuses(); !slices.Equal(got, want) {
		w.t.Fatalf("turns ended as %v, want %v", got, want)
	}
}

// admission fails unless a message's last verdict is this.
func (w *world) admission(in turn.Inbound, want string) {
	w.t.Helper()
	if got := w.tape.verdicts(in.MessageID); len(got) == 0 || got[len(got)-1] != want {
		w.t.Fatalf("%q was judged %v, want %s", in.Content, got, want)
	}
}

// tape is an observer that keeps what it is told.
type tape struct {
	mu     sync.Mutex
	events []turn.Event
	// on is called for every event, without the lock.
	on func(turn.Event)
}

func (t *tape) Observe(e turn.Event) {
	t.mu.Lock()
	t.events = append(t.events, e)
	on := t.on
	t.mu.Unlock()
	if on != nil {
		on(e)
	}
}

func (t *tape) all() []turn.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}

func (t *tape) statuses() []store.TurnStatus {
	var out []store.TurnStatus
	for _, e := range t.all() {
		if e.Kind == turn.EventDone {
			out = append(out, e.Status)
		}
	}
	return out
}

func (t *tape) verdicts(messageID string) []string {
	var out []string
	for _, e := range t.all() {
		if e.Kind == turn.EventAdmission && e.MessageID == messageID {
			out = append(out, e.Text)
		}
	}
	return out
}

// edge fakes Discord's side.
type edge struct {
	w *world

	mu        sync.Mutex
	histories map[string][]turn.Message
	surfaces  []*surface
	notices   []turn.Notice
	hidden    []turn.HiddenNotice
	withdrawn []string
	reads     int
	// deliver is what Finish reports instead of success; slow is how long it takes.
	deliver error
	slow    time.Duration
	// echo: what the bot says comes back as an event, as Discord sends it.
	echo bool
	// broken ports panic.
	broken map[string]bool
	// where is what it tells of every channel.
	where turn.Surroundings
	// unreachable surfaces say so between attempts.
	unreachable bool
}

func (e *edge) breaks(port string) {
	e.mu.Lock()
	broken := e.broken[port]
	e.mu.Unlock()
	if broken {
		panic(port + " is broken")
	}
}

func (e *edge) History(_ context.Context, channelID string, _ int) ([]turn.Message, error) {
	e.breaks("history")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads++
	return slices.Clone(e.histories[channelID]), nil
}

func (e *edge) Open(o turn.Opening) turn.Surface {
	e.breaks("open")
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &surface{e: e, opening: o}
	e.surfaces = append(e.surfaces, s)
	return s
}

func (e *edge) Notify(_ context.Context, n turn.Notice) error {
	e.breaks("notify")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notices = append(e.notices, n)
	return nil
}

func (e *edge) Hidden(_ context.Context, n turn.HiddenNotice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hidden = append(e.hidden, n)
}

func (e *edge) Withdraw(_ context.Context, c turn.Card, messageID string) error {
	e.breaks("withdraw")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.withdrawn = append(e.withdrawn, messageID+" "+c.Tool)
	return nil
}

func (e *edge) Self() turn.Persona { return turn.Persona{Name: "Parley"} }

func (e *edge) Surroundings(string) turn.Surroundings {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.where
}

// told lists the notices of a kind.
func (e *edge) told(kind turn.NoticeKind) []turn.Notice {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.notices), func(n turn.Notice) bool { return n.Kind != kind })
}

func (e *edge) shown() []*surface {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.surfaces)
}

// last is the surface of the newest turn.
func (e *edge) last() *surface {
	all := e.shown()
	if len(all) == 0 {
		e.w.t.Fatal("no turn was shown")
	}
	return all[len(all)-1]
}

// surface keeps what a turn showed.
type surface struct {
	e       *edge
	opening turn.Opening

	mu      sync.Mutex
	text    []string
	ending  *turn.Ending
	ends    int
	cards   []turn.Card
	closed  []turn.CardState
	retract int
}

func (s *surface) Text(delta string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) == 0 {
		s.text = append(s.text, "")
	}
	s.text[len(s.text)-1] += delta
}

func (s *surface) Boundary() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, "")
}

func (s *surface) Progress(turn.Progress) {}

func (s *surface) Retract(context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retract++
	if len(s.text) > 0 {
		s.text[len(s.text)-1] = ""
	}
}

func (s *surface) Ask(_ context.Context, c turn.Card) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cards = append(s.cards, c)
	return "card " + c.Token, nil
}

func (s *surface) CloseCard(_ context.Context, _ string, state turn.CardState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = append(s.closed, state)
}

func (s *surface) Unreachable() bool { return s.e.unreachable }

func (s *surface) Finish(_ context.Context, end turn.Ending) turn.Delivered {
	s.e.breaks("finish")
	if s.e.slow > 0 {
		elapse(s.e.slow)
	}
	s.mu.Lock()
	s.ending, s.ends = &end, s.ends+1
	text := strings.TrimSpace(strings.Join(s.text, "\n"))
	s.mu.Unlock()
	if s.e.deliver != nil {
		return turn.Delivered{Err: s.e.deliver}
	}
	if text == "" {
		return turn.Delivered{}
	}
	id := s.e.w.newID()
	if s.e.echo {
		s.e.w.m.Receive(context.Background(), turn.Inbound{
			Kind: turn.KindMessage, MessageID: id, ChannelID: s.opening.ChannelID, GuildID: s.opening.GuildID,
			Author: turn.Person{ID: botID, Name: "Parley", Self: true}, Content: text, CanReply: true, SentAt: time.Now(),
		})
	}
	return turn.Delivered{Text: text, MessageIDs: []string{id}}
}

// said is the text that stayed visible.
func (s *surface) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(strings.Join(s.text, "\n"))
}

// public is what the channel was told about the end; it fails when the turn has not ended.
func (s *surface) public() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending == nil {
		s.e.w.t.Fatal("the turn has not ended")
	}
	return s.ending.Public
}

// object is the schema of a tool that takes anything.
var object = json.RawMessage(`{"type":"object","additionalProperties":true}`)

// tool is a fixture tool.
func tool(name string, run func(ctx context.Context) registry.Result, changes ...func(*registry.Tool)) registry.Tool {
	t := registry.Tool{Name: name, Description: "a fixture", Schema: object, NeedsFollowUp: true}
	t.Run = func(ctx context.Context, _ registry.ToolContext, _ json.RawMessage) registry.Result {
		if run == nil {
			return registry.OK(map[string]string{"from": name})
		}
		return run(ctx)
	}
	for _, c := range changes {
		c(&t)
	}
	return t
}

func triggered(words ...string) func(*registry.Tool) {
	return func(t *registry.Tool) { t.Triggers = append(t.Triggers, registry.Words(words...)...) }
}

// sleeping is a tool that takes a while, unless it is cancelled.
func sleeping(d time.Duration) func(context.Context) registry.Result {
	return func(ctx context.Context) registry.Result {
		select {
		case <-time.After(d):
			return registry.OK(nil)
		case <-ctx.Done():
			return registry.Fail(fmt.Sprint("cancelled: ", context.Cause(ctx)))
		}
	}
}
