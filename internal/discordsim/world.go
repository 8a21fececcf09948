package discordsim

import (
	"context"
	"slices"
	"sync"
	"time"
)

// World is everything Discord knows: people, guilds, channels, messages, and the bot's application. One lock guards it;
// no I/O happens under that lock, since gateway connections have their own bounded queues. All methods are safe for
// concurrent use.
type World struct {
	mu           sync.Mutex
	clock        func() time.Time
	strict       bool // interactions must be answered within 3 s of the clock
	history      int  // how many messages a channel keeps
	base         string
	ids          idSource
	app          application
	users        map[ID]*user
	guilds       map[ID]*guild
	guildOrder   []ID
	channels     map[ID]*channel
	messages     map[ID]*message
	nonces       map[string]ID
	files        map[ID]*storedFile
	interactions map[ID]*interaction
	tokens       map[string]*interaction
	asked        []ID // interactions, oldest first
	sessions     map[string]*session
	heartbeat    time.Duration
	starts       SessionStarts
	faults       []*armedFault
	greetings    []Greeting
	limiter      *limiter
	journal      journal
	changed      chan struct{} // closed and replaced when something was recorded
}

type user struct {
	id     ID
	name   string
	global string
	bot    bool
}

type application struct {
	id           ID
	bot          ID
	token        string
	name         string
	owner        ID
	privileged   Intents
	globalCmds   []*command
	guildCmds    map[ID][]*command
	tokenRevoked bool
}

type guild struct {
	id          ID
	name        string
	owner       ID
	roles       map[ID]*role
	roleOrder   []ID
	members     map[ID]*member
	memberOrder []ID
	channels    []ID
	emojis      []emoji
	stickers    []sticker
}

type role struct {
	id          ID
	name        string
	permissions Permissions
	mentionable bool
	managed     bool
	position    int
	color       int
}

type member struct {
	user    ID
	nick    string
	roles   []ID
	joined  time.Time
	timeout time.Time
}

type emoji struct {
	id       ID
	name     string
	animated bool
}

type sticker struct {
	id          ID
	name        string
	description string
	tags        string
}

// ChannelKind is Discord's channel type number.
type ChannelKind int

// The kinds of channel that the simulator has.
const (
	ChannelText         ChannelKind = 0
	ChannelDM           ChannelKind = 1
	ChannelAnnouncement ChannelKind = 5
	ThreadPublic        ChannelKind = 11
	ThreadPrivate       ChannelKind = 12
)

type channel struct {
	id         ID
	kind       ChannelKind
	guild      ID
	parent     ID
	name       string
	topic      string
	nsfw       bool
	position   int
	slowmode   int
	overwrites []Overwrite
	recipient  ID // DM
	owner      ID // thread
	archived   bool
	locked     bool
	created    time.Time
	members    []ID // thread
	messages   []ID // live ones, oldest first; deleted ones are in order too
	last       ID
}

func (c *channel) isThread() bool { return c.kind == ThreadPublic || c.kind == ThreadPrivate }

func newWorld(cfg Config) *World {
	w := &World{
		clock:        cfg.Clock,
		strict:       cfg.StrictInteractions,
		history:      cfg.HistoryLimit,
		users:        map[ID]*user{},
		guilds:       map[ID]*guild{},
		channels:     map[ID]*channel{},
		messages:     map[ID]*message{},
		nonces:       map[string]ID{},
		files:        map[ID]*storedFile{},
		interactions: map[ID]*interaction{},
		tokens:       map[string]*interaction{},
		sessions:     map[string]*session{},
		heartbeat:    cfg.HeartbeatInterval,
		starts:       SessionStarts{Total: 1000, Remaining: 1000, ResetAfter: 24 * time.Hour},
		journal:      journal{limit: cfg.JournalLimit},
		changed:      make(chan struct{}),
	}
	bot := &user{id: w.newID(), name: cfg.Bot.Name, bot: true}
	owner := &user{id: w.newID(), name: cfg.Bot.Owner}
	w.users[bot.id], w.users[owner.id] = bot, owner
	// Discord gives an application and its bot user the same id.
	w.app = application{
		id: bot.id, bot: bot.id, owner: owner.id, token: cfg.Bot.Token, name: cfg.Bot.Name,
		privileged: privilegedIntents &^ cfg.Bot.IntentsOff, guildCmds: map[ID][]*command{},
	}
	return w
}

func (w *World) now() time.Time { return w.clock().UTC() }

func (w *World) newID() ID { return w.ids.next(w.now()) }

// Now is the world's clock.
func (w *World) Now() time.Time { return w.now() }

// Bot is the id of the bot's user, which is its application's id too.
func (w *World) Bot() ID { return w.app.bot }

// Token is what the bot must present, without the word Bot in front.
func (w *World) Token() string { return w.app.token }

// Wait returns when cond holds, and at ctx's end with ctx's cause. cond is called with the world locked, at once and
// after every recorded event; it must use nothing but the view, and not keep it.
func (w *World) Wait(ctx context.Context, cond func(View) bool) error {
	for {
		w.mu.Lock()
		ok := cond(View{w})
		changed := w.changed
		w.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Look calls f once with the world locked. f must use nothing but the view, and not keep it.
func (w *World) Look(f func(View)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(View{w})
}

// record writes into the journal and wakes everybody who waits. The world is locked.
func (w *World) record(e Event) {
	w.journal.add(w.now(), e)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *World) userByName(name string) *user {
	for _, u := range w.users {
		if u.name == name {
			return u
		}
	}
	return nil
}

// guildOf is nil for DMs.
func (w *World) guildOf(c *channel) *guild { return w.guilds[c.guild] }

// dmWith finds or opens the DM channel between the bot and somebody.
func (w *World) dmWith(u ID) *channel {
	for _, c := range w.channels {
		if c.kind == ChannelDM && c.recipient == u {
			return c
		}
	}
	c := &channel{id: w.newID(), kind: ChannelDM, recipient: u, created: w.now()}
	w.channels[c.id] = c
	return c
}

// threadsOf are the open threads of a guild, oldest first.
func (w *World) threadsOf(g *guild) []*channel {
	var threads []*channel
	for _, c := range w.channels {
		if c.guild == g.id && c.isThread() && !c.archived {
			threads = append(threads, c)
		}
	}
	slices.SortFunc(threads, func(a, b *channel) int { return compareIDs(a.id, b.id) })
	return threads
}
