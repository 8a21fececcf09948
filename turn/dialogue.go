package turn

import (
	"context"
	"slices"
	"sync"
)

// Bounds of what is kept of channels.
const (
	// dialogueLength is how many messages are kept of a channel.
	dialogueLength = 60
	// dialogueChannels is how many channels are kept at once; the longest unused one makes room.
	dialogueChannels = 4096
)

// dialogues keeps the recent messages of the channels in which turns have run: a bounded ring per channel, filled by one
// read on first use and fed by events from then on. Nothing of it is stored. It is safe for concurrent use.
type dialogues struct {
	mu       sync.Mutex
	channels map[string]*dialogue
	clock    uint64
}

type dialogue struct {
	messages []Message
	loaded   bool
	used     uint64
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

// add keeps the ring ordered by id and bounded; a redelivered message replaces itself.
func (c *dialogue) add(m Message) {
	i, found := slices.BinarySearchFunc(c.messages, m.ID, func(x Message, id string) int { return CompareIDs(x.ID, id) })
	if found {
		c.messages[i] = m
		return
	}
	c.messages = slices.Insert(c.messages, i, m)
	if n := len(c.messages) - dialogueLength; n > 0 {
		c.messages = slices.Delete(c.messages, 0, n)
	}
}

// edit changes the text of a kept message.
func (d *dialogues) edit(channelID, messageID, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok {
		for i := range c.messages {
			if c.messages[i].ID == messageID {
				c.messages[i].Content = content
			}
		}
	}
}

// remove forgets deleted messages.
func (d *dialogues) remove(channelID string, ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.channels[channelID]; ok {
		c.messages = slices.DeleteFunc(c.messages, func(m Message) bool { return slices.Contains(ids, m.ID) })
	}
}

// read returns a copy of a channel's messages, oldest first. The first read of a channel asks history, once; messages
// that arrive meanwhile are merged by id.
func (d *dialogues) read(ctx context.Context, channelID string, history func(ctx context.Context, channelID string, limit int) ([]Message, error)) ([]Message, error) {
	if messages, ok := d.copy(channelID); ok {
		return messages, nil
	}
	read, err := history(ctx, channelID, dialogueLength)
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.channels[channelID]
	if c == nil {
		return read, err
	}
	for _, m := range read {
		c.add(m)
	}
	c.loaded = c.loaded || err == nil
	return slices.Clone(c.messages), err
}

// copy returns what is kept of a channel and true when it is complete; otherwise it makes room for it.
func (d *dialogues) copy(channelID string) ([]Message, bool) {
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
	return slices.Clone(c.messages), c.loaded
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
