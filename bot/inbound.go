package bot

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/turn"
)

// Bounds of what one message may bring along.
const (
	maxQuote       = 4000 // UTF-16 units of a quoted or forwarded message
	maxForwarded   = 10
	maxAttachments = 20
	maxNamed       = 100
)

var reference = regexp.MustCompile(`<(@&|#)(\d{1,20})>`)

// translator turns Discord's messages into what turns read.
type translator struct {
	self   string
	guilds *guilds
}

// readable reports whether m holds what somebody wrote: joins, pins, boosts and the like don't.
func (m *wireMessage) readable() bool {
	if m.Author == nil || m.ID == "" || m.ChannelID == "" {
		return false
	}
	switch m.Type {
	case messageDefault, messageReply, messageCommand, messageContextCommand:
		return true
	}
	return false
}

// inbound translates a readable message.
func (t translator) inbound(m *wireMessage, now time.Time) turn.Inbound {
	at := t.guilds.place(m.ChannelID, now)
	in := turn.Inbound{
		Kind:             turn.KindMessage,
		MessageID:        m.ID,
		ChannelID:        m.ChannelID,
		ParentID:         at.parent,
		GuildID:          m.GuildID,
		Private:          m.GuildID == "",
		Author:           t.author(m),
		Content:          clean(m.Content),
		MentionsBot:      t.mentioned(m),
		MentionsEveryone: m.Everyone,
		Names:            t.names(m),
		ReplyTo:          t.replyTo(m),
		Attachments:      attachments(m.Attachments),
		Stickers:         stickers(m.Stickers),
		Poll:             pollText(m.Poll),
		Locale:           at.locale,
		// In a private chat there are no permissions that could forbid it.
		CanReply:   m.GuildID == "" || at.canSend,
		SentAt:     m.Timestamp.UTC(),
		ReceivedAt: now.UTC(),
	}
	if !in.Author.Self && !in.Author.Webhook {
		rights := t.guilds.rights(m.ChannelID, m.Author.ID, m.Member, now)
		in.Author.ManageMessages = rights.has(permManageMessages)
		in.Author.ManageGuild = rights.has(permManageGuild)
	}
	if m.forwarded() {
		for _, s := range m.Snapshots[:min(len(m.Snapshots), maxForwarded)] {
			in.Forwarded = append(in.Forwarded, turn.Quote{Content: clip(snapshotText(&s.Message), maxQuote)})
			in.Attachments = append(in.Attachments, attachments(s.Message.Attachments)...)
		}
		in.Attachments = in.Attachments[:min(len(in.Attachments), maxAttachments)]
	}
	return in
}

// message translates a readable message for the dialogue.
func (t translator) message(m *wireMessage) turn.Message {
	out := turn.Message{ID: m.ID, Author: t.author(m), Content: clean(m.Content), Extra: extra(m), SentAt: m.Timestamp.UTC()}
	if m.Reference != nil && m.Reference.Type != referenceForward {
		out.ReplyToID = m.Reference.MessageID
	}
	return out
}

func (t translator) author(m *wireMessage) turn.Person {
	p := person(m.Author, m.Member)
	p.Webhook = m.WebhookID != ""
	// A webhook's author id is the webhook's own, which an application's id may equal: it is never this account.
	p.Self = m.Author.ID == t.self && !p.Webhook
	p.Bot = m.Author.Bot && !p.Self
	return p
}

// person names somebody as people in the guild see them.
func person(u *wireUser, m *wireMember) turn.Person {
	if u == nil {
		return turn.Person{}
	}
	name := u.Username
	if u.GlobalName != "" {
		name = u.GlobalName
	}
	if m != nil && m.Nick != "" {
		name = m.Nick
	}
	return turn.Person{ID: u.ID, Name: clean(name), Bot: u.Bot}
}

// mentioned reports whether m means the bot by name: its account, or the role that Discord made for it. The author of a
// message one replies to is in Discord's list too; only what stands in the text counts, and a reply is told by ReplyTo.
func (t translator) mentioned(m *wireMessage) bool {
	listed := slices.ContainsFunc(m.Mentions, func(u wireUser) bool { return u.ID == t.self })
	// Inside a code block the text has the form, but Discord does not list it.
	if listed && (strings.Contains(m.Content, "<@"+t.self+">") || strings.Contains(m.Content, "<@!"+t.self+">")) {
		return true
	}
	return t.guilds.mine(m.GuildID, m.MentionRoles)
}

func (t translator) names(m *wireMessage) map[string]string {
	names := map[string]string{}
	for _, u := range m.Mentions[:min(len(m.Mentions), maxNamed)] {
		names[u.ID] = person(&u, u.Member).Name
	}
	for _, found := range reference.FindAllStringSubmatch(m.Content, maxNamed) {
		name := t.guilds.channelName(found[2])
		if found[1] == "@&" {
			name = t.guilds.roleName(m.GuildID, found[2])
		}
		if name != "" {
			names[found[2]] = clean(name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// replyTo quotes the message that m answers; of a deleted one only the id is left.
func (t translator) replyTo(m *wireMessage) *turn.Quote {
	if m.Reference == nil || m.Reference.Type == referenceForward || m.Reference.MessageID == "" || m.Type != messageReply {
		return nil
	}
	q := &turn.Quote{MessageID: m.Reference.MessageID}
	if r := m.Referenced; r != nil && r.Author != nil {
		q.Author = t.author(r)
		q.Content = clip(describe(r), maxQuote)
		q.Attachments = attachments(r.Attachments)
	}
	return q
}

func (m *wireMessage) forwarded() bool {
	return len(m.Snapshots) > 0 && (m.Reference == nil || m.Reference.Type == referenceForward)
}

// describe is a message's text with a line for what is not text.
func describe(m *wireMessage) string { return joined(clean(m.Content), extra(m)) }

// snapshotText is all that a forwarded message says: its text, its embeds and the names of its files.
func snapshotText(m *wireMessage) string {
	text := clean(m.Content)
	for _, e := range m.Embeds[:min(len(m.Embeds), 5)] {
		text = joined(text, clean(joined(e.Title, e.Description)))
	}
	return joined(text, extra(m))
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// extra is one line about what stands beside the text of a message.
func extra(m *wireMessage) string {
	var parts []string
	if m.Flags&flagVoiceMessage != 0 {
		parts = append(parts, "[voice message]")
	}
	for _, a := range m.Attachments[:min(len(m.Attachments), maxAttachments)] {
		parts = append(parts, "[file: "+oneLine(a.Filename)+"]")
	}
	for _, s := range m.Stickers {
		parts = append(parts, "[sticker: "+oneLine(s.Name)+"]")
	}
	if p := pollText(m.Poll); p != "" {
		parts = append(parts, "[poll: "+p+"]")
	}
	if m.forwarded() {
		for _, s := range m.Snapshots[:min(len(m.Snapshots), maxForwarded)] {
			parts = append(parts, "[forwarded: "+oneLine(clip(snapshotText(&s.Message), maxQuote))+"]")
		}
	}
	return strings.Join(parts, " ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

func attachments(list []wireAttachment) []turn.Attachment {
	var out []turn.Attachment
	for _, a := range list[:min(len(list), maxAttachments)] {
		out = append(out, turn.Attachment{ID: a.ID, Name: clean(a.Filename), ContentType: clean(a.ContentType), Size: a.Size, URL: a.URL})
	}
	return out
}

func stickers(list []wireSticker) []string {
	var out []string
	for _, s := range list {
		out = append(out, oneLine(s.Name))
	}
	return out
}

// pollText is a poll on one line.
func pollText(p *wirePoll) string {
	if p == nil {
		return ""
	}
	answers := make([]string, len(p.Answers))
	for i, a := range p.Answers {
		answers[i] = oneLine(a.Media.Text)
	}
	answers = slices.DeleteFunc(answers, func(s string) bool { return s == "" })
	return clip(oneLine(p.Question.Text)+" ("+strings.Join(answers, " / ")+")", 1000)
}
