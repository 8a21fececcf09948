package turn

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a model is shown.
const (
	// historyTimeout bounds the first read of a channel.
	historyTimeout = 10 * time.Second
	// nameRunes bounds a display name, quoteRunes a quoted message, contentRunes a message.
	nameRunes    = 32
	quoteRunes   = 280
	contentRunes = 8000
)

// messageOf is an inbound as context keeps it.
func messageOf(in Inbound) Message {
	m := Message{
		ID: in.MessageID, Author: in.Author, Content: readable(in.Content, in.Names), Extra: extra(in), SentAt: in.SentAt,
	}
	if in.ReplyTo != nil {
		m.ReplyToID = in.ReplyTo.MessageID
		m.Quote = quote(in.ReplyTo.Author, readable(in.ReplyTo.Content, in.Names))
		m.quoted = in.ReplyTo.Author.ID
	}
	return m
}

// quote is a message that another one replies to, on one line. The bot's own stand just above and aren't repeated.
func quote(author Person, content string) string {
	if author.Self || strings.TrimSpace(content) == "" {
		return ""
	}
	return label(author) + ": \"" + strings.ReplaceAll(oneLine(content, quoteRunes), `"`, "'") + "\""
}

// line is one message as the model reads it: the author's name, what it replies to, the text with its further lines
// indented (so that nobody can write in another one's name), and what is not text.
func (m *Manager) line(x Message) string {
	var b strings.Builder
	b.WriteString(label(x.Author) + ": ")
	if x.Quote != "" {
		b.WriteString("(replying to " + x.Quote + ") ")
	}
	b.WriteString(strings.ReplaceAll(bounded(x.Content, contentRunes), "\n", "\n  "))
	if x.Extra != "" {
		b.WriteString("\n" + remark(x.Extra))
	}
	if m.refs && x.ref > 0 {
		b.WriteString("\n" + remark(refOf(x)))
	}
	return b.String()
}

// label is an author's name: untrusted, on one line, without what would look like the end of a name or a remark.
func label(p Person) string {
	name := oneLine(strings.NewReplacer(":", " ", "[", "(", "]", ")").Replace(p.Name), nameRunes)
	if name == "" {
		return "someone"
	}
	return name
}

// remark is something that the bot itself tells the model.
func remark(text string) string {
	return "[" + strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(text) + "]"
}

// extra describes what a message carries besides text, in one line.
func extra(in Inbound) string {
	var parts []string
	for _, f := range in.Forwarded {
		parts = append(parts, "forwarded message: "+oneLine(readable(f.Content, nil), quoteRunes))
	}
	for _, a := range in.Attachments {
		parts = append(parts, "attached file: "+oneLine(a.Name, 80))
	}
	for _, s := range in.Stickers {
		parts = append(parts, "sticker: "+oneLine(s, nameRunes))
	}
	if in.Poll != "" {
		parts = append(parts, "poll: "+oneLine(in.Poll, quoteRunes))
	}
	return strings.Join(parts, "; ")
}

// mention matches Discord's forms for users, roles and channels, and custom emoji.
var mention = regexp.MustCompile(`<(@[!&]?|#|a?:\w+:)(\d+)>`)

// readable replaces Discord's mention forms by names: ids never reach the model.
func readable(content string, names map[string]string) string {
	return mention.ReplaceAllStringFunc(content, func(s string) string {
		p := mention.FindStringSubmatch(s)
		if strings.HasSuffix(p[1], ":") {
			return strings.TrimPrefix(p[1], "a")
		}
		name := oneLine(names[p[2]], nameRunes)
		switch {
		case p[1] == "#" && name == "":
			return "#channel"
		case p[1] == "#":
			return "#" + name
		case name == "":
			return "@someone"
		default:
			return "@" + name
		}
	})
}

// oneLine makes untrusted text a single bounded line without control characters or direction marks.
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return bounded(strings.Join(strings.Fields(s), " "), limit)
}

func bounded(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
