package toolloop

import (
	"context"
	"strconv"
	"sync"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
)

// Turn is what one turn brings to the loop, and what the loop remembers of it between attempts: a tool that ran in this
// turn never runs again because a model failed, and iterations and errors count per turn. The exported fields are set
// before the first Run and not changed after it. One goroutine runs it; only FollowUp may be called from others.
type Turn struct {
	ID        string
	ChannelID string
	GuildID   string
	UserID    string
	UserName  string
	Message   registry.MessageRef
	Locale    string
	Persona   registry.Persona
	// Settings is a snapshot of the settings that apply; Switches the moderators' tool switches (false is off).
	Settings map[string]string
	Switches map[string]bool
	Flags    map[string]bool
	Private  bool
	// Deliberate: the person addressed the bot, so errors and warnings are surfaced to them.
	Deliberate bool
	// OutsideContent: the prompt holds content that is not the member's own words.
	OutsideContent bool
	// Allow is the allowlist of deliberate mode; the zero value means that the mode is off.
	Allow registry.Allowlist
	// WindowTurns is for how many further turns a success keeps a tool exposed while the mode is active.
	WindowTurns int
	Shared      *registry.Shared

	Observer Observer
	Notices  Notices
	Cards    Cards
	Clock    Clock

	iteration  int
	failures   int
	keys       int
	messages   []providers.Message
	entries    []Entry
	shown      []string
	partial    bool
	thinking   string
	usage      providers.Usage
	answeredBy string
	sticker    string
	disabled   map[string]bool
	lastTool   *registry.Tool
	warned     bool
	// outside: a tool brought in content that is not the member's own words.
	outside        bool
	observerBroken bool

	door followUpDoor
}

// Iteration is the index of the current round trip, from 0; between and after runs it is the number of those made.
func (t *Turn) Iteration() int { return t.iteration }

// Entries returns the history entries so far.
func (t *Turn) Entries() []Entry { return t.entries }

func (t *Turn) nextKey() string {
	t.keys++
	return "c" + strconv.Itoa(t.keys)
}

func (t *Turn) disable(names ...string) {
	if t.disabled == nil {
		t.disabled = map[string]bool{}
	}
	for _, n := range names {
		t.disabled[n] = true
	}
}

func (t *Turn) view(provider string) registry.TurnView {
	return registry.TurnView{
		Provider: provider, Channel: t.ChannelID, Guild: t.GuildID, User: t.UserID, Private: t.Private,
		Disabled: t.disabled, Flags: t.Flags, Switches: t.Switches,
	}
}

// FollowUp asks the turn to make way for a newer message of its owner. It returns true when the current stream is ended
// for it (or the next one, when an attempt has just failed), and false when the turn has entered its tool chain or has
// answered: then the message can only be queued.
func (t *Turn) FollowUp() bool { return t.door.request() }

// followUpDoor is open while a turn only streams. Entering the tool chain closes it for good; a request that comes first
// ends the stream. One lock decides which of the two came first.
type followUpDoor struct {
	mu        sync.Mutex
	closed    bool
	requested bool
	cancel    context.CancelCauseFunc
}

// errFollowUp is the cause of a stream that made way for a follow-up. It ends a stream, never a turn.
type errFollowUp struct{}

func (errFollowUp) Error() string { return "the owner wrote again" }

func (d *followUpDoor) request() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.requested {
		return !d.closed
	}
	d.requested = true
	if d.cancel != nil {
		d.cancel(errFollowUp{})
	}
	return true
}

// watch registers the running stream; it reports false when a request came before the stream began.
func (d *followUpDoor) watch(cancel context.CancelCauseFunc) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel = cancel
	return !d.requested
}

// close shuts the door; it reports false when a request came first.
func (d *followUpDoor) close() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel = nil
	if d.requested {
		return false
	}
	d.closed = true
	return true
}
