package redis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// TestKeyTable leaves one key of every kind that keeps any and holds the server to the table: each key is of a listed
// kind and has a time to live, and only kinds that say so name a member.
func TestKeyTable(t *testing.T) {
	t.Parallel()
	db := open(t, prefix(t))
	const member = "700000000000000001"
	fill(t, db, member)
	seen := make(map[string]bool)
	for _, key := range stored(t, db) {
		of := kindOf(db, key)
		if of == nil {
			t.Errorf("key %s is in no kind of the table", key)
			continue
		}
		seen[of.name] = true
		if ttl := db.client.PTTL(t.Context(), key).Val(); ttl <= 0 {
			t.Errorf("key %s lives %v", key, ttl)
		}
		content, err := db.client.Dump(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(content, member) && !of.orders {
			t.Errorf("the value of %s names a member", key)
		}
		if strings.Contains(key, member) && !of.member {
			t.Errorf("key %s names a member and its kind does not say so", key)
		}
	}
	for _, kind := range table {
		if !seen[kind.name] {
			t.Errorf("no key of kind %s was looked at", kind.name)
		}
	}
}

func kindOf(db *DB, key string) *kind {
	for _, kind := range table {
		if rest, ok := strings.CutPrefix(key, db.keys.prefix+kind.name); ok && (rest == "" || rest[0] == '{') {
			return &kind
		}
	}
	return nil
}

// fill writes one record of every kind, with the member's id wherever one has a place for it.
func fill(t *testing.T, db *DB, member string) {
	t.Helper()
	now := time.Now()
	for what, write := range map[string]func(ctx context.Context) error{
		"retain":  func(ctx context.Context) error { return db.RetainWindow(ctx, "c", "tool", 3, now) },
		"consume": func(ctx context.Context) error { _, err := db.ConsumeWindows(ctx, "c", "t", now); return err },
		"clear":   func(ctx context.Context) error { return db.ClearWindows(ctx, "d") },
		"empty":   func(ctx context.Context) error { _, err := db.ConsumeWindows(ctx, "e", "t", now); return err },
		"claim and count": func(ctx context.Context) error {
			_, err := db.Claim(ctx, store.Claim{ID: "message", TTL: time.Minute, Counts: []store.Count{
				{Rate: store.Rate{Name: "turns", GuildID: "1", MemberID: member}, Limit: 3, Window: time.Minute},
			}}, now)
			return err
		},
		"kill": func(ctx context.Context) error { return db.PublishKill(ctx, member, []byte("an order of "+member)) },
		"budget": func(ctx context.Context) error {
			_, err := db.TakeRequests(ctx, 1, store.Pace{PerSecond: 50, Burst: 5}, now)
			return err
		},
	} {
		if err := write(t.Context()); err != nil {
			t.Fatal(what, err)
		}
	}
}

// stored lists every key of the store.
func stored(t testing.TB, db *DB) []string {
	t.Helper()
	var all []string
	ctx := context.WithoutCancel(t.Context())
	found := db.client.Scan(ctx, 0, db.keys.prefix+"*", 1000).Iterator()
	for found.Next(ctx) {
		all = append(all, found.Val())
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
