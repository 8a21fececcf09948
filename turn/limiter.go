package turn

import (
	"slices"
	"sync"
	"time"
)

// rateWindow is over what time turns are counted.
const rateWindow = time.Minute

// maxRateKeys bounds how many members and channels are counted; past it, those that were quiet are dropped.
const maxRateKeys = 10_000

// limiter counts what members, channels and guilds have running and waiting. It decides at once, without asking a store,
// and is safe for concurrent use.
type limiter struct {
	limits Limits

	mu sync.Mutex
	// members counts turns that run or wait; guilds counts them per channel, so that its length is what runs at once.
	members map[string]int
	guilds  map[string]map[string]int
	// starts are the times of the last turns per member and per channel, in Unix nanoseconds: there are many.
	starts map[string][]int64
	// bots counts turns of bots in a row per channel.
	bots map[string]int
}

func newLimiter(l Limits) *limiter {
	return &limiter{
		limits: l, members: map[string]int{}, guilds: map[string]map[string]int{}, starts: map[string][]int64{}, bots: map[string]int{},
	}
}

// reserve counts a turn that is about to run or wait, or says which limit it would break. free turns (follow-ups, exempt
// moderators) are counted and never refused. What was reserved is released once.
func (l *limiter) reserve(in Inbound, free bool, now time.Time) Reason {
	l.mu.Lock()
	defer l.mu.Unlock()
	member, channel := "m"+in.Author.ID, "c"+in.ChannelID
	if !free {
		channels := l.guilds[in.GuildID]
		switch {
		case l.members[in.Author.ID] >= l.limits.ActivePerMember:
			return ReasonMemberLimit
		case in.GuildID != "" && channels[in.ChannelID] == 0 && len(channels) >= l.limits.ActivePerGuild:
			return ReasonGuildLimit
		case l.recent(member, now) >= l.limits.TurnsPerMinuteMember:
			return ReasonMemberRate
		case l.recent(channel, now) >= l.limits.TurnsPerMinuteChannel:
			return ReasonChannelRate
		case talksAsBot(in) && l.bots[in.ChannelID] >= l.limits.BotTurnsInARow:
			return ReasonBotChain
		}
	}
	if talksAsBot(in) {
		l.bots[in.ChannelID]++
	}
	l.members[in.Author.ID]++
	if in.GuildID != "" {
		if l.guilds[in.GuildID] == nil {
			l.guilds[in.GuildID] = map[string]int{}
		}
		l.guilds[in.GuildID][in.ChannelID]++
	}
	l.note(member, now)
	l.note(channel, now)
	return ""
}

func talksAsBot(in Inbound) bool { return in.Author.Bot || in.Author.Webhook }

// release gives back what reserve counted, when the turn has ended or will never run.
func (l *limiter) release(in Inbound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members[in.Author.ID]--; l.members[in.Author.ID] <= 0 {
		delete(l.members, in.Author.ID)
	}
	channels := l.guilds[in.GuildID]
	if channels == nil {
		return
	}
	if channels[in.ChannelID]--; channels[in.ChannelID] <= 0 {
		delete(channels, in.ChannelID)
	}
	if len(channels) == 0 {
		delete(l.guilds, in.GuildID)
	}
}

// person ends a row of bots in a channel.
func (l *limiter) person(channelID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.bots, channelID)
}

// again is how long it takes until a rate that was reached has room for another turn.
func (l *limiter) again(in Inbound, why Reason, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, limit := "m"+in.Author.ID, l.limits.TurnsPerMinuteMember
	if why == ReasonChannelRate {
		key, limit = "c"+in.ChannelID, l.limits.TurnsPerMinuteChannel
	}
	times := l.starts[key]
	if n := len(times) - limit; n >= 0 && limit > 0 {
		return max(rateWindow-since(times[n], now), 0)
	}
	return rateWindow // others have counted, and the oldest of it is not known here
}

// recent counts the starts of a key within the window.
func (l *limiter) recent(key string, now time.Time) int {
	n := 0
	for _, at := range l.starts[key] {
		if since(at, now) < rateWindow {
			n++
		}
	}
	return n
}

func (l *limiter) note(key string, now time.Time) {
	quiet := func(at int64) bool { return since(at, now) >= rateWindow }
	if _, known := l.starts[key]; !known && len(l.starts) >= maxRateKeys {
		for k, times := range l.starts {
			if len(times) == 0 || quiet(times[len(times)-1]) {
				delete(l.starts, k)
			}
		}
	}
	if _, known := l.starts[key]; !known && len(l.starts) >= maxRateKeys {
		return // ten thousand members and channels within a minute: the other limits hold
	}
	l.starts[key] = append(slices.DeleteFunc(l.starts[key], quiet), now.UnixNano())
}

// since is how long ago something was.
func since(at int64, now time.Time) time.Duration { return time.Duration(now.UnixNano() - at) }

// rare lets something happen at most once in a while per key. It is safe for concurrent use and bounded.
type rare struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// maxRareKeys bounds rare; past it, all that is remembered is dropped.
const maxRareKeys = 10_000

func (r *rare) allow(key string, every time.Duration, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.last[key]; ok && now.Sub(at) < every {
		return false
	}
	if r.last == nil || len(r.last) >= maxRareKeys {
		r.last = map[string]time.Time{}
	}
	r.last[key] = now
	return true
}
