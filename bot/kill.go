package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleybot/parley/turn"
)

const (
	scopeOption  = "scope"
	scopeChannel = "channel"
	scopeGuild   = "guild"
	// maxShownKills bounds what one answer lists.
	maxShownKills = 10
)

func killCommand() command {
	const what = "Stop what I am doing here, now"
	return command{name: "kill", description: what, actions: []action{{
		description: what, need: needNothing, run: (*Bot).kill,
		options: []optionSpec{{
			Type: optionString, Name: scopeOption, Description: "This channel (default) or the whole server",
			Choices: []choiceSpec{{Name: "this channel", Value: scopeChannel}, {Name: "the whole server", Value: scopeGuild}},
		}},
	}}}
}

// kill stops first and talks afterwards. Who may stop what is for the turns to say: an owner may end their own turn
// without any rights.
func (b *Bot) kill(ctx context.Context, i *interaction) said {
	req := turn.KillRequest{ChannelID: i.channelID, GuildID: i.guildID, Actor: i.actor, CommandID: i.id}
	if i.option(scopeOption) == scopeGuild {
		if i.guildID == "" {
			return privately("There is no server here.")
		}
		req.ChannelID = ""
	}
	waiting := b.cards.waiting()
	rep := b.killAnswered(ctx, req, i.channelID)
	if rep.Refused {
		if req.ChannelID == "" {
			return privately("Stopping me in the whole server needs the permission to manage the server. Nothing was stopped.")
		}
		return privately("You may stop your own turn; stopping other people's needs the permission to manage messages. Nothing was stopped.")
	}
	if len(rep.Killed) == 0 && rep.Discarded == 0 {
		return privately("Nothing was running.")
	}
	return publicly(killText(i.actor, rep, waiting))
}

// killAnswered kills for somebody who is answered in a channel: what it ends there need not say who did it.
func (b *Bot) killAnswered(ctx context.Context, req turn.KillRequest, channelID string) (rep turn.KillReport) {
	done := b.stops.begin(channelID, req.Actor.ID)
	defer func() { done(rep) }()
	return b.turns.Kill(ctx, req)
}

// killText says who stopped what. A finished tool is not undone, so it is named. The turns in waiting waited for an
// approval: their tool had not begun.
func killText(by turn.Actor, rep turn.KillReport, waiting map[turn.ID]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "🛑 Stopped by <@%s>.", by.ID)
	for n, k := range rep.Killed {
		if n == maxShownKills {
			fmt.Fprintf(&b, "\n… and %d more.", len(rep.Killed)-n)
			break
		}
		fmt.Fprintf(&b, "\n• %s's turn in <#%s>", inline(nameOr(k.OwnerName, k.OwnerID), 64), k.ChannelID)
		switch {
		case k.Tool != "" && waiting[k.TurnID]:
			fmt.Fprintf(&b, ", while %s waited for an approval: it was not run", inline(k.Tool, 64))
		case k.Tool != "":
			fmt.Fprintf(&b, ", while %s ran", inline(k.Tool, 64))
		}
		if len(k.Finished) > 0 {
			fmt.Fprintf(&b, ". Already done: %s", toolList(k.Finished))
		}
	}
	if rep.Discarded > 0 {
		fmt.Fprintf(&b, "\nWaiting messages dropped: %d.", rep.Discarded)
	}
	return b.String()
}

// toolList names tools in the order they finished, the same one once with a count.
func toolList(tools []string) string {
	counts := map[string]int{}
	var order []string
	for _, t := range tools {
		if counts[t]++; counts[t] == 1 {
			order = append(order, t)
		}
	}
	more := ""
	if len(order) > 15 {
		more = fmt.Sprintf(" and %d more", len(order)-15)
		order = order[:15]
	}
	for i, t := range order {
		if order[i] = inline(t, 64); counts[t] > 1 {
			order[i] += fmt.Sprintf(" (%d×)", counts[t])
		}
	}
	return strings.Join(order, ", ") + more
}

func nameOr(name, id string) string {
	if name != "" {
		return name
	}
	return id
}
