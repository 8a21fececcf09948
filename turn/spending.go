package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

const (
	// spendingFresh is how long what others have spent is taken as it was read.
	spendingFresh = time.Minute
	// spendingRetry is how soon a ledger that could not be read is asked again.
	spendingRetry = 5 * time.Second
	// spendingPatience is how long a turn waits for the ledger, which is once in a day where the store is well.
	spendingPatience = 2 * time.Second
	// keptPurses bounds how many guilds and private chats are counted; past it, one that the ledger knows whole is dropped.
	keptPurses = 20_000
)

// spending holds turns to what may be spent in a day (UTC): by the bot as a whole, and by each guild and private chat. The
// counter is the usage ledger, which clearing, trimming and pruning don't reduce. It is read once per day for whoever spends,
// and then kept here: what this process's turns cost is added when a round trip tells it, so that turns that run at once share
// what is left. Where other processes write to the ledger too, it is read again now and then, beside the turns.
//
// While the store is away, what is known counts: what was read before and what was spent since; right after a start or after
// midnight that is only what this process spends. What a round trip costs is known at its end, so those under way when a
// limit is reached may pass it. A turn that began before midnight counts in the ledger on the day it ends, and here each
// round trip on its own day. It is safe for concurrent use.
type spending struct {
	// all and each are the limits in billionths of a dollar, 0 for none.
	all, each int64
	ledger    store.Ledger
	// shared: other processes write to the ledger too.
	shared bool
	spawn  func(func()) bool
	log    zerolog.Logger

	mu     sync.Mutex
	day    time.Time
	purses map[store.UsageQuery]*purse
}

// purse is what may be spent and was spent by somebody in one day.
type purse struct {
	// of is whose it is, as the ledger is asked; nothing stands for the bot as a whole.
	of    store.UsageQuery
	day   time.Time
	limit int64
	// read is what the ledger said, own what turns of this process cost, written how much of that is in the ledger for sure,
	// and covered how much of it was when the ledger was read.
	read, own, written, covered int64
	// checked is when the ledger was last asked, known that it has answered once, reading open while it is being asked.
	checked time.Time
	known   bool
	reading chan struct{}
	told    bool
}

func (p *purse) spent() int64 { return p.read + p.own - p.covered }

func (p *purse) whole() bool { return p.of == store.UsageQuery{} }

// overspent is why a round trip is not made: a budget for the day is used up.
type overspent struct {
	why Reason
	// again is when a new day begins.
	again time.Time
}

// spentUp finds the used up budget that ended a turn, nil when it was something else.
func spentUp(err error) *overspent {
	if e, ok := errors.AsType[overspent](err); ok {
		return &e
	}
	return nil
}

// Error says whose budget it is.
func (e overspent) Error() string { return "the budget for the day is used up: " + string(e.why) }

func newSpending(d Deps, spawn func(func()) bool) *spending {
	return &spending{
		all: d.Limits.DailyCost, each: d.Limits.DailyCostGuild, ledger: d.Store, shared: d.SharedRates, spawn: spawn, log: d.Log,
		purses: map[store.UsageQuery]*purse{},
	}
}

// check returns an overspent error when the next round trip of a turn may not be made. It asks the store only for what was
// not read yet, and then does not wait for long.
func (s *spending) check(ctx context.Context, guildID, channelID string) error {
	for _, p := range s.look(ctx, guildID, channelID) {
		if err := s.empty(p); err != nil {
			return err
		}
	}
	return nil
}

// refuses says why a trigger is refused, "" when there is money for it.
func (s *spending) refuses(ctx context.Context, in Inbound) Reason {
	if e := spentUp(s.check(ctx, in.GuildID, in.ChannelID)); e != nil {
		return e.why
	}
	return ""
}

func (s *spending) empty(p *purse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.spent() < p.limit {
		return nil
	}
	why := ReasonGuildBudget
	if p.whole() {
		why = ReasonBotBudget
	}
	if !p.told {
		p.told = true
		s.log.Warn().Str("reason", string(why)).Str("guild", p.of.GuildID).Str("channel", p.of.ChannelID).
			Int64("limit_nanos", p.limit).Int64("spent_nanos", p.spent()).Msg("spending.limit_reached")
	}
	return overspent{why: why, again: p.day.AddDate(0, 0, 1)}
}

// look returns the purses that a turn is paid from, read as far as that is possible now.
func (s *spending) look(ctx context.Context, guildID, channelID string) []*purse {
	s.mu.Lock()
	purses := s.of(guildID, channelID)
	var reading []chan struct{}
	for _, p := range purses {
		s.renew(p)
		if !p.known && p.reading != nil {
			reading = append(reading, p.reading)
		}
	}
	s.mu.Unlock()
	if len(reading) == 0 {
		return purses
	}
	ctx, cancel := context.WithTimeout(ctx, spendingPatience)
	defer cancel()
	for _, read := range reading {
		select {
		case <-read:
		case <-ctx.Done():
		}
	}
	return purses
}

// of gives the purses that a turn is paid from today, as far as they have a limit: its guild's, or its private chat's, and
// the bot's. The caller holds the lock.
func (s *spending) of(guildID, channelID string) []*purse {
	if day := today(); day.After(s.day) { // a clock that is set back does not open a day again
		s.day = day
		clear(s.purses)
	}
	whose := store.UsageQuery{GuildID: guildID}
	if guildID == "" {
		whose.ChannelID = channelID
	}
	var out []*purse
	if s.each > 0 {
		out = append(out, s.purse(whose, s.each))
	}
	if s.all > 0 {
		out = append(out, s.purse(store.UsageQuery{}, s.all))
	}
	return out
}

func (s *spending) purse(whose store.UsageQuery, limit int64) *purse {
	if p, ok := s.purses[whose]; ok {
		return p
	}
	if len(s.purses) >= keptPurses {
		for key, p := range s.purses {
			if p.own == p.written && p.reading == nil && !p.whole() {
				delete(s.purses, key)
				break
			}
		}
	}
	p := &purse{of: whose, day: s.day, limit: limit}
	s.purses[whose] = p
	return p
}

// renew has the ledger read, beside, where that is due. A private chat's is read once: one process gets its messages, and
// what its member had erased from the ledger stays counted. The caller holds the lock.
func (s *spending) renew(p *purse) {
	switch age := time.Since(p.checked); {
	case p.reading != nil, !p.known && age < spendingRetry:
		return
	case p.known && (!s.shared || p.of.ChannelID != "" || age < spendingFresh):
		return
	}
	p.checked, p.reading = time.Now(), make(chan struct{})
	written := p.written
	if !s.spawn(func() { s.read(p, written) }) {
		p.reading = nil // the process is ending
	}
}

// read asks the ledger. What is written while it answers may count twice until it is read again: too much rather than too
// little.
func (s *spending) read(p *purse, written int64) {
	ctx, cancel := context.WithTimeout(context.Background(), ioTimeout)
	defer cancel()
	q := p.of
	q.Since = p.day
	totals, err := safely(func() ([]store.UsageTotal, error) { return s.ledger.UsageOf(ctx, q) })
	s.mu.Lock()
	defer s.mu.Unlock()
	close(p.reading)
	p.checked, p.reading = time.Now(), nil
	if err != nil {
		s.log.Warn().Err(err).Str("guild", p.of.GuildID).Msg("spending.store_away")
		if p.known {
			p.checked = p.checked.Add(spendingRetry - spendingFresh)
		}
		return
	}
	p.known, p.read, p.covered = true, 0, written
	for _, t := range totals {
		p.read += t.Usage.CostNanos
	}
}

// add counts what a round trip of a running turn has cost.
func (s *spending) add(r *running, nanos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if nanos <= 0 {
		return
	}
	for _, p := range s.of(r.in.GuildID, r.in.ChannelID) {
		p.own += nanos
		if r.paid == nil {
			r.paid = map[*purse]int64{}
		}
		r.paid[p] += nanos
	}
}

// written hears that what a turn has cost is in the ledger.
func (s *spending) written(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, nanos := range r.paid {
		p.written += nanos
	}
	r.paid = nil
}

// Budget is what may be spent in a day, in billionths of a dollar.
type Budget struct {
	Limit, Left int64
	// AllUsedUp: the bot as a whole may spend nothing more today.
	AllUsedUp bool
	// Renewed is when a new day begins.
	Renewed time.Time
}

// budget tells of a guild's or a private chat's limit; nil where nothing limits it.
func (s *spending) budget(ctx context.Context, guildID, channelID string) *Budget {
	var b *Budget
	for _, p := range s.look(ctx, guildID, channelID) {
		s.mu.Lock()
		left := max(p.limit-p.spent(), 0)
		s.mu.Unlock()
		switch {
		case !p.whole():
			b = &Budget{Limit: p.limit, Left: left, Renewed: p.day.AddDate(0, 0, 1)}
		case left == 0 && b == nil:
			b = &Budget{AllUsedUp: true, Renewed: p.day.AddDate(0, 0, 1)}
		case left == 0:
			b.AllUsedUp = true
		}
	}
	return b
}

// String words the budget for people.
func (b *Budget) String() string {
	var text string
	if b.Limit > 0 {
		text = fmt.Sprintf("The limit of a day is %s, and %s of it is left. ",
			Money(store.Usage{CostNanos: b.Limit}), Money(store.Usage{CostNanos: b.Left}))
	}
	if b.AllUsedUp {
		text += "My budget for all servers together is used up for today. "
	}
	return text + fmt.Sprintf("A new day begins at 00:00 UTC, <t:%d:R>.", b.Renewed.Unix())
}

// payable is a model that is asked only while there is money for it.
type payable struct {
	providers.Provider
	spending *spending
	in       Inbound
}

// payable returns a model's provider, held to the budgets of a turn where there are any.
func (s *spending) payable(p providers.Provider, r *running) providers.Provider {
	if s.all == 0 && s.each == 0 {
		return p
	}
	return payable{p, s, r.in}
}

// Stream implements providers.Provider.
func (b payable) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		if err := b.spending.check(ctx, b.in.GuildID, b.in.ChannelID); err != nil {
			yield(nil, err)
			return
		}
		b.Provider.Stream(ctx, req)(yield)
	}
}

// today is the beginning of the day in UTC.
func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }
