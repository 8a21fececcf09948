package bot

import (
	"context"

	"github.com/parleybot/parley/turn"
)

const costOption = "of"

func costCommand() command {
	const what = "Show what I have used, in tokens and in money"
	scope := func(i *interaction) turn.CostScope { return turn.CostScope(i.option(costOption)) }
	return command{name: "cost", description: what, actions: []action{{
		description: what, need: needNothing, private: true,
		options: []optionSpec{{
			Type: optionString, Name: costOption, Description: "What to add up: this channel since the last /clear (default), or another sum",
			Choices: []choiceSpec{
				{Name: "this channel since the last /clear", Value: string(turn.CostHere)},
				{Name: "this channel today", Value: string(turn.CostHereToday)},
				{Name: "this channel this month", Value: string(turn.CostHereMonth)},
				{Name: "my own this month", Value: string(turn.CostMine)},
				{Name: "the whole server today", Value: string(turn.CostServerToday)},
				{Name: "the whole server this month", Value: string(turn.CostServerMonth)},
			},
		}},
		needOf: func(i *interaction) need {
			if scope(i).ServerWide() {
				return needServer
			}
			return needNothing
		},
		run: func(b *Bot, ctx context.Context, i *interaction) said {
			rep, err := b.turns.Cost(ctx, i.place(), scope(i))
			if err != nil {
				return b.refused(i, err)
			}
			return privately(rep.String())
		},
	}}}
}
