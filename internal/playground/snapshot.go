package playground

import (
	"fmt"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// historyShown is how many messages of a channel a snapshot holds, and how many one look further back brings.
const historyShown = 50

// snapshot is all that a page shows for one person, at one moment.
type snapshot struct {
	Me        discordsim.ID               `json:"me"`
	Bot       discordsim.ID               `json:"bot"`
	Connected bool                        `json:"connected"`
	Model     string                      `json:"model"`
	Offline   bool                        `json:"offline"`
	ModelID   string                      `json:"model_id"`
	Models    []modelInfo                 `json:"models"`
	Mishaps   []mishap                    `json:"mishaps"`
	Data      string                      `json:"data"`
	Guild     string                      `json:"guild"`
	GuildID   discordsim.ID               `json:"guild_id"`
	Roles     map[discordsim.ID]role      `json:"roles"`
	Users     map[discordsim.ID]user      `json:"users"`
	People    []person                    `json:"people"`
	Channels  []channel                   `json:"channels"`
	Messages  map[discordsim.ID][]message `json:"messages"`
	Turns     []turnEvents                `json:"turns"`
	Decisions []turn.Event                `json:"decisions"`
	Wire      []wireLine                  `json:"wire"`
	Tour      []tourStep                  `json:"tour"`
}

type user struct {
	Name  string          `json:"name"`
	Bot   bool            `json:"bot,omitempty"`
	Color string          `json:"color,omitempty"`
	Roles []discordsim.ID `json:"roles,omitempty"`
}

type role struct {
	Name  string `json:"name"`
	Color string `json:"color,omitempty"`
}

// modelInfo is a model that the page can choose.
type modelInfo struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	From    string `json:"from"`
	Offline bool   `json:"offline,omitempty"`
}

// person is somebody the page can act as.
type person struct {
	ID   discordsim.ID `json:"id"`
	Role string        `json:"role"`
}

// channel is a channel with what the person may do in it.
type channel struct {
	ID        discordsim.ID `json:"id"`
	Name      string        `json:"name"`
	Topic     string        `json:"topic,omitempty"`
	Kind      string        `json:"kind"` // text, thread or dm
	Parent    discordsim.ID `json:"parent,omitempty"`
	CanSend   bool          `json:"can_send"`
	CanManage bool          `json:"can_manage"`
	CanThread bool          `json:"can_thread"`
	// Starter is the message that a thread was opened from, as it is now.
	Starter *message `json:"starter,omitempty"`
	More    bool     `json:"more"` // there are older messages
}

// history is a part of a channel.
type history struct {
	Messages []message `json:"messages"`
	Older    bool      `json:"older"`
	Newer    bool      `json:"newer"`
}

// snapshot looks at everything for one person. seq and world are the numbers of the newest note and of the journal's
// newest line that it contains; the world may be ahead of the notes, never behind.
func (p *Playground) snapshot(me resident) (s snapshot, seq uint64, world int) {
	f, now := p.feed.state(), p.models.current()
	seq = f.seq
	s = snapshot{
		Me: me.ID, Bot: p.town.world().Bot(), Model: now.Name, Offline: now.Offline, ModelID: now.ID, Mishaps: mishaps(), Data: p.cfg.Data,
		Users: map[discordsim.ID]user{}, Roles: map[discordsim.ID]role{}, Messages: map[discordsim.ID][]message{},
		Turns: f.turns, Decisions: f.decisions, Wire: f.wire, Tour: f.tour,
	}
	for _, m := range p.models.all {
		s.Models = append(s.Models, modelInfo(m))
	}
	for _, r := range p.town.people {
		s.People = append(s.People, person{ID: r.ID, Role: r.role})
	}
	p.town.world().Look(func(v discordsim.View) {
		world, s.Connected = v.Seq(), v.Connected()
		for _, g := range v.Guilds() {
			s.Guild, s.GuildID = g.Name, g.ID
			s.members(g)
		}
		s.Channels = channelsOf(v, me)
		for i, c := range s.Channels {
			newest := historyOf(v, c.ID, me.ID, discordsim.Stretch{Limit: historyShown})
			s.Messages[c.ID], s.Channels[i].More = newest.Messages, newest.Older
		}
	})
	return s, seq, world
}

// channelsOf are the channels that somebody sees, in their order, and the DM with the bot.
func channelsOf(v discordsim.View, me resident) []channel {
	var all []discordsim.ChannelInfo
	for _, g := range v.Guilds() {
		all = append(all, g.Channels...)
	}
	if c, ok := v.Channel(me.dm); ok {
		all = append(all, c)
	}
	out := []channel{}
	for _, c := range all {
		if perms := v.Permissions(c.ID, me.ID); perms.Has(discordsim.PermViewChannel) {
			out = append(out, channelOf(v, c, perms))
		}
	}
	return out
}

func (s *snapshot) members(g discordsim.GuildInfo) {
	colors := map[discordsim.ID]string{}
	for _, r := range g.Roles {
		if r.Color != 0 {
			colors[r.ID] = fmt.Sprintf("#%06x", r.Color)
		}
		s.Roles[r.ID] = role{Name: r.Name, Color: colors[r.ID]}
	}
	for _, m := range g.Members {
		u := user{Name: m.Name, Bot: m.Bot, Roles: m.Roles}
		if m.DisplayName != "" {
			u.Name = m.DisplayName
		}
		if m.Nick != "" {
			u.Name = m.Nick
		}
		for _, r := range m.Roles {
			if c := colors[r]; c != "" {
				u.Color = c
			}
		}
		s.Users[m.ID] = u
	}
}

func channelOf(v discordsim.View, c discordsim.ChannelInfo, perms discordsim.Permissions) channel {
	out := channel{
		ID: c.ID, Name: c.Name, Topic: c.Topic, Kind: channelKind(c.Kind), Parent: c.Parent,
		CanSend: perms.Has(discordsim.PermSendMessages), CanManage: perms.Has(discordsim.PermManageMessages),
		CanThread: perms.Has(discordsim.PermCreatePublicThreads),
	}
	switch c.Kind {
	case discordsim.ChannelDM:
		bot, _ := v.User(v.Bot())
		out.Name, out.CanManage, out.CanThread = bot.Name, false, false
	case discordsim.ThreadPublic, discordsim.ThreadPrivate:
		out.CanThread = false
		out.CanSend = perms.Has(discordsim.PermSendMessagesInThreads) && (!c.Locked || perms.Has(discordsim.PermManageThreads))
		// A thread that was opened from a message has its id.
		if m, ok := v.Message(c.ID); ok && m.Deleted.IsZero() {
			out.Starter = new(messageOf(v, m))
		}
	case discordsim.ChannelText, discordsim.ChannelAnnouncement:
	}
	return out
}

// channelKind is what pages call a kind of channel.
func channelKind(k discordsim.ChannelKind) string {
	switch k {
	case discordsim.ChannelDM:
		return "dm"
	case discordsim.ThreadPublic, discordsim.ThreadPrivate:
		return "thread"
	case discordsim.ChannelText, discordsim.ChannelAnnouncement:
	}
	return "text"
}

// historyOf is a part of a channel as somebody sees it.
func historyOf(v discordsim.View, channel, person discordsim.ID, part discordsim.Stretch) history {
	seen, older, newer := v.SeenPart(channel, person, part)
	out := history{Messages: make([]message, 0, len(seen)), Older: older, Newer: newer}
	for _, m := range seen {
		out.Messages = append(out.Messages, messageOf(v, m))
	}
	return out
}
