package bot

import (
	"context"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// A full queue loses events and says so; it never blocks the goroutine that answers heartbeats.
func TestPushNeverBlocks(t *testing.T) {
	t.Parallel()
	b, err := New(Config{Token: "t", Log: zerolog.Nop()}, Deps{})
	must(t, err)
	t.Cleanup(b.Close)
	for range queueSize + 10 {
		b.push("MESSAGE_CREATE", []byte("{}"))
		b.push("PRESENCE_UPDATE", []byte("{}")) // not ours
	}
	if s := b.Stats(); s.Dropped != 10 || s.Queued != queueSize {
		t.Errorf("%+v", s)
	}
}

// The library reuses its buffer, so an event must not point into it.
func TestPushCopies(t *testing.T) {
	t.Parallel()
	b, err := New(Config{Token: "t", Log: zerolog.Nop()}, Deps{})
	must(t, err)
	t.Cleanup(b.Close)
	data := []byte(`{"id":"1"}`)
	b.push("MESSAGE_DELETE", data)
	clear(data)
	if e := <-b.events; string(e.data) != `{"id":"1"}` {
		t.Errorf("%q", e.data)
	}
}

// panicky breaks on one message.
type panicky struct{ *fakeTurns }

func (p panicky) Receive(ctx context.Context, in turn.Inbound) {
	if in.Content == "boom" {
		panic("boom")
	}
	p.fakeTurns.Receive(ctx, in)
}

func TestOnePanicIsOneMessage(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, func(c *Config, _ *Deps) { c.Log = zerolog.Nop() })
	tw.bot.Attach(panicky{tw.turns})
	tw.bot.log = zerolog.Nop()
	tw.turns.kill = func(context.Context, turn.KillRequest) turn.KillReport { panic("boom") }
	tw.start(t)
	try(tw.ana.Say(tw.general, "boom"))
	s := tw.answered(t, try(tw.ana.Slash(tw.general, "kill")).ID)
	if !s.Ephemeral {
		t.Errorf("%+v", s)
	}
	try(tw.ana.Say(tw.general, "still there?"))
	tw.turns.inbound(t, "still there?")
}

func TestNewRefusesNonsense(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no token":     {},
		"no address":   {Token: "t", APIBase: "discord.com"},
		"not http":     {Token: "t", APIBase: "ftp://discord.com"},
		"shard beyond": {Token: "t", Shard: 2, Shards: 2},
		"shard below":  {Token: "t", Shard: -1},
	} {
		if _, err := New(cfg, Deps{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	b, err := New(Config{Token: "t"}, Deps{})
	must(t, err)
	if err := b.Run(t.Context()); err == nil {
		t.Error("Run without turns")
	}
}

type nowhere struct{ *fakeTurns }

func (nowhere) Receive(context.Context, turn.Inbound) {}

func BenchmarkMessage(b *testing.B) {
	bot, err := New(Config{Token: "t", Log: zerolog.Nop()}, Deps{})
	if err != nil {
		b.Fatal(err)
	}
	bot.guilds = testGuilds()
	bot.Attach(nowhere{})
	e := event{kind: "MESSAGE_CREATE", data: []byte(`{"id":"1577077563547713536","channel_id":"10","guild_id":"1","type":0,` +
		`"author":{"id":"7","username":"ana","global_name":"Ana","avatar":null},"member":{"nick":null,"roles":["51"],"joined_at":"2026-01-02T03:04:05+00:00"},` +
		`"content":"<@99> what is the weather like?","mentions":[{"id":"99","username":"parley","bot":true}],"mention_roles":[],"mention_everyone":false,` +
		`"timestamp":"2026-01-02T03:04:05.123000+00:00","edited_timestamp":null,"attachments":[],"embeds":[],"components":[],"flags":0}`)}
	b.ReportAllocs()
	for b.Loop() {
		bot.handle(b.Context(), e)
	}
}
