package discordsim

import (
	"context"
	"iter"
	"slices"
)

// View reads a locked world; it is valid only inside the function it was given to. What it returns are copies.
type View struct{ w *World }

// Messages are the messages of a channel that are there now and that everybody sees, oldest first.
func (v View) Messages(channel ID) []Message {
	return v.w.messagesIn(channel, func(m *message) bool { return m.Deleted.IsZero() && m.VisibleTo == "" })
}

// MessagesBy are the messages of one author in a channel that are there now, oldest first, ephemeral ones included.
func (v View) MessagesBy(channel, author ID) []Message {
	return v.w.messagesIn(channel, func(m *message) bool { return m.Deleted.IsZero() && m.Author == author })
}

// SeenBy are the messages of a channel that one person sees now: all, if the person may read there, and the ephemeral
// ones for them.
func (v View) SeenBy(channel, person ID) []Message {
	c := v.w.channels[channel]
	if c == nil || !v.w.permissionsIn(c, person).Has(PermViewChannel) {
		return nil
	}
	return v.w.messagesIn(channel, func(m *message) bool {
		return m.Deleted.IsZero() && (m.VisibleTo == "" || m.VisibleTo == person)
	})
}

// Stretch names a part of a channel's messages: those before or after one, or around it. The one need not be there any
// more. With none named it is the newest.
type Stretch struct {
	Before, After, Around ID
	// Limit is how many messages it has at most; around one, it is half of that to each side.
	Limit int
}

// SeenPart are the messages of a part of a channel that one person sees now, oldest first, and whether there are more on
// either side. What it costs depends on the part's length and not on the channel's.
func (v View) SeenPart(channel, person ID, s Stretch) (messages []Message, older, newer bool) {
	c := v.w.channels[channel]
	if c == nil || !v.w.permissionsIn(c, person).Has(PermViewChannel) {
		return nil, false, false
	}
	at, backward, forward := len(c.messages), s.Limit, 0
	switch {
	case s.Before != "":
		at, _ = slices.BinarySearchFunc(c.messages, s.Before, compareIDs)
	case s.After != "":
		found := false
		if at, found = slices.BinarySearchFunc(c.messages, s.After, compareIDs); found {
			at++
		}
		backward, forward = 0, s.Limit
	case s.Around != "":
		at, _ = slices.BinarySearchFunc(c.messages, s.Around, compareIDs)
		backward, forward = s.Limit/2, s.Limit-s.Limit/2
	}
	first, older := v.w.seenFrom(c, person, at-1, -1, backward)
	last, newer := v.w.seenFrom(c, person, at, 1, forward)
	slices.Reverse(first)
	return append(first, last...), older, newer
}

// seenFrom collects what a person sees from an index on in one direction, and tells whether there is more behind that.
func (w *World) seenFrom(c *channel, person ID, at, step, limit int) (out []Message, more bool) {
	for ; at >= 0 && at < len(c.messages); at += step {
		m := w.messages[c.messages[at]]
		if !m.Deleted.IsZero() || m.VisibleTo != "" && m.VisibleTo != person {
			continue
		}
		if len(out) == limit {
			return out, true
		}
		out = append(out, m.copy())
	}
	return out, false
}

// AllMessages are all messages of a channel there ever were, deleted and ephemeral ones included, oldest first.
func (v View) AllMessages(channel ID) []Message {
	return v.w.messagesIn(channel, func(*message) bool { return true })
}

// Message finds a message, deleted or not.
func (v View) Message(id ID) (Message, bool) {
	m := v.w.messages[id]
	if m == nil {
		return Message{}, false
	}
	return m.copy(), true
}

// Bot is the id of the bot's user.
func (v View) Bot() ID { return v.w.app.bot }

// Interaction finds what somebody sent to the bot.
func (v View) Interaction(id ID) (InteractionState, bool) {
	i := v.w.interactions[id]
	if i == nil {
		return InteractionState{}, false
	}
	return i.state(), true
}

// Commands are the names of the commands registered for a guild, or the global ones for no guild.
func (v View) Commands(guild ID) []string {
	return commandNames(v.w.commandsFor(guild))
}

// Connected reports whether a gateway session of the bot is ready for events.
func (v View) Connected() bool {
	for _, s := range v.w.sessions {
		if s.conn != nil && s.conn.ended == 0 {
			return true
		}
	}
	return false
}

// Entries are the journal's lines after one sequence number; 0 for all that are kept.
func (v View) Entries(after int) []Entry { return slices.Clone(v.w.journal.after(after)) }

// Seq is the number of the journal's newest line.
func (v View) Seq() int { return v.w.journal.seq }

// Requests are the served requests of one route, such as "POST /channels/{channel_id}/messages", oldest first; all of
// them for an empty route.
func (v View) Requests(route string) []Request {
	var out []Request
	want := routeKey(route)
	for _, e := range v.w.journal.entries {
		if r, ok := e.Event.(RequestServed); ok && (route == "" || routeKey(r.Request.Route) == want) {
			out = append(out, r.Request)
		}
	}
	return out
}

func (w *World) messagesIn(channel ID, keep func(*message) bool) []Message {
	c := w.channels[channel]
	if c == nil {
		return nil
	}
	var out []Message
	for _, id := range c.messages {
		if m := w.messages[id]; keep(m) {
			out = append(out, m.copy())
		}
	}
	return out
}

// Messages is [View.Messages] for one look.
func (w *World) Messages(channel ID) (out []Message) {
	w.Look(func(v View) { out = v.Messages(channel) })
	return out
}

// Message is [View.Message] for one look.
func (w *World) Message(id ID) (m Message, ok bool) {
	w.Look(func(v View) { m, ok = v.Message(id) })
	return m, ok
}

// Requests is [View.Requests] for one look.
func (w *World) Requests(route string) (out []Request) {
	w.Look(func(v View) { out = v.Requests(route) })
	return out
}

// Follow yields the journal's lines after one sequence number as they are written, until ctx ends or the loop breaks.
// Lines that the journal's limit dropped before they were read are missing; their numbers show it.
func (w *World) Follow(ctx context.Context, after int) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for {
			var entries []Entry
			err := w.Wait(ctx, func(v View) bool {
				entries = v.Entries(after)
				return len(entries) > 0
			})
			if err != nil {
				return
			}
			for _, e := range entries {
				if !yield(e) {
					return
				}
				after = e.Seq
			}
		}
	}
}
