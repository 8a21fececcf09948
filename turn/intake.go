package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

// ioTimeout bounds what intake asks of a store.
const ioTimeout = 5 * time.Second

// claim asks the store, beside the worker, whether a trigger's id is ours to answer, and stores a trigger that waits.
// A store that is away must not silence the bot: then a local cache decides.
func (m *Manager) claim(channelID string, q *queued, waits bool) {
	in := q.in
	m.owned.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, ioTimeout)
		defer cancel()
		ours, err := m.Store.Claim(ctx, in.MessageID, m.limits.ClaimTTL, time.Now())
		if err != nil {
			m.Log.Warn().Err(err).Str("message", in.MessageID).Msg("claim.store_away")
			ours = m.fallback.claim(in.MessageID, time.Now(), m.limits.ClaimTTL)
		}
		stored := false
		if ours && waits {
			stored = m.putWaiting(ctx, in)
		}
		m.post(channelID, func(w *worker) { w.claimed(q, ours, stored) })
	})
}

func (m *Manager) putWaiting(ctx context.Context, in Inbound) bool {
	payload, err := json.Marshal(in)
	if err == nil {
		err = m.Store.PutWaiting(ctx, store.Waiting{
			MessageID: in.MessageID, ChannelID: in.ChannelID, GuildID: in.GuildID, OwnerID: in.Author.ID, Payload: payload,
			QueuedAt: in.ReceivedAt,
		})
	}
	if err != nil {
		m.Log.Warn().Err(err).Str("message", in.MessageID).Msg("waiting.not_stored")
	}
	return err == nil
}

// unstore removes a waiting trigger from the store, beside the worker.
func (m *Manager) unstore(messageID string) {
	m.aside(func(ctx context.Context) error { return m.Store.DeleteWaiting(ctx, messageID) })
}

// restore replaces a waiting trigger that was edited.
func (m *Manager) restore(in Inbound) {
	payload, err := json.Marshal(in)
	if err != nil {
		return
	}
	m.aside(func(ctx context.Context) error { return m.Store.UpdateWaiting(ctx, in.MessageID, payload) })
}

// notify says something outside an answer, beside the worker.
func (m *Manager) notify(n Notice) {
	m.aside(func(ctx context.Context) error { return m.Edge.Notify(ctx, n) })
}

// aside runs I/O in a goroutine that Drain waits for.
func (m *Manager) aside(work func(ctx context.Context) error) {
	m.owned.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, ioTimeout)
		defer cancel()
		if err := work(ctx); err != nil {
			m.Log.Warn().Err(err).Msg("turn.aside_failed")
		}
	})
}

// Leftovers is what a process that is gone left behind.
type Leftovers struct {
	cutOff  []store.Turn
	waiting []store.Waiting
}

// Sweep closes what a process that is gone left running, so that none of it ever runs again, and reads what waited. It
// is called once, before anything is received: what runs later belongs to this process.
func (m *Manager) Sweep(ctx context.Context) (Leftovers, error) {
	turns, calls, err := m.Store.Sweep(ctx, time.Now())
	if err != nil {
		return Leftovers{}, fmt.Errorf("closing what was left running: %w", err)
	}
	if len(turns)+len(calls) > 0 {
		m.Log.Warn().Int("turns", len(turns)).Int("calls", len(calls)).Msg("turn.swept_interrupted")
	}
	waiting, err := m.Store.AllWaiting(ctx)
	if err != nil {
		return Leftovers{}, fmt.Errorf("reading waiting triggers: %w", err)
	}
	return Leftovers{cutOff: turns, waiting: waiting}, nil
}

// Resume puts waiting triggers back in line, once the edge can answer. Those that have waited too long, and turns that
// were cut off, get one notice each.
func (m *Manager) Resume(l Leftovers) {
	for _, t := range l.cutOff {
		m.count(store.TurnInterrupted, 1)
		m.notify(Notice{Kind: NoticeInterrupted, ChannelID: t.ChannelID, ReplyToID: t.TriggerID, Text: interruptedText})
	}
	for _, w := range l.waiting {
		m.resume(w)
	}
}

func (m *Manager) resume(s store.Waiting) {
	var in Inbound
	if err := json.Unmarshal(s.Payload, &in); err != nil {
		m.Log.Error().Err(err).Str("message", s.MessageID).Msg("waiting.corrupt")
		return
	}
	if time.Since(s.QueuedAt) > m.limits.ResumeWithin {
		m.unstore(s.MessageID)
		m.discarded(in, ReasonExpired)
		m.notify(Notice{Kind: NoticeExpired, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: expiredText})
		return
	}
	d := Admit(in, AdmissionSettings{})
	m.post(in.ChannelID, func(w *worker) { // its id was claimed when it was first put in line
		w.queue = append(w.queue, &queued{in: in, verdict: d, id: newID(), ready: true, stored: true})
	})
}

// localClaims decides who answers a message while the store is away. It is safe for concurrent use and bounded.
type localClaims struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// localClaimsMax bounds the fallback; past it everything expired is dropped, and if that is not enough, all of it.
const localClaimsMax = 10_000

func (l *localClaims) claim(id string, now time.Time, ttl time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.seen[id]; ok && now.Sub(at) < ttl {
		return false
	}
	if len(l.seen) >= localClaimsMax || l.seen == nil {
		l.seen = map[string]time.Time{}
	}
	l.seen[id] = now
	return true
}
