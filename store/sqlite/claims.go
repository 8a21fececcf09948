package sqlite

import (
	"context"
	"time"

	"github.com/parleybot/parley/store"
)

const (
	// tidyEvery is after how many claims expired ones are removed: often enough that they stay few, seldom enough that
	// a claim is usually one statement.
	tidyEvery = 64
	// tidyAtMost bounds one removal, so that no claim waits long for a backlog.
	tidyAtMost = 4 * tidyEvery
)

// takeID takes over an expired claim in the same statement: its row may still be there.
const takeID = `INSERT INTO claims (id, expires_at) VALUES (?1, ?2)
	ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= ?3`

// Claim implements store.Claims.
func (db *DB) Claim(ctx context.Context, c store.Claim, now time.Time) (claimed store.Claimed, err error) {
	const doing = "claim"
	if db.claims.Add(1)%tidyEvery == 0 {
		_, err := db.write.one(ctx, `DELETE FROM claims WHERE id IN
			(SELECT id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, now, tidyAtMost)
		if err != nil {
			return claimed, db.fail(ctx, doing, err)
		}
	}
	take := args{c.ID, now.Add(c.TTL), now}
	if len(c.Counts) == 0 {
		changed, err := db.write.one(ctx, takeID, take...)
		return store.Claimed{Ours: changed == 1}, db.fail(ctx, doing, err)
	}
	err = db.write.transact(ctx, func(ctx context.Context) error {
		changed, err := db.write.exec(ctx, takeID, take)
		if claimed.Ours = changed == 1; err != nil || !claimed.Ours {
			return err
		}
		claimed.Over, err = db.count(ctx, c, now)
		return err
	})
	if err != nil {
		return store.Claimed{}, db.fail(ctx, doing, err)
	}
	return claimed, nil
}

// count counts within a transaction, or returns the first rate without room. What has left its window goes first.
func (db *DB) count(ctx context.Context, c store.Claim, now time.Time) (over store.Rate, err error) {
	if _, err := db.write.exec(ctx, `DELETE FROM rates WHERE expires_at <= ?`, args{now}); err != nil {
		return over, err
	}
	counted := make([]args, 0, len(c.Counts))
	for _, count := range c.Counts {
		r, n := count.Rate, 0
		err := db.write.query(ctx, `SELECT count(*) FROM rates WHERE name = ? AND guild_id = ? AND channel_id = ? AND member_id = ?`,
			args{r.Name, r.GuildID, r.ChannelID, r.MemberID}, func(row row) error { return row.Scan(&n) })
		switch {
		case err != nil:
			return over, err
		case n < count.Limit:
			counted = append(counted, args{r.Name, r.GuildID, r.ChannelID, r.MemberID, now.Add(count.Window)})
		case !c.Free:
			return r, nil
		}
	}
	for _, values := range counted {
		_, err := db.write.exec(ctx, `INSERT INTO rates (name, guild_id, channel_id, member_id, expires_at) VALUES (?, ?, ?, ?, ?)`, values)
		if err != nil {
			return over, err
		}
	}
	return over, nil
}
