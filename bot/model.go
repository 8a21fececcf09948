package bot

import (
	"context"
	"fmt"
)

const nameOption = "name"

// ownModel is how the turns are told to go back to the bot's own.
const ownModel = "-"

func modelCommand() command {
	return command{name: "model", description: "Show or choose the model that answers here", actions: []action{
		{name: "show", description: "Show the model that answers here, and the others there are", need: needNothing, private: true, run: (*Bot).showModel},
		{
			name: "set", description: "Choose the model that answers in this channel", need: needChannel, private: true,
			options: []optionSpec{{
				Type: optionString, Name: nameOption, Description: "The model", Required: true, Autocomplete: true, MaxLength: 200,
			}},
			run: (*Bot).setModel,
			complete: func(b *Bot, ctx context.Context, i *interaction) ([]string, error) {
				m, err := b.turns.Model(ctx, i.place())
				return m.Choices, err
			},
		},
		{name: "reset", description: "Go back to my own model in this channel", need: needChannel, private: true, run: (*Bot).resetModel},
	}}
}

func (b *Bot) showModel(ctx context.Context, i *interaction) said {
	m, err := b.turns.Model(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	now := "No model is set up, so I can't answer. The operator must set one."
	if m.Current != "" {
		now = fmt.Sprintf("**%s** answers here", inline(m.Current, 200))
		if m.Chosen {
			now += ", chosen for this channel"
		}
		now += "."
	}
	if len(m.Choices) < 2 {
		return privately(now)
	}
	lines := make([]string, len(m.Choices))
	for n, c := range m.Choices {
		lines[n] = "• " + inline(c, 200)
	}
	return listing("models.txt", now+" `/model set` chooses among:", lines)
}

func (b *Bot) setModel(ctx context.Context, i *interaction) said {
	name := i.option(nameOption)
	if err := b.turns.SetModel(ctx, i.place(), name); err != nil {
		return b.refused(i, err)
	}
	if name == ownModel {
		return privately("My own model answers in this channel again.")
	}
	return privately(fmt.Sprintf("**%s** answers in this channel from now on.", inline(name, 200)))
}

func (b *Bot) resetModel(ctx context.Context, i *interaction) said {
	if err := b.turns.SetModel(ctx, i.place(), ownModel); err != nil {
		return b.refused(i, err)
	}
	return privately("My own model answers in this channel again.")
}
