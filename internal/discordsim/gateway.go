package discordsim

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// outQueue is more than a whole replay, so only a client that reads nothing overflows it.
	outQueue = 2 * replayLimit
	// writeTimeout ends connections whose client reads nothing.
	writeTimeout = 10 * time.Second
	// lingerTime is how long a closed connection waits for the client to go.
	lingerTime = 5 * time.Second
	// maxReceived is Discord's limit for a client's frame.
	maxReceived = 4096
	// sendLimit frames per minute are allowed to a client.
	sendLimit = 120
)

// conn is one gateway connection. session, silent and ended are guarded by the world's lock.
type conn struct {
	number  int
	ws      *websocket.Conn
	out     chan outFrame
	dead    chan struct{}
	kill    sync.Once
	session *session
	silent  bool
	// ended is the code with which the server ended the connection; 1006 for a cut, 0 while it has not.
	ended int
}

// outFrame is a frame to write, or the end of the connection: with a close code, or by a cut.
type outFrame struct {
	data   []byte
	code   int
	reason string
	cut    bool
}

// push queues a frame without waiting; a full queue is a client that reads nothing, and ends the connection.
func (c *conn) push(f outFrame) {
	if c.silent && !f.cut && f.code == 0 {
		return
	}
	switch {
	case c.ended != 0:
		return
	case f.cut:
		c.ended = closeAbnormal
	default:
		c.ended = f.code
	}
	select {
	case c.out <- f:
	default:
		c.end()
	}
}

// end makes reader and writer return.
func (c *conn) end() { c.kill.Do(func() { close(c.dead) }) }

// serveGateway is one connection's life: it reads here and writes in a goroutine it waits for.
func (s *Server) serveGateway(rw http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		http.Error(rw, "closing", http.StatusServiceUnavailable)
		return
	}
	defer s.wg.Done()
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(rw, r, nil)
	if err != nil {
		return // Upgrade has answered the client.
	}
	defer ws.Close()
	// The client's close frame is answered by the writer or by closing the socket, never from inside a read.
	ws.SetCloseHandler(func(int, string) error { return nil })
	ws.SetReadLimit(maxReceived)

	c := &conn{ws: ws, out: make(chan outFrame, outQueue), dead: make(chan struct{})}
	w := s.world
	w.mu.Lock()
	s.connCount++
	c.number = s.connCount
	s.conns[c] = struct{}{}
	w.record(GatewayOpened{Conn: c.number})
	if g := w.takeGreeting(GreetCut); g != nil {
		c.push(outFrame{cut: true})
	}
	c.push(outFrame{data: control(opHello, `{"heartbeat_interval":`+strconv.FormatInt(w.heartbeat.Milliseconds(), 10)+`}`)})
	w.mu.Unlock()

	var writer sync.WaitGroup
	writer.Go(func() { c.write(s.closing) })
	code := c.read(w)
	c.end()
	writer.Wait()

	w.mu.Lock()
	defer w.mu.Unlock()
	delete(s.conns, c)
	w.hangUp(c, code)
}

// hangUp detaches a connection's session. Only a client that said goodbye with 1000 or 1001 ends it.
func (w *World) hangUp(c *conn, code int) {
	closed := GatewayClosed{Conn: c.number, Code: code, ByServer: c.ended != 0}
	if c.ended != 0 {
		closed.Code = c.ended
	}
	if s := c.session; s != nil {
		closed.Session = s.id
		s.conn, c.session = nil, nil
		if c.ended == 0 && (code == closeNormal || code == closeGoingAway) {
			delete(w.sessions, s.id)
		}
	}
	w.record(closed)
}

// write sends what is queued until the connection ends.
func (c *conn) write(closing <-chan struct{}) {
	defer c.ws.Close()
	defer c.end()
	for {
		select {
		case f := <-c.out:
			_ = c.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
			switch {
			case f.cut:
				cut(c.ws.NetConn())
				return
			case f.code != 0:
				_ = c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(f.code, f.reason))
				c.linger(closing)
				return
			}
			if c.ws.WriteMessage(websocket.TextMessage, f.data) != nil {
				return
			}
		case <-c.dead:
			return
		case <-closing:
			return
		}
	}
}

// linger gives the client time to read the close frame: closing a socket with unread data loses what was sent last.
func (c *conn) linger(closing <-chan struct{}) {
	timer := time.NewTimer(lingerTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.dead:
	case <-closing:
	}
}

// cut ends a TCP connection without a goodbye: the peer sees a reset.
func cut(nc net.Conn) {
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = nc.Close()
}

// read handles what the client sends until it ends, and returns its close code.
func (c *conn) read(w *World) int {
	var window time.Time
	count := 0
	for {
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			if e, ok := errors.AsType[*websocket.CloseError](err); ok {
				return e.Code
			}
			return closeAbnormal
		}
		now := time.Now()
		if now.Sub(window) > time.Minute {
			window, count = now, 0
		}
		w.mu.Lock()
		count++
		switch {
		case c.ended != 0:
		case count > sendLimit:
			w.refuse(c, closeRateLimited, "Rate limited.")
		default:
			c.handle(w, data)
		}
		w.mu.Unlock()
	}
}

// handle is one frame of the client. The world is locked.
func (c *conn) handle(w *World, data []byte) {
	var in wireReceived
	if json.Unmarshal(data, &in) != nil {
		w.refuse(c, closeDecodeError, "Error while decoding payload.")
		return
	}
	switch in.Op {
	case opHeartbeat:
		c.push(outFrame{data: control(opHeartbeatAck, "null")})
	case opIdentify:
		var id wireIdentify
		if w.greet(c) {
			return
		}
		if json.Unmarshal(in.Data, &id) != nil {
			w.refuse(c, closeDecodeError, "Error while decoding payload.")
		} else if code, reason := w.identify(c, id); code != 0 {
			w.refuse(c, code, reason)
		}
	case opResume:
		var r wireResume
		if w.greet(c) {
			return
		}
		if json.Unmarshal(in.Data, &r) != nil {
			w.refuse(c, closeDecodeError, "Error while decoding payload.")
		} else if ok, code, reason := w.resume(c, r); !ok {
			w.refuse(c, code, reason)
		}
	case opPresence, opVoiceState, opRequestMembers:
		if c.session == nil {
			w.refuse(c, closeNotAuthenticated, "Not authenticated.")
		} else if in.Op == opPresence {
			w.record(PresenceUpdated{Payload: string(in.Data)})
		}
	default:
		w.refuse(c, closeUnknownOpcode, "Unknown opcode.")
	}
}

// refuse closes with a code, or says op 9 for none.
func (w *World) refuse(c *conn, code int, reason string) {
	w.record(GatewayRefused{Conn: c.number, Code: code, Reason: reason})
	if code == 0 {
		c.push(outFrame{data: control(opInvalidSession, "false")})
		return
	}
	w.closeConn(c, code, reason)
}

// closeConn closes from the server's side. After the codes that Discord documents as final, the session is gone.
func (w *World) closeConn(c *conn, code int, reason string) {
	if s := c.session; s != nil {
		switch code {
		case closeNormal, closeGoingAway, closeBadToken, closeInvalidSeq, closeTimedOut, closeInvalidShard, 4011, 4012,
			closeInvalidIntents, closeDisallowedIntents:
			s.conn, c.session = nil, nil
			delete(w.sessions, s.id)
		}
	}
	c.push(outFrame{code: code, reason: reason})
}
