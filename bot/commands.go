package bot

import (
	"context"
	"slices"
	"strings"
)

// command is one slash command: how Discord is told about it, and what it does. Commands are registered for everyone and
// decided when they run, by the rights Discord sends along.
type command struct {
	name string
	// description says in one sentence what the command is for.
	description string
	// serverOnly commands are not offered in private chats.
	serverOnly bool
	// actions are the subcommands, or one without a name: the command itself.
	actions []action
}

// action is what one command or subcommand does.
type action struct {
	name        string
	description string
	options     []optionSpec
	// need is what somebody must be at least. needOf, when set, tells it for the options that were given.
	need   need
	needOf func(*interaction) need
	// private: nobody but the actor sees the answer, nor that there is one.
	private bool
	// run does the work and returns what to say. It honours ctx.
	run func(*Bot, context.Context, *interaction) said
	// complete, when set, lists what the option that is being typed may be. It honours ctx.
	complete func(*Bot, context.Context, *interaction) ([]string, error)
	// form, when set, may give a form to open instead of running, and submit handles what was filled in. form must
	// return within formTime of its own accord.
	form   func(*Bot, context.Context, *interaction) (form, bool)
	submit func(*Bot, context.Context, *interaction) said
}

// needs is what somebody must be to do what i asks for.
func (a *action) needs(i *interaction) need {
	if a.needOf != nil {
		return a.needOf(i)
	}
	return a.need
}

// commands are all slash commands, in the order in which people are told of them. A new one is a file beside these and
// a line here.
func commands() []command {
	return []command{
		killCommand(), statusCommand(), clearCommand(), toolsCommand(), deliberateCommand(), modelCommand(), systemCommand(),
		costCommand(), memoryCommand(), privacyCommand(), configCommand(), helpCommand(),
	}
}

// title is the action as people type it.
func (c *command) title(a *action) string { return strings.TrimSpace("/" + c.name + " " + a.name) }

// findAction finds what a command and subcommand mean.
func findAction(name, sub string) (command, *action, bool) {
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		n := slices.IndexFunc(c.actions, func(a action) bool { return a.name == sub })
		if n < 0 {
			break
		}
		return c, &c.actions[n], true
	}
	return command{}, nil, false
}

const unknownCommand = "I don't know that command any more. Discord may take a while to forget it."

// command runs a slash command.
func (b *Bot) command(ctx context.Context, i *interaction) {
	c, a, ok := findAction(i.data.Name, i.sub)
	if !ok {
		i.reply.say(ctx, privately(unknownCommand))
		return
	}
	if !b.mayUse(ctx, i, &c, a) {
		return
	}
	if a.form != nil {
		if f, ok := a.form(b, ctx, i); ok {
			if err := i.reply.form(ctx, formID(&c, a, f.key), f.title, f.rows()...); err != nil {
				b.log.Warn().Err(err).Str("command", c.title(a)).Msg("command.form_failed")
			}
			return
		}
	}
	i.reply.soon(ctx, a.private, func(ctx context.Context) said { return a.run(b, ctx, i) })
}

// mayUse checks the rights for a command, and answers when it says no.
func (b *Bot) mayUse(ctx context.Context, i *interaction, c *command, a *action) bool {
	v := authorise(i.attempt(a.needs(i), ""), b.cfg.Blocked)
	b.log.Info().Str("command", c.title(a)).Str("user", i.actor.ID).Str("channel", i.channelID).Bool("allowed", v == allowed).Msg("command.run")
	if v != allowed {
		i.reply.say(ctx, privately(string(v)))
	}
	return v == allowed
}
