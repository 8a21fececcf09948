package redis

import (
	"strings"
	"time"

	"github.com/parleybot/parley/store"
)

// kind is one kind of key.
type kind struct {
	// name follows the prefix in every key of the kind.
	name string
	// holds says what is in it.
	holds string
	// member is true when keys of the kind name a member; erasing the member deletes them.
	member bool
	// channel is true when keys of the kind begin with a channel; erasing a member deletes those of the member's DM channels.
	channel bool
	// orders is true when what is in the key names a member; erasing the member removes that from it.
	orders bool
	// erased is what people call it.
	erased store.Kind
}

// The kinds of keys.
var (
	claimKey    = kind{name: "claim:", holds: "who answers a message: the time the claim expires"}
	windowsKey  = kind{name: "windows:", holds: "a channel's affordance windows: tool to turns left", channel: true, erased: store.KindWindows}
	countedKey  = kind{name: "counted:", holds: "what was open in a turn that has counted its channel's windows down", channel: true, erased: store.KindWindows}
	rateKey     = kind{name: "rate:", holds: "the times of the events that a rate counted", member: true, erased: store.KindRates}
	requestsKey = kind{name: "requests", holds: "when the next request to Discord is due, of all processes"}
	killsKey    = kind{name: "kills", holds: "the orders to stop of the last minute, a stream", orders: true}
)

// table is every key that this package uses. A test finds all keys that the suite leaves in it, each with a
// time to live, and every member's id only in kinds that say so.
var table = []kind{claimKey, windowsKey, countedKey, rateKey, requestsKey, killsKey}

// keys names them on one server.
type keys struct{ prefix string }

// of writes a key. The first part is what a cluster would place keys by. The bot still needs a single server: a claim and the
// rates that it counts in are one script and begin with different parts, and the client talks to one address.
func (k keys) of(kind kind, parts ...string) string {
	key := k.prefix + kind.name
	for i, part := range parts {
		part = escape(store.Clean(part))
		if i == 0 {
			part = "{" + part + "}"
		} else {
			part = ":" + part
		}
		key += part
	}
	return key
}

// escape keeps the signs that part a key out of what it is made of.
func escape(part string) string {
	return strings.NewReplacer("%", "%25", ":", "%3a", "{", "%7b", "}", "%7d").Replace(part)
}

// rate is the key of one counter. Ids are marked, so that a member's are found by their pattern.
func (k keys) rate(r store.Rate) string {
	return k.of(rateKey, r.Name, "g="+r.GuildID, "c="+r.ChannelID, "m="+r.MemberID)
}

// micros is how times are written: numbers that a script can compare without losing a digit.
func micros(at time.Time) int64 { return at.UnixMicro() }
