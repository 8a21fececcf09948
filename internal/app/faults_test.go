package app_test

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store/storetest"
	"github.com/parleybot/parley/turn"
)

// post is a channel whose messages come more than once.
type post struct {
	*home
	verdicts chan turn.Event // what admission said, in order
}

// say says something to the bot and returns the message.
func (p *post) say(t *testing.T, text string) discordsim.ID {
	t.Helper()
	id, err := p.ada.Say(p.channel, "<@"+string(p.world.Bot())+"> "+text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// again delivers a message once more.
func (p *post) again(t *testing.T, id discordsim.ID) {
	t.Helper()
	if !p.world.Redeliver(id) {
		t.Fatal("no such message")
	}
}

// expect waits for what admission says of as many deliveries of a message, in any order.
func (p *post) expect(t *testing.T, id discordsim.ID, want ...turn.Reason) {
	t.Helper()
	got, wanted := map[turn.Reason]int{}, map[turn.Reason]int{}
	for _, reason := range want {
		wanted[reason]++
		_, why, _ := strings.Cut(p.verdict(t, id).Text, ":")
		got[turn.Reason(why)]++
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("the deliveries of %s were taken as %v, want %v", id, got, wanted)
	}
}

func (p *post) verdict(t *testing.T, id discordsim.ID) turn.Event {
	t.Helper()
	for patience := time.After(time.Minute); ; {
		select {
		case e := <-p.verdicts:
			if e.MessageID == string(id) { // the bot's own messages are judged too
				return e
			}
		case <-patience:
			t.Fatalf("no verdict about %s", id)
		}
	}
}

// once fails the test unless the bot says the text, in one message.
func (p *post) once(t *testing.T, text string) {
	t.Helper()
	p.says(t, text, time.Minute) // each step of a turn may wait for a silent store in vain
	count := 0
	for _, line := range p.said() {
		if strings.HasPrefix(line, "Parley: ") && strings.Contains(line, text) {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%q was said %d times; said: %q", text, count, p.said())
	}
}

// TestClaimsAway: a message that comes while neither store answers is answered all the same, and once, however often Discord
// sends it: at once, after the answer, and when the stores are back. So is one that was answered before they went away.
func TestClaimsAway(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(*storetest.Proxy) }{
		"gone":   {(*storetest.Proxy).Cut, func(p *storetest.Proxy) { p.Restore(t) }},
		"silent": {(*storetest.Proxy).Silence, (*storetest.Proxy).Speak},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ, database, cache := behind(t)
			p := &post{home: newHome(t), verdicts: make(chan turn.Event, 100)}
			a := p.openWatched(t, func(e turn.Event) {
				if e.Kind == turn.EventAdmission {
					p.verdicts <- e
				}
			}, environ...)
			run(t, a)
			before := p.say(t, "say well before")
			p.expect(t, before, turn.ReasonMention)
			p.once(t, "well before")
			app.Idle(t, a)

			fault.begin(database)
			fault.begin(cache)
			p.again(t, before)
			p.expect(t, before, turn.ReasonDuplicate)
			away := p.say(t, "say while away")
			p.again(t, away) // while the first is being claimed
			p.expect(t, away, turn.ReasonMention, turn.ReasonDuplicate)
			p.once(t, "while away")
			p.again(t, away)
			p.expect(t, away, turn.ReasonDuplicate)
			p.expect(t, p.say(t, "say soon after"), turn.ReasonMention)
			p.once(t, "soon after")

			fault.end(database)
			fault.end(cache)
			after := p.say(t, "say back again")
			p.expect(t, after, turn.ReasonMention)
			p.once(t, "back again")
			for _, id := range []discordsim.ID{before, away, after} {
				p.again(t, id)
				p.expect(t, id, turn.ReasonDuplicate)
			}
			app.Idle(t, a)
			for _, text := range []string{"well before", "while away", "back again"} {
				p.once(t, text)
			}
		})
	}
}

// awayLog reads what the bot logs while it waits for its servers.
type awayLog struct {
	mu   sync.Mutex
	told map[string]int // by server
	bad  []string
	seen func(server string, times int)
}

// Write implements io.Writer.
func (l *awayLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var entry struct {
		Level, Message, Server, Error string
		Next                          float64
	}
	if err := json.Unmarshal(line, &entry); err != nil || entry.Message != "store.away" {
		return len(line), nil
	}
	if entry.Level != "warn" || entry.Error == "" || entry.Next <= 0 || strings.Contains(string(line), "hunter2") {
		l.bad = append(l.bad, string(line))
	}
	l.told[entry.Server]++
	l.seen(entry.Server, l.told[entry.Server])
	return len(line), nil
}

// TestAwayAtStart: servers that are away when the bot starts are waited for, and the log says for which, why, and when it
// asks again; never the password.
func TestAwayAtStart(t *testing.T) {
	t.Parallel()
	environ, database, cache := behind(t)
	environ[0] = strings.Replace(environ[0], "postgres@", "postgres:hunter2@", 1)
	cfg, _, err := config.Load(append([]string{"DISCORD_TOKEN=t", "MODEL=rehearsal"}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	database.Cut()
	cache.Cut()
	log := &awayLog{told: map[string]int{}}
	log.seen = func(server string, times int) {
		if times == 2 {
			map[string]*storetest.Proxy{"postgres": database, "redis": cache}[server].Restore(t)
		}
	}
	a, err := app.New(t.Context(), app.Options{Config: cfg, Log: zerolog.New(log), DiscordAPI: "http://127.0.0.1:1", Practice: true, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if want := map[string]int{"postgres": 2, "redis": 2}; !maps.Equal(log.told, want) || len(log.bad) > 0 {
		t.Errorf("told of %v, want %v; unclear: %q", log.told, want, log.bad)
	}
}

// TestMigrateNeedsNoRedis: the schema is brought up to date while Redis is away.
func TestMigrateNeedsNoRedis(t *testing.T) {
	t.Parallel()
	environ, _, cache := behind(t)
	cache.Cut()
	cfg, _, err := config.Load(append([]string{"DISCORD_TOKEN=t", "MODEL=rehearsal"}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	place, err := app.Migrate(t.Context(), cfg.Store, zerolog.New(testWriter{t}))
	if err != nil || !strings.HasPrefix(place, "the database 127.0.0.1/") {
		t.Errorf("%q, %v", place, err)
	}
}
