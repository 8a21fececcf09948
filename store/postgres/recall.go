package postgres

import (
	"context"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

const (
	// defaultRecall is what a limit of 0 means.
	defaultRecall = 100
	// maxSearchTerms bounds the words that one search looks for: a message may be long.
	maxSearchTerms = 64
	// maxHits bounds the memories that are looked at for one word, newest first. A word with more hits than that says
	// little; the bound keeps the cost of a search the same however much a guild remembers.
	maxHits = 256
	// maxMisspelt bounds the words without a hit that are compared by their letters with the newest maxHits memories.
	maxMisspelt = 4
	// maxGuilds bounds the other guilds in which a member's own facts are searched.
	maxGuilds = 64
)

// FindMemories implements store.Memories, in one statement. What shares words with the text comes first, the sharers of
// rare words before those of usual ones; the newest fill the rest, so when everything fits, everything is found. Each
// word weighs as much as it is rare in the places that q can see: what other guilds say has no influence.
func (db *DB) FindMemories(ctx context.Context, q store.MemoryQuery) ([]store.Memory, error) {
	const doing = "find memories"
	text, values, err := db.recall(ctx, q)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	found, err := query(ctx, db.pool, text, values, readMemory)
	return q.Fit(found), db.fail(ctx, doing, err)
}

// recall is the statement that answers q.
func (db *DB) recall(ctx context.Context, q store.MemoryQuery) (text string, values args, err error) {
	if values, err = viewer(q); err != nil {
		return "", nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultRecall
	}
	words, beginnings := searchTerms(q.Text)
	seen := places(q)
	if q.OtherGuilds && len(words)+len(beginnings) > 0 {
		others, err := db.otherPlaces(ctx, q)
		if err != nil {
			return "", nil, err
		}
		seen = append(seen, others...)
	}
	maps.Copy(values, args{
		"limit": limit, "hits": maxHits, "words": words, "beginnings": beginnings, "last": string(utf8.MaxRune),
		"places": seen, "misspelt": maxMisspelt,
	})
	switch {
	case len(words)+len(beginnings) > 0 && db.fuzzy:
		return relevantMemories(hitsByLetters), values, nil
	case len(words)+len(beginnings) > 0:
		return relevantMemories(""), values, nil
	}
	return newestMemories, values, nil
}

// otherPlaces are those of the member's own facts in other guilds, which a member who allows it sees too.
func (db *DB) otherPlaces(ctx context.Context, q store.MemoryQuery) ([]string, error) {
	guilds, err := db.ask.OtherGuilds(ctx, queries.OtherGuildsParams{MemberID: q.MemberID, GuildID: q.GuildID, Count: maxGuilds})
	for i, guild := range guilds {
		guilds[i] = place(guild, q.MemberID)
	}
	return guilds, err
}

// newest walks the index memories_newest from its end, once for each scope, and memories_of_member for a member who
// allows their facts of other guilds, so it reads no more rows than the limit. The rule of who sees what is asked of those
// rows only: beside the other conditions the planner would take it for three more, look for them all and read a whole guild.
const newest = `(
		SELECT * FROM (
			SELECT * FROM memories WHERE scope = 'member' AND member_id = @member AND guild_id = @guild
			ORDER BY updated_at DESC, id DESC LIMIT @limit) AS own WHERE ` + visible + `)
	UNION ALL (
		SELECT * FROM (
			SELECT * FROM memories WHERE scope = 'guild' AND member_id = '' AND guild_id = @guild
			ORDER BY updated_at DESC, id DESC LIMIT @limit) AS shared WHERE ` + visible + `)
	UNION ALL (
		SELECT * FROM (
			SELECT * FROM memories WHERE @others AND member_id = @member AND member_id <> '' AND guild_id <> '' AND guild_id <> @guild
			ORDER BY updated_at DESC, id DESC LIMIT @limit) AS carried WHERE ` + visible + `)`

const newestMemories = `SELECT ` + memoryColumns + ` FROM (` + newest + `) AS newest ORDER BY updated_at DESC, id DESC LIMIT @limit`

// hitsByLetters finds what a word without a hit may be a misspelling of.
const hitsByLetters = `UNION ALL
	SELECT recent.id, 0.5 * word_similarity(lost.term, recent.content)
	FROM (SELECT term FROM hit WHERE cardinality(ids) = 0 AND length(term) > 3 LIMIT @misspelt) AS lost, (` + newest + `) AS recent
	WHERE word_similarity(lost.term, recent.content) > 0.5`

// relevantMemories reads the newest hits of each word in each place from the index of memory_terms alone, adds up what
// they weigh, and appends the newest of the rest. It is written so that the planner has no choice but the indexes, also
// while it knows nothing of the tables: each list is cut where it is read, and memories are looked up one by one.
func relevantMemories(more string) string {
	return `WITH word AS MATERIALIZED (
		SELECT DISTINCT ` + stem + ` AS term FROM unnest(@words::text[]) AS given (term)
	), hit AS MATERIALIZED (
		SELECT word.term, ARRAY (
			SELECT memory_id FROM unnest(@places::text[]) AS seen (place), LATERAL (
				SELECT memory_id FROM memory_terms WHERE memory_terms.place = seen.place AND memory_terms.term = word.term
				ORDER BY memory_terms.place DESC, memory_terms.term DESC, memory_id DESC LIMIT @hits) AS newest
			ORDER BY memory_id DESC LIMIT @hits) AS ids
		FROM word
		UNION ALL
		SELECT beginning, ARRAY (
			SELECT memory_id FROM memory_terms, unnest(@places::text[]) AS seen (place)
			WHERE memory_terms.place = seen.place AND memory_terms.term >= beginning AND memory_terms.term < beginning || @last
			GROUP BY memory_id ORDER BY memory_id DESC LIMIT @hits)
		FROM unnest(@beginnings::text[]) AS given (beginning)
	), weighed AS (
		SELECT unnest(ids) AS memory_id, ln(1 + @hits::float8 / cardinality(ids)) AS weight FROM hit WHERE cardinality(ids) > 0
		` + more + `
	), ranked AS MATERIALIZED (
		SELECT memory_id, sum(weight) AS weight FROM weighed GROUP BY memory_id ORDER BY weight DESC, memory_id DESC LIMIT @limit
	), relevant AS MATERIALIZED (
		SELECT memory.*, ranked.weight FROM ranked, LATERAL (
			SELECT * FROM memories WHERE memories.id = ranked.memory_id AND ` + visible + ` OFFSET 0) AS memory
	)
	SELECT ` + memoryColumns + ` FROM (
		SELECT ` + memoryColumns + `, weight FROM relevant
		UNION ALL
		SELECT ` + memoryColumns + `, NULL FROM (` + newest + `) AS newest WHERE id NOT IN (SELECT id FROM relevant)
	) AS found
	ORDER BY weight DESC NULLS LAST, CASE WHEN weight IS NULL THEN updated_at END DESC, id DESC LIMIT @limit`
}

// place is the word under which the facts of one scope are indexed.
func place(guildID, memberID string) string {
	switch {
	case memberID == "":
		return "g" + guildID
	case guildID == "":
		return "m" + memberID
	}
	return "g" + guildID + "m" + memberID
}

// places are those that q can see.
func places(q store.MemoryQuery) []string {
	seen := []string{place(q.GuildID, q.MemberID)}
	if q.GuildID != "" {
		seen = append(seen, place(q.GuildID, ""))
	}
	return seen
}

// terms are the words by which a text is indexed. The server takes English stems of them.
func terms(text string) []string {
	found := store.Terms(store.Clean(text))
	for i, term := range found {
		found[i] = fold(term)
	}
	return found
}

// searchTerms are the words that a search looks for, each once. One character of an unspaced script is the beginning of
// the terms it is looked for in; see store.Terms.
func searchTerms(text string) (words, beginnings []string) {
	words, beginnings = []string{}, []string{}
	seen := make(map[string]bool)
	for _, term := range terms(text) {
		if seen[term] {
			continue
		}
		if len(seen) == maxSearchTerms {
			break
		}
		seen[term] = true
		if utf8.RuneCountInString(term) == 1 && term > "\u007f" {
			beginnings = append(beginnings, term)
			continue
		}
		words = append(words, term)
	}
	return words, beginnings
}

// fold drops case and the diacritics of spaced scripts, whatever the server's locale. Vowel signs of other scripts are
// part of the word.
func fold(term string) string {
	term = strings.ToLower(term)
	decomposed := norm.NFD.String(term)
	if !strings.ContainsFunc(decomposed, isDiacritic) {
		return norm.NFC.String(term)
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if isDiacritic(r) {
			return -1
		}
		return r
	}, decomposed))
}

// isDiacritic knows the combining marks that no script needs to tell its words apart.
func isDiacritic(r rune) bool { return r >= 0x300 && r <= 0x36f && unicode.Is(unicode.Mn, r) }
