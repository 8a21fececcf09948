package turn

import (
	"time"

	"github.com/parleybot/parley/store"
)

// KillRequest asks to end the turns of a channel or of a guild.
type KillRequest struct {
	// ChannelID is the channel to clear; empty means the whole guild.
	ChannelID string `json:"channel_id,omitempty"`
	// GuildID is the guild in which the actor has the rights; empty in direct messages.
	GuildID string `json:"guild_id,omitempty"`
	// TurnID, when set, is the only turn that is meant, running or waiting.
	TurnID ID    `json:"turn_id,omitempty"`
	Actor  Actor `json:"actor"`
	// CommandID is Discord's id of the command by which it was given; empty when there is none.
	CommandID string `json:"command_id,omitempty"`
	// Late is set when it took its time to get here, from another process: what Discord got after the command is not meant.
	Late bool `json:"-"`
}

// means says whether the turn of a message is meant. Both have ids of Discord, which count up with its time.
func (r KillRequest) means(id ID, messageID string) bool {
	if r.TurnID != "" {
		return r.TurnID == id
	}
	return !r.Late || !isSnowflake(r.CommandID) || !isSnowflake(messageID) || CompareIDs(messageID, r.CommandID) < 0
}

// KillReport says what a kill did. Nothing found means that nothing was running and nothing waited.
type KillReport struct {
	// Refused is true when the actor may not do this; nothing was touched.
	Refused bool
	Killed  []KilledTurn
	// Discarded is the number of waiting triggers that were dropped.
	Discarded int
}

// KilledTurn is one turn that a kill ended.
type KilledTurn struct {
	TurnID    ID
	ChannelID string
	OwnerID   string
	OwnerName string
	// Tool is what was running at that moment, empty when none was.
	Tool string
	// Finished are the tools that had already run: a kill undoes none of them.
	Finished []string
}

// ChannelStatus is what /status shows of a channel.
type ChannelStatus struct {
	// Running is nil when the channel is free.
	Running *RunningStatus
	Waiting int
	Last    *store.Turn
}

// RunningStatus is what is known of a running turn.
type RunningStatus struct {
	TurnID    ID
	OwnerID   string
	OwnerName string
	StartedAt time.Time
	Iteration int
	Tool      string
	Calls     []CallInfo
	Model     string
	Provider  string
	// Approval is true while a card is open.
	Approval bool
}

// Totals are counts over the whole process.
type Totals struct {
	ActiveChannels int
	RunningTurns   int
	Waiting        int
	Abandoned      int
	// Writing is how many members something is being written of, such as the record of a turn that has ended.
	Writing  int
	Statuses map[store.TurnStatus]int
	// Verdicts counts what was decided about messages: a disposition and a reason, as in "refuse:queue_full".
	Verdicts map[string]int
}
