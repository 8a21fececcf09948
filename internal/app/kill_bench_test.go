package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// killBench is a whole bot that is busy in many channels: in every second one an answer streams, in the others a tool runs.
// It notes when each ended.
type killBench struct {
	mu    sync.Mutex
	ended map[string]chan time.Time
	busy  sync.WaitGroup
	seen  map[string]bool
}

// mark gives the channel on which the time of something is told, once.
func (k *killBench) mark(what string) chan time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended[what] == nil {
		k.ended[what] = make(chan time.Time, 1)
	}
	return k.ended[what]
}

func (k *killBench) tell(what string) {
	at := time.Now()
	select {
	case k.mark(what) <- at:
	default:
	}
}

// once reports whether something happens for the first time.
func (k *killBench) once(what string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen[what] {
		return false
	}
	k.seen[what] = true
	return true
}

// Observe implements turn.Observer: a running tool is busy, its result says that its context was cancelled, and done that
// the channel's worker is free.
func (k *killBench) Observe(e turn.Event) {
	switch {
	case e.Kind == turn.EventToolCall && e.Call.Status == store.CallRunning && k.once("call "+e.ChannelID):
		k.busy.Done()
	case e.Kind == turn.EventToolResult:
		k.tell("tool " + e.ChannelID)
	case e.Kind == turn.EventDone:
		k.tell("free " + e.ChannelID)
	}
}

var numbered = regexp.MustCompile(`go (\d+)`)

// ServeHTTP is the model.
func (k *killBench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := new(strings.Builder)
	buf := make([]byte, 64*1024)
	for {
		n, err := r.Body.Read(buf)
		body.Write(buf[:n])
		if err != nil {
			break
		}
	}
	all := numbered.FindAllStringSubmatch(body.String(), -1)
	number := all[len(all)-1][1]
	w.Header().Set("Content-Type", "text/event-stream")
	if (number[len(number)-1]-'0')%2 == 1 {
		call := `{"tool_calls":[{"index":0,"id":"x","function":{"name":"slow_task","arguments":"{\"seconds\":600}"}}]}`
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", call)
		return
	}
	_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I \"}}]}\n\n")
	_ = http.NewResponseController(w).Flush()
	k.busy.Done()
	<-r.Context().Done()
	k.tell("stream " + number)
}

// BenchmarkKill measures, with 1,000 channels active in the whole bot, how long it takes from /kill's interaction, as it is
// written to the gateway, until the stream is closed at the model's server, the tool's context has ended, and the channel
// is free again.
func BenchmarkKill(b *testing.B) {
	const channels, kills = 1000, 400
	k := &killBench{ended: map[string]chan time.Time{}, seen: map[string]bool{}}
	service := httptest.NewServer(k)
	defer service.Close()
	sim := discordsim.New(discordsim.Config{})
	if err := sim.Start(); err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	w := sim.World()
	guild := w.AddGuild(discordsim.GuildSpec{Name: "home"})
	ids := make([]discordsim.ID, channels)
	for i := range ids {
		var err error
		if ids[i], err = w.AddChannel(guild, discordsim.ChannelSpec{Name: fmt.Sprint("c", i)}); err != nil {
			b.Fatal(err)
		}
	}
	ada := w.Person("Ada")
	for _, id := range []discordsim.ID{ada.ID, w.Bot()} {
		if err := w.Join(guild, id); err != nil {
			b.Fatal(err)
		}
	}
	stop := startBot(b, sim, service.URL, k)
	defer stop()
	k.busy.Add(channels)
	for i, c := range ids {
		if _, err := ada.Say(c, fmt.Sprintf("<@%s> go %d", w.Bot(), i)); err != nil {
			b.Fatal(err)
		}
	}
	k.busy.Wait()
	times := map[string][]time.Duration{}
	await := func(what, name string, began time.Time) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		select {
		case at := <-k.mark(what):
			times[name] = append(times[name], at.Sub(began))
		case <-ctx.Done():
			b.Fatalf("%s was never told", what)
		}
	}
	next := 0
	for b.Loop() {
		for ; next < kills; next++ {
			c := ids[next]
			began := time.Now()
			if _, err := ada.Slash(c, "kill"); err != nil {
				b.Fatal(err)
			}
			if next%2 == 1 {
				await("tool "+string(c), "tool", began)
			} else {
				await(fmt.Sprint("stream ", next), "stream", began)
			}
			await("free "+string(c), "free", began)
		}
	}
	for name, all := range times {
		slices.Sort(all)
		for _, p := range []int{50, 99} {
			b.ReportMetric(float64(all[len(all)*p/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, p))
		}
	}
}
