package turn

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
