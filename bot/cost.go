package bot

import "context"

func costCommand() command {
	const what = "Show what I have used here since the last /clear"
	return command{name: "cost", description: what, actions: []action{{
		description: what, need: needNothing, private: true,
		run: func(b *Bot, ctx context.Context, i *interaction) said {
			rep, err := b.turns.Cost(ctx, i.place())
			if err != nil {
				return b.refused(i, err)
			}
			return privately(rep.String())
		},
	}}}
}
