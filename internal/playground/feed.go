package playground

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// notesKept bounds the feed. A page that is further behind gets a snapshot instead.
const notesKept = 1024

// noteKind is a note's name on the wire.
type noteKind string

// The kinds of notes.
const (
	noteMessage  noteKind = "message"  // new or changed
	noteDelete   noteKind = "delete"   // gone
	noteTyping   noteKind = "typing"   // somebody types
	noteCommands noteKind = "commands" // the bot's commands changed
	noteLink     noteKind = "link"     // the bot connected or is gone
	noteTurn     noteKind = "turn"     // one event of a turn
	noteWire     noteKind = "wire"     // one line between the bot and Discord
	noteTour     noteKind = "tour"     // another step of the tour has happened
	noteChannels noteKind = "channels" // a channel is new, changed or gone; each page gets those it may see
	noteWorld    noteKind = "world"    // look at everything again
)

// note is one thing that pages are told.
type note struct {
	seq  uint64
	kind noteKind
	data []byte
	// world is the number of the journal's line that it tells of; 0 for what is not of the world.
	world int
	// only is who may see it; empty for everybody.
	only discordsim.ID
}

// feed is what has happened, newest last: one bounded list that any number of pages read at their own pace, so a slow
// page costs nothing and blocks nobody. It is the observer of all turns. Safe for concurrent use.
type feed struct {
	// run tells the numbers of this process from those of another that a page was connected to before.
	run string

	mu      sync.Mutex
	notes   []note
	seq     uint64
	turns   turnLog
	lines   []wireLine
	tour    tour
	changed chan struct{} // closed and replaced when something was added
}

func newFeed() *feed {
	return &feed{run: strconv.FormatInt(time.Now().UnixNano(), 36), changed: make(chan struct{})}
}

// Observe takes an event of a turn.
func (f *feed) Observe(e turn.Event) {
	data, err := json.Marshal(e)
	if err != nil {
		return // An event holds nothing that cannot be encoded.
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns.add(e)
	f.add(note{kind: noteTurn, data: data})
	if f.tour.see(e) {
		f.add(note{kind: noteTour, data: encode(map[string]any{"done": f.tour.done})})
	}
}

// wire takes a line of the log of Discord requests.
func (f *feed) wire(l wireLine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lines) >= 2*wireKept {
		f.lines = append(f.lines[:0], f.lines[wireKept:]...)
	}
	f.lines = append(f.lines, l)
	f.add(noteOfWire(l))
}

func (f *feed) publish(n note) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(n)
}

func (f *feed) add(n note) {
	f.seq++
	n.seq = f.seq
	// Cutting half at once keeps the cost of a full feed constant per note.
	if len(f.notes) >= 2*notesKept {
		f.notes = append(f.notes[:0], f.notes[notesKept:]...)
	}
	f.notes = append(f.notes, n)
	close(f.changed)
	f.changed = make(chan struct{})
}

// forget makes every page look at everything again.
func (f *feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = nil
	f.add(note{kind: noteWorld})
}

// after returns the notes after a number. ok is false when some of them are gone. changed is closed when there are more.
func (f *feed) after(seq uint64) (notes []note, ok bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.seq - uint64(len(f.notes)) // the number before the oldest kept
	if seq < first || seq > f.seq {
		return nil, false, f.changed
	}
	return append([]note(nil), f.notes[seq-first:]...), true, f.changed
}

// id is a note's number as pages keep it, to go on from there.
func (f *feed) id(seq uint64) string { return fmt.Sprintf("%s-%d", f.run, seq) }

// parseID reads what a page kept. ok is false when it kept nothing, or something of another process.
func (f *feed) parseID(id string) (seq uint64, ok bool) {
	run, text, found := strings.Cut(id, "-")
	if !found || run != f.run {
		return 0, false
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	return seq, err == nil
}

// feedState is what the feed knows by heart at one moment: the number of the newest note, and what pages can look back at.
type feedState struct {
	seq       uint64
	turns     []turnEvents
	decisions []turn.Event
	wire      []wireLine
	tour      []tourStep
}

func (f *feed) state() feedState {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := feedState{seq: f.seq, wire: slices.Clone(f.lines[max(0, len(f.lines)-wireKept):]), tour: slices.Clone(f.tour.done)}
	s.turns, s.decisions = f.turns.copy()
	return s
}
