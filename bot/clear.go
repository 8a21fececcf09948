package bot

import (
	"context"
	"fmt"
)

func clearCommand() command {
	const what = "Make me forget what was written here; no message is deleted"
	return command{name: "clear", description: what, actions: []action{{
		description: what, need: needChannel, run: (*Bot).clear,
	}}}
}

// clear is answered in public: everybody here should know that the bot no longer sees what was said.
func (b *Bot) clear(ctx context.Context, i *interaction) said {
	if err := b.turns.Clear(ctx, i.place()); err != nil {
		return b.refused(i, err)
	}
	return publicly(fmt.Sprintf("🧹 Cleared by <@%s>: I no longer see what was written here before.", i.actor.ID))
}
