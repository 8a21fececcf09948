package discordsim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ErrNotAllowed is why Discord, or its client, would not let a person do something; [RefusalOf] tells Discord's reason.
var ErrNotAllowed = errors.New("not allowed")

const (
	// maxReactions is how many different emojis a message can have under it.
	maxReactions = 20
	// maxThreadName is how many characters the name of a thread can have.
	maxThreadName = 100
)

// Person is somebody who is not the bot. Its methods do what the person does in Discord's client, with the person's own
// permissions, and are safe for concurrent use.
type Person struct {
	ID   ID
	Name string
	w    *World
}

// AddPerson makes somebody, or finds who has that name already.
func (w *World) AddPerson(spec PersonSpec) *Person {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := w.userByName(spec.Name)
	if u == nil {
		u = &user{id: w.newID(), name: spec.Name, global: spec.DisplayName, bot: spec.Bot}
		w.users[u.id] = u
	}
	return &Person{ID: u.id, Name: u.name, w: w}
}

// Person finds somebody by name; an unknown name makes a person who is in no guild yet.
func (w *World) Person(name string) *Person { return w.AddPerson(PersonSpec{Name: name}) }

// Draft is a message to send, with more than text.
type Draft struct {
	Text string
	// ReplyTo is the message to answer, which pings its author unless Silent.
	ReplyTo  ID
	Silent   bool
	Files    []File
	Stickers []ID
}

// Say sends a message and returns its id.
func (p *Person) Say(channel ID, text string) (ID, error) {
	return p.Send(channel, Draft{Text: text})
}

// Reply answers a message where it is, with a ping.
func (p *Person) Reply(to ID, text string) (ID, error) {
	m, ok := p.w.Message(to)
	if !ok {
		return "", fmt.Errorf("%s replies to %s: %w", p.Name, to, errNoSuch)
	}
	return p.Send(m.Channel, Draft{Text: text, ReplyTo: to})
}

// Attach sends files with a text.
func (p *Person) Attach(channel ID, text string, files ...File) (ID, error) {
	return p.Send(channel, Draft{Text: text, Files: files})
}

// Send sends a draft and returns the message's id.
func (p *Person) Send(channel ID, d Draft) (ID, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c, perms, err := p.in(channel, "writes")
	if err != nil {
		return "", err
	}
	text := strings.TrimFunc(d.Text, unicode.IsSpace)
	switch {
	case !c.maySend(perms):
		return "", p.refused("writes in #"+c.name, errMissingPermission)
	case len(d.Files) > 0 && !perms.Has(PermAttachFiles):
		return "", p.refused("attaches files in #"+c.name, errMissingPermission)
	case blank(text) && len(d.Files) == 0 && len(d.Stickers) == 0:
		return "", p.refused("writes nothing", errEmptyMessage)
	case tooLong(text):
		return "", p.tooLong("writes")
	}
	if err := p.checkFiles(d.Files); err != nil {
		return "", err
	}
	if err := p.w.checkStickers(d.Stickers); err != nil {
		return "", fmt.Errorf("%s sends stickers: %w", p.Name, err)
	}
	out := draft{channel: c, author: p.ID, content: text, files: d.Files, stickers: slices.Clone(d.Stickers)}
	if d.ReplyTo != "" {
		to := p.w.messages[d.ReplyTo]
		if to == nil || to.Channel != c.id || !to.Deleted.IsZero() || to.VisibleTo != "" {
			return "", p.malformed("replies to "+string(d.ReplyTo), "message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
		out.replyTo = to
		if d.Silent {
			out.allowed = allowedMentions{set: true, everyone: true, users: true, roles: true}
		}
	}
	c.archived = false
	return p.w.post(out).ID, nil
}

// Edit changes an own message.
func (p *Person) Edit(message ID, text string) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	m, _, err := p.message(message, "edits")
	if err != nil {
		return err
	}
	text = strings.TrimFunc(text, unicode.IsSpace)
	does := "edits message " + string(message)
	switch {
	case m.Author != p.ID:
		return p.refused(does, errNotYours)
	case blank(text) && len(m.Attachments)+len(m.Stickers) == 0:
		return p.refused(does, errEmptyMessage)
	case tooLong(text):
		return p.tooLong(does)
	}
	p.w.edit(m, change{content: &text})
	return nil
}

// Delete deletes a message: an own one, or with Manage Messages anybody's.
func (p *Person) Delete(message ID) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	m, perms, err := p.message(message, "deletes")
	if err != nil {
		return err
	}
	if m.Author != p.ID && !perms.Has(PermManageMessages) && m.VisibleTo != p.ID {
		if m.Guild == "" {
			return p.refused("deletes message "+string(message), errDMAction)
		}
		return p.refused("deletes message "+string(message), errMissingPermission)
	}
	p.w.remove(m, p.ID)
	return nil
}

// React puts an emoji under a message: a character, or name:id.
func (p *Person) React(message ID, emoji string) error { return p.react(message, emoji, true) }

// Unreact takes it back.
func (p *Person) Unreact(message ID, emoji string) error { return p.react(message, emoji, false) }

func (p *Person) react(message ID, emoji string, add bool) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	m, perms, err := p.message(message, "reacts to")
	if err != nil {
		return err
	}
	does := "reacts to message " + string(message)
	known := slices.ContainsFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	switch {
	case m.VisibleTo != "":
		return p.refused(does, errUnknownMessage)
	case !known && !p.w.isEmoji(emoji):
		return p.refused(does, errUnknownEmoji)
	case add && !known && !perms.Has(PermAddReactions):
		return p.refused(does, errMissingPermission)
	case add && !known && len(m.Reactions) >= maxReactions:
		return p.refused(does, errTooManyReactions)
	}
	p.w.react(m, p.ID, emoji, add)
	return nil
}

// Type starts the typing indicator.
func (p *Person) Type(channel ID) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c, perms, err := p.in(channel, "types")
	if err != nil {
		return err
	}
	if !c.maySend(perms) {
		return p.refused("types in #"+c.name, errMissingPermission)
	}
	p.w.typing(c, p.ID)
	return nil
}

// Thread opens a public thread in a channel, from a message when one is named, and returns its id.
func (p *Person) Thread(channel ID, name string, from ID) (ID, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c, perms, err := p.in(channel, "opens a thread")
	if err != nil {
		return "", err
	}
	does := "opens a thread in #" + c.name
	switch n := len([]rune(strings.TrimSpace(name))); {
	case c.guild == "" || c.isThread():
		return "", p.refused(does, errWrongChannelType)
	case !perms.Has(PermCreatePublicThreads):
		return "", p.refused(does, errMissingPermission)
	case n < 1 || n > maxThreadName:
		return "", p.malformed(does, "name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	var m *message
	if from != "" {
		if m, _, err = p.message(from, "opens a thread from"); err != nil {
			return "", err
		}
		if m.Channel != c.id || m.VisibleTo != "" {
			return "", p.refused(does, errUnknownMessage)
		}
		if m.thread != "" {
			return "", p.refused(does, errThreadExists)
		}
	}
	return p.w.openThread(c, p.ID, strings.TrimSpace(name), ThreadPublic, m).id, nil
}

func (p *Person) tooLong(does string) error {
	return p.malformed(does, "content", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxContent))
}

// checkFiles holds files to what a message may carry.
func (p *Person) checkFiles(files []File) error {
	if len(files) > maxFiles {
		return p.malformed("attaches files", "attachments", "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between 0 and %d in length.", maxFiles))
	}
	for _, f := range files {
		if len(f.Data) > maxFileSize {
			return p.refused("attaches "+f.Name, errTooLarge)
		}
	}
	return nil
}

// DM is the person's direct channel with the bot.
func (p *Person) DM() ID {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.dmWith(p.ID).id
}

// Sees are the messages the person sees in a channel now, oldest first.
func (p *Person) Sees(channel ID) (out []Message) {
	p.w.Look(func(v View) { out = v.SeenBy(channel, p.ID) })
	return out
}

// in finds a channel the person sees.
func (p *Person) in(channel ID, does string) (*channel, Permissions, error) {
	c := p.w.channels[channel]
	if c == nil {
		return nil, 0, p.refused(fmt.Sprintf("%s in channel %q", does, channel), errUnknownChannel)
	}
	perms := p.w.permissionsIn(c, p.ID)
	if !perms.Has(PermViewChannel) {
		return nil, 0, p.refused(fmt.Sprintf("%s in #%s, which is hidden from them", does, c.name), errMissingAccess)
	}
	return c, perms, nil
}

// message finds a message the person sees.
func (p *Person) message(id ID, does string) (*message, Permissions, error) {
	m := p.w.messages[id]
	if m == nil || !m.Deleted.IsZero() || m.VisibleTo != "" && m.VisibleTo != p.ID {
		return nil, 0, p.refused(fmt.Sprintf("%s message %q", does, id), errUnknownMessage)
	}
	_, perms, err := p.in(m.Channel, does)
	return m, perms, err
}
