package discordsim

import (
	"slices"
	"strings"
)

// UserInfo is somebody as a client shows them.
type UserInfo struct {
	ID          ID
	Name        string
	DisplayName string
	Bot         bool
}

// StickerInfo is a sticker as a client shows it.
type StickerInfo struct {
	ID                ID
	Name, Description string
}

// GuildInfo is a guild as a client shows it.
type GuildInfo struct {
	ID, Owner ID
	Name      string
	Roles     []RoleInfo
	Members   []MemberInfo
	Stickers  []StickerInfo
	// Channels are the text channels in their order, then the open threads.
	Channels []ChannelInfo
}

// RoleInfo is a role; the one of @everyone has the guild's id.
type RoleInfo struct {
	ID          ID
	Name        string
	Permissions Permissions
	Color       int
}

// MemberInfo is a member of a guild.
type MemberInfo struct {
	UserInfo
	Nick  string
	Roles []ID
}

// ChannelInfo is a channel or thread.
type ChannelInfo struct {
	ID, Guild ID
	Name      string
	Topic     string
	Kind      ChannelKind
	// Parent is a thread's channel.
	Parent ID
	// Recipient is the person of a DM.
	Recipient ID
	// Messages is how many messages were written that are kept.
	Messages int
	// Locked says that nobody without Manage Threads may write into the thread.
	Locked bool
}

// CommandInfo is a slash command as a person sees it in a channel; subcommands are entries of their own, with names
// such as "memory forget".
type CommandInfo struct {
	Name, Description string
	Options           []OptionInfo
}

// OptionInfo is an option of a command. Type is Discord's number: 3 string, 4 integer, 5 boolean, 6 user, 7 channel,
// 8 role, 9 mentionable, 10 number, 11 attachment.
type OptionInfo struct {
	Name, Description      string
	Type                   int
	Required, Autocomplete bool
	Choices                []Choice
	// MinValue and MaxValue bound a number, MinLength and MaxLength a text; nil for no bound.
	MinValue, MaxValue   *float64
	MinLength, MaxLength *int
	// ChannelTypes narrows a channel option; empty for all kinds.
	ChannelTypes []ChannelKind
}

// Sticker finds a guild's sticker.
func (v View) Sticker(id ID) (StickerInfo, bool) {
	for _, g := range v.w.guilds {
		for _, s := range g.stickers {
			if s.id == id {
				return StickerInfo{ID: s.id, Name: s.name, Description: s.description}, true
			}
		}
	}
	return StickerInfo{}, false
}

// User finds somebody by id.
func (v View) User(id ID) (UserInfo, bool) {
	u := v.w.users[id]
	if u == nil {
		return UserInfo{}, false
	}
	return UserInfo{ID: u.id, Name: u.name, DisplayName: u.global, Bot: u.bot}, true
}

// Guilds are all guilds in the order they were made.
func (v View) Guilds() []GuildInfo {
	var out []GuildInfo
	for _, id := range v.w.guildOrder {
		g := v.w.guilds[id]
		info := GuildInfo{ID: g.id, Owner: g.owner, Name: g.name}
		for _, id := range g.roleOrder {
			r := g.roles[id]
			info.Roles = append(info.Roles, RoleInfo{ID: r.id, Name: r.name, Permissions: r.permissions, Color: r.color})
		}
		for _, id := range g.memberOrder {
			u, _ := v.User(id)
			m := g.members[id]
			info.Members = append(info.Members, MemberInfo{UserInfo: u, Nick: m.nick, Roles: slices.Clone(m.roles)})
		}
		for _, st := range g.stickers {
			info.Stickers = append(info.Stickers, StickerInfo{ID: st.id, Name: st.name, Description: st.description})
		}
		for _, id := range g.channels {
			info.Channels = append(info.Channels, v.w.info(v.w.channels[id]))
		}
		for _, t := range v.w.threadsOf(g) {
			info.Channels = append(info.Channels, v.w.info(t))
		}
		out = append(out, info)
	}
	return out
}

// Channel finds a channel, thread or DM.
func (v View) Channel(id ID) (ChannelInfo, bool) {
	c := v.w.channels[id]
	if c == nil {
		return ChannelInfo{}, false
	}
	return v.w.info(c), true
}

func (w *World) info(c *channel) ChannelInfo {
	return ChannelInfo{
		ID: c.id, Guild: c.guild, Name: c.name, Topic: c.topic, Kind: c.kind, Parent: c.parent, Recipient: c.recipient,
		Messages: len(c.messages), Locked: c.locked,
	}
}

// Permissions are somebody's permissions in a channel.
func (v View) Permissions(channel, user ID) Permissions {
	c := v.w.channels[channel]
	if c == nil {
		return 0
	}
	return v.w.permissionsIn(c, user)
}

// CommandsFor are the slash commands that a person can use in a channel, by name.
func (v View) CommandsFor(channel, person ID) []CommandInfo {
	c := v.w.channels[channel]
	if c == nil {
		return nil
	}
	perms := v.w.permissionsIn(c, person)
	var out []CommandInfo
	for _, name := range commandNames(slices.Concat(v.w.app.guildCmds[c.guild], v.w.app.globalCmds)) {
		cmd := v.w.visibleCommand(c, perms, name)
		if cmd == nil || slices.ContainsFunc(out, func(i CommandInfo) bool { return strings.Fields(i.Name)[0] == name }) {
			continue
		}
		out = append(out, flatten(cmd.Name, cmd.Description, cmd.Options)...)
	}
	return out
}

// flatten makes an entry of each subcommand.
func flatten(name, description string, options []commandOption) []CommandInfo {
	self := CommandInfo{Name: name, Description: description}
	var inner []CommandInfo
	for _, o := range options {
		if o.Type <= optionGroup {
			inner = append(inner, flatten(name+" "+o.Name, o.Description, o.Options)...)
			continue
		}
		info := OptionInfo{
			Name: o.Name, Description: o.Description, Type: o.Type, Required: o.Required, Autocomplete: o.Autocomplete,
			MinValue: o.MinValue, MaxValue: o.MaxValue, MinLength: o.MinLength, MaxLength: o.MaxLength,
		}
		for _, kind := range o.ChannelTypes {
			info.ChannelTypes = append(info.ChannelTypes, ChannelKind(kind))
		}
		for _, c := range o.Choices {
			info.Choices = append(info.Choices, Choice{Name: c.Name, Value: c.Value})
		}
		self.Options = append(self.Options, info)
	}
	if inner != nil {
		return inner
	}
	return []CommandInfo{self}
}
