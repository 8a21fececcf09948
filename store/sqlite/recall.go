package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"github.com/parleybot/parley/store"
)

const (
	// defaultRecall is what a limit of 0 means.
	defaultRecall = 100
	// maxSearchTerms bounds the words that one search looks for: a message may be long.
	maxSearchTerms = 64
)

// FindMemories implements store.Memories. What shares words with the text comes first, by relevance (bm25); the newest
// fill the rest, so when everything fits, everything is found.
func (db *DB) FindMemories(ctx context.Context, q store.MemoryQuery) ([]store.Memory, error) {
	const doing = "find memories"
	values, err := viewer(q)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultRecall
	}
	values = append(values, sql.Named("limit", limit))

	var found []store.Memory
	seen := make(map[int64]bool)
	collect := func(r row) error {
		var m store.Memory
		if err := scanMemory(r, &m); err != nil {
			return err
		}
		if !seen[m.ID] && len(found) < limit {
			seen[m.ID] = true
			found = append(found, m)
		}
		return nil
	}
	if search := searchExpression(q); search != "" {
		err := db.read.query(ctx, `
			SELECT `+memoryColumns+` FROM memories JOIN (
				SELECT rowid AS hit, bm25(memory_terms, 0.0, 1.0) AS distance
				FROM memory_terms WHERE memory_terms MATCH @search
			) ON id = hit
			WHERE `+visible+`
			ORDER BY distance, updated_at DESC, id DESC LIMIT @limit`, append(values, sql.Named("search", search)), collect)
		if err != nil {
			return nil, db.fail(ctx, doing, err)
		}
	}
	if len(found) == limit {
		return found, nil
	}
	// Both halves walk the index memories_newest from its end, so neither reads more rows than the limit.
	err = db.read.query(ctx, `
		SELECT * FROM (
			SELECT * FROM (
				SELECT `+memoryColumns+` FROM memories
				WHERE scope = 'member' AND member_id = @member AND guild_id = @guild AND `+visible+`
				ORDER BY updated_at DESC, id DESC LIMIT @limit)
			UNION ALL
			SELECT * FROM (
				SELECT `+memoryColumns+` FROM memories
				WHERE scope = 'guild' AND member_id = '' AND guild_id = @guild AND `+visible+`
				ORDER BY updated_at DESC, id DESC LIMIT @limit)
		) ORDER BY updated_at DESC, id DESC LIMIT @limit`, values, collect)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	return found, nil
}

// indexMemory writes the words by which a memory is found.
func (db *DB) indexMemory(ctx context.Context, m store.Memory) error {
	if _, err := db.write.exec(ctx, `DELETE FROM memory_terms WHERE rowid = ?`, args{m.ID}); err != nil {
		return err
	}
	_, err := db.write.exec(ctx, `INSERT INTO memory_terms (rowid, places, terms) VALUES (?, ?, ?)`,
		args{m.ID, place(m.GuildID, m.MemberID), strings.Join(store.Terms(m.Content), " ")})
	return err
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

// searchExpression writes the query for the index: any of the words, in any of the places that q can see. It is empty
// when there is no word to look for.
func searchExpression(q store.MemoryQuery) string {
	var words []string
	seen := make(map[string]bool)
	for _, term := range store.Terms(store.Clean(q.Text)) {
		if seen[term] {
			continue
		}
		if len(words) == maxSearchTerms {
			break
		}
		seen[term] = true
		word := quote(term)
		if utf8.RuneCountInString(term) == 1 && term > "\u007f" {
			word += "*" // one character of an unspaced script: see store.Terms
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return ""
	}
	places := quote(place(q.GuildID, q.MemberID))
	if q.GuildID != "" {
		places += " OR " + quote(place(q.GuildID, ""))
	}
	return "places : (" + places + ") AND terms : (" + strings.Join(words, " OR ") + ")"
}

// quote makes one string of FTS5's query language.
func quote(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }
