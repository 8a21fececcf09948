package bot

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// maxUnanswered is how many writes in a row may go without a byte coming back once a connection stands. A client that is
// left alone writes heartbeats only, so the third unanswered write means that two whole heartbeat intervals passed
// without an acknowledgement: the connection is a zombie. The library notices after five.
const maxUnanswered = 2

// maxBeforeReady bounds what may be written before READY. The library answers every "invalid session" with another
// identify at once, and each costs one of the day's session starts.
const maxBeforeReady = 12

var (
	errZombie = errors.New("no heartbeat acknowledged within two intervals")
	errStorm  = errors.New("discord keeps refusing the session")
)

// link is the socket below a gateway connection. Watching it tells a zombie without knowing the heartbeat interval, which
// the library hides; cutting it ends a connection without calling the library's Close, which may crash the process when
// it races with a heartbeat request (discordgo #1702).
type link struct {
	net.Conn
	state *linkState
}

// linkState outlives the socket. Safe for concurrent use.
type linkState struct {
	standing   atomic.Bool // READY was seen
	unanswered atomic.Int32
	early      atomic.Int32

	mu    sync.Mutex
	conn  net.Conn
	cause error
}

func (l link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		l.state.unanswered.Store(0)
	}
	return n, err
}

func (l link) Write(p []byte) (int, error) {
	switch {
	case l.state.standing.Load():
		if l.state.unanswered.Add(1) > maxUnanswered {
			l.state.cut(errZombie)
			return 0, errZombie
		}
	case l.state.early.Add(1) > maxBeforeReady:
		l.state.cut(errStorm)
		return 0, errStorm
	}
	return l.Conn.Write(p)
}

// attach takes the socket; when the link was cut before, the socket is closed at once.
func (s *linkState) attach(c net.Conn) link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		_ = c.Close()
	}
	s.conn = c
	return link{Conn: c, state: s}
}

// cut closes the socket for a reason; the first reason counts.
func (s *linkState) cut(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		s.cause = cause
	}
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

func (s *linkState) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}
