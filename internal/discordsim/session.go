package discordsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// replayLimit is how many events a session keeps for a resume.
const replayLimit = 1024

// maxAway is how many sessions without a connection are kept for a resume.
const maxAway = 16

// session is a gateway session: it outlives its connection and can be resumed.
type session struct {
	id      string
	intents Intents
	shard   [2]int
	seq     int64
	log     []loggedEvent
	conn    *conn // nil while the client is away
}

type loggedEvent struct {
	seq   int64
	frame []byte
}

// SessionStarts is the budget of identifies that GET /gateway/bot tells of.
type SessionStarts struct {
	Total, Remaining int
	ResetAfter       time.Duration
}

// SetSessionStarts sets that budget. Identifying when none remains makes the token invalid, as Discord does.
func (w *World) SetSessionStarts(s SessionStarts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts = s
}

// dispatch is an event for all sessions that want it.
type dispatch struct {
	name string
	// intents are those of which a session needs one; 0 for an event that everybody gets.
	intents Intents
	guild   ID
	// channel must be visible to the bot, if set; its guild counts.
	channel *channel
	body    any
	// redacted, if set, makes the body for sessions without the message content intent.
	redacted func() any
}

// dispatch queues an event on every session that may have it; sessions without a connection keep it for their resume.
func (w *World) dispatch(d dispatch) {
	guild := d.guild
	if d.channel != nil {
		guild = d.channel.guild
		if !w.permissionsIn(d.channel, w.app.bot).Has(PermViewChannel) {
			return
		}
	}
	var full, redacted []byte
	for _, s := range w.sessions {
		if d.intents != 0 && !s.intents.Has(d.intents) || !s.owns(guild) {
			continue
		}
		if d.redacted != nil && !s.intents.Has(IntentMessageContent) {
			if redacted == nil {
				redacted = encode(d.redacted())
			}
			s.send(d.name, redacted)
			continue
		}
		if full == nil {
			full = encode(d.body)
		}
		s.send(d.name, full)
	}
}

// owns applies Discord's sharding formula; DMs belong to shard 0.
func (s *session) owns(guild ID) bool {
	return int(guild.number()>>22%uint64(s.shard[1])) == s.shard[0]
}

func (s *session) send(name string, data []byte) {
	s.seq++
	frame := eventFrame(name, s.seq, data)
	if len(s.log) >= replayLimit {
		s.log = append(s.log[:0], s.log[len(s.log)-replayLimit/2:]...)
	}
	s.log = append(s.log, loggedEvent{s.seq, frame})
	if s.conn != nil {
		s.conn.push(outFrame{data: frame})
	}
}

// replayable reports whether all events after seq are still kept.
func (s *session) replayable(seq int64) bool {
	return seq == s.seq || len(s.log) > 0 && s.log[0].seq <= seq+1
}

// encode marshals what this package's own wire structs hold, which cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("discordsim: encoding %T: %v", v, err))
	}
	return b
}

// identify starts a session on a connection, or says with which close code it is refused.
func (w *World) identify(c *conn, id wireIdentify) (code int, reason string) {
	shard := [2]int{0, 1}
	if id.Shard != nil {
		shard = *id.Shard
	}
	switch {
	case c.session != nil:
		return closeAlreadyIdentified, "Already authenticated."
	case !w.tokenValid(id.Token):
		return closeBadToken, "Authentication failed."
	case id.Intents == nil || *id.Intents&^knownIntents != 0:
		return closeInvalidIntents, "Invalid intent(s)."
	case *id.Intents&privilegedIntents&^w.app.privileged != 0:
		return closeDisallowedIntents, "Disallowed intent(s)."
	case shard[1] < 1 || shard[0] < 0 || shard[0] >= shard[1]:
		return closeInvalidShard, "Invalid shard."
	}
	if w.starts.Remaining == 0 {
		w.app.tokenRevoked = true
		return closeBadToken, "Authentication failed."
	}
	w.starts.Remaining--
	s := &session{id: "session-" + string(w.newID()), intents: *id.Intents, shard: shard, conn: c}
	c.session = s
	w.forgetSessions()
	w.sessions[s.id] = s
	w.record(GatewayIdentified{Conn: c.number, Session: s.id, Intents: s.intents, Shard: shard})
	w.welcome(s)
	return 0, ""
}

// forgetSessions drops the oldest of the sessions nobody came back to, as Discord does after some minutes.
func (w *World) forgetSessions() {
	var away []string
	for id, s := range w.sessions {
		if s.conn == nil {
			away = append(away, id)
		}
	}
	slices.Sort(away) // Ids grow with time, and are of one length for centuries.
	for len(away) > maxAway {
		delete(w.sessions, away[0])
		away = away[1:]
	}
}

func (w *World) tokenValid(token string) bool {
	return !w.app.tokenRevoked && (token == w.app.token || token == "Bot "+w.app.token)
}

// welcome sends READY and the guilds.
func (w *World) welcome(s *session) {
	ready := wireReady{
		Version: 9, User: w.self(), SessionID: s.id, ResumeGatewayURL: w.gatewayURL(), SessionType: "normal", Shard: s.shard,
		Application: wireReadyApp{ID: w.app.id, Flags: w.app.flags()}, Guilds: []wireUnavailable{},
		PrivateChannels: []struct{}{}, Relationships: []struct{}{}, Presences: []struct{}{},
	}
	var guilds []*guild
	for _, id := range w.guildOrder {
		if g := w.guilds[id]; s.owns(id) && g.members[w.app.bot] != nil {
			guilds = append(guilds, g)
			ready.Guilds = append(ready.Guilds, wireUnavailable{ID: id, Unavailable: true})
		}
	}
	s.send("READY", encode(ready))
	if !s.intents.Has(IntentGuilds) {
		return
	}
	for _, g := range guilds {
		s.send("GUILD_CREATE", encode(w.wireGuildCreate(g, s.intents)))
	}
}

// resume takes a session up again on a connection. A refused one is told by op 9 (code 0) or by a close code.
func (w *World) resume(c *conn, r wireResume) (ok bool, code int, reason string) {
	s := w.sessions[r.SessionID]
	switch {
	case c.session != nil:
		return false, closeAlreadyIdentified, "Already authenticated."
	case !w.tokenValid(r.Token):
		return false, closeBadToken, "Authentication failed."
	case s == nil:
		return false, 0, "unknown session"
	case r.Seq > s.seq:
		delete(w.sessions, s.id)
		return false, closeInvalidSeq, "Invalid seq."
	case !s.replayable(r.Seq):
		delete(w.sessions, s.id)
		return false, 0, "too many events missed"
	}
	if s.conn != nil {
		// The old connection may not know yet that it is dead.
		s.conn.session = nil
		s.conn.push(outFrame{cut: true})
	}
	s.conn, c.session = c, s
	replayed := 0
	for _, e := range s.log {
		if e.seq > r.Seq {
			c.push(outFrame{data: e.frame})
			replayed++
		}
	}
	w.record(GatewayResumed{Conn: c.number, Session: s.id, Replayed: replayed})
	s.send("RESUMED", []byte(`{"_trace":[]}`))
	return true, 0, ""
}

func (w *World) self() wireSelf {
	return wireSelf{wireUser: w.wireUser(w.app.bot), Locale: "en-US", Verified: true}
}

func (w *World) gatewayURL() string { return "ws" + w.base[len("http"):] + "/gateway" }
