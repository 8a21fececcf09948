package app_test

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres"
	"github.com/parleybot/parley/store/storetest"
	"github.com/parleybot/parley/turn"
)

// servers gives the test a database and a prefix in Redis, as environment.
func servers(t testing.TB) []string {
	t.Helper()
	database := pgtest.Database(t, migrations.Postgres(), func(ctx context.Context, url string) error {
		_, err := postgres.Migrate(ctx, postgres.Config{URL: url})
		return err
	})
	addr := testreport.Reach(t, "Redis", "REDIS_ADDR", net.JoinHostPort("127.0.0.1", "6379"))
	return []string{"DATABASE_URL=" + database, "REDIS_URL=redis://" + addr + "/10", "REDIS_PREFIX=parley-test-" + rand.Text() + ":"}
}

// home is a simulated Discord with one guild, one channel and one person.
type home struct {
	sim     *discordsim.Server
	world   *discordsim.World
	guild   discordsim.ID
	channel discordsim.ID
	ada     *discordsim.Person
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{sim: discordsim.New(discordsim.Config{})}
	if err := h.sim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.sim.Close)
	h.world = h.sim.World()
	h.guild = h.world.AddGuild(discordsim.GuildSpec{Name: "home"})
	var err error
	if h.channel, err = h.world.AddChannel(h.guild, discordsim.ChannelSpec{Name: "general"}); err != nil {
		t.Fatal(err)
	}
	h.ada = h.world.Person("Ada")
	for _, who := range []discordsim.ID{h.ada.ID, h.world.Bot()} {
		if err := h.world.Join(h.guild, who); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// watch is told every event of every turn.
type watch func(turn.Event)

// Observe implements turn.Observer.
func (w watch) Observe(e turn.Event) { w(e) }

// open makes a bot for this home from the environment.
func (h *home) open(t *testing.T, environ ...string) *app.App {
	t.Helper()
	return h.openWatched(t, func(turn.Event) {}, environ...)
}

// openWatched is open with an observer.
func (h *home) openWatched(t *testing.T, w watch, environ ...string) *app.App {
	t.Helper()
	cfg, _, err := config.Load(append([]string{"DISCORD_TOKEN=" + h.world.Token(), "MODEL=rehearsal", "SHUTDOWN_GRACE_MS=0"}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), app.Options{
		Config: cfg, Log: zerolog.New(testWriter{t}), DiscordAPI: h.sim.URL(), Practice: true, Version: "test",
		Observers: []turn.Observer{w},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs the bot until the end of the test.
func run(t *testing.T, a *app.App) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the bot ended with %v", err)
		}
	})
	select {
	case <-a.Ready():
	case err := <-ended:
		ended <- err
		t.Fatalf("the bot ended before it was ready: %v", err)
	}
}

// ask says something to the bot.
func (h *home) ask(t *testing.T, text string) {
	t.Helper()
	if _, err := h.ada.Say(h.channel, "<@"+string(h.world.Bot())+"> "+text); err != nil {
		t.Fatal(err)
	}
}

// says reports whether the bot says the text within that time.
func (h *home) says(t *testing.T, text string, within time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return h.world.Wait(ctx, func(v discordsim.View) bool {
		for _, m := range v.MessagesBy(h.channel, h.world.Bot()) {
			if strings.Contains(m.Content, text) {
				return true
			}
		}
		return false
	}) == nil
}

// must fails the test unless the bot says the text.
func (h *home) must(t *testing.T, text string) {
	t.Helper()
	if !h.says(t, text, 15*time.Second) {
		t.Fatalf("nobody says %q; said: %q", text, h.said())
	}
}

// said is everything that is to be read in the channel.
func (h *home) said() []string {
	var all []string
	for _, m := range h.world.Messages(h.channel) {
		all = append(all, m.AuthorName+": "+m.Content)
	}
	return all
}

// behind puts a proxy in front of both servers and returns the environment that leads through them.
func behind(t *testing.T) (environ []string, database, cache *storetest.Proxy) {
	t.Helper()
	environ = servers(t)
	for i, entry := range environ[:2] {
		name, value, _ := strings.Cut(entry, "=")
		at, err := url.Parse(value)
		if err != nil {
			t.Fatal(err)
		}
		proxy := storetest.NewProxy(t, at.Host)
		at.Host = proxy.Addr()
		environ[i] = name + "=" + at.String()
		if i == 0 {
			database = proxy
		} else {
			cache = proxy
		}
	}
	return environ, database, cache
}

// TestStoresAway: with both servers away the bot still answers, a failed memory write is told to the model as failed, and
// when they are back all is as before.
func TestStoresAway(t *testing.T) {
	t.Parallel()
	environ, database, cache := behind(t)
	h := newHome(t)
	a := h.open(t, environ...)
	run(t, a)
	ask := func(text, answer string) {
		t.Helper()
		h.ask(t, text)
		h.must(t, answer)
		app.Idle(t, a)
	}
	ask("say all is well", "all is well")
	database.Cut()
	cache.Cut()
	ask("say still here", "still here")
	ask("remember that I like tea", "not")
	database.Restore(t)
	cache.Restore(t)
	ask("remember that I like chess", "Done, I'll remember: I like chess")
	for _, line := range h.said() {
		if strings.HasPrefix(line, "Parley") && strings.Contains(line, "like tea") {
			t.Errorf("what was not stored is told as stored: %q", line)
		}
	}
}

// TestStoresBlink: both servers are restarted while nobody talks, and the first that is asked of the bot afterwards is done.
func TestStoresBlink(t *testing.T) {
	t.Parallel()
	environ, database, cache := behind(t)
	h := newHome(t)
	a := h.open(t, environ...)
	run(t, a)
	ask := func(text, answer string) {
		t.Helper()
		h.ask(t, text)
		h.must(t, answer)
		app.Idle(t, a)
	}
	ask("remember that I like tea", "Done, I'll remember: I like tea")
	for _, liking := range []string{"chess", "rain", "bread"} {
		database.Cut()
		cache.Cut()
		database.Restore(t)
		cache.Restore(t)
		ask("remember that I like "+liking, "Done, I'll remember: I like "+liking)
	}
}

// TestEraseMember is B76 for the whole bot, on every kind of store: what a member has told is exported, then erased, and
// the bot knows nothing of it any more.
func TestEraseMember(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string]func(t testing.TB) []string{
		"embedded": func(t testing.TB) []string { t.Helper(); return []string{"DATA_DIR=" + t.TempDir()} },
		"servers":  servers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			a := h.open(t, environ(t)...)
			run(t, a)
			const canary = "qzxvkwj"
			h.ask(t, "remember that I like "+canary)
			h.must(t, "Done, I'll remember")
			app.Idle(t, a)
			here := turn.Place{GuildID: string(h.guild), ChannelID: string(h.channel), Actor: turn.Actor{ID: string(h.ada.ID)}}
			m := app.Manager(a)
			export, err := m.Export(t.Context(), here)
			if err != nil || len(export.Memories) != 1 || len(export.Turns) != 1 || len(export.Turns[0].Calls) != 1 {
				t.Fatalf("exported %+v, %v; want a memory and a turn with a call", export, err)
			}
			erased, err := m.Erase(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			if erased[store.KindMemories] != 1 || erased[store.KindTurns] != 1 || erased[store.KindCalls] != 1 {
				t.Errorf("erased %v", erased)
			}
			export, err = m.Export(t.Context(), here)
			_, kept := export.Settings[turn.SettingErasedBefore]
			if err != nil || len(export.Memories)+len(export.Turns)+len(export.Waiting)+len(export.Usage)+len(export.Audit) != 0 ||
				len(export.Settings) != 1 || !kept {
				t.Errorf("left: %+v, %v", export, err)
			}
		})
	}
}
