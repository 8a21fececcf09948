package sqlite

import (
	"context"
	"time"

	"github.com/parleybot/parley/store"
)

// AllowEvent implements store.Rates. Counting and inserting are one statement; what has left the window goes first.
func (db *DB) AllowEvent(ctx context.Context, rate store.Rate, limit int, window time.Duration, now time.Time) (bool, error) {
	const where = `name = ?1 AND guild_id = ?2 AND channel_id = ?3 AND member_id = ?4`
	values := args{rate.Name, rate.GuildID, rate.ChannelID, rate.MemberID}
	allowed := false
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if _, err := db.write.exec(ctx, `DELETE FROM rates WHERE expires_at <= ?`, args{now}); err != nil {
			return err
		}
		changed, err := db.write.exec(ctx, `INSERT INTO rates (name, guild_id, channel_id, member_id, expires_at)
			SELECT ?1, ?2, ?3, ?4, ?5 WHERE (SELECT count(*) FROM rates WHERE `+where+`) < ?6`, append(values, now.Add(window), limit))
		allowed = changed == 1
		return err
	})
	return allowed, db.fail(ctx, "count event", err)
}
