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
	Users     map[discordsim.ID]user      `json:"users"`
	People    []person                    `json:"people"`
	Channels  []channel                   `json:"channels"`
	Messages  map[discordsim.ID][]message `json:"messages"`
	Turns     []turnEvents                `json:"turns"`
	Decisions []turn.Event                `json:"decisions"`
	Wire      []wireLine                  `json:"wire"`
}

type user struct {
	Name  string `json:"name"`
	Bot   bool   `json:"bot,omitempty"`
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
	More      bool          `json:"more"` // there are older messages
}

// snapshot looks at everything for one person. seq and world are the numbers of the newest note and of the journal's
// newest line that it contains; the world may be ahead of the notes, never behind.
func (p *Playground) snapshot(me resident) (s snapshot, seq uint64, world int) {
	f, now := p.feed.state(), p.models.current()
	seq = f.seq
	s = snapshot{
		Me: me.ID, Bot: p.town.world().Bot(), Model: now.Name, Offline: now.Offline, ModelID: now.ID, Mishaps: mishaps(), Data: p.cfg.Data,
		Users: map[discordsim.ID]user{}, Messages: map[discordsim.ID][]message{}, Turns: f.turns, Decisions: f.decisions, Wire: f.wire,
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
			s.Guild = g.Name
			s.members(g)
			for _, c := range g.Channels {
				s.channel(v, c, me.ID)
			}
		}
		if c, ok := v.Channel(me.dm); ok {
			s.channel(v, c, me.ID)
		}
	})
	return s, seq, world
}

func (s *snapshot) members(g discordsim.GuildInfo) {
	colors := map[discordsim.ID]int{}
	for _, r := range g.Roles {
		colors[r.ID] = r.Color
	}
	for _, m := range g.Members {
		u := user{Name: m.Name, Bot: m.Bot}
		if m.DisplayName != "" {
			u.Name = m.DisplayName
		}
		if m.Nick != "" {
			u.Name = m.Nick
		}
		for _, r := range m.Roles {
			if c := colors[r]; c != 0 {
				u.Color = fmt.Sprintf("#%06x", c)
			}
		}
		s.Users[m.ID] = u
	}
}

func (s *snapshot) channel(v discordsim.View, c discordsim.ChannelInfo, me discordsim.ID) {
	perms := v.Permissions(c.ID, me)
	if !perms.Has(discordsim.PermViewChannel) {
		return
	}
	out := channel{
		ID: c.ID, Name: c.Name, Topic: c.Topic, Kind: "text", Parent: c.Parent,
		CanSend: perms.Has(discordsim.PermSendMessages), CanManage: perms.Has(discordsim.PermManageMessages),
	}
	switch c.Kind {
	case discordsim.ChannelDM:
		out.Kind, out.Name = "dm", s.Users[s.Bot].Name
	case discordsim.ThreadPublic, discordsim.ThreadPrivate:
		out.Kind, out.CanSend = "thread", perms.Has(discordsim.PermSendMessagesInThreads)
	case discordsim.ChannelText, discordsim.ChannelAnnouncement:
	}
	s.Messages[c.ID], out.More = pageBefore(v, c.ID, me, "")
	s.Channels = append(s.Channels, out)
}

// pageBefore are the newest messages that somebody sees in a channel, older than one of them unless before is empty.
func pageBefore(v discordsim.View, channel, person, before discordsim.ID) (out []message, more bool) {
	seen := v.SeenBy(channel, person)
	for i, m := range seen {
		if m.ID == before {
			seen = seen[:i]
			break
		}
	}
	if len(seen) > historyShown {
		seen, more = seen[len(seen)-historyShown:], true
	}
	out = make([]message, 0, len(seen))
	for _, m := range seen {
		out = append(out, messageOf(v, m))
	}
	return out, more
}
