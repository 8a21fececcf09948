package turn

import (
	"context"
	"slices"
	"sync"

	"github.com/parleybot/parley/store"
)

// Bounds of what is kept of channels.
const (
	// dialogueRead is how many messages are read of a channel at first, dialogueLength how many are kept of it. When it is
	// full, a third is dropped at once: a window that moved by one message each time would change the beginning of every
	// request, and nothing of it could be cached by a provider.
	dialogueRead   = 60
	dialogueLength = 90
	dialogueDrop   = dialogueLength / 3
	// dialogueChannels is how many channels are kept at once; the longest unused one makes room.
	dialogueChannels = 4096
	// recalledTurns and recalledBytes bound the past turns whose exchange is kept of a channel.
	recalledTurns = 40
	recalledBytes = 256 * 1024
)

// dialogues keeps the recent messages and turns of the channels in which turns have run: bounded per channel, filled by
// one read on first use and fed by events from then on. Messages are never stored. It is safe for concurrent use.
type dialogues struct {
	mu       sync.Mutex
	channels map[string]*dialogue
	clock    uint64
}

type dialogue struct {
	messages []Message
	loaded   bool
	// gone and changed are what happened to messages while the first read was on its way.
	gone    map[string]bool
	changed map[string]string
	refs    int
	turns   []store.Turn
	// recalled: turns holds what the store knew.
	recalled bool
	// first is the oldest message that is shown to the model; empty for all.
	first string
	used  uint64
}

func newDialogues() *dialogues { return &dialogues{channels: map[string]*dialogue{}} }

// record adds a message to a channel that is kept already; others are read when they are first used.
func (d *dialogues) record(channelID string, m Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok {
		c.add(m)
	}
}

// add keeps the messages ordered by id and bounded. A message that is known stays as it is: a redelivered one is older
// than the edits that were applied since.
func (c *dialogue) add(m Message) {
	i, found := slices.BinarySearchFunc(c.messages, m.ID, func(x Message, id string) int { return CompareIDs(x.ID, id) })
	if found || c.gone[m.ID] {
		return
	}
	if text, ok := c.changed[m.ID]; ok {
		m.Content = text
	}
	c.refs++
	m.ref = c.refs
	c.messages = slices.Insert(c.messages, i, m)
	if len(c.messages) > dialogueLength {
		c.messages = slices.Delete(c.messages, 0, dialogueDrop)
	}
}

// edit changes the text of a kept message.
func (d *dialogues) edit(channelID, messageID, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.channels[channelID]
	if !ok {
		return
	}
	content = readable(content, c.people())
	for i := range c.messages {
		if c.messages[i].ID == messageID {
			c.messages[i].Content = content
			return
		}
	}
	if !c.loaded {
		if c.changed == nil {
			c.changed = map[string]string{}
		}
		c.changed[messageID] = content
	}
}

// people are the names of those who wrote lately, by id.
func (c *dialogue) people() map[string]string {
	names := make(map[string]string, len(c.messages))
	for _, m := range c.messages {
		names[m.Author.ID] = m.Author.Name
	}
	return names
}

// remove forgets deleted messages.
func (d *dialogues) remove(channelID string, ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.channels[channelID]
	if !ok {
		return
	}
	c.messages = slices.DeleteFunc(c.messages, func(m Message) bool { return slices.Contains(ids, m.ID) })
	if !c.loaded {
		if c.gone == nil {
			c.gone = map[string]bool{}
		}
		for _, id := range ids {
			c.gone[id] = true
		}
	}
}

// clear forgets what is not newer than an epoch.
func (d *dialogues) clear(channelID, epoch string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok {
		c.messages = slices.DeleteFunc(c.messages, func(m Message) bool { return !after(m.ID, epoch) })
		c.turns = slices.DeleteFunc(c.turns, func(t store.Turn) bool { return !after(t.TriggerID, epoch) })
		c.first = ""
	}
}

// forget lets go of a channel that is gone.
func (d *dialogues) forget(channelID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.channels, channelID)
}

// newest is the id of the newest message that is kept of a channel.
func (d *dialogues) newest(channelID string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok && len(c.messages) > 0 {
		return c.messages[len(c.messages)-1].ID
	}
	return ""
}

// begin is from where a channel is shown, and remembers it when it moves.
func (d *dialogues) begin(channelID string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok {
		return c.first
	}
	return ""
}

func (d *dialogues) beginAt(channelID, messageID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok && (c.first == "" || CompareIDs(messageID, c.first) > 0) {
		c.first = messageID
	}
}

// finished keeps a turn for the next ones in its channel.
func (d *dialogues) finished(t store.Turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[t.ChannelID]; ok {
		c.keep(t)
	}
}

// keep adds a turn and drops the oldest that don't fit any more.
func (c *dialogue) keep(t store.Turn) {
	c.turns = append(slices.DeleteFunc(c.turns, func(x store.Turn) bool { return x.ID == t.ID }), t)
	size, first := 0, len(c.turns)
	for first > 0 && len(c.turns)-first < recalledTurns {
		if size += len(c.turns[first-1].Transcript) + len(c.turns[first-1].Answer); size > recalledBytes && first < len(c.turns) {
			break
		}
		first--
	}
	c.turns = slices.Delete(c.turns, 0, first)
}

// last is the last turn of a channel that this process knows of.
func (d *dialogues) last(channelID string) *store.Turn {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.channels[channelID]
	if !ok || len(c.turns) == 0 {
		return nil
	}
	t := c.turns[len(c.turns)-1]
	return &t
}

// sources is where a channel's past is read from.
type sources struct {
	history func(ctx context.Context, channelID string, limit int) ([]Message, error)
	turns   func(ctx context.Context, channelID string, limit int) ([]store.Turn, error)
}

// read returns copies of a channel's messages and turns, oldest first. The first read of a channel asks the sources,
// once; what happens meanwhile is merged. Errors come with what is known without the source that failed.
func (d *dialogues) read(ctx context.Context, channelID string, from sources) ([]Message, []store.Turn, error, error) {
	loaded, recalled := d.open(channelID)
	var messages []Message
	var turns []store.Turn
	var historyErr, turnsErr error
	if !loaded {
		messages, historyErr = safely(func() ([]Message, error) { return from.history(ctx, channelID, dialogueRead) })
	}
	if !recalled {
		turns, turnsErr = safely(func() ([]store.Turn, error) { return from.turns(ctx, channelID, recalledTurns) })
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.channels[channelID]
	if c == nil { // made room meanwhile
		c = &dialogue{}
	}
	if !loaded && historyErr == nil {
		c.load(messages)
	}
	if !recalled && turnsErr == nil {
		c.recall(turns)
	}
	return slices.Clone(c.messages), slices.Clone(c.turns), historyErr, turnsErr
}

// load merges what was read. Its texts still hold Discord's forms of mentions; the names are those of who wrote lately.
func (c *dialogue) load(messages []Message) {
	slices.SortFunc(messages, func(a, b Message) int { return CompareIDs(a.ID, b.ID) })
	names := map[string]string{}
	for _, m := range messages {
		names[m.Author.ID] = m.Author.Name
	}
	for _, m := range messages {
		m.Content = readable(m.Content, names)
		if i := slices.IndexFunc(messages, func(x Message) bool { return x.ID == m.ReplyToID }); i >= 0 && m.Quote == "" {
			m.Quote = quote(messages[i].Author, readable(messages[i].Content, names))
			m.quoted = messages[i].Author.ID
		}
		c.add(m)
	}
	c.loaded, c.gone, c.changed = true, nil, nil
}

// recall merges the turns that the store knew with those that have ended since.
func (c *dialogue) recall(turns []store.Turn) {
	since := c.turns
	c.turns, c.recalled = nil, true
	for _, t := range append(turns, since...) {
		c.keep(t)
	}
}

// open makes room for a channel and says what is known of it.
func (d *dialogues) open(channelID string) (loaded, recalled bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	c, ok := d.channels[channelID]
	if !ok {
		d.makeRoom()
		c = &dialogue{}
		d.channels[channelID] = c
	}
	c.used = d.clock
	return c.loaded, c.recalled
}

func (d *dialogues) makeRoom() {
	if len(d.channels) < dialogueChannels {
		return
	}
	oldest, at := "", d.clock
	for id, c := range d.channels {
		if c.used < at {
			oldest, at = id, c.used
		}
	}
	delete(d.channels, oldest)
}

// CompareIDs orders Discord ids by age: they are numbers, so a shorter one is older.
func CompareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
