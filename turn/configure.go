package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// Bounds of what moderators set.
const (
	MaxTriggerWords      = 32
	MaxTriggerWordLength = 40
	MaxAlwaysOnChannels  = 100
	// MaxContextTurns bounds for how many turns a used tool may stay offered.
	MaxContextTurns = registry.MaxContextTurns
	// MaxSystemBytes bounds a channel's system text, so that it can never crowd out the conversation.
	MaxSystemBytes = 16 * 1024
)

// Place is where a command was given, and by whom. Its methods' answers are either a result or a *Refusal.
type Place struct {
	GuildID   string
	ChannelID string
	Actor     Actor
	// MessageID is the id of the message or interaction that gave the command.
	MessageID string
}

// Scope says for what a tool switch holds.
type Scope string

// The scopes of a tool switch.
const (
	ScopeGuild   Scope = "guild"
	ScopeChannel Scope = "channel"
)

// ToolSwitch switches tools on or off. Tool empty is the master switch.
type ToolSwitch struct {
	Tool  string
	Scope Scope
	On    bool
}

// GuildSettings returns what is set for the place's guild. Everybody may read it.
func (m *Manager) GuildSettings(ctx context.Context, p Place) (GuildSettings, error) {
	if p.GuildID == "" {
		return GuildSettings{}, notHere()
	}
	values, err := m.settings.read(ctx, store.SettingGuild, p.GuildID)
	if err != nil {
		return GuildSettings{}, unavailable(err)
	}
	return readGuild(values), nil
}

// ChannelSettings returns what is set for the place's channel. Everybody may read it.
func (m *Manager) ChannelSettings(ctx context.Context, p Place) (ChannelSettings, error) {
	values, err := m.settings.read(ctx, store.SettingChannel, p.ChannelID)
	if err != nil {
		return ChannelSettings{}, unavailable(err)
	}
	return readChannel(values), nil
}

// MemberSettings returns what the actor has set for themselves.
func (m *Manager) MemberSettings(ctx context.Context, p Place) (MemberSettings, error) {
	values, err := m.settings.read(ctx, store.SettingMember, p.Actor.ID)
	if err != nil {
		return MemberSettings{}, unavailable(err)
	}
	return readMember(values), nil
}

// SwitchTool switches a tool, or all of them, and returns the tool's canonical name ("" for all). A guild's switch needs
// Manage Server, a channel's Manage Messages. Off in the guild is off in each of its channels.
func (m *Manager) SwitchTool(ctx context.Context, p Place, s ToolSwitch) (string, error) {
	name := SettingTools
	if s.Tool != "" {
		t, ok := m.Registry.Lookup(s.Tool)
		if !ok {
			return "", invalid(fmt.Sprintf("There is no tool %q.", oneLine(s.Tool, 64)), "`/tools` lists those there are.")
		}
		s.Tool, name = t.Name, SettingToolPrefix+t.Name
	}
	value := off
	if s.On {
		value = "" // on is how it is when nothing is set
	}
	setting := store.Setting{Scope: store.SettingChannel, ID: p.ChannelID, Name: name, Value: value}
	if s.Scope == ScopeGuild {
		if err := m.mayManageGuild(p); err != nil {
			return "", err
		}
		setting.Scope, setting.ID = store.SettingGuild, p.GuildID
	} else if err := mayManageChannel(p); err != nil {
		return "", err
	}
	return s.Tool, m.change(ctx, p, setting)
}

// SetGuildDeliberate switches deliberate mode for the guild (on or off).
func (m *Manager) SetGuildDeliberate(ctx context.Context, p Place, mode DeliberateMode) error {
	if mode != DeliberateOn && mode != DeliberateOff {
		return invalid("Deliberate mode of a server is on or off.", "Choose one of them.")
	}
	return m.changeGuild(ctx, p, SettingDeliberate, string(mode))
}

// SetMemberDeliberate sets the actor's own mode: off, on, or follow the guild.
func (m *Manager) SetMemberDeliberate(ctx context.Context, p Place, mode DeliberateMode) error {
	switch mode {
	case DeliberateOn, DeliberateOff, DeliberateFollow:
	default:
		return invalid("Your deliberate mode is off, on or follow.", "Choose one of them.")
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingMember, ID: p.Actor.ID, Name: SettingDeliberate, Value: string(mode)})
}

// SetFullPrivacy decides whether the actor is left alone altogether: not answered, and not shown to the model.
func (m *Manager) SetFullPrivacy(ctx context.Context, p Place, enabled bool) error {
	value := ""
	if enabled {
		value = full
	}
	err := m.change(ctx, p, store.Setting{Scope: store.SettingMember, ID: p.Actor.ID, Name: SettingPrivacy, Value: value})
	if err == nil && enabled {
		m.obeyWish(p.Actor.ID, wish{leftAlone: true})
	}
	return err
}

// SetContextTurns sets for how many turns a used tool stays offered in deliberate mode.
func (m *Manager) SetContextTurns(ctx context.Context, p Place, n int) error {
	if n < 0 || n > registry.MaxContextTurns {
		return invalid(fmt.Sprintf("%d turns are not possible.", n), fmt.Sprintf("Choose 0 to %d.", registry.MaxContextTurns))
	}
	return m.changeGuild(ctx, p, SettingContextTurns, strconv.Itoa(n))
}

// Targets lists what triggers of deliberate mode can be set for: tools, groups of tools and categories.
func (m *Manager) Targets() []string { return m.Registry.Targets() }

// SetToolTriggers replaces the guild's triggers of deliberate mode for one target; none removes them.
func (m *Manager) SetToolTriggers(ctx context.Context, p Place, target string, triggers []string) error {
	if !slices.Contains(m.Registry.Targets(), target) {
		return invalid(fmt.Sprintf("There is no tool and no group of tools named %q.", oneLine(target, 64)), "`/tools` lists the tools.")
	}
	triggers = trimmed(triggers)
	if err := registry.CheckCustomTriggers(triggers); err != nil {
		return invalid(sentence(err), "Write a word, a phrase, a word's start with `*`, `^` for every message, or `/regular expression/`.")
	}
	return m.alterGuild(ctx, p, func(values map[string]string) (string, string, error) {
		all := readGuild(values).ToolTriggers
		if all == nil {
			all = map[string][]string{}
		}
		all[target] = triggers
		if len(triggers) == 0 {
			delete(all, target)
		}
		if len(all) == 0 {
			return SettingToolTriggers, "", nil
		}
		data, err := json.Marshal(all)
		return SettingToolTriggers, string(data), err
	})
}

// SetTriggerWords replaces the words that address the bot in this guild and returns them as they are kept: lower case,
// without quotes, each once.
func (m *Manager) SetTriggerWords(ctx context.Context, p Place, words []string) ([]string, error) {
	kept, err := normalizeWords(words)
	if err != nil {
		return nil, err
	}
	return kept, m.changeGuild(ctx, p, SettingTriggerWords, listValue(kept))
}

// SetAlwaysOn decides whether every message in a channel of the guild addresses the bot.
func (m *Manager) SetAlwaysOn(ctx context.Context, p Place, channelID string, enabled bool) error {
	if !isSnowflake(channelID) {
		return invalid("That is no channel.", "Choose one of this server's channels.")
	}
	return m.alterGuild(ctx, p, func(values map[string]string) (string, string, error) {
		list := slices.DeleteFunc(readGuild(values).AlwaysOn, func(id string) bool { return id == channelID })
		if enabled {
			list = append(list, channelID)
		}
		if len(list) > MaxAlwaysOnChannels {
			return "", "", invalid(fmt.Sprintf("More than %d channels can't be always on.", MaxAlwaysOnChannels), "Remove one first.")
		}
		return SettingAlwaysOn, listValue(list), nil
	})
}

// SetLogChannel sets where hidden notices go; empty means nowhere.
func (m *Manager) SetLogChannel(ctx context.Context, p Place, channelID string) error {
	if channelID != "" && !isSnowflake(channelID) {
		return invalid("That is no channel.", "Choose one of this server's channels.")
	}
	return m.changeGuild(ctx, p, SettingLogChannel, channelID)
}

// GuildSwitch names a setting of a guild that is on or off.
type GuildSwitch string

// The switches of a guild.
const (
	SwitchAnswerBang       GuildSwitch = SettingAnswerBang
	SwitchAnswerBots       GuildSwitch = SettingAnswerBots
	SwitchExemptModerators GuildSwitch = SettingExemptModerators
)

// SetGuildSwitch sets one of the guild's switches.
func (m *Manager) SetGuildSwitch(ctx context.Context, p Place, s GuildSwitch, enabled bool) error {
	switch s {
	case SwitchAnswerBang, SwitchAnswerBots, SwitchExemptModerators:
	default:
		return invalid("There is no such setting.", "")
	}
	value := ""
	if enabled {
		value = on
	}
	return m.changeGuild(ctx, p, string(s), value)
}

// LogChannel returns the guild's log channel as far as it is known without asking the store.
func (m *Manager) LogChannel(guildID string) string { return m.settings.rules(guildID).LogChannel }

// mayManageGuild is the right to change a guild's settings.
func (m *Manager) mayManageGuild(p Place) error {
	switch {
	case p.GuildID == "":
		return notHere()
	case !p.Actor.ManageGuild:
		return forbidden("That needs the permission to manage the server.", "Ask somebody who has it.")
	}
	return nil
}

// mayManageChannel is the right to change a channel's settings. A direct message belongs to its member.
func mayManageChannel(p Place) error {
	if p.GuildID != "" && !p.Actor.ManageMessages && !p.Actor.ManageGuild {
		return forbidden("That needs the permission to manage messages here.", "Ask a moderator.")
	}
	return nil
}

func (m *Manager) changeGuild(ctx context.Context, p Place, name, value string) error {
	return m.alterGuild(ctx, p, func(map[string]string) (string, string, error) { return name, value, nil })
}

// alterGuild changes one of the guild's settings depending on what is set. Two of them never run at once, so no change
// is lost in this process.
func (m *Manager) alterGuild(ctx context.Context, p Place, alter func(map[string]string) (name, value string, err error)) error {
	if err := m.mayManageGuild(p); err != nil {
		return err
	}
	select {
	case m.altering <- struct{}{}:
		defer func() { <-m.altering }()
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	values, err := m.settings.fresh(ctx, store.SettingGuild, p.GuildID)
	if err != nil {
		return unavailable(err)
	}
	name, value, err := alter(values)
	if err != nil {
		return err
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingGuild, ID: p.GuildID, Name: name, Value: value})
}

// change stores a setting, whose right to be changed has been checked.
func (m *Manager) change(ctx context.Context, p Place, s store.Setting) error {
	if err := m.settings.put(ctx, s); err != nil {
		return unavailable(err)
	}
	m.Log.Info().Str("scope", string(s.Scope)).Str("id", s.ID).Str("setting", s.Name).Str("by", p.Actor.ID).Msg("settings.changed")
	m.auditSetting(ctx, p, s)
	return nil
}

// normalizeWords makes trigger words comparable and refuses what would match nearly everything.
func normalizeWords(words []string) ([]string, error) {
	var kept []string
	for _, w := range words {
		w = foldWord(strings.Trim(strings.TrimSpace(w), `"'“”„«»「」`))
		switch {
		case w == "" || slices.Contains(kept, w):
		case utf8.RuneCountInString(w) > MaxTriggerWordLength:
			return nil, invalid(fmt.Sprintf("%q is longer than %d characters.", oneLine(w, MaxTriggerWordLength), MaxTriggerWordLength), "Shorten it.")
		case !wordable(w):
			return nil, invalid(fmt.Sprintf("%q would match nearly every message.", w), "Use a whole word of at least two characters.")
		default:
			kept = append(kept, w)
		}
	}
	if len(kept) > MaxTriggerWords {
		return nil, invalid(fmt.Sprintf("%d trigger words are too many.", len(kept)), fmt.Sprintf("At most %d are possible.", MaxTriggerWords))
	}
	return kept, nil
}

func listValue(list []string) string {
	if len(list) == 0 {
		return ""
	}
	data, err := json.Marshal(list)
	if err != nil { // strings always marshal
		return ""
	}
	return string(data)
}

func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// sentence words a joined error of the registry for people.
func sentence(err error) string {
	var first error
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok && len(joined.Unwrap()) > 0 {
		first = joined.Unwrap()[0]
	} else {
		first = err
	}
	return "This can't be set: " + first.Error() + "."
}

func isSnowflake(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

func sortedKeys[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }
