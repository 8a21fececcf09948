package bot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// maxSeen is the number of channels whose newest message is remembered.
	maxSeen = 2000
	// backfillRecent is how many channels are asked when nothing tells whether they missed something.
	backfillRecent = 25
	// backfillGuild bounds the channels of one guild that are asked.
	backfillGuild = 50
	// backfillAge: what is older is no longer worth an answer.
	backfillAge = 10 * time.Minute
	// backfillAtOnce is how many requests of it run beside each other.
	backfillAtOnce  = 4
	backfillTimeout = time.Minute
)

// backfill remembers the newest message seen in each channel, so that a gap between two connections can be read again:
// a new session starts with what happens then, and the messages before it would be lost. Messages that come twice fall
// to the turns' claims. Safe for concurrent use.
type backfill struct {
	mu    sync.Mutex
	seen  map[string]sighting
	clock uint64
	// gap is what had been seen when the present session began.
	gap map[string]sighting
}

type sighting struct {
	messageID string
	private   bool
	at        uint64
}

func newBackfill() *backfill { return &backfill{seen: map[string]sighting{}} }

// saw notes a message.
func (f *backfill) saw(channelID, messageID string, private bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock++
	old, known := f.seen[channelID]
	if known && !newer(messageID, old.messageID) {
		messageID = old.messageID
	}
	if !known && len(f.seen) >= maxSeen {
		f.forgetOldest()
	}
	f.seen[channelID] = sighting{messageID: messageID, private: private, at: f.clock}
}

// forgetOldest drops the tenth of the channels that were silent for longest, so that it runs rarely.
func (f *backfill) forgetOldest() {
	ids := recency(f.seen)
	for _, id := range ids[len(ids)-len(ids)/10-1:] {
		delete(f.seen, id)
	}
}

// recency lists channels, the most recently seen first.
func recency(m map[string]sighting) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Compare(m[b].at, m[a].at) })
}

// begin fixes what had been seen when a session begins.
func (f *backfill) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gap = maps.Clone(f.seen)
}

// take returns the channels of the gap that keep says yes to, with the last message seen there, at most limit, most
// recent first. Each is handed out once.
func (f *backfill) take(limit int, keep func(channelID string, s sighting) bool) []gapOf {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []gapOf
	for _, id := range recency(f.gap) {
		if len(out) == limit {
			break
		}
		if s := f.gap[id]; keep(id, s) {
			out = append(out, gapOf{channelID: id, after: s.messageID})
			delete(f.gap, id)
		}
	}
	return out
}

type gapOf struct{ channelID, after string }

// newer compares snowflakes, which are numbers without leading zeros.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// fillGuild reads what was missed in a guild that a new session described: the description names each channel's newest
// message, so only channels that really missed something are asked.
func (b *Bot) fillGuild(ctx context.Context, g wireGuild) {
	last := make(map[string]string, len(g.Channels)+len(g.Threads))
	for _, list := range [][]wireChannel{g.Channels, g.Threads} {
		for _, c := range list {
			last[c.ID] = c.LastMessageID
		}
	}
	b.fill(ctx, backfillGuild, func(channelID string, s sighting) bool {
		newest, here := last[channelID]
		return here && newest != "" && newer(newest, s.messageID)
	})
}

// fillPrivate reads the private channels, which nothing describes.
func (b *Bot) fillPrivate(ctx context.Context) {
	b.fill(ctx, backfillRecent, func(_ string, s sighting) bool { return s.private })
}

func (b *Bot) fillRecent(ctx context.Context) {
	b.fill(ctx, backfillRecent, func(id string, s sighting) bool { return s.private || b.guilds.guildOf(id) != "" })
}

func (b *Bot) fill(ctx context.Context, limit int, keep func(channelID string, s sighting) bool) {
	for _, gap := range b.backfill.take(limit, keep) {
		b.work.Go(func() {
			defer b.recovered("a backfill")
			select {
			case b.filling <- struct{}{}:
				defer func() { <-b.filling }()
				b.fillChannel(ctx, gap)
			case <-ctx.Done():
			}
		})
	}
}

func (b *Bot) fillChannel(ctx context.Context, gap gapOf) {
	ctx, cancel := context.WithTimeout(ctx, backfillTimeout)
	defer cancel()
	guildID := b.guilds.guildOf(gap.channelID)
	missed, err := b.rest.history(ctx, gap.channelID, gap.after, maxHistory)
	if err != nil {
		if ctx.Err() == nil {
			b.log.Warn().Err(err).Str("channel", gap.channelID).Msg("backfill.failed")
		}
		return
	}
	horizon := time.Now().Add(-backfillAge)
	for i := range missed {
		m := &missed[i]
		if m.Timestamp.Before(horizon) {
			continue
		}
		// History does not say in which guild a channel is.
		m.GuildID = guildID
		b.receive(ctx, m)
	}
	b.log.Info().Int("messages", len(missed)).Str("channel", gap.channelID).Msg("backfill.done")
}
