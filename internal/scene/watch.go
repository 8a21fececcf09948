package scene

import (
	"context"

	"github.com/parleybot/parley/internal/discordsim"
)

// watch writes what happens at Discord into the transcript, and wakes the steps that wait, until ctx ends.
func (s *stage) watch(ctx context.Context) {
	for e := range s.world.Follow(ctx, 0) {
		s.write(e.Event)
		s.woken.happened()
	}
}

func (s *stage) write(e discordsim.Event) {
	n := s.names
	switch e := e.(type) {
	case discordsim.MessageCreated:
		m := e.Message
		whom := ""
		if m.VisibleTo != "" {
			whom = " (only " + n.of(m.VisibleTo) + " sees it)"
		}
		s.tape.happened(string(m.ID), "%s  %s: %s%s", n.of(m.Channel), n.of(m.Author), short(n.read(m.Content)), whom)
	case discordsim.MessageEdited:
		m := e.Message
		s.tape.happened(string(m.ID), "%s  %s: %s (edit %d)", n.of(m.Channel), n.of(m.Author), short(n.read(m.Content)), len(m.Earlier))
	case discordsim.MessageDeleted:
		s.tape.happened("", "%s  a message is deleted", n.of(e.Channel))
	case discordsim.TypingStarted:
		s.tape.happened("typing"+string(e.Channel), "%s  %s types", n.of(e.Channel), n.of(e.User))
	case discordsim.ReactionAdded:
		s.tape.happened("", "%s  %s reacts with %s", n.of(e.Channel), n.of(e.User), e.Emoji)
	case discordsim.InteractionSent:
		s.tape.happened("", "%s  %s uses %s", n.of(e.Interaction.Channel), n.of(e.Interaction.User), e.Interaction.Name)
	case discordsim.RequestServed:
		if r := e.Request; r.Fault || r.Status >= 400 {
			s.tape.happened("", "· %s is answered with %d", r.Route, r.Status)
		}
	case discordsim.GatewayIdentified:
		s.tape.happened("", "· gateway: a new session")
	case discordsim.GatewayResumed:
		s.tape.happened("", "· gateway: resumed, %d events sent again", e.Replayed)
	case discordsim.GatewayClosed:
		s.tape.happened("", "· gateway: closed with %d", e.Code)
	case discordsim.FaultMet, discordsim.ReactionRemoved, discordsim.ChannelCreated, discordsim.ChannelUpdated,
		discordsim.ChannelDeleted, discordsim.InteractionAnswered,
		discordsim.CommandsRegistered, discordsim.GatewayOpened, discordsim.GatewayRefused, discordsim.PresenceUpdated:
	}
}
