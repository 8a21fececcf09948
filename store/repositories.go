package store

import (
	"context"
	"errors"
	"time"
)

// Sentinel errors of all engines.
var (
	// ErrNotFound: the record does not exist, or not for this member.
	ErrNotFound = errors.New("not found")
	// ErrExists: a record with this key exists already.
	ErrExists = errors.New("exists already")
	// ErrLimit: the scope already holds as many records as it may.
	ErrLimit = errors.New("limit reached")
	// ErrInvalid: the caller's record or query contradicts itself; nothing was read or written.
	ErrInvalid = errors.New("invalid")
	// ErrTaken: what waited is another process's by now, or gone; nothing was written.
	ErrTaken = errors.New("taken by another process")
	// ErrBusy: others were writing what this had to wait for, as long as the caller's time lasted.
	ErrBusy = errors.New("others are still writing")
	// ErrErased: it is about a member who had everything erased since it came about; nothing was written.
	ErrErased = errors.New("the member had this erased")
	// ErrCorrupt: a stored document cannot be read. It is never overwritten.
	ErrCorrupt = errors.New("stored document is corrupt")
	// ErrUnavailable: the store is away or refuses work for now.
	ErrUnavailable = errors.New("store unavailable")
)

// Memories keeps long-term facts. Implementations are safe for concurrent use, as all repositories are.
type Memories interface {
	// AddMemory stores m and returns it with its id. The limit of records per scope (one member in one guild, one member
	// in DMs, one guild) is enforced in the same statement; ErrLimit when it is reached. A fact that exists already in
	// the same scope, word for word, is returned as it is. ErrInvalid when m contradicts itself: a guild's fact has a
	// guild and no member; a member's fact has a member and either a guild or Private.
	AddMemory(ctx context.Context, m Memory, limit int) (Memory, error)
	// UpdateMemory replaces the content of a memory that q's member may see; ErrNotFound otherwise. ErrExists when the
	// scope has another fact with these very words.
	UpdateMemory(ctx context.Context, q MemoryQuery, id int64, content string, at time.Time) (Memory, error)
	// DeleteMemory removes a memory that q's member may see and returns it as it was; ErrNotFound otherwise.
	DeleteMemory(ctx context.Context, q MemoryQuery, id int64) (Memory, error)
	// DeleteMemories removes every memory of one scope, which of names by its Scope, GuildID, MemberID and Private alone, and
	// returns how many. ErrInvalid when of contradicts itself as in AddMemory.
	DeleteMemories(ctx context.Context, of Memory) (int, error)
	// MemoryByID returns a memory that q's member may see; ErrNotFound otherwise.
	MemoryByID(ctx context.Context, q MemoryQuery, id int64) (Memory, error)
	// FindMemories returns what q selects, most relevant first: with a text, the facts that share words with it by
	// relevance, then the newest, up to the limit. ErrInvalid when q names no member, or both a guild and a DM.
	FindMemories(ctx context.Context, q MemoryQuery) ([]Memory, error)
}

// Turns keeps the record of turns.
type Turns interface {
	// BeginTurn writes the turn as running; ErrExists when there is one with this id.
	BeginTurn(ctx context.Context, t Turn) error
	// BeginWaited is BeginTurn for the turn of a trigger that was stored as waiting, which it takes out of the line in the
	// same step. ErrTaken when it is not in this process's line: then whoever has it answers it.
	BeginWaited(ctx context.Context, t Turn) error
	// FinishTurn closes the turn with its final status and writes into the ledger what each model cost in it: both or
	// neither. It does not reopen or change a turn that is closed already, except one of this process that another has swept,
	// having taken this one for gone. What was known at the start (ids, start time, a
	// prompt that t leaves empty) stays. A turn that could not be begun, since the store was away, is written whole. What a
	// model cost in a turn is written once, even where a sweep has closed the turn meanwhile. ErrInvalid when the status is
	// not final.
	FinishTurn(ctx context.Context, t Turn, spent ...ModelUsage) error
	// RecentTurns returns the channel's finished turns, oldest first, at most limit.
	RecentTurns(ctx context.Context, channelID string, limit int) ([]Turn, error)
}

// Journal keeps what tools were asked to do. A row is opened before the dispatch and closed after it.
type Journal interface {
	// OpenCall writes c as it is: as running before a dispatch, or closed at once for a call that is refused. A second
	// row of the same turn and key is an error.
	OpenCall(ctx context.Context, c Call) error
	// CloseCall writes the status, reason and result; a closed row is not changed again, except as with FinishTurn. ErrNotFound when it was never
	// opened, ErrInvalid when the status is not final.
	CloseCall(ctx context.Context, c Call) error
	// Calls returns a turn's rows in the order they were opened.
	Calls(ctx context.Context, turnID string) ([]Call, error)
	// Sweep closes every running turn and call as interrupted and returns what it closed. It runs at start, before
	// any turn: what is found running then belongs to a process that is gone.
	Sweep(ctx context.Context, at time.Time) (turns []Turn, calls []Call, err error)
}

// Triggers keeps the triggers that wait for their channel.
type Triggers interface {
	// PutWaiting stores w; one with the same message id is replaced and keeps its place.
	PutWaiting(ctx context.Context, w Waiting) error
	// UpdateWaiting replaces the payload of a waiting trigger; ErrNotFound when it no longer waits.
	UpdateWaiting(ctx context.Context, messageID string, payload []byte) error
	// DeleteWaiting removes what no longer waits; unknown ids are no error.
	DeleteWaiting(ctx context.Context, messageIDs ...string) error
	// AllWaiting returns everything that waits, oldest first.
	AllWaiting(ctx context.Context) ([]Waiting, error)
}

// Settings keeps named values per guild, channel and member.
type Settings interface {
	// PutSetting stores a value; an empty one removes the setting.
	PutSetting(ctx context.Context, s Setting) error
	// SettingsOf returns all values of one owner.
	SettingsOf(ctx context.Context, scope SettingScope, id string) (map[string]string, error)
	// MemberSettings returns all members' settings of these names, by member and name, at most limit of those after one;
	// the zero Setting is before all.
	MemberSettings(ctx context.Context, names []string, after Setting, limit int) ([]Setting, error)
}

// Rate names one counter of events. What is empty does not matter for it.
type Rate struct {
	// Name is what is counted, such as "turns".
	Name string
	// GuildID, ChannelID and MemberID say of whom.
	GuildID   string
	ChannelID string
	MemberID  string
}

// Count is one event for one rate. There is room for it while fewer than Limit were counted in the window that ends now; a
// limit below 1 never has room.
type Count struct {
	Rate   Rate
	Limit  int
	Window time.Duration
}

// Claim says that the caller wants to answer a message.
type Claim struct {
	// ID is the message's. A claim holds it for TTL.
	ID  string
	TTL time.Duration
	// Counts are counted with the claim that takes the id: all of them, or none when one has no room.
	Counts []Count
	// Free is never over a rate: it is counted in each that has room.
	Free bool
}

// Claimed is what became of a claim. A claim that is ours and over no rate may be answered.
type Claimed struct {
	// Ours is true for the first who claims the id within its time, and for nobody else.
	Ours bool
	// Over is the first rate without room, and empty when there is none. Nothing was counted then, and the id stays claimed:
	// who is over is told once.
	Over Rate
}

// Claims decides who answers a message, the first to claim its id, and counts in windows that slide with time.
type Claims interface {
	// Claim takes an id that is free and counts for it, in one step. Who comes too late counts nothing.
	Claim(ctx context.Context, c Claim, now time.Time) (Claimed, error)
}

// WindowTTL is how long a channel's affordance windows live without use: every count and every refresh in a channel
// prolongs all windows of that channel.
const WindowTTL = 24 * time.Hour

// Windows keeps affordance windows: for how many more turns a tool stays offered in a channel.
type Windows interface {
	// ConsumeWindows counts every window of the channel down by one for this turn and returns the tools that are open
	// in it, sorted. It is idempotent per turn id: a turn that asks again gets what it got, and nothing is counted.
	ConsumeWindows(ctx context.Context, channelID, turnID string, now time.Time) ([]string, error)
	// RetainWindow opens or refreshes a tool's window for n further turns; it does not add to what is left. n 0 closes it.
	RetainWindow(ctx context.Context, channelID, tool string, n int, now time.Time) error
	// ClearWindows closes all windows of a channel, also for the turns that have counted already.
	ClearWindows(ctx context.Context, channelID string) error
}

// KillsKept is how long an order to stop is kept for a process that cannot hear it when it is given.
const KillsKept = time.Minute

// KillBus carries orders to stop between the processes of one bot.
type KillBus interface {
	// PublishKill tells all other processes an order of a member, and keeps it for KillsKept.
	PublishKill(ctx context.Context, memberID string, order []byte) error
	// SubscribeKills calls receive, one at a time, for every order that another process publishes from now on, until ctx
	// ends. It outlives a server that is away: what was published meanwhile is received
	// afterwards, each once, unless it is older than KillsKept. state, which may be nil, is told nil when nothing is missed
	// any more, and the error when nothing is heard for now.
	SubscribeKills(ctx context.Context, state func(error), receive func(order []byte))
}

// Pace is how fast requests may follow each other: PerSecond of them spread evenly, and Burst at once after silence. Both are
// at least 1. No second, wherever it begins, has more than their sum.
type Pace struct{ PerSecond, Burst int }

// Budget spaces the requests that all processes of one bot send.
type Budget interface {
	// TakeRequests gives n requests each its time, keeping the pace, and returns how long to wait for it, in order. The
	// times are spent in any case. A zero now is the store's own clock, which processes on several machines share whatever
	// theirs say.
	TakeRequests(ctx context.Context, n int, pace Pace, now time.Time) (waits []time.Duration, err error)
}
