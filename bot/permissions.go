package bot

import (
	"slices"
	"strconv"
	"time"
)

// permissions is a set of Discord's permission bits.
type permissions uint64

const (
	permAdministrator  permissions = 1 << 3
	permManageGuild    permissions = 1 << 5
	permViewChannel    permissions = 1 << 10
	permSendMessages   permissions = 1 << 11
	permManageMessages permissions = 1 << 13
	permReadHistory    permissions = 1 << 16
	permManageThreads  permissions = 1 << 34
	permSendInThreads  permissions = 1 << 38

	permAll = ^permissions(0)
	// permTimedOut is what a timeout leaves to a member.
	permTimedOut = permViewChannel | permReadHistory
)

func (p permissions) has(want permissions) bool { return p&want == want }

// parseBits reads Discord's decimal string. What cannot be read grants nothing.
func parseBits(s string) permissions {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return permissions(n)
}

// effective gives an administrator everything.
func (p permissions) effective() permissions {
	if p.has(permAdministrator) {
		return permAll
	}
	return p
}

type overwrite struct {
	id          string
	member      bool
	allow, deny permissions
}

// memberPermissions are a member's rights in a channel by Discord's rules: the owner and administrators may everything;
// others have their roles' rights, changed by the overwrites for everyone, for their roles together and for themselves.
// A thread has its parent's overwrites. A timeout leaves reading only.
func memberPermissions(g *guild, c *channel, userID string, m member, now time.Time) permissions {
	if userID != "" && g.owner == userID {
		return permAll
	}
	p := g.roles[g.id].permissions
	for _, id := range m.roles {
		p |= g.roles[id].permissions
	}
	if p.has(permAdministrator) {
		return permAll
	}
	var roleAllow, roleDeny, ownAllow, ownDeny permissions
	for _, o := range c.overwrites {
		switch {
		case o.member && o.id == userID:
			ownAllow, ownDeny = o.allow, o.deny
		case o.member:
		case o.id == g.id:
			p = p&^o.deny | o.allow
		case slices.Contains(m.roles, o.id):
			roleAllow |= o.allow
			roleDeny |= o.deny
		}
	}
	p = p&^roleDeny | roleAllow
	p = p&^ownDeny | ownAllow
	if now.Before(m.timeout) {
		p &= permTimedOut
	}
	if !p.has(permViewChannel) {
		return 0
	}
	return p
}
