package turn

import (
	"context"
	"slices"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// ToolInfo is a tool as /tools shows it.
type ToolInfo struct {
	Name        string
	Description string
	Category    string
	// Approver says who must agree before it runs.
	Approver Approver
	// On: it may be used in this channel as far as the switches go; OffIn says which one is off otherwise.
	On    bool
	OffIn ToolOff
	// Triggers expose it in deliberate mode: its own, then the guild's. Always: it needs none.
	Triggers []string
	Always   bool
}

// ToolOff says which switch keeps a tool off.
type ToolOff string

// The switches; the first that is off is told.
const (
	ToolOffNowhere       ToolOff = ""
	ToolOffGuildMaster   ToolOff = "all_in_server"
	ToolOffChannelMaster ToolOff = "all_in_channel"
	ToolOffGuild         ToolOff = "server"
	ToolOffChannel       ToolOff = "channel"
)

// ToolsReport is what /tools shows of a channel.
type ToolsReport struct {
	Tools []ToolInfo
	// Deliberate: tools are offered to the actor only when their message asks for them.
	Deliberate   bool
	ContextTurns int
}

// Tools tells which tools there are and what may be used in a channel by the actor. Everybody may ask.
func (m *Manager) Tools(ctx context.Context, p Place) (ToolsReport, error) {
	guild, err := m.settings.read(ctx, store.SettingGuild, p.GuildID)
	if err != nil {
		return ToolsReport{}, unavailable(err)
	}
	channel, err := m.ChannelSettings(ctx, p)
	if err != nil {
		return ToolsReport{}, err
	}
	member, err := m.MemberSettings(ctx, p)
	if err != nil {
		return ToolsReport{}, err
	}
	g := readGuild(guild)
	rep := ToolsReport{Deliberate: deliberate(g, member), ContextTurns: g.ContextTurns}
	for _, t := range m.Registry.All() {
		info := ToolInfo{
			Name: t.Name, Description: t.Description, Category: string(t.Category), Approver: t.Approval,
			OffIn: toolOff(t.Name, g, channel), Always: t.AlwaysAllowed, Triggers: m.triggersOf(t, g.ToolTriggers),
		}
		info.On = info.OffIn == ToolOffNowhere
		rep.Tools = append(rep.Tools, info)
	}
	return rep, nil
}

func toolOff(name string, g GuildSettings, c ChannelSettings) ToolOff {
	switch {
	case g.ToolsOff:
		return ToolOffGuildMaster
	case c.ToolsOff:
		return ToolOffChannelMaster
	case slices.Contains(g.ToolSwitches, name):
		return ToolOffGuild
	case slices.Contains(c.ToolSwitches, name):
		return ToolOffChannel
	}
	return ToolOffNowhere
}

// triggersOf words a tool's triggers as people write them. A guild's triggers for a group or category are shown with
// each tool that they expose.
func (m *Manager) triggersOf(t *registry.Tool, custom map[string][]string) []string {
	var out []string
	for _, tr := range t.Triggers {
		switch tr.Kind {
		case registry.TriggerStem:
			out = append(out, tr.Pattern+"*")
		case registry.TriggerAlways:
			out = append(out, "^")
		case registry.TriggerRegexp:
			out = append(out, "/"+tr.Pattern+"/")
		case registry.TriggerAttachment:
			out = append(out, "attached "+tr.Pattern)
		case registry.TriggerLiteral:
			out = append(out, tr.Pattern)
		}
	}
	for _, target := range sortedKeys(custom) {
		if target == t.Name || target == string(t.Category) {
			out = append(out, custom[target]...)
		}
	}
	return out
}
