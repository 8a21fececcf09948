package turn_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

var errAway = errors.New("the store is away")

// memory is a store in memory that outlives managers, as a database outlives processes.
type memory struct {
	mu     sync.Mutex
	away   bool
	broken bool
	delay  time.Duration
	// slow delays the methods of these names.
	slow     map[string]time.Duration
	turns    []store.Turn
	waiting  []store.Waiting
	claims   map[string]time.Time
	settings map[store.SettingScope]map[string]map[string]string
	windows  map[string]map[string]int
	counted  map[string][]string
	rows     map[string]store.Call
	// journal holds the keys of rows in the order they were opened; short is what channels have in mind.
	journal []string
	short   []store.ShortTerm
	ledger  []store.UsageEntry
	// sums counts how often the ledger was asked for sums.
	sums int
	// rates is nil where nobody else counts.
	rates *shared
	records
}

func newMemory() *memory {
	return &memory{
		claims: map[string]time.Time{}, settings: map[store.SettingScope]map[string]map[string]string{}, windows: map[string]map[string]int{},
		counted: map[string][]string{}, rows: map[string]store.Call{},
	}
}

// use is the beginning of every method: it waits, fails or breaks as the test wants, and locks.
func (s *memory) use(ctx context.Context) (func(), error) {
	s.mu.Lock()
	delay, away, broken := s.delay, s.away, s.broken
	s.mu.Unlock()
	if broken {
		panic("the store is broken")
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if away {
		return nil, errAway
	}
	s.mu.Lock()
	return s.mu.Unlock, nil
}

// dragged waits as long as a method is slow, or as ctx lasts.
func (s *memory) dragged(ctx context.Context, method string) error {
	s.mu.Lock()
	d := s.slow[method]
	s.mu.Unlock()
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drag waits as long as a method is slow.
func (s *memory) drag(method string) {
	s.mu.Lock()
	d := s.slow[method]
	s.mu.Unlock()
	if d > 0 {
		elapse(d)
	}
}

func (s *memory) set(change func(*memory)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *memory) BeginTurn(ctx context.Context, t store.Turn) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.find(t.ID) >= 0 {
		return store.ErrExists
	}
	s.turns = append(s.turns, t)
	return nil
}

func (s *memory) BeginWaited(ctx context.Context, t store.Turn) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.waiting, func(w store.Waiting) bool { return w.MessageID == t.TriggerID })
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	unlock()
	if i < 0 {
		return store.ErrTaken
	}
	return s.BeginTurn(ctx, t)
}

func (s *memory) find(id string) int {
	return slices.IndexFunc(s.turns, func(t store.Turn) bool { return t.ID == id })
}

func (s *memory) FinishTurn(ctx context.Context, t store.Turn, spent ...store.ModelUsage) error {
	s.drag("FinishTurn")
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch i := s.find(t.ID); {
	case i < 0:
		s.turns = append(s.turns, t)
	case s.turns[i].Status == store.TurnRunning:
		s.turns[i] = t
	}
	for _, x := range spent {
		if !slices.ContainsFunc(s.ledger, func(u store.UsageEntry) bool { return u.TurnID == t.ID && u.Model == x.Model }) {
			s.ledger = append(s.ledger, store.UsageEntry{
				TurnID: t.ID, Model: x.Model, GuildID: t.GuildID, ChannelID: t.ChannelID, MemberID: t.OwnerID, Usage: x.Usage, At: t.FinishedAt,
			})
		}
	}
	return nil
}

func (s *memory) RecentTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []store.Turn
	for _, t := range s.turns {
		if t.ChannelID == channelID && t.Status != store.TurnRunning {
			out = append(out, t)
		}
	}
	return slices.Clone(out[max(0, len(out)-limit):]), nil
}

func (s *memory) Sweep(ctx context.Context, at time.Time) (turns []store.Turn, calls []store.Call, err error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	for i := range s.turns {
		if s.turns[i].Status == store.TurnRunning {
			s.turns[i].Status, s.turns[i].FinishedAt = store.TurnInterrupted, at
			turns = append(turns, s.turns[i])
		}
	}
	return turns, nil, nil
}

func (s *memory) PutWaiting(ctx context.Context, w store.Waiting) error {
	s.drag("PutWaiting")
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.waiting = append(slices.DeleteFunc(s.waiting, func(x store.Waiting) bool { return x.MessageID == w.MessageID }), w)
	return nil
}

func (s *memory) UpdateWaiting(ctx context.Context, messageID string, payload []byte) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i := range s.waiting {
		if s.waiting[i].MessageID == messageID {
			s.waiting[i].Payload = payload
			return nil
		}
	}
	return store.ErrNotFound
}

func (s *memory) DeleteWaiting(ctx context.Context, ids ...string) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(x store.Waiting) bool { return slices.Contains(ids, x.MessageID) })
	return nil
}

func (s *memory) AllWaiting(ctx context.Context) ([]store.Waiting, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return slices.SortedStableFunc(slices.Values(s.waiting), func(a, b store.Waiting) int { return a.QueuedAt.Compare(b.QueuedAt) }), nil
}

func (s *memory) Claim(ctx context.Context, c store.Claim, now time.Time) (store.Claimed, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Claimed{}, err
	}
	defer unlock()
	if at, ok := s.claims[c.ID]; ok && now.Sub(at) < c.TTL {
		return store.Claimed{}, nil
	}
	over, err := s.rates.count(c)
	if err != nil {
		return store.Claimed{}, err
	}
	s.claims[c.ID] = now
	return store.Claimed{Ours: true, Over: over}, nil
}

func (s *memory) ConsumeWindows(ctx context.Context, channelID, turnID string, _ time.Time) ([]string, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if names, ok := s.counted[turnID]; ok {
		return names, nil
	}
	names := slices.Sorted(maps.Keys(s.windows[channelID]))
	for _, n := range names {
		if s.windows[channelID][n]--; s.windows[channelID][n] <= 0 {
			delete(s.windows[channelID], n)
		}
	}
	s.counted[turnID] = names
	return names, nil
}

func (s *memory) RetainWindow(ctx context.Context, channelID, tool string, n int, _ time.Time) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.windows[channelID] == nil {
		s.windows[channelID] = map[string]int{}
	}
	if s.windows[channelID][tool] = n; n == 0 {
		delete(s.windows[channelID], tool)
	}
	return nil
}

func (s *memory) ClearWindows(ctx context.Context, channelID string) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	delete(s.windows, channelID)
	return nil
}

func (s *memory) PutSetting(ctx context.Context, x store.Setting) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.settings[x.Scope] == nil {
		s.settings[x.Scope] = map[string]map[string]string{}
	}
	if s.settings[x.Scope][x.ID] == nil {
		s.settings[x.Scope][x.ID] = map[string]string{}
	}
	if s.settings[x.Scope][x.ID][x.Name] = x.Value; x.Value == "" {
		delete(s.settings[x.Scope][x.ID], x.Name)
	}
	return nil
}

func (s *memory) SettingsOf(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return maps.Clone(s.settings[scope][id]), nil
}

func (s *memory) MemberSettings(ctx context.Context, names []string, after store.Setting, limit int) ([]store.Setting, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var all []store.Setting
	for _, id := range slices.Sorted(maps.Keys(s.settings[store.SettingMember])) {
		for _, name := range slices.Sorted(maps.Keys(s.settings[store.SettingMember][id])) {
			x := store.Setting{Scope: store.SettingMember, ID: id, Name: name, Value: s.settings[store.SettingMember][id][name]}
			if slices.Contains(names, name) && cmp.Or(strings.Compare(id, after.ID), strings.Compare(name, after.Name)) > 0 && len(all) < limit {
				all = append(all, x)
			}
		}
	}
	return all, nil
}

func (s *memory) OpenCall(ctx context.Context, c store.Call) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.rows[c.TurnID+"/"+c.Key] = c
	s.journal = append(s.journal, c.TurnID+"/"+c.Key)
	return nil
}

func (s *memory) CloseCall(ctx context.Context, c store.Call) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.rows[c.TurnID+"/"+c.Key] = c
	return nil
}

// record is the stored turn of a trigger.
func (s *memory) record(triggerID string) (store.Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns {
		if t.TriggerID == triggerID {
			return t, true
		}
	}
	return store.Turn{}, false
}

func (s *memory) stored() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

func (s *memory) Calls(ctx context.Context, turnID string) ([]store.Call, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []store.Call
	for _, key := range s.journal {
		if c := s.rows[key]; c.TurnID == turnID {
			out = append(out, c)
		}
	}
	return out, nil
}

func (s *memory) UsageOf(ctx context.Context, q store.UsageQuery) ([]store.UsageTotal, error) {
	s.set(func(s *memory) { s.sums++ })
	s.drag("UsageOf")
	done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer s.drag("UsageOf's answer")
	defer done()
	var totals []store.UsageTotal
	for _, u := range s.ledger {
		if q.GuildID != "" && q.GuildID != u.GuildID || q.ChannelID != "" && q.ChannelID != u.ChannelID ||
			q.MemberID != "" && q.MemberID != u.MemberID || u.At.Before(q.Since) {
			continue
		}
		i := slices.IndexFunc(totals, func(t store.UsageTotal) bool { return t.Model == u.Model })
		if i < 0 {
			i, totals = len(totals), append(totals, store.UsageTotal{Model: u.Model})
		}
		totals[i].Turns++
		totals[i].Usage = totals[i].Usage.Add(u.Usage)
	}
	return totals, nil
}

// FindMemories has the engines' rule of who may see what; its relevance is that a fact holds a word of the text.
func (s *memory) FindMemories(ctx context.Context, q store.MemoryQuery) ([]store.Memory, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var relevant, others []store.Memory
	for _, f := range slices.Backward(s.facts) {
		if !s.sees(q, f) {
			continue
		}
		if slices.ContainsFunc(strings.Fields(q.Text), func(w string) bool { return strings.Contains(f.Content, w) }) {
			relevant = append(relevant, f)
		} else {
			others = append(others, f)
		}
	}
	out := append(relevant, others...)
	return q.Fit(slices.Clone(out[:min(len(out), q.Limit)])), nil
}

func (s *memory) PutShortTerm(ctx context.Context, x store.ShortTerm, _ int) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.short = append(slices.DeleteFunc(s.short, func(y store.ShortTerm) bool {
		return y.ChannelID == x.ChannelID && y.Category == x.Category
	}), x)
	return nil
}

func (s *memory) ShortTermOf(ctx context.Context, channelID string, now time.Time) ([]store.ShortTerm, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return slices.DeleteFunc(slices.Clone(s.short), func(x store.ShortTerm) bool {
		return x.ChannelID != channelID || now.Sub(x.UpdatedAt) > store.ShortTermTTL
	}), nil
}

func (s *memory) ClearShortTerm(ctx context.Context, channelID string) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.short = slices.DeleteFunc(s.short, func(x store.ShortTerm) bool { return x.ChannelID == channelID })
	return nil
}
