package bot

import (
	"context"
	"fmt"
	"strings"
)

func helpCommand() command {
	return command{
		spec: slash("help", "Show what I can do and how to stop me"),
		run: func(b *Bot, _ context.Context, _ *interaction) said {
			return privately(helpText(b.identity.persona().Name))
		},
	}
}

func helpText(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Mention @%s, reply to one of my messages, or write to me privately, and I answer. I may use tools; "+
		"some of them ask for approval first, with buttons only the right people can use.\n", inline(name, 64))
	for _, c := range commands() {
		fmt.Fprintf(&b, "\n`/%s` %s", c.spec.Name, c.spec.Description)
	}
	return b.String()
}
