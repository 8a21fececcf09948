package scene

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
)

// seeVerbs are what people must see of the bot. Each looks for a message after the one that was seen before it in the
// same place, so steps in a row say an order.
func seeVerbs() []verb {
	return []verb{
		{form: form("see nothing more"), clauses: with("privately to PERSON", placeClauses, "within TIME"), do: (*stage).seeNothing},
		{form: form("see"), needsClause: true, check: checkContent, do: (*stage).see, clauses: with(contentClauses, "to nobody", "to LABEL",
			"privately to PERSON", "edited", "deleted", "pinging nobody", "pinging PERSON", "with button WORD", "without buttons",
			"with file WORD", "holding TEXT", "not holding TEXT", placeClauses, "as NEWLABEL", "within TIME", "LABEL")},
	}
}

// checkContent refuses regular expressions that do not compile.
func checkContent(_ *cast, s *step) error {
	for _, c := range append([]bound{s.head}, s.clauses...) {
		if !strings.Contains(c.form, "matching TEXT") {
			continue
		}
		if _, err := regexp.Compile(c.text("TEXT")); err != nil {
			return fmt.Errorf("the regular expression: %w", err)
		}
	}
	return nil
}

// says reports whether a text is as a clause wants it; true for clauses that say nothing about text.
func says(c bound, text string) bool {
	want := c.text("TEXT")
	switch c.form {
	case "TEXT":
		return strings.TrimSpace(text) == strings.TrimSpace(want)
	case "containing TEXT":
		return strings.Contains(text, want)
	case "not containing TEXT":
		return !strings.Contains(text, want)
	case "matching TEXT":
		return regexp.MustCompile(want).MatchString(text) // it compiled when the scene was parsed
	}
	return true
}

func (s *stage) see(ctx context.Context, st *step) error {
	if b, ok := st.clause("LABEL"); ok {
		return s.seeAgain(ctx, st, b.text("LABEL"))
	}
	key, newer := s.audience(st)
	var found discordsim.Message
	err := s.await(ctx, st, func() (bool, error) {
		i := slices.IndexFunc(newer(), func(m discordsim.Message) bool { return s.fits(st, m) })
		if i >= 0 {
			found = newer()[i]
		}
		return i >= 0, nil
	}, func() string { return s.list(newer()) })
	if err != nil {
		return err
	}
	s.seen[key] = found.ID
	return s.label(st, found.ID)
}

// label remembers a message under its new name, and as "it".
func (s *stage) label(st *step, id discordsim.ID) error {
	s.labels["it"] = id
	if b, ok := st.clause("as NEWLABEL"); ok {
		s.labels[b.text("NEWLABEL")] = id
	}
	return nil
}

// audience gives the messages of the bot, in the step's place and for those who shall see them, that come after the one
// that was seen last; and the key under which that is kept.
func (s *stage) audience(st *step) (key string, newer func() []discordsim.Message) {
	channel, bot := s.channel(st.place), s.world.Bot()
	var whom discordsim.ID
	if b, ok := st.clause("privately to PERSON"); ok {
		whom = s.people[b.text("PERSON")].ID
	}
	key = string(channel) + "/" + string(whom)
	return key, func() (out []discordsim.Message) {
		s.world.Look(func(v discordsim.View) { out = v.MessagesBy(channel, bot) })
		last := s.seen[key]
		return slices.DeleteFunc(out, func(m discordsim.Message) bool {
			return m.VisibleTo != whom || last != "" && !later(m.ID, last)
		})
	}
}

// later compares ids of one world: a longer one is later, and of equal length the greater one.
func later(a, b discordsim.ID) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// fits reports whether a message is what a step wants to see.
func (s *stage) fits(st *step, m discordsim.Message) bool {
	return !slices.ContainsFunc(st.clauses, func(c bound) bool { return !says(c, s.names.read(m.Content)) || !s.looks(c, m) || !s.holds(c, m) })
}

// holds reports whether a message's files are as a clause wants them; true for clauses that say nothing about files.
func (s *stage) holds(c bound, m discordsim.Message) bool {
	if c.form != "holding TEXT" && c.form != "not holding TEXT" {
		return true
	}
	found := slices.ContainsFunc(m.Attachments, func(a discordsim.Attachment) bool {
		data, _ := s.world.FileData(a.ID)
		return bytes.Contains(data, []byte(c.text("TEXT")))
	})
	return found == (c.form == "holding TEXT")
}

// looks reports whether a message is as a clause wants it, apart from its text.
func (s *stage) looks(c bound, m discordsim.Message) bool {
	switch c.form {
	case "to LABEL":
		return m.ReplyTo == s.labels[c.text("LABEL")]
	case "to nobody":
		return m.ReplyTo == ""
	case "edited":
		return !m.Edited.IsZero()
	case "deleted":
		return !m.Deleted.IsZero()
	case "pinging nobody":
		return m.Pings.None()
	case "pinging PERSON":
		return slices.Contains(m.Pings.Users, s.people[c.text("PERSON")].ID)
	case "with button WORD":
		_, ok := buttonOf(m.Components, c.text("WORD"))
		return ok
	case "without buttons":
		return len(m.Components) == 0 || string(m.Components) == "[]"
	case "with file WORD":
		return slices.ContainsFunc(m.Attachments, func(a discordsim.Attachment) bool { return a.Name == c.text("WORD") })
	}
	return true
}

// seeAgain waits until a message that was seen before is as the step wants it.
func (s *stage) seeAgain(ctx context.Context, st *step, label string) error {
	id, err := s.message(label)
	if err != nil {
		return err
	}
	now := func() discordsim.Message { m, _ := s.world.Message(id); return m }
	err = s.await(ctx, st, func() (bool, error) {
		m := now()
		return s.fits(st, m) && (m.Deleted.IsZero() || st.has("deleted")), nil
	}, func() string { return s.list([]discordsim.Message{now()}) })
	if err != nil {
		return err
	}
	return s.label(st, id)
}

// list shows messages in a failure.
func (s *stage) list(messages []discordsim.Message) string {
	if len(messages) == 0 {
		return "nothing more of the bot"
	}
	var out []string
	for _, m := range messages {
		line := short(s.names.read(m.Content))
		if !m.Deleted.IsZero() {
			line += " (deleted)"
		}
		if m.ReplyTo != "" {
			line += " (a reply)"
		}
		if !m.Pings.None() {
			line += " (pings somebody)"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n              ")
}

// seeNothing holds when the bot has finished all it had to do and nothing came after what was seen. What bounds the
// absence is the bot's own word that it is done, not a time.
func (s *stage) seeNothing(ctx context.Context, st *step) error {
	_, newer := s.audience(st)
	if err := s.idle(ctx, st); err != nil {
		return err
	}
	if left := newer(); len(left) > 0 {
		return &unmet{saw: s.list(left)}
	}
	return nil
}
