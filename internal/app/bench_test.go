package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/observe"
	"github.com/parleybot/parley/turn"
)

// benchPace is how many turns a second the benchmarks play. Played as fast as they go, they would measure the pace that Discord
// allows a bot: 45 requests a second.
const benchPace = 5

// BenchmarkTurn plays short turns one after another in a warm channel, with everything on. A is from a person's message to
// the model's request, B from the model's last byte to the whole answer in the channel; both in ms. An op's time is the
// benchmark's own.
func BenchmarkTurn(b *testing.B) {
	benchmarkTurn(b, 0)
}

// BenchmarkTurnSlowREST is the same with 80 ms on every REST call.
func BenchmarkTurnSlowREST(b *testing.B) {
	benchmarkTurn(b, 80*time.Millisecond)
}

func benchmarkTurn(b *testing.B, rest time.Duration) {
	model := &clockedModel{}
	service := httptest.NewServer(model)
	defer service.Close()
	sim := discordsim.New(discordsim.Config{})
	if err := sim.Start(); err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	w := sim.World()
	guild := w.AddGuild(discordsim.GuildSpec{Name: "home"})
	channel, err := w.AddChannel(guild, discordsim.ChannelSpec{Name: "general"})
	if err != nil {
		b.Fatal(err)
	}
	ada := w.Person("Ada")
	for _, id := range []discordsim.ID{ada.ID, w.Bot()} {
		if err := w.Join(guild, id); err != nil {
			b.Fatal(err)
		}
	}
	stop := startBot(b, sim, service.URL)
	defer stop()

	turn := func() (asked, answered time.Duration, requests int) {
		before := 0
		w.Look(func(v discordsim.View) { before = len(v.Requests("")) })
		begun := time.Now()
		question, err := ada.Say(channel, "<@"+string(w.Bot())+"> hello")
		if err != nil {
			b.Fatal(err)
		}
		var seen time.Time
		if err := w.Wait(b.Context(), func(v discordsim.View) bool {
			for _, m := range v.MessagesBy(channel, w.Bot()) {
				if m.ReplyTo == question {
					seen = time.Now()
					requests = len(v.Requests("")) - before
					return true
				}
			}
			return false
		}); err != nil {
			b.Fatal(err)
		}
		arrived, last := model.times()
		return arrived.Sub(begun), seen.Sub(last), requests
	}
	turn() // the first one reads the channel's history
	if rest > 0 {
		if err := w.Inject(discordsim.Fault{Kind: discordsim.FaultDelay, Delay: rest, Times: 1 << 30}); err != nil {
			b.Fatal(err)
		}
	}
	var asked, answered []time.Duration
	total := 0
	next := time.NewTicker(time.Second / benchPace)
	defer next.Stop()
	for b.Loop() {
		<-next.C
		a, d, n := turn()
		asked, answered, total = append(asked, a), append(answered, d), total+n
	}
	report := func(name string, times []time.Duration) {
		slices.Sort(times)
		for _, p := range []int{50, 95} {
			b.ReportMetric(float64(times[len(times)*p/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, p))
		}
	}
	report("A", asked)
	report("B", answered)
	b.ReportMetric(float64(total)/float64(len(asked)), "requests/turn")
}

func startBot(b testing.TB, sim *discordsim.Server, model string, observers ...turn.Observer) (stop func()) {
	b.Helper()
	cfg, _, err := config.Load([]string{
		"DISCORD_TOKEN=" + sim.World().Token(), "MODEL=m", "OPENAI_BASE_URL=" + model, "DATA_DIR=" + b.TempDir(), "LOG_LEVEL=warn",
		"MAX_TURNS_PER_MINUTE_MEMBER=1000000", "MAX_TURNS_PER_MINUTE_CHANNEL=1000000",
		"MAX_ACTIVE_TURNS_PER_MEMBER=1000000", "MAX_ACTIVE_TURNS_PER_GUILD=1000000", "SHUTDOWN_GRACE_MS=0",
	})
	if err != nil {
		b.Fatal(err)
	}
	log, err := observe.NewLogger(observe.LogConfig{Output: b.Output(), Level: "error", Format: "json"})
	if err != nil {
		b.Fatal(err)
	}
	a, err := app.New(b.Context(), app.Options{
		Config: cfg, Log: log, DiscordAPI: sim.URL(), Version: "bench", Practice: true, Observers: observers,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-a.Ready():
	case err := <-ended:
		b.Fatal(err)
	}
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

// clockedModel answers at once and notes when it was asked and when it had said everything.
type clockedModel struct {
	mu            sync.Mutex
	arrived, last time.Time
}

func (m *clockedModel) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	arrived := time.Now()
	w.Header().Set("Content-Type", "text/event-stream")
	var body strings.Builder
	for _, piece := range []string{`{"content":"Hello "}`, `{"content":"there."}`} {
		fmt.Fprintf(&body, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", piece)
	}
	body.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	m.mu.Lock()
	m.arrived, m.last = arrived, time.Now()
	m.mu.Unlock()
	_, _ = w.Write([]byte(body.String()))
}

func (m *clockedModel) times() (arrived, last time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arrived, m.last
}
