package app_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
)

// BenchmarkTwoProcessesPace lets two bots, with one Redis between them, answer in two hundred channels at once. Discord
// counts a bot's requests together and grants 50 a second; what they sent in their busiest second and what was refused is
// reported.
func BenchmarkTwoProcessesPace(b *testing.B) {
	for b.Loop() {
		paceTwo(b)
	}
}

func paceTwo(b *testing.B) {
	environ := servers(b)
	sim := discordsim.New(discordsim.Config{})
	if err := sim.Start(); err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	w := sim.World()
	guild, ada := w.AddGuild(discordsim.GuildSpec{Name: "home"}), w.Person("Ada")
	for _, id := range []discordsim.ID{ada.ID, w.Bot()} {
		if err := w.Join(guild, id); err != nil {
			b.Fatal(err)
		}
	}
	var channels []discordsim.ID
	for n := range 200 {
		id, err := w.AddChannel(guild, discordsim.ChannelSpec{Name: fmt.Sprintf("c%d", n)})
		if err != nil {
			b.Fatal(err)
		}
		channels = append(channels, id)
	}
	for range 2 {
		defer runBeside(b, w.Token(), sim.URL(), environ)()
	}
	if err := w.EnableRateLimits(discordsim.RateLimits{Global: discordsim.RateLimit{Requests: 50, Window: time.Second}}); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	for _, id := range channels {
		if _, err := ada.Say(id, "<@"+string(w.Bot())+"> say all is well"); err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	if err := w.Wait(ctx, func(v discordsim.View) bool {
		return !slices.ContainsFunc(channels, func(id discordsim.ID) bool { return len(v.MessagesBy(id, w.Bot())) == 0 })
	}); err != nil {
		b.Fatal(err)
	}
	var sent []time.Time
	refused := 0
	var entries []discordsim.Entry
	w.Look(func(v discordsim.View) { entries = v.Entries(0) })
	for _, entry := range entries {
		r, ok := entry.Event.(discordsim.RequestServed)
		if !ok || entry.At.Before(begun) {
			continue
		}
		if sent = append(sent, entry.At.Add(-r.Request.Took)); r.Request.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	slices.SortFunc(sent, time.Time.Compare)
	busiest, first := 0, 0
	for i := range sent {
		for sent[i].Sub(sent[first]) >= time.Second {
			first++
		}
		busiest = max(busiest, i-first+1)
	}
	b.ReportMetric(float64(busiest), "busiest-second")
	b.ReportMetric(float64(refused), "refused")
	b.ReportMetric(float64(len(sent))/time.Since(begun).Seconds(), "requests/s")
}

// runBeside runs a bot with these servers until stop.
func runBeside(b *testing.B, token, api string, environ []string) (stop func()) {
	b.Helper()
	cfg, _, err := config.Load(append([]string{
		"DISCORD_TOKEN=" + token, "MODEL=rehearsal", "SHUTDOWN_GRACE_MS=0", "MAX_TURNS_PER_MINUTE_MEMBER=1000000",
		"MAX_ACTIVE_TURNS_PER_MEMBER=1000000", "MAX_ACTIVE_TURNS_PER_GUILD=1000000",
	}, environ...))
	if err != nil {
		b.Fatal(err)
	}
	a, err := app.New(b.Context(), app.Options{Config: cfg, Log: zerolog.Nop(), DiscordAPI: api, Practice: true, Version: "bench"})
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
