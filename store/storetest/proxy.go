package storetest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy stands between an engine and its real server and can be away, silent or slow. It is safe for concurrent use.
type Proxy struct {
	target string

	mu     sync.Mutex
	listen net.Listener // nil while it is away
	addr   string
	open   map[net.Conn]bool
	delay  time.Duration
	hurry  chan struct{} // closed when the delay is over; nil without one
	silent chan struct{} // closed when it speaks again; nil while it does
	asked  int
	watch  func(conn int, piece []byte)
	conns  int // made so far
	work   sync.WaitGroup
}

// NewProxy stands in front of a server's address until the end of the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{target: target, addr: "127.0.0.1:0", open: make(map[net.Conn]bool)}
	p.Restore(t)
	t.Cleanup(func() {
		p.Speak()
		p.Delay(0)
		p.Cut()
		p.work.Wait()
	})
	return p
}

// Addr is where the proxy is, also while it is away.
func (p *Proxy) Addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addr
}

// Cut ends all connections and takes no more, as a server that has stopped. When it returns, the clients can know.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listen != nil {
		_ = p.listen.Close() // whatever it says, it is closed
		p.listen = nil
	}
	for conn := range p.open {
		p.end(conn)
	}
}

// end closes a connection. It is called with the lock held: a second one that closes returns before the first has.
func (p *Proxy) end(conn net.Conn) {
	if p.open[conn] {
		delete(p.open, conn)
		_ = conn.Close() // whatever it says, it is closed
	}
}

// Restore takes connections again.
func (p *Proxy) Restore(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	listen, err := net.Listen("tcp", p.addr) //nolint:noctx // a test's own, on loopback
	if err != nil {
		t.Fatal(err)
	}
	p.listen, p.addr = listen, listen.Addr().String()
	p.work.Go(func() { p.accept(listen) })
}

// Silence keeps everything back until Speak: connections are made and nothing answers.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent == nil {
		p.silent = make(chan struct{})
	}
}

// Speak lets everything through that was kept back.
func (p *Proxy) Speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent != nil {
		close(p.silent)
		p.silent = nil
	}
}

// Delay keeps every piece back for that long from now on; 0 lets everything through, what is kept back too.
func (p *Proxy) Delay(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hurry != nil {
		close(p.hurry)
		p.hurry = nil
	}
	if p.delay = by; by > 0 {
		p.hurry = make(chan struct{})
	}
}

// Asked is how many pieces clients have sent so far. A client that sends a request and waits for the answer sends one for
// each round trip.
func (p *Proxy) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Watch tells see every piece that a client sends, before the server has it, with the number of its connection. Pieces of
// one connection come in order; see is called by several goroutines, must not keep the piece, and must not be slow.
func (p *Proxy) Watch(see func(conn int, piece []byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = see
}

func (p *Proxy) accept(listen net.Listener) {
	for {
		client, err := listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target) //nolint:noctx // a test's own, on loopback
		if err != nil {
			_ = client.Close() // the server is not there either
			continue
		}
		p.mu.Lock()
		if p.listen != listen { // cut meanwhile
			p.mu.Unlock()
			_, _ = client.Close(), server.Close()
			return
		}
		p.open[client], p.open[server] = true, true
		p.conns++
		conn := p.conns
		p.mu.Unlock()
		p.work.Go(func() { p.pass(client, server, conn) })
		p.work.Go(func() { p.pass(server, client, 0) })
	}
}

// pass carries what one side sends; conn is the number of a client's side.
func (p *Proxy) pass(from, to net.Conn, conn int) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.end(from)
		p.end(to)
	}()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		p.mu.Lock()
		if n > 0 && conn > 0 {
			p.asked++
		}
		delay, hurry, silent, watch := p.delay, p.hurry, p.silent, p.watch
		p.mu.Unlock()
		if n > 0 && conn > 0 && watch != nil {
			watch(conn, piece[:n])
		}
		if silent != nil {
			<-silent
		}
		if delay > 0 {
			select {
			case <-time.After(delay): // the fault itself, not a wait for something
			case <-hurry:
			}
		}
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
