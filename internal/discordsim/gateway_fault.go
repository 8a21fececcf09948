package discordsim

import "slices"

// everyConn calls f for each identified connection, with the world locked, and reports how many there were.
func (w *World) everyConn(f func(*conn)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.sessions {
		if s.conn != nil && s.conn.ended == 0 {
			f(s.conn)
			n++
		}
	}
	return n
}

// Drop cuts all gateway connections as a broken network does. Their sessions stay resumable. Like the other gateway
// faults it returns how many connections it met.
func (w *World) Drop() int {
	return w.everyConn(func(c *conn) { c.push(outFrame{cut: true}) })
}

// Silence makes all gateway connections zombies: open, but nothing comes any more, not even heartbeat acks.
func (w *World) Silence() int {
	return w.everyConn(func(c *conn) { c.silent = true })
}

// Reconnect asks all gateway clients to reconnect and resume (op 7).
func (w *World) Reconnect() int {
	return w.everyConn(func(c *conn) { c.push(outFrame{data: control(opReconnect, "null")}) })
}

// RequestHeartbeat asks all gateway clients for a heartbeat at once (op 1).
func (w *World) RequestHeartbeat() int {
	return w.everyConn(func(c *conn) { c.push(outFrame{data: control(opHeartbeat, "null")}) })
}

// InvalidSession takes all sessions from their connections (op 9). The connections stay open for an identify; a resumable
// session can be resumed too.
func (w *World) InvalidSession(resumable bool) int {
	return w.everyConn(func(c *conn) {
		s := c.session
		s.conn, c.session = nil, nil
		data := "true"
		if !resumable {
			data = "false"
			delete(w.sessions, s.id)
		}
		c.push(outFrame{data: control(opInvalidSession, data)})
	})
}

// CloseGateway closes all gateway connections with a code.
func (w *World) CloseGateway(code int, reason string) int {
	return w.everyConn(func(c *conn) { w.closeConn(c, code, reason) })
}

// RefuseToken makes the bot's token invalid from now on, as a token reset does.
func (w *World) RefuseToken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.app.tokenRevoked = true
}

// Redeliver sends the MESSAGE_CREATE of a message a second time, as Discord does now and then. It reports whether there
// is such a message.
func (w *World) Redeliver(id ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.messages[id]
	if m == nil {
		return false
	}
	w.dispatchMessage("MESSAGE_CREATE", m)
	return true
}

// SendEvent sends a raw event to all sessions: for payloads that people cannot make, such as unknown component types.
func (w *World) SendEvent(name string, payload []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		s.send(name, payload)
	}
}

// GreetingKind is how a [Greeting] spoils the start of a gateway connection.
type GreetingKind int

const (
	// GreetCut cuts the connection before the hello.
	GreetCut GreetingKind = iota
	// GreetClose answers identify and resume with the close code of the greeting.
	GreetClose
	// GreetReconnect answers them with op 7.
	GreetReconnect
	// GreetInvalidSession answers them with op 9 and false.
	GreetInvalidSession
)

// Greeting spoils the start of the next gateway connections.
type Greeting struct {
	Kind GreetingKind
	Code int
	// Times is how many connections; 0 means one.
	Times int
}

// Greet arms a greeting. Greetings are used up in the order they were armed.
func (w *World) Greet(g Greeting) {
	g.Times = max(g.Times, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.greetings = append(w.greetings, g)
}

// takeGreeting takes the first greeting, if it is one of these kinds.
func (w *World) takeGreeting(kinds ...GreetingKind) *Greeting {
	if len(w.greetings) == 0 || !slices.Contains(kinds, w.greetings[0].Kind) {
		return nil
	}
	g := w.greetings[0]
	if w.greetings[0].Times--; w.greetings[0].Times == 0 {
		w.greetings = w.greetings[1:]
	}
	return &g
}

// greet spoils an identify or a resume and reports whether it did.
func (w *World) greet(c *conn) bool {
	g := w.takeGreeting(GreetClose, GreetReconnect, GreetInvalidSession)
	if g == nil {
		return false
	}
	switch g.Kind {
	case GreetClose:
		w.refuse(c, g.Code, "Spoiled.")
	case GreetInvalidSession:
		w.refuse(c, 0, "spoiled")
	default:
		c.push(outFrame{data: control(opReconnect, "null")})
	}
	return true
}

// Unfurl adds a link's preview to a message, as Discord does on its own some time after it was sent: a MESSAGE_UPDATE that
// is no edit. It reports whether there is such a message.
func (w *World) Unfurl(id ID, title string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.messages[id]
	if m == nil || !m.Deleted.IsZero() {
		return false
	}
	m.Embeds = encode([]map[string]string{{"type": "link", "title": title}})
	w.dispatchMessage("MESSAGE_UPDATE", m)
	return true
}
