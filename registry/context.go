package registry

import "time"

// The flags of a turn.
const (
	// FlagLTMIntent: the member asks for something to be kept for good; see ExplicitLTMIntent.
	FlagLTMIntent = "explicit_ltm_intent"
	// FlagManageGuild: the member may manage the server, as far as is known.
	FlagManageGuild = "may_manage_guild"
)

// TurnView is what gates may know of a turn. It is a copy: reading it needs no lock.
type TurnView struct {
	Provider string
	// Channel, Guild and User are Discord ids; Guild is empty in a DM.
	Channel string
	Guild   string
	User    string
	// Private is true in DMs.
	Private bool
	// Disabled names the tools that were switched off for the rest of this turn (one-shot, restart flags).
	Disabled map[string]bool
	// Flags are the named switches of the turn, such as FlagLTMIntent.
	Flags map[string]bool
	// Switches are the moderators' tool switches that apply here: false means off. A missing name means on.
	Switches map[string]bool
}

// ToolContext is what one call may know and touch. Values are copies; Live is locked and is revoked when the call ends,
// so that an abandoned tool cannot reach into a turn that went on without it.
type ToolContext struct {
	TurnID    string
	CallKey   string
	ChannelID string
	GuildID   string
	UserID    string
	UserName  string
	// Message is the message that triggered the turn.
	Message MessageRef
	Locale  string
	// Provider is the name of the provider whose model made the call.
	Provider string
	// Persona is the identity the bot answers with.
	Persona Persona
	// Settings is a read-only snapshot of the settings that apply in this channel.
	Settings map[string]string
	Flags    map[string]bool
	Private  bool
	// OutsideContent is true when the turn has read content that is not the member's own words (a page, a file, another
	// person's message); tools that remember must then be careful.
	OutsideContent bool
	// SuppressProgress: errors are not surfaced to people in this turn.
	SuppressProgress bool
	// ShowKillHint: the turn has been running for so long that progress lines should mention /kill.
	ShowKillHint bool
	// Deadline is when the call will be given up.
	Deadline time.Time
	Live     *Live
}

// MessageRef is a message as a tool may see it.
type MessageRef struct {
	ID      string
	Content string
	SentAt  time.Time
}

// Persona is the name and face the bot answers with, and the webhook when it speaks through one.
type Persona struct {
	Name      string
	AvatarURL string
	WebhookID string
}
