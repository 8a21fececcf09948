//go:build unix

package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// doneWatch looks at the model's end of the connection at the moment in which a turn says that it is done.
type doneWatch struct {
	streaming chan net.Conn
	current   net.Conn
	open      chan bool
}

// Observe implements turn.Observer.
func (w *doneWatch) Observe(e turn.Event) {
	if e.Kind == turn.EventDone {
		w.open <- isOpen(w.current)
	}
}

// isOpen asks the kernel whether the other side of a server's connection still has it open. When the server's goroutine
// hears of it is a matter of the scheduler that both sides share here.
func isOpen(c net.Conn) bool {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	var n int
	var peeked error
	if err := raw.Control(func(fd uintptr) {
		n, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}); err != nil {
		return false // closed here, too
	}
	return n > 0 || errors.Is(peeked, syscall.EAGAIN)
}

type connKey struct{}

// TestKillClosesTheModelsConnectionBeforeDone: when a turn says that it is done, its model is no longer talking.
func TestKillClosesTheModelsConnectionBeforeDone(t *testing.T) {
	t.Parallel()
	watch := &doneWatch{streaming: make(chan net.Conn), open: make(chan bool, 1)}
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I \"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		watch.streaming <- r.Context().Value(connKey{}).(net.Conn)
		<-r.Context().Done()
	}))
	service.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	service.Start()
	defer service.Close()
	sim := discordsim.New(discordsim.Config{})
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	w := sim.World()
	guild := w.AddGuild(discordsim.GuildSpec{Name: "home"})
	channel, err := w.AddChannel(guild, discordsim.ChannelSpec{Name: "general"})
	if err != nil {
		t.Fatal(err)
	}
	ada := w.Person("Ada")
	for _, id := range []discordsim.ID{ada.ID, w.Bot()} {
		if err := w.Join(guild, id); err != nil {
			t.Fatal(err)
		}
	}
	defer startBot(t, sim, service.URL, watch)()
	for range 10 {
		if _, err := ada.Say(channel, fmt.Sprintf("<@%s> go", w.Bot())); err != nil {
			t.Fatal(err)
		}
		watch.current = <-watch.streaming
		if !isOpen(watch.current) {
			t.Fatal("the connection is closed while the answer streams")
		}
		if _, err := ada.Slash(channel, "kill"); err != nil {
			t.Fatal(err)
		}
		if <-watch.open {
			t.Error("the turn was done while its model's connection was open")
		}
	}
}
