package discordsim

import (
	"slices"
	"time"
)

// Permissions is a set of Discord's permission bits.
type Permissions uint64

// The permission bits that the simulator acts on.
const (
	PermKickMembers           Permissions = 1 << 1
	PermAdministrator         Permissions = 1 << 3
	PermManageChannels        Permissions = 1 << 4
	PermManageGuild           Permissions = 1 << 5
	PermAddReactions          Permissions = 1 << 6
	PermViewChannel           Permissions = 1 << 10
	PermSendMessages          Permissions = 1 << 11
	PermManageMessages        Permissions = 1 << 13
	PermEmbedLinks            Permissions = 1 << 14
	PermAttachFiles           Permissions = 1 << 15
	PermReadMessageHistory    Permissions = 1 << 16
	PermMentionEveryone       Permissions = 1 << 17
	PermUseExternalEmojis     Permissions = 1 << 18
	PermManageRoles           Permissions = 1 << 28
	PermUseCommands           Permissions = 1 << 31
	PermManageThreads         Permissions = 1 << 34
	PermCreatePublicThreads   Permissions = 1 << 35
	PermCreatePrivateThreads  Permissions = 1 << 36
	PermUseExternalStickers   Permissions = 1 << 37
	PermSendMessagesInThreads Permissions = 1 << 38
	PermModerateMembers       Permissions = 1 << 40

	// PermAll is every bit Discord defines today.
	PermAll Permissions = 1<<53 - 1

	// PermDefault is what @everyone may do in a new guild of the simulator.
	PermDefault = PermAddReactions | PermViewChannel | PermSendMessages | PermEmbedLinks | PermAttachFiles |
		PermReadMessageHistory | PermUseExternalEmojis | PermUseCommands | PermCreatePublicThreads |
		PermUseExternalStickers | PermSendMessagesInThreads

	permDM = PermAddReactions | PermViewChannel | PermSendMessages | PermEmbedLinks | PermAttachFiles |
		PermReadMessageHistory | PermMentionEveryone | PermUseExternalEmojis | PermUseCommands | PermUseExternalStickers

	// permNeedSend are meaningless for somebody who cannot send, so Discord takes them away too.
	permNeedSend = PermMentionEveryone | PermEmbedLinks | PermAttachFiles
	// permTimedOut is all that is left to a member in a timeout.
	permTimedOut = PermViewChannel | PermReadMessageHistory
)

// Has reports whether all bits of want are set.
func (p Permissions) Has(want Permissions) bool { return p&want == want }

// Overwrite changes permissions in one channel, for a role or for a member.
type Overwrite struct {
	// ID is a role's or a user's; the guild's own id stands for @everyone.
	ID ID
	// Member says that ID is a user's.
	Member      bool
	Allow, Deny Permissions
}

// guildPermissions are a member's rights in a guild before any channel is looked at.
func (g *guild) guildPermissions(user ID, now time.Time) Permissions {
	m := g.members[user]
	if m == nil {
		return 0
	}
	if g.owner == user {
		return PermAll
	}
	perms := g.roles[g.id].permissions
	for _, id := range m.roles {
		if r := g.roles[id]; r != nil {
			perms |= r.permissions
		}
	}
	if perms.Has(PermAdministrator) {
		return PermAll
	}
	if m.timeout.After(now) {
		perms &= permTimedOut
	}
	return perms
}

// permissionsIn are a user's rights in a channel, by Discord's rules: owner and administrators may everything, then the
// overwrites for @everyone, for the member's roles together, and for the member; a thread takes its parent's.
func (w *World) permissionsIn(c *channel, user ID) Permissions {
	if c.kind == ChannelDM {
		if user == c.recipient || user == w.app.bot {
			return permDM
		}
		return 0
	}
	g := w.guilds[c.guild]
	now := w.now()
	perms := g.guildPermissions(user, now)
	if perms == PermAll || perms == 0 {
		return perms
	}
	base := c
	if c.isThread() {
		if base = w.channels[c.parent]; base == nil {
			return 0
		}
	}
	m := g.members[user]
	perms = applyOverwrites(perms, base.overwrites, g.id, m)
	if m.timeout.After(now) {
		perms &= permTimedOut
	}
	if !perms.Has(PermViewChannel) {
		return 0
	}
	send := PermSendMessages
	if c.isThread() {
		send = PermSendMessagesInThreads
	}
	if !perms.Has(send) {
		perms &^= permNeedSend
	}
	return perms
}

func applyOverwrites(perms Permissions, overwrites []Overwrite, everyone ID, m *member) Permissions {
	var roleAllow, roleDeny, memberAllow, memberDeny Permissions
	for _, o := range overwrites {
		switch {
		case o.Member && o.ID == m.user:
			memberAllow, memberDeny = o.Allow, o.Deny
		case o.Member:
		case o.ID == everyone:
			perms = perms&^o.Deny | o.Allow
		case slices.Contains(m.roles, o.ID):
			roleAllow |= o.Allow
			roleDeny |= o.Deny
		}
	}
	perms = perms&^roleDeny | roleAllow
	return perms&^memberDeny | memberAllow
}

// maySend reports whether somebody with perms may write into c.
func (c *channel) maySend(perms Permissions) bool {
	if c.isThread() {
		return perms.Has(PermViewChannel|PermSendMessagesInThreads) && (!c.locked || perms.Has(PermManageThreads))
	}
	return perms.Has(PermViewChannel | PermSendMessages)
}
