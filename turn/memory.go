package turn

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleybot/parley/store"
)

// Bounds of long-term memory.
const (
	// MaxFactLength bounds a fact, in characters.
	MaxFactLength = 1000
	// MaxFacts is how many facts a member may have in a server, a member in private chats, and a server.
	MaxFacts = 100
	// listedFacts bounds what one reading returns: a member may have facts in many servers.
	listedFacts = 1000
	// mentionedMembers bounds whose wishes are looked up for one fact.
	mentionedMembers = 20
)

// Facts reads and changes long-term memory for people, whether they ask by command or through a tool: rights, limits and
// the wish not to be remembered are looked at here and nowhere else. Errors that people may read are *Refusal. It is safe
// for concurrent use.
type Facts struct {
	store    store.Memories
	settings *settingCache
}

// Facts returns the manager's facts, for tools.
func (m *Manager) Facts() *Facts { return m.memory }

// Fact is a fact to add, and where it comes from. The author is the place's actor.
type Fact struct {
	Content string
	// Scope is whom it is about: the actor, or the server.
	Scope store.MemoryScope
	// TurnID is empty for what came by command. MessageID is the message or interaction.
	TurnID    string
	MessageID string
}

// List returns the facts that the actor may see in a place: about themselves and about the server. With a text the most
// fitting come first, else the newest. limit 0 means all.
func (f *Facts) List(ctx context.Context, p Place, text string, limit int) ([]store.Memory, error) {
	q, _, err := f.query(ctx, p)
	if err != nil {
		return nil, err
	}
	q.Text, q.Limit = text, limit
	if limit <= 0 {
		q.Limit = listedFacts
	}
	facts, err := f.store.FindMemories(ctx, q)
	if err != nil {
		return nil, memoryAway(err)
	}
	return facts, nil
}

// Add keeps a fact. One that is known word for word is returned as it is, with added false.
func (f *Facts) Add(ctx context.Context, p Place, n Fact) (fact store.Memory, added bool, err error) {
	content, err := factText(n.Content)
	if err != nil {
		return store.Memory{}, false, err
	}
	now := time.Now().UTC().Truncate(time.Microsecond) // as exact as stores are
	m := store.Memory{
		Scope: n.Scope, GuildID: p.GuildID, Content: content, Private: p.GuildID == "", AuthorID: p.Actor.ID,
		TurnID: n.TurnID, MessageID: n.MessageID, CreatedAt: now, UpdatedAt: now,
	}
	switch n.Scope {
	case store.ScopeMember:
		m.MemberID = p.Actor.ID
	case store.ScopeGuild:
		if p.GuildID == "" {
			return store.Memory{}, false, noServerFacts()
		}
	default:
		return store.Memory{}, false, invalid("That is neither a fact about you nor one about the server.", "Choose one of them.")
	}
	if !MayChangeFact(p.Actor, m) {
		return store.Memory{}, false, serverFactForbidden()
	}
	if err := f.mayRemember(ctx, p, m); err != nil {
		return store.Memory{}, false, err
	}
	kept, err := f.store.AddMemory(ctx, m, MaxFacts)
	if err != nil {
		return store.Memory{}, false, f.refusal(err, n.Scope)
	}
	return kept, kept.CreatedAt.Equal(now) && kept.AuthorID == m.AuthorID && kept.MessageID == m.MessageID, nil
}

// Edit replaces the words of a fact that the actor may see in the place and change.
func (f *Facts) Edit(ctx context.Context, p Place, id int64, content string) (store.Memory, error) {
	content, err := factText(content)
	if err != nil {
		return store.Memory{}, err
	}
	q, fact, err := f.changeable(ctx, p, id)
	if err != nil {
		return store.Memory{}, err
	}
	fact.Content = content
	if err := f.mayRemember(ctx, p, fact); err != nil {
		return store.Memory{}, err
	}
	kept, err := f.store.UpdateMemory(ctx, q, id, content, time.Now().UTC())
	if err != nil {
		return store.Memory{}, f.refusal(err, fact.Scope)
	}
	return kept, nil
}

// Forget removes a fact that the actor may see in the place and change, and returns it as it was.
func (f *Facts) Forget(ctx context.Context, p Place, id int64) (store.Memory, error) {
	q, fact, err := f.changeable(ctx, p, id)
	if err != nil {
		return store.Memory{}, err
	}
	gone, err := f.store.DeleteMemory(ctx, q, id)
	if err != nil {
		return store.Memory{}, f.refusal(err, fact.Scope)
	}
	return gone, nil
}

// ForgetAll removes the facts about the actor that were told in the place, or those of the server, and returns how many.
func (f *Facts) ForgetAll(ctx context.Context, p Place, scope store.MemoryScope) (int, error) {
	of := store.Memory{Scope: scope, GuildID: p.GuildID, MemberID: p.Actor.ID, Private: p.GuildID == ""}
	if scope == store.ScopeGuild {
		if p.GuildID == "" {
			return 0, noServerFacts()
		}
		of.MemberID = ""
	}
	if !MayChangeFact(p.Actor, of) {
		return 0, serverFactForbidden()
	}
	n, err := f.store.DeleteMemories(ctx, of)
	if err != nil {
		return 0, f.refusal(err, scope)
	}
	return n, nil
}

// query is what the actor may see in the place.
func (f *Facts) query(ctx context.Context, p Place) (store.MemoryQuery, MemberSettings, error) {
	q := store.MemoryQuery{GuildID: p.GuildID, MemberID: p.Actor.ID, Private: p.GuildID == ""}
	member, err := f.member(ctx, p.Actor.ID)
	if err != nil {
		return q, member, err
	}
	q.OtherGuilds = member.CarryMemory
	return q, member, nil
}

// changeable finds a fact by its number and holds it to the actor's rights.
func (f *Facts) changeable(ctx context.Context, p Place, id int64) (store.MemoryQuery, store.Memory, error) {
	q, _, err := f.query(ctx, p)
	if err != nil {
		return q, store.Memory{}, err
	}
	fact, err := f.store.MemoryByID(ctx, q, id)
	switch {
	case err != nil:
		return q, fact, f.refusal(err, "")
	case !MayChangeFact(p.Actor, fact):
		return q, fact, serverFactForbidden()
	}
	return q, fact, nil
}

// MayRemember refuses what a member's turn would put into memory when the member, or somebody whom the text mentions, wants
// nothing about them to be remembered.
func (f *Facts) MayRemember(ctx context.Context, memberID, text string) error {
	return f.mayRemember(ctx, Place{Actor: Actor{ID: memberID}}, store.Memory{MemberID: memberID, Content: text})
}

// mayRemember holds a fact to the wishes of those it is about: the member, and whoever it mentions.
func (f *Facts) mayRemember(ctx context.Context, p Place, m store.Memory) error {
	about := mentioned(m.Content)
	if m.MemberID != "" {
		about = append([]string{m.MemberID}, about...)
	}
	for _, id := range about {
		member, err := f.member(ctx, id)
		switch {
		case err != nil:
			return err
		case !member.NoMemory && !member.FullPrivacy:
		case id == p.Actor.ID:
			change := "`/privacy memory`"
			if member.FullPrivacy {
				change = "`/privacy ignore-me`"
			}
			return &Refusal{
				Kind: RefusedOptedOut, Problem: "You have asked me to remember nothing about you, so I kept nothing.",
				Remedy: change + " changes that.",
			}
		default:
			return &Refusal{
				Kind: RefusedOptedOut, Problem: "Somebody whom this fact mentions has asked me to remember nothing about them, so I kept nothing.",
				Remedy: "Write it without them.",
			}
		}
	}
	return nil
}

// member reads what somebody has set for themselves. A wish not to be remembered holds at once; one that another process
// has taken down holds here when the cache is read again, within a minute. Without knowing nothing is remembered.
func (f *Facts) member(ctx context.Context, id string) (MemberSettings, error) {
	values, err := f.settings.read(ctx, store.SettingMember, id)
	if err != nil {
		return MemberSettings{}, memoryAway(err)
	}
	return readMember(values), nil
}

// refusal words an error of the store.
func (f *Facts) refusal(err error, scope store.MemoryScope) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &Refusal{
			Kind: RefusedNotFound, Problem: "I know no such fact here.", Remedy: "`/memory list` shows those there are, with their numbers.",
		}
	case errors.Is(err, store.ErrErased):
		return &Refusal{Kind: RefusedOptedOut, Problem: "You have had everything about you erased since this began, so I kept nothing."}
	case errors.Is(err, store.ErrExists):
		return invalid("I know another fact in these very words.", "Forget one of the two with `/memory forget`.")
	case errors.Is(err, store.ErrLimit):
		whose := "about you here"
		if scope == store.ScopeGuild {
			whose = "about this server"
		}
		return &Refusal{
			Kind: RefusedFull, Problem: fmt.Sprintf("I know %d facts %s, and more are not possible.", MaxFacts, whose),
			Remedy: "Forget one with `/memory forget` first.",
		}
	}
	return memoryAway(err)
}

func memoryAway(err error) error {
	return &Refusal{
		Kind: RefusedUnavailable, Problem: "My memory can't be reached right now, so nothing was changed.",
		Remedy: "Please try again in a minute.", Err: err,
	}
}

func noServerFacts() error {
	return &Refusal{
		Kind: RefusedElsewhere, Problem: "There is no server here that a fact could be about.", Remedy: "Use it in a channel of the server.",
	}
}

func serverFactForbidden() error {
	return forbidden("Facts about the server are changed by those who may manage it.", "Ask one of them.")
}

// factText makes a fact one line of plain text: line breaks become spaces; control characters and the marks that reorder
// text go. The tools do the same before they ask.
func factText(content string) (string, error) {
	content = strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\r' || c == '\t' || c == '\u2028' || c == '\u2029':
			return ' '
		case unicode.IsControl(c), '\u202a' <= c && c <= '\u202e', '\u2066' <= c && c <= '\u2069':
			return -1
		}
		return c
	}, strings.ToValidUTF8(content, "")))
	switch n := utf8.RuneCountInString(content); {
	case n == 0:
		return "", invalid("The fact is empty.", "Write what I shall remember, in a sentence that makes sense on its own.")
	case n > MaxFactLength:
		return "", invalid(fmt.Sprintf("The fact has %d characters, and at most %d are possible.", n, MaxFactLength), "Shorten it, or make two of it.")
	}
	return content, nil
}

var memberMention = regexp.MustCompile(`<@!?(\d{1,20})>`)

// mentioned lists the members that a text mentions.
func mentioned(text string) []string {
	var ids []string
	for _, m := range memberMention.FindAllStringSubmatch(text, mentionedMembers) {
		ids = append(ids, m[1])
	}
	return ids
}

// Memories returns what the actor may see of long-term memory in a place, newest first.
func (m *Manager) Memories(ctx context.Context, p Place) ([]store.Memory, error) {
	return m.memory.List(ctx, p, "", 0)
}

// Remember keeps a fact about the actor or the server; added is false when it was known.
func (m *Manager) Remember(ctx context.Context, p Place, scope store.MemoryScope, content string) (fact store.Memory, added bool, err error) {
	fact, added, err = m.memory.Add(ctx, p, Fact{Content: content, Scope: scope, MessageID: p.MessageID})
	if err == nil && added {
		m.auditFact(ctx, p, ActionFactAdded, fact)
	}
	return fact, added, err
}

// EditMemory replaces the words of a fact.
func (m *Manager) EditMemory(ctx context.Context, p Place, id int64, content string) (store.Memory, error) {
	fact, err := m.memory.Edit(ctx, p, id, content)
	if err == nil {
		m.auditFact(ctx, p, ActionFactChanged, fact)
	}
	return fact, err
}

// ForgetMemory removes a fact and returns it as it was.
func (m *Manager) ForgetMemory(ctx context.Context, p Place, id int64) (store.Memory, error) {
	fact, err := m.memory.Forget(ctx, p, id)
	if err == nil {
		m.auditFact(ctx, p, ActionFactForgotten, fact)
	}
	return fact, err
}

// ForgetMemories removes all facts about the actor that were told in the place, or all of the server.
func (m *Manager) ForgetMemories(ctx context.Context, p Place, scope store.MemoryScope) (int, error) {
	n, err := m.memory.ForgetAll(ctx, p, scope)
	if err == nil && scope == store.ScopeGuild {
		m.audit(ctx, store.AuditEntry{
			GuildID: p.GuildID, ChannelID: p.ChannelID, ActorID: p.Actor.ID, Action: ActionFactForgotten,
			Detail: fmt.Sprintf("all %d facts about the server", n),
		})
	}
	return n, err
}

// auditFact notes who changed what everybody in the server is told. What members change about themselves is theirs alone.
func (m *Manager) auditFact(ctx context.Context, p Place, action store.AuditAction, fact store.Memory) {
	if fact.Scope == store.ScopeGuild {
		m.audit(ctx, store.AuditEntry{
			GuildID: p.GuildID, ChannelID: p.ChannelID, ActorID: p.Actor.ID, Action: action, Detail: fmt.Sprintf("fact %d about the server", fact.ID),
		})
	}
}
