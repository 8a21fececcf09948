package redis

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// A channel's windows are one hash: a field "t:NAME" per open tool with the turns it has left, "expires", and "cleared",
// how often the channel was cleared. What was open in a turn that has counted is a key of its own, since it lives as long
// as the turn may ask again; it begins with the number of clears, so that clearing a channel empties it too.
//
// expire forgets the windows of a channel that was not used for store.WindowTTL. ARGV[1] is now in all scripts.
const expire = `
	local function expire(key, now)
		local expires = redis.call('HGET', key, 'expires')
		if expires and tonumber(expires) <= tonumber(now) then
			local cleared = redis.call('HGET', key, 'cleared')
			redis.call('DEL', key)
			if cleared then redis.call('HSET', key, 'cleared', cleared) end
		end
	end
`

// consume counts down once per turn. KEYS: windows, counted. ARGV: now, when they expire, time to live in ms.
var consume = redis.NewScript(expire + `
	expire(KEYS[1], ARGV[1])
	local cleared = redis.call('HGET', KEYS[1], 'cleared') or '0'
	local known = redis.call('GET', KEYS[2])
	if known then
		local before, tools = string.match(known, '^(%d+) (.*)$')
		if before ~= cleared or tools == '' then return {} end
		return cjson.decode(tools)
	end
	local open = {}
	local fields = redis.call('HGETALL', KEYS[1])
	for i = 1, #fields, 2 do
		if string.sub(fields[i], 1, 2) == 't:' then
			open[#open + 1] = string.sub(fields[i], 3)
			if redis.call('HINCRBY', KEYS[1], fields[i], -1) <= 0 then redis.call('HDEL', KEYS[1], fields[i]) end
		end
	end
	if #open > 0 then redis.call('HSET', KEYS[1], 'expires', ARGV[2]) end
	redis.call('PEXPIRE', KEYS[1], ARGV[3])
	redis.call('SET', KEYS[2], cleared .. ' ' .. (#open > 0 and cjson.encode(open) or ''), 'PX', ARGV[3])
	return open`)

// retain opens, refreshes or closes one window. KEYS: windows. ARGV: now, when they expire, time to live in ms, tool, turns.
var retain = redis.NewScript(expire + `
	expire(KEYS[1], ARGV[1])
	if tonumber(ARGV[5]) <= 0 then return redis.call('HDEL', KEYS[1], 't:' .. ARGV[4]) end
	redis.call('HSET', KEYS[1], 't:' .. ARGV[4], ARGV[5], 'expires', ARGV[2])
	return redis.call('PEXPIRE', KEYS[1], ARGV[3])`)

// clearAll closes all windows. KEYS: windows. ARGV: time to live in ms.
var clearAll = redis.NewScript(`
	local cleared = redis.call('HGET', KEYS[1], 'cleared') or '0'
	redis.call('DEL', KEYS[1])
	redis.call('HSET', KEYS[1], 'cleared', tonumber(cleared) + 1)
	return redis.call('PEXPIRE', KEYS[1], ARGV[1])`)

// ConsumeWindows implements store.Windows.
func (db *DB) ConsumeWindows(ctx context.Context, channelID, turnID string, now time.Time) ([]string, error) {
	tools, err := consume.Run(ctx, db.client,
		[]string{db.keys.of(windowsKey, channelID), db.keys.of(countedKey, channelID, turnID)},
		micros(now), micros(now.Add(store.WindowTTL)), lifetime(store.WindowTTL)).StringSlice()
	if err != nil {
		return nil, db.fail(ctx, "consume windows", err)
	}
	if len(tools) == 0 {
		return nil, nil
	}
	slices.Sort(tools)
	return tools, nil
}

// RetainWindow implements store.Windows.
func (db *DB) RetainWindow(ctx context.Context, channelID, tool string, n int, now time.Time) error {
	err := retain.Run(ctx, db.client, []string{db.keys.of(windowsKey, channelID)},
		micros(now), micros(now.Add(store.WindowTTL)), lifetime(store.WindowTTL), store.Clean(tool), n).Err()
	return db.fail(ctx, "retain window", err)
}

// ClearWindows implements store.Windows.
func (db *DB) ClearWindows(ctx context.Context, channelID string) error {
	err := clearAll.Run(ctx, db.client, []string{db.keys.of(windowsKey, channelID)}, lifetime(store.WindowTTL)).Err()
	return db.fail(ctx, "clear windows", err)
}
