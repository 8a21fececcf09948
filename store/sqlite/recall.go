package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parleybot/parley/store"
)

const (
	// defaultRecall is what a limit of 0 means.
	defaultRecall = 100
	// maxSearchTerms bounds the words that one search looks for: a message may be long.
	maxSearchTerms = 64
	// maxHits bounds the memories that are looked at for one word, newest first. A word with more hits than that says
	// little; the bound keeps the cost of a search the same however much a guild remembers.
	maxHits = 256
	// maxGuilds bounds the other guilds in which a member's own facts are searched.
	maxGuilds = 64
)

// FindMemories implements store.Memories. What shares words with the text comes first, the sharers of rare words before
// those of usual ones; the newest fill the rest, so when everything fits, everything is found.
func (db *DB) FindMemories(ctx context.Context, q store.MemoryQuery) ([]store.Memory, error) {
	const doing = "find memories"
	viewer, err := viewer(q)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultRecall
	}
	relevant, err := db.relevant(ctx, q, limit)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	found, err := db.memoriesByID(ctx, viewer, relevant)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	if len(found) == limit {
		return q.Fit(found), nil
	}
	newest, err := db.newestMemories(ctx, viewer, limit)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	for _, m := range newest {
		if len(found) < limit && !slices.Contains(relevant, m.ID) {
			found = append(found, m)
		}
	}
	return q.Fit(found), nil
}

// relevant ranks by the words shared with the text. Each word weighs as much as it is rare in the places that q can see:
// what other guilds say has no influence. (FTS5's own bm25 counts every word's hits in all guilds for each search.)
func (db *DB) relevant(ctx context.Context, q store.MemoryQuery, limit int) ([]int64, error) {
	seen, err := db.places(ctx, q)
	if err != nil {
		return nil, err
	}
	searches := searchExpressions(q.Text, seen)
	if len(searches) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(searches)
	if err != nil {
		return nil, err
	}
	scores := make(map[int64]float64)
	err = db.read.query(ctx, `SELECT coalesce((
			SELECT json_group_array(rowid) FROM (
				SELECT rowid FROM memory_terms WHERE memory_terms MATCH search.value ORDER BY rowid DESC LIMIT ?)
		), '[]') FROM json_each(?) AS search`, args{maxHits, json.RawMessage(list)}, func(r row) error {
		var (
			text string
			hits []int64
		)
		if err := r.Scan(&text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &hits); err != nil {
			return err
		}
		for _, id := range hits {
			scores[id] += math.Log(1 + maxHits/float64(len(hits)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(scores), func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a)) // equals: the newer one
	})
	return ids[:min(limit, len(ids))], nil
}

// memoriesByID reads memories in the order of their ids in the list.
func (db *DB) memoriesByID(ctx context.Context, viewer args, ids []int64) ([]store.Memory, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	var found []store.Memory
	err = db.read.query(ctx, `SELECT `+memoryColumns+` FROM json_each(@ids) AS listed CROSS JOIN memories ON memories.id = listed.value
		WHERE `+visible+` ORDER BY listed.key`, append(viewer, sql.Named("ids", json.RawMessage(list))), collectMemories(&found))
	return found, err
}

// newestMemories reads what was written or changed last. Each part walks an index from its end, so none reads more rows
// than the limit.
func (db *DB) newestMemories(ctx context.Context, viewer args, limit int) ([]store.Memory, error) {
	var found []store.Memory
	err := db.read.query(ctx, `
		SELECT * FROM (
			SELECT `+memoryColumns+` FROM memories
			WHERE scope = 'member' AND member_id = @member AND guild_id = @guild AND `+visible+`
			ORDER BY updated_at DESC, id DESC LIMIT @limit)
		UNION ALL
		SELECT * FROM (
			SELECT `+memoryColumns+` FROM memories
			WHERE scope = 'guild' AND member_id = '' AND guild_id = @guild AND `+visible+`
			ORDER BY updated_at DESC, id DESC LIMIT @limit)
		UNION ALL
		SELECT * FROM (
			SELECT `+memoryColumns+` FROM memories
			WHERE @others AND member_id = @member AND member_id <> '' AND guild_id <> '' AND guild_id <> @guild AND `+visible+`
			ORDER BY updated_at DESC, id DESC LIMIT @limit)
		ORDER BY updated_at DESC, id DESC LIMIT @limit`, append(viewer, sql.Named("limit", limit)), collectMemories(&found))
	return found, err
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

// places are those that q can see.
func (db *DB) places(ctx context.Context, q store.MemoryQuery) ([]string, error) {
	seen := []string{place(q.GuildID, q.MemberID)}
	if q.GuildID != "" {
		seen = append(seen, place(q.GuildID, ""))
	}
	if !q.OtherGuilds || q.Text == "" {
		return seen, nil
	}
	err := db.read.query(ctx, `SELECT guild_id FROM memories
		WHERE scope = 'member' AND member_id = ? AND member_id <> '' AND guild_id <> '' AND guild_id <> ?
		GROUP BY guild_id ORDER BY max(updated_at) DESC LIMIT ?`, args{q.MemberID, q.GuildID, maxGuilds}, func(r row) error {
		var guild string
		err := r.Scan(&guild)
		seen = append(seen, place(guild, q.MemberID))
		return err
	})
	return seen, err
}

// searchExpressions writes one query of the index per word of a text, each within the places that may be seen.
func searchExpressions(text string, places []string) []string {
	within := make([]string, len(places))
	for i, place := range places {
		within[i] = quote(place)
	}
	var searches []string
	seen := make(map[string]bool)
	for _, term := range store.Terms(store.Clean(text)) {
		if term = strings.ToLower(term); seen[term] {
			continue
		}
		if len(searches) == maxSearchTerms {
			break
		}
		seen[term] = true
		word := quote(term)
		if utf8.RuneCountInString(term) == 1 && term > "\u007f" {
			word += "*" // one character of an unspaced script: see store.Terms
		}
		searches = append(searches, "places : ("+strings.Join(within, " OR ")+") AND terms : "+word)
	}
	return searches
}

// quote makes one string of FTS5's query language.
func quote(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }
