// Package stm holds the tool of short-term memory: what a channel has in mind for now, in a few named categories that
// are forgotten after a day. The turns put it into the context; this only writes it.
package stm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleybot/parley/registry"
)

// Bounds of short-term memory, in characters where they are of a text.
const (
	// MaxCategories is how many categories a channel may have.
	MaxCategories = 5
	// MaxText is where a note is cut, MaxCategory what a category's name may have.
	MaxText     = 1500
	MaxCategory = 32
)

// Errors that a Store tells apart.
var (
	// ErrLimit: the channel has as many other categories as it may.
	ErrLimit = errors.New("too many categories")
	// ErrOptedOut: somebody wants nothing about them to be remembered.
	ErrOptedOut = errors.New("nothing may be remembered")
)

// Note is what a channel has in mind under one category.
type Note struct {
	Category string
	Text     string
}

// Origin is the turn in which a note is written.
type Origin struct {
	ChannelID string
	// GuildID is empty in private chats.
	GuildID  string
	MemberID string
	TurnID   string
}

// Store keeps notes. Implementations are safe for concurrent use.
type Store interface {
	// Notes returns what a channel has in mind.
	Notes(ctx context.Context, channelID string) ([]Note, error)
	// Write puts one note in the place of what its category held, and leaves the others alone. ErrLimit when the channel
	// has MaxCategories others, ErrOptedOut when somebody whom it concerns wants nothing to be remembered.
	Write(ctx context.Context, in Origin, n Note) error
}

type arguments struct {
	Notes []note `json:"notes" jsonschema:"the categories to write; each replaces what its category held, and the others stay"`
}

type note struct {
	Category string `json:"category" jsonschema:"a short name such as plot, mood or plan; a name that is there already is replaced"`
	Text     string `json:"text" jsonschema:"what to keep in mind, at most 1500 characters; a blank one is skipped"`
}

type written struct {
	Status     string   `json:"status"`
	Categories []string `json:"categories"`
	Cut        []string `json:"cut,omitempty"`
}

// Tool returns update_short_term_memory. It may succeed once in a turn, and is not offered when the member asks for
// something to be remembered for good: that belongs into long-term memory.
func Tool(s Store) registry.Tool {
	return registry.Tool{
		Name:    "update_short_term_memory",
		Aliases: []string{"short_term_memory"},
		Description: "Note what this channel is about right now, so that it is still known when the messages are out of sight. It is " +
			"forgotten after 24 hours. Nobody is told that you note something; don't mention it.",
		Schema:            registry.SchemaFor[arguments](),
		Category:          registry.CategoryMemory,
		OneShot:           true,
		EndsTurnAfterText: true,
		Triggers:          registry.Words("for now", "for today", "keep track", "so far", "where were we"),
		Turn:              func(v registry.TurnView) bool { return !v.Flags[registry.FlagLTMIntent] },
		Run: func(ctx context.Context, tc registry.ToolContext, args json.RawMessage) registry.Result {
			return write(ctx, s, tc, args)
		},
	}
}

func write(ctx context.Context, s Store, tc registry.ToolContext, args json.RawMessage) registry.Result {
	if tc.OutsideContent {
		return registry.Fail("this turn has read content that is not the members' own words, so nothing may be noted; nothing was stored")
	}
	var in arguments
	if err := json.Unmarshal(args, &in); err != nil {
		return registry.Fail("the arguments cannot be read; nothing was stored")
	}
	notes, out, problem := clean(in.Notes)
	if problem != "" {
		return registry.Fail(problem + "; nothing was stored")
	}
	// A channel that would have too many is refused as a whole: half of what was meant would be worse than none.
	known, err := s.Notes(ctx, tc.ChannelID)
	if err != nil {
		return unwritten(err, nil)
	}
	names := map[string]bool{}
	for _, n := range append(slices.Clone(known), notes...) {
		names[n.Category] = true
	}
	if len(names) > MaxCategories {
		return unwritten(ErrLimit, known)
	}
	origin := Origin{ChannelID: tc.ChannelID, GuildID: tc.GuildID, MemberID: tc.UserID, TurnID: tc.TurnID}
	for i, n := range notes {
		if err := s.Write(ctx, origin, n); err != nil {
			r := unwritten(err, known)
			if i > 0 {
				r.Message = fmt.Sprintf("%s (stored before that: %s)", r.Message, strings.Join(out.Categories[:i], ", "))
			}
			return r
		}
	}
	return registry.OK(out)
}

// clean gives the notes that say something, each category once with its last text, and what is told about them.
func clean(given []note) (notes []Note, out written, problem string) {
	out.Status = "short_term_memory_updated"
	for _, g := range given {
		n := Note{Category: name(g.Category), Text: strings.TrimSpace(strings.ToValidUTF8(g.Text, ""))}
		switch {
		case n.Text == "":
			continue
		case n.Category == "":
			return nil, out, "a category's name is blank"
		case utf8.RuneCountInString(n.Category) > MaxCategory:
			return nil, out, fmt.Sprintf("a category's name may have %d characters", MaxCategory)
		}
		if cut := firstRunes(n.Text, MaxText); len(cut) < len(n.Text) {
			n.Text = cut
			out.Cut = append(out.Cut, n.Category)
		}
		if i := slices.IndexFunc(notes, func(x Note) bool { return x.Category == n.Category }); i >= 0 {
			notes[i] = n
			continue
		}
		notes, out.Categories = append(notes, n), append(out.Categories, n.Category)
	}
	switch {
	case len(notes) == 0:
		return nil, out, "at least one note must have a text"
	case len(notes) > MaxCategories:
		return nil, out, fmt.Sprintf("at most %d categories are possible", MaxCategories)
	}
	return notes, out, ""
}

// name makes the names of a category comparable: lower case, one line, letters, digits, spaces and hyphens.
func name(category string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '-':
			return unicode.ToLower(r)
		case r == '_' || unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, category)), " ")
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// unwritten words a failure for the model; the error itself is for the log.
func unwritten(err error, known []Note) registry.Result {
	r := registry.Result{Error: err.Error()}
	switch {
	case errors.Is(err, ErrLimit):
		names := make([]string, len(known))
		for i, n := range known {
			names[i] = n.Category
		}
		r.Message = fmt.Sprintf("this channel would have more than %d categories, so nothing was stored; there are %s: write into one of those, "+
			"or wait until one is forgotten", MaxCategories, strings.Join(names, ", "))
	case errors.Is(err, ErrOptedOut):
		r.Message = "the member, or somebody whom a note mentions, has asked that nothing about them is remembered; this note was not stored"
	default:
		r.Message = "short-term memory cannot be reached right now; this note was not stored"
	}
	return r
}
