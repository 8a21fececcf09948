package turn

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// The names of the settings that turns read.
const (
	// SettingDeliberate is a guild's "on" or "off", a member's "off", "follow" or "on".
	SettingDeliberate = "deliberate_tool_mode"
	// SettingContextTurns is a guild's number of turns for which a used tool stays offered.
	SettingContextTurns = "deliberate_tool_context_turns"
	// SettingToolPrefix begins a guild's or channel's switch of one tool ("tool:web_search" = "off").
	SettingToolPrefix = "tool:"
)

// plan is what a turn may use.
type plan struct {
	settings    map[string]string
	allow       registry.Allowlist
	windowTurns int
	switches    map[string]bool
}

// plan reads the settings that apply, counts the channel's windows down and builds the allowlist. Windows are counted
// once per turn whether or not the mode is on. When the store is away, windows are closed and the mode is as the last
// word known: off by default, which only narrows.
func (m *Manager) plan(ctx context.Context, r *running) plan {
	in := r.in
	guild := m.settings(ctx, store.SettingGuild, in.GuildID)
	channel := m.settings(ctx, store.SettingChannel, in.ChannelID)
	member := m.settings(ctx, store.SettingMember, in.Author.ID)
	p := plan{settings: guild, windowTurns: windowTurns(guild), switches: switches(guild, channel)}
	open, err := m.Store.ConsumeWindows(ctx, in.ChannelID, string(r.id), time.Now())
	if err != nil {
		m.Log.Warn().Err(err).Str("turn", string(r.id)).Msg("window.consume_failed")
	}
	if deliberate(guild, member) {
		p.allow = m.Registry.Allow(registry.AllowRequest{
			Text: in.Content, Attachments: attachmentKinds(in.Attachments), Windows: open,
		})
	}
	return p
}

func (m *Manager) settings(ctx context.Context, scope store.SettingScope, id string) map[string]string {
	if id == "" {
		return nil
	}
	s, err := m.Store.SettingsOf(ctx, scope, id)
	if err != nil {
		m.Log.Warn().Err(err).Str("scope", string(scope)).Msg("settings.read_failed")
	}
	return s
}

// deliberate: a member's own word comes first, then the guild's.
func deliberate(guild, member map[string]string) bool {
	switch member[SettingDeliberate] {
	case "on":
		return true
	case "off":
		return false
	default:
		return guild[SettingDeliberate] == "on"
	}
}

func windowTurns(guild map[string]string) int {
	if n, err := strconv.Atoi(guild[SettingContextTurns]); err == nil {
		return registry.ContextTurns(&n)
	}
	return registry.ContextTurns(nil)
}

// switches collects the moderators' tool switches: off anywhere is off.
func switches(scopes ...map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, s := range scopes {
		for name, value := range s {
			if tool, ok := strings.CutPrefix(name, SettingToolPrefix); ok && value == "off" {
				out[tool] = false
			}
		}
	}
	return out
}

func attachmentKinds(attachments []Attachment) []registry.AttachmentKind {
	var kinds []registry.AttachmentKind
	for _, a := range attachments {
		switch {
		case a.ContentType == "image/gif":
			kinds = append(kinds, registry.AttachmentGIF, registry.AttachmentImage)
		case strings.HasPrefix(a.ContentType, "image/"):
			kinds = append(kinds, registry.AttachmentImage)
		default:
			kinds = append(kinds, registry.AttachmentFile)
		}
	}
	return kinds
}
