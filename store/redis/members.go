package redis

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleybot/parley/store"
)

// scanned is how many keys the server looks at in one step.
const scanned = 1000

// EraseFleeting implements store.FleetingMembers. It looks through all keys of the kinds that name members or channels:
// it is asked seldom, and a list of a member's keys would be one more place that names them.
func (db *DB) EraseFleeting(ctx context.Context, memberID string, channelIDs []string) (store.Erased, error) {
	const doing = "erase what is fleeting"
	if memberID == "" {
		return nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	erased := make(store.Erased)
	for _, kind := range table {
		patterns := db.keys.patterns(kind, memberID, channelIDs)
		for _, pattern := range patterns {
			n, err := db.deleteMatching(ctx, pattern)
			if err != nil {
				return nil, db.fail(ctx, doing, err)
			}
			erased.Add(kind.erased, n)
		}
	}
	return erased, db.fail(ctx, doing, forgetOrders.Run(ctx, db.client, []string{db.keys.of(killsKey)}, store.Clean(memberID)).Err())
}

func (db *DB) deleteMatching(ctx context.Context, pattern string) (int, error) {
	var found []string
	for keys := db.client.Scan(ctx, 0, pattern, scanned).Iterator(); ; {
		if !keys.Next(ctx) {
			if err := keys.Err(); err != nil {
				return 0, err
			}
			break
		}
		found = append(found, keys.Val())
	}
	if len(found) == 0 {
		return 0, nil
	}
	n, err := db.client.Unlink(ctx, found...).Result()
	return int(n), err
}

// patterns match the keys of a kind that belong to a member or to their DM channels.
func (k keys) patterns(kind kind, memberID string, channelIDs []string) []string {
	var all []string
	begin := glob(k.prefix + kind.name)
	if kind.member {
		all = append(all, begin+"*:"+glob("m="+escape(store.Clean(memberID))))
		for _, id := range channelIDs { // a private chat names its member as well as an id does
			all = append(all, begin+"*:"+glob("c="+escape(store.Clean(id)))+":m=*")
		}
	}
	if kind.channel {
		for _, id := range channelIDs {
			all = append(all, begin+glob("{"+escape(store.Clean(id))+"}")+"*")
		}
	}
	return all
}

// glob takes the meaning from the signs of a pattern.
func glob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
