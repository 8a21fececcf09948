package bot

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/discordspec"
	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/turn"
)

func TestMain(m *testing.M) {
	flag.Parse()
	InstallLogger(zerolog.Nop())
	code := m.Run()
	testreport.Line("%s", discordspec.Summary())
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// fakeTurns records what the edge tells it and answers what the test says.
type fakeTurns struct {
	fakeSettings
	*fakeMembers

	mu       sync.Mutex
	changed  chan struct{}
	inbounds []turn.Inbound
	edits    []string
	deleted  []string
	gone     []string
	kills    []turn.KillRequest
	cards    map[string]turn.Card
	decided  []turn.Decision
	status   turn.ChannelStatus

	kill func(context.Context, turn.KillRequest) turn.KillReport
}

func newFakeTurns() *fakeTurns {
	return &fakeTurns{fakeMembers: &fakeMembers{}, changed: make(chan struct{}), cards: map[string]turn.Card{}}
}

func (f *fakeTurns) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeTurns) Receive(_ context.Context, in turn.Inbound) {
	f.change(func() { f.inbounds = append(f.inbounds, in) })
}

func (f *fakeTurns) Edited(_, messageID, content string) {
	f.change(func() { f.edits = append(f.edits, messageID+" "+content) })
}

func (f *fakeTurns) Deleted(_ string, ids ...string) {
	f.change(func() { f.deleted = append(f.deleted, ids...) })
}

func (f *fakeTurns) Gone(guildID string, ids ...string) {
	f.change(func() { f.gone = append(f.gone, guildID+": "+strings.Join(ids, " ")) })
}

func (f *fakeTurns) Kill(ctx context.Context, r turn.KillRequest) (rep turn.KillReport) {
	f.change(func() { f.kills = append(f.kills, r) })
	if f.kill != nil {
		return f.kill(ctx, r)
	}
	return rep
}

func (f *fakeTurns) Card(token string) (turn.Card, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.cards[token]
	return c, ok
}

func (f *fakeTurns) Approve(token string, d turn.Decision) (ok bool) {
	f.change(func() {
		if _, ok = f.cards[token]; ok {
			delete(f.cards, token)
			f.decided = append(f.decided, d)
		}
	})
	return ok
}

func (f *fakeTurns) Status(string) turn.ChannelStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fakeTurns) Totals() turn.Totals { return turn.Totals{} }

// wait returns when cond, which sees the fields locked, holds.
func (f *fakeTurns) wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		f.mu.Lock()
		ok, changed := cond(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			f.mu.Lock()
			defer f.mu.Unlock()
			t.Fatalf("waited in vain for %s; inbounds %+v", what, f.inbounds)
		}
	}
}

// inbound waits for the message with a content.
func (f *fakeTurns) inbound(t *testing.T, content string) (in turn.Inbound) {
	t.Helper()
	f.wait(t, "the message "+content, func() bool {
		n := slices.IndexFunc(f.inbounds, func(i turn.Inbound) bool { return i.Content == content })
		if n >= 0 {
			in = f.inbounds[n]
		}
		return n >= 0
	})
	return in
}

// town is a simulated guild with a bot that is not running yet.
type town struct {
	server  *discordsim.Server
	world   *discordsim.World
	guild   discordsim.ID
	general discordsim.ID
	// ana is a member, mod may manage messages, olga owns the guild.
	ana, mod, olga *discordsim.Person
	turns          *fakeTurns
	bot            *Bot
	ended          chan error
}

func newTown(t *testing.T, sim discordsim.Config, change func(*Config, *Deps)) *town {
	t.Helper()
	sim.Validator = discordspec.New(t)
	s := discordsim.New(sim)
	must(t, s.Start())
	t.Cleanup(s.Close)
	w := s.World()
	tw := &town{server: s, world: w, ana: w.Person("ana"), mod: w.Person("mod"), olga: w.Person("olga"), turns: newFakeTurns()}
	tw.guild = w.AddGuild(discordsim.GuildSpec{Name: "Town", Owner: "olga"})
	tw.general = tw.channel(t, "general")
	must(t, w.Join(tw.guild, tw.ana.ID))
	role, err := w.AddRole(tw.guild, discordsim.RoleSpec{Name: "mods", Permissions: discordsim.PermManageMessages})
	must(t, err)
	must(t, w.Join(tw.guild, tw.mod.ID, role))
	tw.newBot(t, change)
	return tw
}

func (tw *town) newBot(t *testing.T, change func(*Config, *Deps)) {
	t.Helper()
	cfg, deps := Config{Token: tw.world.Token(), APIBase: tw.server.URL(), Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)}, Deps{}
	if change != nil {
		change(&cfg, &deps)
	}
	b, err := New(cfg, deps)
	must(t, err)
	b.reconnectBase = time.Millisecond
	b.Attach(tw.turns)
	tw.bot = b
}

// run starts the bot; the returned function stops it and returns what Run said.
func (tw *town) run(t *testing.T) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	tw.ended = make(chan error, 1)
	b := tw.bot
	go func() { tw.ended <- b.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		err := <-tw.ended
		b.Close()
		return err
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// start runs the bot and waits until it knows the guild and its commands are registered.
func (tw *town) start(t *testing.T) (stop func() error) {
	t.Helper()
	stop = tw.run(t)
	select {
	case <-tw.bot.Ready():
	case err := <-tw.ended:
		t.Fatalf("Run ended: %v", err)
	case <-time.After(patience):
		t.Fatal("not ready")
	}
	tw.wait(t, "commands", func(v discordsim.View) bool { return len(v.Commands("")) > 0 })
	// A message that has arrived proves that the guild before it has.
	try(tw.ana.Say(tw.general, "first"))
	tw.turns.inbound(t, "first")
	return stop
}

func (tw *town) channel(t *testing.T, name string, overwrites ...discordsim.Overwrite) discordsim.ID {
	t.Helper()
	id, err := tw.world.AddChannel(tw.guild, discordsim.ChannelSpec{Name: name, Overwrites: overwrites})
	must(t, err)
	return id
}

func (tw *town) wait(t *testing.T, what string, cond func(discordsim.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := tw.world.Wait(ctx, cond); err != nil {
		t.Fatalf("waited in vain for %s: %v", what, err)
	}
}

// said waits for a message of the bot in a channel and returns it.
func (tw *town) said(t *testing.T, channel discordsim.ID, ok func(discordsim.Message) bool) (found discordsim.Message) {
	t.Helper()
	tw.wait(t, "a message of the bot", func(v discordsim.View) bool {
		list := v.MessagesBy(channel, tw.world.Bot())
		n := slices.IndexFunc(list, ok)
		if n >= 0 {
			found = list[n]
		}
		return n >= 0
	})
	return found
}

// answered waits for the bot's answer to an interaction.
func (tw *town) answered(t *testing.T, id discordsim.ID) (s discordsim.InteractionState) {
	t.Helper()
	tw.wait(t, "an answer", func(v discordsim.View) bool {
		s, _ = v.Interaction(id)
		return !s.Answered.IsZero()
	})
	return s
}

// text is what the message of an answer says.
func (tw *town) text(id discordsim.ID) string {
	m, _ := tw.world.Message(id)
	return m.Content
}

func count[E discordsim.Event](v discordsim.View) (n int) {
	for _, e := range v.Entries(0) {
		if _, ok := e.Event.(E); ok {
			n++
		}
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// try is for what a scripted person does: when it fails the script is wrong.
func try[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// errOf drops what a call gives beside its error.
func errOf[T any](_ T, err error) error { return err }
