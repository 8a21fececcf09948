package turn

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

const (
	// settingsFresh is how long cached settings are taken as they are; another process may have changed them since.
	settingsFresh = time.Minute
	// settingsRetry is how soon a store that was away is asked again.
	settingsRetry = 5 * time.Second
	// settingsKept bounds how many guilds, channels and members are cached.
	settingsKept = 20_000
	// settingsWaiting bounds how many messages wait for a guild's settings; further ones are judged by the defaults.
	settingsWaiting = 256
)

// settingCache keeps settings so that admission can judge a message without asking the store. Changes go through it. It
// is safe for concurrent use.
type settingCache struct {
	store store.Settings
	spawn func(func()) bool
	// wishes are told what is read and changed of members.
	wishes *wishes

	mu      sync.Mutex
	entries map[settingKey]*settingEntry
}

type settingKey struct {
	scope store.SettingScope
	id    string
}

type settingEntry struct {
	values map[string]string
	// rules are a guild's; nil stands for the defaults, and for channels and members.
	rules *guildRules
	// checked is when the store was last asked, with or without success.
	checked time.Time
	// changes counts what was written through the cache: a read that began before a change must not undo it.
	changes int
	waiting []func(guildRules)
	// known: values is what the store said at some time. tried: the store could not be asked, so messages are judged by what
	// is known, or by the defaults, for a while.
	known, tried, loading bool
}

func newSettingCache(s store.Settings, spawn func(func()) bool, w *wishes) *settingCache {
	return &settingCache{store: s, spawn: spawn, wishes: w, entries: map[settingKey]*settingEntry{}}
}

// read returns the settings of one owner, from the cache while they are fresh. When the store is away what was known last
// is returned; an error means that nothing is known.
func (c *settingCache) read(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	if id == "" {
		return nil, nil
	}
	key := settingKey{scope, id}
	c.mu.Lock()
	e := c.entry(key)
	if e.known && time.Since(e.checked) < settingsFresh {
		defer c.mu.Unlock()
		return e.values, nil
	}
	c.mu.Unlock()
	return c.load(ctx, key)
}

// lately is read for what may be a little old: what is known is returned at once and read again beside.
func (c *settingCache) lately(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	key := settingKey{scope, id}
	c.mu.Lock()
	e := c.entry(key)
	if !e.known {
		c.mu.Unlock()
		return c.load(ctx, key)
	}
	values := e.values
	stale := time.Since(e.checked) >= settingsFresh && !e.loading
	e.loading = e.loading || stale
	c.mu.Unlock()
	if stale && !c.spawn(func() { c.refresh(key) }) {
		c.settle(key, nil, false)
	}
	return values, nil
}

// load asks the store and keeps the answer.
func (c *settingCache) load(ctx context.Context, key settingKey) (map[string]string, error) {
	c.mu.Lock()
	changes := c.entry(key).changes
	c.mu.Unlock()
	values, err := c.store.SettingsOf(ctx, key.scope, key.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(key)
	switch {
	case err != nil && !e.known:
		e.checked = time.Now()
		return nil, err
	case err != nil:
		e.checked = time.Now().Add(settingsRetry - settingsFresh)
	case e.changes == changes:
		c.know(key, e, values)
	}
	return e.values, nil
}

// fresh asks the store, whatever is cached: a change that depends on what is set must not build on what was.
func (c *settingCache) fresh(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	return c.store.SettingsOf(ctx, scope, id)
}

// put stores a setting and remembers it.
func (c *settingCache) put(ctx context.Context, s store.Setting) error {
	if err := c.store.PutSetting(ctx, s); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wishes.changed(s)
	e := c.entry(settingKey{s.Scope, s.ID})
	e.changes++
	if !e.known {
		return nil // it is read whole when it is needed
	}
	values := maps.Clone(e.values)
	if values == nil {
		values = map[string]string{}
	}
	if values[s.Name] = s.Value; s.Value == "" {
		delete(values, s.Name)
	}
	e.set(values)
	return nil
}

// rules returns what is known of a guild's rules of admission without asking anybody.
func (c *settingCache) rules(guildID string) guildRules {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[settingKey{store.SettingGuild, guildID}]; ok {
		return e.judging()
	}
	return guildRules{}
}

// judging is by what rules messages are judged.
func (e *settingEntry) judging() guildRules {
	if e.rules == nil {
		return guildRules{}
	}
	return *e.rules
}

// judge calls decide with the guild's rules: at once when they are known, else when they have been read, in the order of
// the calls. It never blocks. A guild whose settings cannot be read has the defaults.
func (c *settingCache) judge(guildID string, decide func(guildRules)) {
	if guildID == "" {
		decide(guildRules{})
		return
	}
	key := settingKey{store.SettingGuild, guildID}
	c.mu.Lock()
	e := c.entry(key)
	stale := time.Since(e.checked) >= settingsFresh && !e.loading
	switch rules := e.judging(); {
	case (e.known || e.tried) && !e.blocked() || len(e.waiting) >= settingsWaiting:
		e.loading = e.loading || stale
		c.mu.Unlock()
		decide(rules)
	default:
		e.waiting = append(e.waiting, decide)
		stale = !e.loading
		e.loading = true
		c.mu.Unlock()
	}
	if stale && !c.spawn(func() { c.refresh(key) }) {
		c.settle(key, nil, false)
	}
}

// blocked: messages are waiting, so a later one must not overtake them.
func (e *settingEntry) blocked() bool { return len(e.waiting) > 0 }

func (c *settingCache) refresh(key settingKey) {
	c.mu.Lock()
	changes := c.entry(key).changes
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), ioTimeout)
	defer cancel()
	values, err := safely(func() (map[string]string, error) { return c.store.SettingsOf(ctx, key.scope, key.id) })
	c.mu.Lock()
	current := c.entry(key).changes == changes
	c.mu.Unlock()
	c.settle(key, values, err == nil && current)
}

// settle ends a refresh: it keeps the values and lets the messages that waited be judged, in order.
func (c *settingCache) settle(key settingKey, values map[string]string, ok bool) {
	c.mu.Lock()
	e := c.entry(key)
	if ok {
		c.know(key, e, values)
	} else {
		e.tried = true
		e.checked = time.Now().Add(settingsRetry - settingsFresh)
	}
	for len(e.waiting) > 0 {
		next, rules := e.waiting[0], e.judging()
		c.mu.Unlock()
		next(rules)
		c.mu.Lock()
		e.waiting = e.waiting[1:]
	}
	// Only now may another refresh begin: two of them would judge the same messages.
	e.waiting, e.loading = nil, false
	c.mu.Unlock()
}

// know keeps what the store has answered.
func (c *settingCache) know(key settingKey, e *settingEntry, values map[string]string) {
	e.set(values)
	if key.scope == store.SettingMember {
		c.wishes.learn(key.id, wishOf(values))
	}
}

// set replaces the values. The maps are never changed afterwards: readers hold them without a lock.
func (e *settingEntry) set(values map[string]string) {
	if e.values, e.known, e.checked, e.rules = values, true, time.Now(), nil; len(values) > 0 {
		rules := rulesOf(values)
		e.rules = &rules
	}
}

// entry returns an owner's entry, making room for a new one.
func (c *settingCache) entry(key settingKey) *settingEntry {
	if e, ok := c.entries[key]; ok {
		return e
	}
	if len(c.entries) >= settingsKept {
		for k, e := range c.entries {
			if !e.loading && !e.blocked() {
				delete(c.entries, k)
				break
			}
		}
	}
	e := &settingEntry{}
	c.entries[key] = e
	return e
}
