package discordsim

// everyConn calls f for each identified connection, with the world locked, and reports how many there were.
func (w *World) everyConn(f func(*conn)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.sessions {
		if s.conn != nil {
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
