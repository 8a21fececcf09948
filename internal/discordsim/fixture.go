package discordsim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// GuildSpec describes a new guild.
type GuildSpec struct {
	Name string
	// Owner is the owner's name; the person is made if there is none of that name. "guild owner" when empty.
	Owner string
	// Everyone is what @everyone may do; PermDefault when zero.
	Everyone Permissions
	// Bot is what the bot's own role may do, on top of @everyone; nothing more when zero.
	Bot Permissions
	// WithoutBot keeps the bot out.
	WithoutBot bool
}

// RoleSpec describes a new role.
type RoleSpec struct {
	Name        string
	Permissions Permissions
	Mentionable bool
	Color       int
}

// ChannelSpec describes a new text channel.
type ChannelSpec struct {
	Name       string
	Topic      string
	NSFW       bool
	Kind       ChannelKind // ChannelText or ChannelAnnouncement
	Overwrites []Overwrite
}

// PersonSpec describes somebody new.
type PersonSpec struct {
	Name string
	// DisplayName is the global display name, if any.
	DisplayName string
	// Bot makes it somebody else's bot.
	Bot bool
}

// errNoSuch is what fixtures say of ids that are not there.
var errNoSuch = errors.New("no such thing in this world")

// AddGuild makes a guild with its owner and the bot in it, and no channels.
func (w *World) AddGuild(spec GuildSpec) ID {
	if spec.Owner == "" {
		spec.Owner = "guild owner"
	}
	if spec.Everyone == 0 {
		spec.Everyone = PermDefault
	}
	owner := w.AddPerson(PersonSpec{Name: spec.Owner}).ID
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &guild{id: w.newID(), name: spec.Name, owner: owner, roles: map[ID]*role{}, members: map[ID]*member{}}
	// The role of @everyone has the guild's id.
	g.roles[g.id] = &role{id: g.id, name: "@everyone", permissions: spec.Everyone}
	g.roleOrder = []ID{g.id}
	w.guilds[g.id] = g
	w.guildOrder = append(w.guildOrder, g.id)
	w.join(g, owner)
	if !spec.WithoutBot {
		r := w.addRole(g, RoleSpec{Name: w.app.name, Permissions: spec.Bot})
		r.managed = true
		w.join(g, w.app.bot)
		g.members[w.app.bot].roles = []ID{r.id}
		w.announceGuild(g)
	}
	return g.id
}

// announceGuild tells the sessions of a guild that is new to them.
func (w *World) announceGuild(g *guild) {
	for _, s := range w.sessions {
		if s.intents.Has(IntentGuilds) && s.owns(g.id) {
			s.send("GUILD_CREATE", encode(w.wireGuildCreate(g, s.intents)))
		}
	}
}

// AddRole makes a role above all others of a guild.
func (w *World) AddRole(guild ID, spec RoleSpec) (ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil {
		return "", fmt.Errorf("adding role %q to guild %q: %w", spec.Name, guild, errNoSuch)
	}
	r := w.addRole(g, spec)
	w.dispatch(dispatch{name: "GUILD_ROLE_CREATE", intents: IntentGuilds, guild: g.id, body: wireRoleEvent{GuildID: g.id, Role: new(r.wire())}})
	return r.id, nil
}

func (w *World) addRole(g *guild, spec RoleSpec) *role {
	r := &role{
		id: w.newID(), name: spec.Name, permissions: spec.Permissions, mentionable: spec.Mentionable, color: spec.Color,
		position: len(g.roleOrder),
	}
	g.roles[r.id] = r
	g.roleOrder = append(g.roleOrder, r.id)
	return r
}

// SetRolePermissions changes what a role may do; the guild's own id names @everyone.
func (w *World) SetRolePermissions(guild, role ID, perms Permissions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil || g.roles[role] == nil {
		return fmt.Errorf("changing role %q of guild %q: %w", role, guild, errNoSuch)
	}
	g.roles[role].permissions = perms
	w.dispatch(dispatch{name: "GUILD_ROLE_UPDATE", intents: IntentGuilds, guild: g.id, body: wireRoleEvent{GuildID: g.id, Role: new(g.roles[role].wire())}})
	return nil
}

// DeleteRole takes a role away from a guild and from all who have it.
func (w *World) DeleteRole(guild, role ID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil || g.roles[role] == nil || role == guild {
		return fmt.Errorf("deleting role %q of guild %q: %w", role, guild, errNoSuch)
	}
	delete(g.roles, role)
	isRole := func(id ID) bool { return id == role }
	g.roleOrder = slices.DeleteFunc(g.roleOrder, isRole)
	for _, m := range g.members {
		m.roles = slices.DeleteFunc(m.roles, isRole)
	}
	w.dispatch(dispatch{name: "GUILD_ROLE_DELETE", intents: IntentGuilds, guild: g.id, body: wireRoleEvent{GuildID: g.id, RoleID: role}})
	return nil
}

// AddChannel makes a text channel at the end of a guild's list.
func (w *World) AddChannel(guild ID, spec ChannelSpec) (ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil {
		return "", fmt.Errorf("adding channel %q to guild %q: %w", spec.Name, guild, errNoSuch)
	}
	c := &channel{
		id: w.newID(), kind: spec.Kind, guild: g.id, name: spec.Name, topic: spec.Topic, nsfw: spec.NSFW,
		position: len(g.channels), overwrites: slices.Clone(spec.Overwrites), created: w.now(),
	}
	w.channels[c.id] = c
	g.channels = append(g.channels, c.id)
	w.record(ChannelCreated{Channel: c.id})
	w.channelEvent("CREATE", c)
	return c.id, nil
}

// SetOverwrites changes a channel's permission overwrites.
func (w *World) SetOverwrites(channel ID, overwrites ...Overwrite) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channels[channel]
	if c == nil || c.guild == "" {
		return fmt.Errorf("changing overwrites of channel %q: %w", channel, errNoSuch)
	}
	c.overwrites = slices.Clone(overwrites)
	w.record(ChannelUpdated{Channel: c.id})
	w.channelEvent("UPDATE", c)
	return nil
}

// DeleteChannel deletes a channel or thread with all that is in it.
func (w *World) DeleteChannel(channel ID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channels[channel]
	if c == nil || c.guild == "" {
		return fmt.Errorf("deleting channel %q: %w", channel, errNoSuch)
	}
	w.channelEvent("DELETE", c)
	delete(w.channels, channel)
	g := w.guildOf(c)
	g.channels = slices.DeleteFunc(g.channels, func(id ID) bool { return id == channel })
	w.record(ChannelDeleted{Channel: c.id})
	return nil
}

// channelEvent tells of a channel or thread: CREATE, UPDATE or DELETE.
func (w *World) channelEvent(what string, c *channel) {
	name := "CHANNEL_" + what
	if c.isThread() {
		name = "THREAD_" + what
	}
	// The bot hears of channels that it cannot see, too.
	w.dispatch(dispatch{name: name, intents: IntentGuilds, guild: c.guild, body: w.wireChannel(c)})
}

// Join makes somebody a member of a guild, with roles; a member's roles it changes.
func (w *World) Join(guild, user ID, roles ...ID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil || w.users[user] == nil {
		return fmt.Errorf("adding user %q to guild %q: %w", user, guild, errNoSuch)
	}
	if g.members[user] != nil {
		w.setMember(g, user, func(m *member) { m.roles = slices.Clone(roles) })
		return nil
	}
	w.join(g, user).roles = slices.Clone(roles)
	if user == w.app.bot {
		w.announceGuild(g)
		return nil
	}
	body := w.wireMemberWithUser(g, user)
	body.GuildID = g.id
	w.dispatch(dispatch{name: "GUILD_MEMBER_ADD", intents: IntentGuildMembers, guild: g.id, body: body})
	return nil
}

func (w *World) join(g *guild, user ID) *member {
	m := &member{user: user, joined: w.now()}
	g.members[user] = m
	g.memberOrder = append(g.memberOrder, user)
	return m
}

// SetRoles changes a member's roles.
func (w *World) SetRoles(guild, user ID, roles ...ID) error {
	return w.changeMember(guild, user, func(m *member) { m.roles = slices.Clone(roles) })
}

// SetNick changes a member's nickname.
func (w *World) SetNick(guild, user ID, nick string) error {
	return w.changeMember(guild, user, func(m *member) { m.nick = nick })
}

// Timeout silences a member until a moment; the zero time ends it.
func (w *World) Timeout(guild, user ID, until time.Time) error {
	return w.changeMember(guild, user, func(m *member) { m.timeout = until })
}

func (w *World) changeMember(guild, user ID, change func(*member)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil || g.members[user] == nil {
		return fmt.Errorf("changing member %q of guild %q: %w", user, guild, errNoSuch)
	}
	w.setMember(g, user, change)
	return nil
}

// setMember changes a member and tells of it.
func (w *World) setMember(g *guild, user ID, change func(*member)) {
	change(g.members[user])
	body := w.wireMemberWithUser(g, user)
	body.GuildID = g.id
	intents := IntentGuildMembers
	if user == w.app.bot {
		intents = 0 // A bot always hears of itself.
	}
	w.dispatch(dispatch{name: "GUILD_MEMBER_UPDATE", intents: intents, guild: g.id, body: body})
}

// AddEmoji makes a custom emoji; in text and reactions it is name:id.
func (w *World) AddEmoji(guild ID, name string) (ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil {
		return "", fmt.Errorf("adding emoji %q to guild %q: %w", name, guild, errNoSuch)
	}
	e := emoji{id: w.newID(), name: name}
	g.emojis = append(g.emojis, e)
	body := map[string]any{"guild_id": g.id, "emojis": g.wireEmojis()}
	w.dispatch(dispatch{name: "GUILD_EMOJIS_UPDATE", intents: IntentGuildExpressions, guild: g.id, body: body})
	return e.id, nil
}

// AddSticker makes a sticker of a guild.
func (w *World) AddSticker(guild ID, name, description, tags string) (ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.guilds[guild]
	if g == nil {
		return "", fmt.Errorf("adding sticker %q to guild %q: %w", name, guild, errNoSuch)
	}
	s := sticker{id: w.newID(), name: name, description: description, tags: tags}
	g.stickers = append(g.stickers, s)
	body := map[string]any{"guild_id": g.id, "stickers": g.wireStickers()}
	w.dispatch(dispatch{name: "GUILD_STICKERS_UPDATE", intents: IntentGuildExpressions, guild: g.id, body: body})
	return s.id, nil
}

// ChannelNamed finds a guild's channel or thread by name.
func (w *World) ChannelNamed(guild ID, name string) (ID, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.channels {
		if c.guild == guild && c.name == name && c.guild != "" {
			return id, true
		}
	}
	return "", false
}
