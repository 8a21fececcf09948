package anthropic

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// noJournal writes nothing down: no call runs here.
type noJournal struct{ toolloop.Journal }

// TestKillClosesTheConnectionFirst kills a turn in the middle of an answer. When the loop returns, and so before anybody
// is told that the turn is done, the connection is closed: the server has nothing left to read but its end.
func TestKillClosesTheConnectionFirst(t *testing.T) {
	t.Parallel()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	served := make(chan net.Conn, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			close(served)
			return
		}
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+begin()+start(0, `{"type":"text","text":"One, "}`))
		}
		served <- conn
	}()
	p, err := New(Config{BaseURL: "http://" + ln.Addr().String(), APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	loop := toolloop.New(toolloop.Deps{
		Registry: r, Journal: noJournal{}, Broker: toolloop.NewBroker(), Limits: toolloop.DefaultLimits(), Log: zerolog.Nop(),
	})
	turn := &toolloop.Turn{ID: "t1", Observer: observe(func(e toolloop.Event) {
		if _, ok := e.(toolloop.Delta); ok {
			kill(abort.Killed{By: "mod"})
		}
	})}
	res := loop.Run(ctx, turn, toolloop.Attempt{
		Provider: p, Model: "claude-sonnet-4-5", Messages: []providers.Message{{Role: providers.RoleUser, Content: "count"}},
	})
	conn, ok := <-served
	if !ok {
		t.Fatal("nobody came")
	}
	defer func() { _ = conn.Close() }()
	if res.Status != store.TurnStoppedByUser || len(res.Shown) != 1 || res.Usage.Input != 5 {
		t.Errorf("status %s, shown %q, usage %+v: %v", res.Status, res.Shown, res.Usage, res.Err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	var one [1]byte
	if n, err := conn.Read(one[:]); n != 0 || err == nil || isTimeout(err) {
		t.Errorf("the connection is still open: %d bytes, %v", n, err)
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// observe is an observer of one function.
type observe func(toolloop.Event)

// Observe implements toolloop.Observer.
func (o observe) Observe(e toolloop.Event) { o(e) }
