package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

// Bounds of what a turn is reminded of.
const (
	// recalledFacts is how many facts are asked for, factsBytes how much of them is told.
	recalledFacts = 60
	factsBytes    = 8 * 1024
	factRunes     = 1000
	// shortTermRunes bounds one category of short-term memory, toldParticipants the people who are named.
	shortTermRunes   = 1500
	toldParticipants = 20
)

// recollection is what is remembered for one turn: it depends on who asks what, so it is told late in the request, after
// the channel's conversation and directly before the trigger, where it changes nothing of what can be cached.
type recollection struct {
	at                    time.Time
	server, member, short []string
	owner                 string
	people                []string
}

// recollect asks for what is remembered: the facts of the trigger's author and of their guild, by relevance to the trigger
// when there are many, and what the channel has in mind. What a member told in a DM is found in DMs only; that is the
// store's rule. A store that is away costs the memories, not the turn.
func (m *Manager) recollect(ctx context.Context, in Inbound, epoch string) recollection {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	rec := recollection{at: time.Now().UTC(), owner: label(in.Author)}
	var facts []store.Memory
	var asking sync.WaitGroup
	asking.Go(func() { facts = m.facts(ctx, in) })
	rec.short = m.inMind(ctx, in.ChannelID, epoch)
	asking.Wait()
	slices.SortFunc(facts, func(a, b store.Memory) int { return int(a.ID - b.ID) })
	for _, f := range facts {
		line := fmt.Sprintf("  #%d %s", f.ID, oneLine(f.Content, factRunes))
		if f.Scope == store.ScopeGuild {
			rec.server = append(rec.server, line)
		} else {
			rec.member = append(rec.member, line)
		}
	}
	return rec
}

// facts returns what fits, the most relevant first.
func (m *Manager) facts(ctx context.Context, in Inbound) []store.Memory {
	if in.Author.ID == "" || talksAsBot(in) {
		return nil
	}
	found, err := safely(func() ([]store.Memory, error) {
		return m.Store.FindMemories(ctx, store.MemoryQuery{
			GuildID: in.GuildID, MemberID: in.Author.ID, Private: in.GuildID == "", Text: bounded(readable(in.Content, in.Names), contentRunes),
			OtherGuilds: m.memberLately(ctx, in.Author.ID).CarryMemory, Limit: recalledFacts, MaxBytes: factsBytes,
		})
	})
	if err != nil {
		m.Log.Warn().Err(err).Str("channel", in.ChannelID).Msg("context.memories_failed")
		return nil
	}
	return found
}

// inMind is the channel's short-term memory by category, without what was cleared.
func (m *Manager) inMind(ctx context.Context, channelID, epoch string) []string {
	kept, err := safely(func() ([]store.ShortTerm, error) { return m.Store.ShortTermOf(ctx, channelID, time.Now()) })
	if err != nil {
		m.Log.Warn().Err(err).Str("channel", channelID).Msg("context.short_term_failed")
		return nil
	}
	var lines []string
	for _, s := range kept {
		if epoch == "" || CompareIDs(snowflakeAt(s.UpdatedAt), epoch) > 0 {
			lines = append(lines, "  "+oneLine(s.Category, nameRunes)+": "+oneLine(s.Content, shortTermRunes))
		}
	}
	return lines
}

// meet notes who has been talking, the latest last.
func (r *recollection) meet(visible []Message, author Person) {
	seen := map[string]bool{author.ID: true}
	var people []string
	for _, x := range slices.Backward(visible) {
		if x.Author.Self || seen[x.Author.ID] {
			continue
		}
		if seen[x.Author.ID] = true; len(people) < toldParticipants {
			people = append(people, label(x.Author))
		}
	}
	slices.Reverse(people)
	r.people = people
}

// text words the time and what is remembered within a number of tokens. Facts are people's words: each
// stands on an indented line, so that none can pass for a remark of the bot.
func (r recollection) text(tokens int) string {
	var b strings.Builder
	say := func(head string, lines []string) {
		said := false
		for _, line := range lines {
			cost := textTokens(line) + 1
			if !said {
				cost += textTokens(head) + 1
			}
			if cost > tokens {
				return
			}
			if tokens -= cost; !said {
				b.WriteString(remark(head) + "\n")
				said = true
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(remark("it is "+r.at.Format("Monday, 2 January 2006, 15:04 UTC")) + "\n")
	say("remembered about this server, as people told it", r.server)
	if len(r.people) > 0 {
		say("who else has been talking here", []string{"  " + strings.Join(r.people, ", ")})
	}
	say("remembered about "+r.owner+", as they told it", r.member)
	say("in mind in this channel for now", r.short)
	return strings.TrimSuffix(b.String(), "\n")
}
