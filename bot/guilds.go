package bot

import (
	"slices"
	"sync"
	"time"

	"github.com/parleybot/parley/turn"
)

// guilds is what we remember of the servers the bot is in: just enough to compute the bot's rights in a channel and to
// tell which ids in a text mean what. The library's state is off, since it keeps members and presences without end and
// hands out what it changes later (discordgo #731). Safe for concurrent use.
type guilds struct {
	mu       sync.RWMutex
	self     string
	guilds   map[string]*guild
	channels map[string]*channel
}

type guild struct {
	id       string
	name     string
	owner    string
	locale   string
	roles    map[string]role
	channels map[string]struct{}
	// me is the bot's own member.
	me member
}

type role struct {
	name        string
	permissions permissions
	// mine: Discord made this role for the bot; mentioning it means the bot.
	mine bool
}

type member struct {
	roles   []string
	timeout time.Time
}

type channel struct {
	id         string
	guild      string
	parent     string
	kind       int
	name       string
	topic      string
	overwrites []overwrite
	archived   bool
	locked     bool
	lastID     string
}

func (c *channel) thread() bool {
	return c.kind == channelAnnounceThread || c.kind == channelPublicThread || c.kind == channelPrivateThread
}

func newGuilds() *guilds {
	return &guilds{guilds: map[string]*guild{}, channels: map[string]*channel{}}
}

// begin starts a gateway session as self: guilds that READY no longer lists were left meanwhile. What is known of the others
// stands until they are described again.
func (s *guilds) begin(self string, listed []wireGuild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self = self
	still := make(map[string]bool, len(listed))
	for _, g := range listed {
		still[g.ID] = true
	}
	for id := range s.guilds {
		if !still[id] {
			s.dropGuild(id)
		}
	}
}

// putGuild takes a guild as GUILD_CREATE tells it.
func (s *guilds) putGuild(w wireGuild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropGuild(w.ID)
	g := &guild{
		id: w.ID, name: w.Name, owner: w.OwnerID, locale: w.Locale,
		roles: make(map[string]role, len(w.Roles)), channels: make(map[string]struct{}, len(w.Channels)),
	}
	s.guilds[w.ID] = g
	for _, r := range w.Roles {
		s.putRoleIn(g, r)
	}
	for _, m := range w.Members {
		if m.User != nil && m.User.ID == s.self {
			g.me = memberOf(m)
		}
	}
	for _, list := range [][]wireChannel{w.Channels, w.Threads} {
		for _, c := range list {
			c.GuildID = w.ID
			s.putChannelIn(g, c)
		}
	}
}

// updateGuild takes what GUILD_UPDATE tells, which has neither channels nor members.
func (s *guilds) updateGuild(w wireGuild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[w.ID]
	if g == nil {
		return
	}
	g.name, g.owner, g.locale = w.Name, w.OwnerID, w.Locale
	if len(w.Roles) > 0 {
		clear(g.roles)
		for _, r := range w.Roles {
			s.putRoleIn(g, r)
		}
	}
}

func (s *guilds) removeGuild(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropGuild(id)
}

func (s *guilds) dropGuild(id string) {
	g := s.guilds[id]
	if g == nil {
		return
	}
	for c := range g.channels {
		delete(s.channels, c)
	}
	delete(s.guilds, id)
}

func (s *guilds) putRole(guildID string, r wireRole) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[guildID]; g != nil {
		s.putRoleIn(g, r)
	}
}

func (s *guilds) putRoleIn(g *guild, r wireRole) {
	g.roles[r.ID] = role{
		name: r.Name, permissions: parseBits(r.Permissions),
		mine: r.Tags.BotID != "" && r.Tags.BotID == s.self,
	}
}

func (s *guilds) removeRole(guildID, roleID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[guildID]; g != nil {
		delete(g.roles, roleID)
	}
}

func (s *guilds) putChannel(w wireChannel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[w.GuildID]; g != nil {
		s.putChannelIn(g, w)
	}
}

func (s *guilds) putChannelIn(g *guild, w wireChannel) {
	c := &channel{id: w.ID, guild: g.id, parent: w.ParentID, kind: w.Type, name: w.Name, topic: clip(clean(w.Topic), maxTopic), lastID: w.LastMessageID}
	for _, o := range w.Overwrites {
		c.overwrites = append(c.overwrites, overwrite{
			id: o.ID, member: o.Type == 1,
			allow: parseBits(o.Allow), deny: parseBits(o.Deny),
		})
	}
	if w.Thread != nil {
		c.archived, c.locked = w.Thread.Archived, w.Thread.Locked
	}
	s.channels[w.ID] = c
	g.channels[w.ID] = struct{}{}
}

// removeChannel forgets a channel and the threads below it, and returns their ids.
func (s *guilds) removeChannel(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[id]
	if c == nil {
		return nil
	}
	g := s.guilds[c.guild]
	var gone []string
	for other := range g.channels {
		if t := s.channels[other]; other == id || t.thread() && t.parent == id {
			delete(s.channels, other)
			delete(g.channels, other)
			gone = append(gone, other)
		}
	}
	return gone
}

// setMe takes the bot's own member.
func (s *guilds) setMe(guildID string, m wireMember) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[guildID]; g != nil {
		g.me = memberOf(m)
	}
}

func memberOf(w wireMember) member {
	m := member{roles: slices.Clone(w.Roles)}
	if w.Timeout != nil {
		m.timeout = *w.Timeout
	}
	return m
}

// place is what an inbound needs to know of the channel it came from.
type place struct {
	known   bool
	guildID string
	parent  string // of a thread
	locale  string
	// canSend: no permission that we know of forbids the bot to write. Discord has the last word.
	canSend bool
	// hidden: not everybody in the guild may read it.
	hidden bool
}

// place looks a channel up. An unknown one may be tried, since silence would be worse than a refusal, but it is not called
// public.
func (s *guilds) place(channelID string, now time.Time) place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.channels[channelID]
	if c == nil {
		return place{canSend: true, hidden: true}
	}
	g := s.guilds[c.guild]
	p := place{known: true, guildID: c.guild, locale: g.locale}
	base := c
	if c.thread() {
		p.parent = c.parent
		if base = s.channels[c.parent]; base == nil {
			p.canSend, p.hidden = true, true
			return p
		}
	}
	mine := memberPermissions(g, base, s.self, g.me, now)
	if c.thread() {
		p.canSend = mine.has(permViewChannel|permSendInThreads) && (!c.locked || mine.has(permManageThreads))
	} else {
		p.canSend = mine.has(permViewChannel | permSendMessages)
	}
	everyone := memberPermissions(g, base, "", member{}, now)
	p.hidden = c.kind == channelPrivateThread || !everyone.has(permViewChannel)
	return p
}

// rights are what a message's author may do where it was written, by the roles that came with it. What is not known
// grants nothing.
func (s *guilds) rights(channelID, userID string, m *wireMember, now time.Time) permissions {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.channels[channelID]
	if c == nil || m == nil {
		return 0
	}
	if c.thread() {
		if parent := s.channels[c.parent]; parent != nil {
			c = parent
		} else {
			return 0
		}
	}
	return memberPermissions(s.guilds[c.guild], c, userID, memberOf(*m), now)
}

// guildOf is the guild of a channel, empty when unknown.
func (s *guilds) guildOf(channelID string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.channels[channelID]; c != nil {
		return c.guild
	}
	return ""
}

// mine reports whether one of roles is the one Discord made for the bot.
func (s *guilds) mine(guildID string, roles []string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g := s.guilds[guildID]
	return g != nil && slices.ContainsFunc(roles, func(id string) bool { return g.roles[id].mine })
}

// roleName and channelName name what a text mentions; empty when unknown.
func (s *guilds) roleName(guildID, id string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if g := s.guilds[guildID]; g != nil {
		return g.roles[id].name
	}
	return ""
}

func (s *guilds) channelName(id string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.channels[id]; c != nil {
		return c.name
	}
	return ""
}

// maxTopic bounds what is kept of a channel's topic: there may be thousands of them.
const maxTopic = 300

// surroundings is what a model is told of a channel.
func (s *guilds) surroundings(id string) turn.Surroundings {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.channels[id]
	if c == nil {
		return turn.Surroundings{}
	}
	at := turn.Surroundings{Channel: c.name, Topic: c.topic}
	if g := s.guilds[c.guild]; g != nil {
		at.Guild = g.name
	}
	if parent := s.channels[c.parent]; parent != nil && c.thread() {
		at.Parent = parent.name
	}
	return at
}

// count is the number of guilds.
func (s *guilds) count() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.guilds)
}
