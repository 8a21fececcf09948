package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

// claim asks the store, beside the worker, whether a trigger's id is ours to answer, and stores a trigger that waits.
func (m *Manager) claim(channelID string, q *queued) {
	in, v := q.in, q.verdict
	end := m.writers.begin(in.Author.ID)
	m.owned.Go(func() {
		defer end()
		ctx, cancel := context.WithTimeout(m.ctx, ioTimeout)
		defer cancel()
		why := m.leftAlone(ctx, in.Author.ID)
		if why == "" {
			why = m.spending.refuses(ctx, in)
		}
		if why != "" {
			m.post(channelID, func(w *worker) { w.declined(q, why) })
			return
		}
		if why := m.claims(ctx, store.Claim{ID: in.MessageID, Counts: m.sharedCounts(in), Free: q.free}); why != "" {
			m.post(channelID, func(w *worker) { w.declined(q, why) })
			return
		}
		stored := q.waited && m.storeWaiting(ctx, in, v)
		m.post(channelID, func(w *worker) { w.claimed(q, stored) })
	})
}

// rateTurns names what is counted in the store.
const rateTurns = "turns"

// sharedCounts is where a turn counts for all processes of the bot, beside what this one counts. Two of them run at once while a
// new version starts, and a member talks to several where guilds are spread over them.
func (m *Manager) sharedCounts(in Inbound) []store.Count {
	if !m.SharedRates {
		return nil
	}
	return []store.Count{
		{Rate: store.Rate{Name: rateTurns, MemberID: in.Author.ID}, Limit: m.limits.TurnsPerMinuteMember, Window: rateWindow},
		{Rate: store.Rate{Name: rateTurns, ChannelID: in.ChannelID}, Limit: m.limits.TurnsPerMinuteChannel, Window: rateWindow},
	}
}

// leftAlone says why a member is not answered: they want nothing to do with the bot, or nobody can say whether they do.
func (m *Manager) leftAlone(ctx context.Context, memberID string) Reason {
	switch x, err := m.wish(ctx, memberID); {
	case err != nil:
		return ReasonWishUnknown
	case x.leftAlone:
		return ReasonFullPrivacy
	}
	return ""
}

// memberLately is what a member has set beside their wishes; nothing when the store is away and nothing is known.
func (m *Manager) memberLately(ctx context.Context, memberID string) MemberSettings {
	values, _ := safely(func() (map[string]string, error) { return m.settings.lately(ctx, store.SettingMember, memberID) })
	return readMember(values)
}

// claims says why a message is not ours to answer; "" when it is. A store that is away must not silence the bot: then a local
// cache decides, and each process counts by itself. The cache is asked first in any case, since it also knows what was
// claimed while the store was away.
func (m *Manager) claims(ctx context.Context, c store.Claim) Reason {
	now := time.Now()
	c.TTL = m.limits.ClaimTTL
	if !m.fallback.claim(c.ID, now, c.TTL) {
		return ReasonDuplicate
	}
	claimed, err := safely(func() (store.Claimed, error) { return m.Store.Claim(ctx, c, now) })
	switch {
	case err != nil:
		m.Log.Warn().Err(err).Str("message_id", c.ID).Msg("claim.store_away")
		return ""
	case !claimed.Ours:
		return ReasonDuplicate
	case claimed.Over.MemberID != "":
		return ReasonMemberRate
	case claimed.Over.ChannelID != "":
		return ReasonChannelRate
	}
	return ""
}

// claimCommand carries out a text command, once, and answers it.
func (m *Manager) claimCommand(in Inbound, v Verdict) {
	m.aside("a text command", func(ctx context.Context) error {
		if why := m.claims(ctx, store.Claim{ID: in.MessageID}); why != "" {
			m.admitted(in, "", Verdict{Disposition: DispositionIgnore, Reason: why})
			return nil
		}
		m.admitted(in, "", v)
		return m.Edge.Notify(ctx, Notice{
			Kind: NoticeCommand, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: m.obey(ctx, in.place(), v.Command),
		})
	})
}

// waitingVersion is the version of the stored form of a waiting trigger.
const waitingVersion = 1

// waitingTrigger is the stored form: the inbound, and what admission said when the settings of that time held.
type waitingTrigger struct {
	Version    int     `json:"v"`
	Inbound    Inbound `json:"inbound"`
	Reason     Reason  `json:"reason"`
	Deliberate bool    `json:"deliberate,omitempty"`
}

func encodeWaiting(in Inbound, v Verdict) ([]byte, error) {
	data, err := json.Marshal(waitingTrigger{Version: waitingVersion, Inbound: in, Reason: v.Reason, Deliberate: v.Deliberate})
	if err != nil {
		return nil, fmt.Errorf("encoding a waiting trigger: %w", err)
	}
	return data, nil
}

func decodeWaiting(data []byte) (Inbound, Verdict, error) {
	var t waitingTrigger
	if err := json.Unmarshal(data, &t); err != nil {
		return Inbound{}, Verdict{}, fmt.Errorf("%w: waiting trigger: %w", store.ErrCorrupt, err)
	}
	if t.Version != waitingVersion || t.Inbound.MessageID == "" {
		return Inbound{}, Verdict{}, fmt.Errorf("%w: waiting trigger of version %d", store.ErrCorrupt, t.Version)
	}
	return t.Inbound, Verdict{Disposition: DispositionAdmit, Reason: t.Reason, Deliberate: t.Deliberate}, nil
}

// storeWaiting keeps a trigger over a restart; false when that is not possible now.
func (m *Manager) storeWaiting(ctx context.Context, in Inbound, v Verdict) bool {
	_, err := safely(func() (struct{}, error) { return struct{}{}, m.putWaiting(ctx, in, v) })
	if err != nil {
		m.Log.Warn().Err(err).Str("message_id", in.MessageID).Msg("waiting.not_stored")
	}
	return err == nil
}

func (m *Manager) putWaiting(ctx context.Context, in Inbound, v Verdict) error {
	payload, err := encodeWaiting(in, v)
	if err != nil {
		return err
	}
	return m.Store.PutWaiting(ctx, store.Waiting{
		MessageID: in.MessageID, ChannelID: in.ChannelID, GuildID: in.GuildID, OwnerID: in.Author.ID, Payload: payload,
		QueuedAt: in.ReceivedAt,
	})
}

// updateWaiting replaces the stored form of a trigger that was edited, and writes again when it was edited meanwhile.
func (m *Manager) updateWaiting(channelID string, q *queued, in Inbound) {
	v := q.verdict
	m.owned.Go(func() {
		m.io("updating a trigger", func(ctx context.Context) error {
			payload, err := encodeWaiting(in, v)
			if err != nil {
				return err
			}
			if err = m.Store.UpdateWaiting(ctx, in.MessageID, payload); errors.Is(err, store.ErrNotFound) {
				return nil // it has begun to run
			}
			return err
		})
		m.post(channelID, func(w *worker) { q.writing = false; w.restore(q) })
	})
}

// unstore removes a waiting trigger from the store, beside the worker. A trigger that stayed there would be answered again
// after a restart, so what could not be removed is tried again: with the next one, and at the end. An erasure waits for it, so
// that what it counts does not depend on who is faster.
func (m *Manager) unstore(in Inbound) {
	end := m.writers.begin(in.Author.ID)
	m.owned.Go(func() {
		defer end()
		m.remove(in.MessageID)
	})
}

func (m *Manager) remove(messageIDs ...string) {
	ids := append(messageIDs, m.owed.take()...)
	if len(ids) == 0 {
		return
	}
	if !m.io("removing triggers", func(ctx context.Context) error { return m.Store.DeleteWaiting(ctx, ids...) }) {
		m.owed.add(ids)
	}
}

// debts are the triggers that could not be removed from the store yet. It is safe for concurrent use and bounded.
type debts struct {
	mu  sync.Mutex
	ids []string
}

// maxDebts bounds what is remembered; past it the oldest are left to Resume, which looks for turns that answered them.
const maxDebts = 10_000

func (d *debts) add(ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids = append(d.ids, ids...)
	d.ids = d.ids[max(len(d.ids)-maxDebts, 0):]
}

func (d *debts) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := d.ids
	d.ids = nil
	return ids
}

// localClaims decides who answers a message within this process. It is safe for concurrent use and bounded.
type localClaims struct {
	mu sync.Mutex
	// Times are in Unix nanoseconds: there are many.
	seen map[string]int64
	// old is the generation before: dropping all at once would forget what was claimed a moment ago.
	old map[string]int64
}

// localClaimsMax bounds each of the two generations.
const localClaimsMax = 10_000

func (l *localClaims) claim(id string, now time.Time, ttl time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, generation := range []map[string]int64{l.seen, l.old} {
		if at, ok := generation[id]; ok && since(at, now) < ttl {
			return false
		}
	}
	if l.seen == nil || len(l.seen) >= localClaimsMax {
		l.old, l.seen = l.seen, map[string]int64{}
	}
	l.seen[id] = now.UnixNano()
	return true
}
