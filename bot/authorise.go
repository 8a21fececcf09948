package bot

import (
	"github.com/parleybot/parley/turn"
)

// need is what somebody must be to do something.
type need string

const (
	// needNothing: whoever is not blocked.
	needNothing need = "nothing"
	// needOwner: the owner of the turn, or a moderator.
	needOwner need = "owner"
	// needModerator: somebody who may manage messages in the channel.
	needModerator need = "moderator"
	// needChannel: somebody who may manage messages in the channel, or the server. A private chat belongs to its member.
	needChannel need = "channel"
	// needServer: somebody who may manage the server. There is none in private chats.
	needServer need = "server"
)

// attempt is something somebody wants to do: write to the bot, run a command, press a button, send a form, get
// completions. Rights come from what Discord sent with it.
type attempt struct {
	guildID   string
	channelID string
	userID    string
	rights    permissions
	need      need
	// ownerID is the owner of what is touched, where the need names one.
	ownerID string
}

// verdict is the answer to an attempt; empty is yes, anything else is a reason to show.
type verdict string

const (
	allowed          verdict = ""
	refusedBlocked   verdict = "You can't use me here."
	refusedModerator verdict = "Only somebody who may manage messages here can do that."
	refusedOwner     verdict = "Only the person who asked, or somebody who may manage messages here, can do that."
	refusedChannel   verdict = "That needs the permission to manage messages here. Ask a moderator."
	refusedServer    verdict = "That needs the permission to manage the server. Ask somebody who has it."
	refusedNoServer  verdict = "That is a setting of a server, and here is none. Use it in a channel of the server."
	refusedUnknown   verdict = "I can't tell whether you may do that, so I won't."
)

// authorise is the one place that decides who may do what, for messages, commands, buttons, forms and completions alike.
// It goes by ids and permission bits only and refuses what it cannot judge. blocked may be nil.
func authorise(a attempt, blocked func(guildID, channelID, userID string) bool) verdict {
	if a.userID == "" || a.channelID == "" {
		return refusedUnknown
	}
	if blocked != nil && blocked(a.guildID, a.channelID, a.userID) {
		return refusedBlocked
	}
	moderator := a.guildID != "" && a.rights.has(permManageMessages)
	switch a.need {
	case needNothing:
		return allowed
	case needOwner:
		if moderator || a.ownerID != "" && a.ownerID == a.userID {
			return allowed
		}
		return refusedOwner
	case needModerator:
		if moderator {
			return allowed
		}
		return refusedModerator
	case needChannel:
		if a.guildID == "" || moderator || a.rights.has(permManageGuild) {
			return allowed
		}
		return refusedChannel
	case needServer:
		switch {
		case a.guildID == "":
			return refusedNoServer
		case a.rights.has(permManageGuild):
			return allowed
		}
		return refusedServer
	}
	return refusedUnknown
}

// approverNeed is what a card's approver must be. An approver we don't know is nobody.
func approverNeed(a turn.Approver) need {
	switch a {
	case turn.ApproverOwner:
		return needOwner
	case turn.ApproverModerator:
		return needModerator
	case turn.ApproverNone:
	}
	return "unknown"
}

// mayTalk judges a message.
func (b *Bot) mayTalk(in turn.Inbound) bool {
	v := authorise(attempt{guildID: in.GuildID, channelID: in.ChannelID, userID: in.Author.ID, need: needNothing}, b.cfg.Blocked)
	if v != allowed {
		b.log.Debug().Str("message_id", in.MessageID).Msg("inbound.blocked")
	}
	return v == allowed
}
