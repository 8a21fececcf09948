package turn

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// The names of the settings that turns read and write.
const (
	// SettingDeliberate is a guild's "on" or "off", a member's "off", "follow" or "on".
	SettingDeliberate = "deliberate_tool_mode"
	// SettingContextTurns is a guild's number of turns for which a used tool stays offered.
	SettingContextTurns = "deliberate_tool_context_turns"
	// SettingToolTriggers is a guild's JSON object from targets to lists of triggers for deliberate mode.
	SettingToolTriggers = "deliberate_tool_triggers"
	// SettingTools is the master switch of a guild or channel: "off" takes all tools away.
	SettingTools = "tools"
	// SettingToolPrefix begins a guild's or channel's switch of one tool ("tool:web_search" = "off").
	SettingToolPrefix = "tool:"
	// SettingTriggerWords is a guild's JSON list of words that address the bot.
	SettingTriggerWords = "trigger_words"
	// SettingAlwaysOn is a channel's "on": every message of a person there addresses the bot.
	SettingAlwaysOn = "always_on_channels"
	// SettingLogChannel is the id of a guild's log channel.
	SettingLogChannel = "log_channel"
	// SettingAnswerBang is a guild's "on": texts that begin with "!" are answered too.
	SettingAnswerBang = "answer_bang_prefix"
	// SettingAnswerBots is a guild's "on": other bots that mention this one are answered.
	SettingAnswerBots = "answer_bots"
	// SettingExemptModerators is a guild's "on": the limits on members don't hold for its moderators.
	SettingExemptModerators = "limits_exempt_moderators"
	// SettingPrivacy is a member's "full": they are not answered, and what they write is not shown to the model.
	SettingPrivacy = "privacy"
	// SettingMemory is a member's "off": nothing about them is kept in memory. What a turn did is recorded all the same.
	SettingMemory = "memory"
	// SettingCarryMemory is a member's "on": what they told in one server is recalled for them in others too.
	SettingCarryMemory = "memory_in_all_servers"
	// SettingErasedBefore is the id before which a member's messages are not shown to the model: they had all that was kept
	// about them erased then.
	SettingErasedBefore = store.SettingErasedBefore
	// SettingModel and SettingSystem are a channel's model and its addition to the system text.
	SettingModel  = "model"
	SettingSystem = "system"
	// SettingEpoch is the id after which a channel's messages are shown to the model; see Manager.Clear.
	SettingEpoch = "epoch"
)

const (
	on   = "on"
	off  = "off"
	full = "full"
)

// DeliberateMode is whether tools are offered only when a message asks for them.
type DeliberateMode string

// The modes. Follow is a member's own: as the guild has it.
const (
	DeliberateOff    DeliberateMode = "off"
	DeliberateOn     DeliberateMode = "on"
	DeliberateFollow DeliberateMode = "follow"
)

// GuildSettings are what moderators set for a guild.
type GuildSettings struct {
	Deliberate bool
	// ContextTurns is for how many turns a used tool stays offered in deliberate mode.
	ContextTurns int
	// ToolTriggers are the guild's triggers of deliberate mode by target; Manager.Targets lists the targets.
	ToolTriggers map[string][]string
	// ToolsOff: the master switch is off. ToolSwitches holds the single tools that are off.
	ToolsOff     bool
	ToolSwitches []string
	// TriggerWords address the bot like a mention; in AlwaysOn channels every message does.
	TriggerWords []string
	AlwaysOn     []string
	// LogChannel is where hidden notices go; the bot does not answer there. Empty means none.
	LogChannel string
	// AnswerBang, AnswerBots: see the settings of these names.
	AnswerBang bool
	AnswerBots bool
	// ExemptModerators: the limits on members don't hold for moderators.
	ExemptModerators bool
}

// ChannelSettings are what is set for one channel.
type ChannelSettings struct {
	ToolsOff     bool
	ToolSwitches []string
	// Model is empty for the bot's own, System for no addition.
	Model  string
	System string
}

// MemberSettings are what members set for themselves.
type MemberSettings struct {
	Deliberate DeliberateMode
	// FullPrivacy: the member is not answered and not shown to the model.
	FullPrivacy bool
	// NoMemory: nothing about the member is kept in long-term or short-term memory.
	NoMemory bool
	// CarryMemory: the member's facts are recalled in all their servers; see store.MemoryQuery.OtherGuilds.
	CarryMemory bool
	// ErasedBefore: the member's messages up to this id are not shown to the model; empty for none.
	ErasedBefore string
}

func readGuild(values map[string]string) GuildSettings {
	g := GuildSettings{
		Deliberate: values[SettingDeliberate] == on, ContextTurns: contextTurns(values[SettingContextTurns]),
		ToolsOff: values[SettingTools] == off, ToolSwitches: switchedOff(values), LogChannel: values[SettingLogChannel],
		AnswerBang: values[SettingAnswerBang] == on, AnswerBots: values[SettingAnswerBots] == on,
		ExemptModerators: values[SettingExemptModerators] == on,
		TriggerWords:     readList(values[SettingTriggerWords]), AlwaysOn: readList(values[SettingAlwaysOn]),
	}
	// A value that cannot be read counts as unset: it exposes and addresses nothing.
	if json.Unmarshal([]byte(values[SettingToolTriggers]), &g.ToolTriggers) != nil {
		g.ToolTriggers = nil
	}
	return g
}

func readChannel(values map[string]string) ChannelSettings {
	return ChannelSettings{
		ToolsOff: values[SettingTools] == off, ToolSwitches: switchedOff(values), Model: values[SettingModel], System: values[SettingSystem],
	}
}

func readMember(values map[string]string) MemberSettings {
	m := MemberSettings{
		Deliberate: DeliberateFollow, FullPrivacy: values[SettingPrivacy] == full, NoMemory: values[SettingMemory] == off,
		CarryMemory: values[SettingCarryMemory] == on, ErasedBefore: values[SettingErasedBefore],
	}
	switch mode := DeliberateMode(values[SettingDeliberate]); mode {
	case DeliberateOn, DeliberateOff:
		m.Deliberate = mode
	case DeliberateFollow:
	}
	return m
}

func readList(value string) []string {
	var list []string
	if json.Unmarshal([]byte(value), &list) != nil {
		return nil
	}
	return list
}

func contextTurns(value string) int {
	if n, err := strconv.Atoi(value); err == nil {
		return registry.ContextTurns(&n)
	}
	return registry.ContextTurns(nil)
}

// switchedOff lists the tools that a scope switches off, sorted.
func switchedOff(values map[string]string) []string {
	var tools []string
	for _, name := range sortedKeys(values) {
		if tool, ok := strings.CutPrefix(name, SettingToolPrefix); ok && values[name] == off {
			tools = append(tools, tool)
		}
	}
	return tools
}
