package turn

import (
	"context"
	"strings"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// plan is what a turn may use.
type plan struct {
	// settings is what tools may read of the guild's settings; channel is the channel's own.
	settings map[string]string
	channel  ChannelSettings
	epoch    string
	// blind: the channel's settings could not be read, so it is not known what was cleared.
	blind       bool
	allow       registry.Allowlist
	windowTurns int
	switches    map[string]bool
	// windows is the turn for which the channel's windows were counted: this one, or the one it continues.
	windows string
}

// planFor reads the settings that apply, counts the channel's windows down and builds the allowlist. Windows are counted
// once per turn whether or not the mode is on; a follow-up that continues an interrupted turn does not count again. When
// neither the store nor the cache knows the settings, no tool is offered: one of them may be switched off.
func (m *Manager) planFor(ctx context.Context, r *running) plan {
	in := r.in
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	guildValues, guildErr := m.setting(ctx, store.SettingGuild, in.GuildID)
	channelValues, channelErr := m.setting(ctx, store.SettingChannel, in.ChannelID)
	memberValues, _ := m.setting(ctx, store.SettingMember, in.Author.ID)
	guild, channel, member := readGuild(guildValues), readChannel(channelValues), readMember(memberValues)
	p := plan{
		settings: guildValues, channel: channel, epoch: channelValues[SettingEpoch], blind: channelErr != nil,
		windowTurns: guild.ContextTurns, windows: string(r.id),
	}
	var inherited []string
	if r.inherited != nil {
		p.windows, inherited = r.inherited.windows, r.inherited.tools
	}
	open, err := safely(func() ([]string, error) { return m.Store.ConsumeWindows(ctx, in.ChannelID, p.windows, time.Now()) })
	if err != nil {
		m.Log.Warn().Err(err).Str("turn", string(r.id)).Msg("window.consume_failed")
		open = nil
	}
	if deliberate(guild, member) {
		p.allow = m.Registry.Allow(registry.AllowRequest{
			Text: in.Content, Custom: guild.ToolTriggers, Attachments: attachmentKinds(in.Attachments), Windows: open, FollowUp: inherited,
		})
		m.logAllowed(r, p.allow)
	}
	if guildErr != nil || channelErr != nil {
		guild.ToolsOff = true
	}
	p.switches = m.switches(guild, channel)
	m.tell(r, Event{Kind: EventPlanned, Plan: p.info(open)})
	return p
}

// info is the plan as events show it; open are the tools with an open window.
func (p *plan) info(open []string) *PlanInfo {
	out := &PlanInfo{Deliberate: p.allow.Active(), Windows: open, Off: sortedKeys(p.switches)}
	for _, name := range p.allow.Names() {
		e, _ := p.allow.Entry(name)
		out.Allowed = append(out.Allowed, AllowedTool{Tool: name, Source: e.Source, Trigger: e.Trigger})
	}
	return out
}

func (m *Manager) setting(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	values, err := safely(func() (map[string]string, error) { return m.settings.read(ctx, scope, id) })
	if err != nil {
		m.Log.Warn().Err(err).Str("scope", string(scope)).Msg("settings.read_failed")
	}
	return values, err
}

// logAllowed says why each tool is on the list of a turn.
func (m *Manager) logAllowed(r *running, allow registry.Allowlist) {
	for _, name := range allow.Names() {
		e, _ := allow.Entry(name)
		m.Log.Debug().Str("turn", string(r.id)).Str("tool", name).Str("source", string(e.Source)).Str("trigger", e.Trigger).Msg("tool.allowed")
	}
}

// deliberate: a member's own word comes first, then the guild's.
func deliberate(guild GuildSettings, member MemberSettings) bool {
	switch member.Deliberate {
	case DeliberateOn:
		return true
	case DeliberateOff:
		return false
	case DeliberateFollow:
	}
	return guild.Deliberate
}

// switches collects the moderators' tool switches: off anywhere is off.
func (m *Manager) switches(guild GuildSettings, channel ChannelSettings) map[string]bool {
	out := map[string]bool{}
	for _, t := range m.Registry.All() {
		if toolOff(t.Name, guild, channel) != ToolOffNowhere {
			out[t.Name] = false
		}
	}
	return out
}

func attachmentKinds(attachments []Attachment) []registry.AttachmentKind {
	var kinds []registry.AttachmentKind
	for _, a := range attachments {
		kind, _, _ := strings.Cut(strings.ToLower(a.ContentType), "/")
		switch {
		case strings.HasPrefix(strings.ToLower(a.ContentType), "image/gif"):
			kinds = append(kinds, registry.AttachmentGIF, registry.AttachmentImage)
		case kind == "image":
			kinds = append(kinds, registry.AttachmentImage)
		case kind == "video":
			kinds = append(kinds, registry.AttachmentVideo)
		case kind == "audio":
			kinds = append(kinds, registry.AttachmentAudio)
		default:
			kinds = append(kinds, registry.AttachmentFile)
		}
	}
	return kinds
}
