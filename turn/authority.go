package turn

import "github.com/parleybot/parley/store"

// MayStop is the one rule for who may end what: a member ends their own turn, channel kills of others' turns need Manage
// Messages there, guild kills Manage Server. Whatever is not allowed here is refused.
func MayStop(a Actor, guildWide bool, ownerID string) bool {
	switch {
	case a.ID == "":
		return false
	case guildWide:
		return a.ManageGuild
	case ownerID == a.ID:
		return true
	default:
		return a.ManageMessages
	}
}

// MayChangeFact is the one rule for who may write, correct and remove facts, asked by commands and by tools: a member's
// facts belong to that member alone, a server's to those who may manage it. Anybody could otherwise plant what everybody
// there is told.
func MayChangeFact(a Actor, m store.Memory) bool {
	switch {
	case a.ID == "":
		return false
	case m.Scope == store.ScopeGuild:
		return m.GuildID != "" && a.ManageGuild
	case m.Scope == store.ScopeMember:
		return m.MemberID == a.ID
	}
	return false
}
