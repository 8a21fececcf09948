package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleybot/parley/store"
)

// Leftovers is what a process that is gone left behind.
type Leftovers struct {
	cutOff  []store.Turn
	waiting []store.Waiting
	// answered are triggers whose turn had begun, though the store still has some of them as waiting.
	answered map[string]bool
	// cards are open approval cards that nobody waits for any more.
	cards []store.Approval
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
	if err := m.knowWishes(ctx); err != nil {
		return Leftovers{}, fmt.Errorf("reading what members want: %w", err)
	}
	waiting, err := m.Store.AllWaiting(ctx)
	if err != nil {
		return Leftovers{}, fmt.Errorf("reading waiting triggers: %w", err)
	}
	answered := map[string]bool{}
	for _, t := range turns {
		answered[t.TriggerID] = true
	}
	seen := map[string]bool{}
	for _, w := range waiting {
		if seen[w.ChannelID] {
			continue
		}
		seen[w.ChannelID] = true
		recent, err := m.Store.RecentTurns(ctx, w.ChannelID, recalledTurns)
		if err != nil {
			return Leftovers{}, fmt.Errorf("reading the turns of a channel: %w", err)
		}
		for _, t := range recent {
			answered[t.TriggerID] = true
		}
	}
	left, err := m.Store.OpenApprovals(ctx)
	if err != nil {
		return Leftovers{}, fmt.Errorf("reading open approval cards: %w", err)
	}
	return Leftovers{cutOff: turns, waiting: waiting, answered: answered, cards: left}, nil
}

// Resume puts waiting triggers back in line, once the edge can answer. Those that have waited too long, and turns that
// were cut off, get one notice each.
func (m *Manager) Resume(l Leftovers) {
	for _, t := range l.cutOff {
		m.count(store.TurnInterrupted, 1)
		m.tellOutside(Notice{Kind: NoticeInterrupted, ChannelID: t.ChannelID, ReplyToID: t.TriggerID, Text: interruptedText})
	}
	for _, a := range l.cards {
		m.withdraw(a)
	}
	// Ids are as old as the messages: they order what the clock of a process could not tell apart.
	slices.SortStableFunc(l.waiting, func(a, b store.Waiting) int {
		return cmp.Or(a.QueuedAt.Compare(b.QueuedAt), CompareIDs(a.MessageID, b.MessageID))
	})
	for _, w := range l.waiting {
		if l.answered[w.MessageID] {
			m.unstoreOutside(w.MessageID)
			continue
		}
		m.resume(w)
	}
}

func (m *Manager) resume(s store.Waiting) {
	old := time.Since(s.QueuedAt) > m.limits.ResumeWithin
	in, v, err := decodeWaiting(s.Payload)
	if err != nil {
		m.Log.Error().Err(err).Str("message_id", s.MessageID).Msg("waiting.corrupt")
		if old { // by now it could not run even if it could be read
			m.unstoreOutside(s.MessageID)
		}
		return
	}
	if old {
		m.unstoreOutside(s.MessageID)
		m.discarded(in, "", ReasonExpired)
		if v.Deliberate {
			m.tellOutside(Notice{Kind: NoticeExpired, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: expiredText})
		}
		return
	}
	m.fallback.claim(in.MessageID, time.Now(), m.limits.ClaimTTL)
	m.offer(in.ChannelID, func(w *worker) { w.resumed(in, v) })
}

// resumed puts a trigger in line whose id was claimed when it first waited. The limits held then.
func (w *worker) resumed(in Inbound, v Verdict) {
	if w.draining {
		return // it is stored still
	}
	w.guild = in.GuildID
	w.m.limiter.reserve(in, true, time.Now())
	q := &queued{in: in, verdict: v, id: newID(), ready: true, stored: true, waited: true}
	w.queue = append(w.queue, q)
	w.m.admitted(in, q.id, v)
}

func (m *Manager) tellOutside(n Notice) {
	m.spawn(func() {
		m.io("telling "+string(n.Kind), func(ctx context.Context) error { return m.Edge.Notify(ctx, n) })
	})
}

func (m *Manager) unstoreOutside(messageID string) {
	m.spawn(func() { m.remove(messageID) })
}
