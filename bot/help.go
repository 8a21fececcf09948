package bot

import (
	"context"
	"fmt"
	"strings"
)

func helpCommand() command {
	const what = "Show what I can do, and what you may use here"
	return command{name: "help", description: what, actions: []action{{
		description: what, need: needNothing, private: true,
		run: func(b *Bot, _ context.Context, i *interaction) said {
			return privately(helpText(b.identity.persona().Name, i, b.cfg.Blocked))
		},
	}}}
}

// helpText lists the commands that the actor may use in the place where they ask.
func helpText(name string, i *interaction, blocked func(guildID, channelID, userID string) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Mention @%s, reply to one of my messages, or write to me privately, and I answer. I may use tools; "+
		"some of them ask for approval first, with buttons only the right people can use.\n", inline(name, 64))
	for _, c := range commands() {
		if c.serverOnly && i.guildID == "" {
			continue
		}
		var subs []string
		usable := false
		for _, a := range c.actions {
			if authorise(i.attempt(a.need, ""), blocked) != allowed {
				continue
			}
			usable = true
			if a.name != "" {
				subs = append(subs, a.name)
			}
		}
		if !usable {
			continue
		}
		fmt.Fprintf(&b, "\n`/%s` %s", c.name, c.description)
		if len(subs) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(subs, ", "))
		}
	}
	return b.String()
}
