package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleybot/parley/bot"
)

// examineTimeout bounds one check that asks somebody else.
const examineTimeout = 20 * time.Second

// Check is one finding of Examine.
type Check struct {
	Name string
	// Found says what was found; Err what is wrong and how to mend it.
	Found string
	Err   error
}

// Text is the finding in one line.
func (c Check) Text() string {
	if c.Err != nil {
		return c.Err.Error()
	}
	return c.Found
}

// Examine checks the store, the models and the Discord account that the options name, each on its own.
func Examine(ctx context.Context, o Options) []Check {
	return slices.Concat([]Check{examineStore(ctx, o)}, examineModels(ctx, o), []Check{examineDiscord(ctx, o)})
}

// examinePatience is how long a check waits for a server that is away: it is asked by a person.
const examinePatience = 3 * time.Second

func examineStore(ctx context.Context, o Options) Check {
	c := Check{Name: "store"}
	db, err := openStores(ctx, o.Config.Store, examinePatience, o.Log)
	if err == nil {
		c.Found = db.place() + " opens and is up to date"
		err = db.Close()
	}
	c.Err = err
	return c
}

func examineDiscord(ctx context.Context, o Options) Check {
	c := Check{Name: "discord"}
	if o.Config.Discord.Token.IsZero() {
		c.Err = errors.New("DISCORD_TOKEN is not set: create a bot in Discord's developer portal and set its token")
		return c
	}
	b, err := bot.New(bot.Config{Token: o.Config.Discord.Token.Reveal(), APIBase: o.DiscordAPI, Version: o.Version}, bot.Deps{})
	if err != nil {
		c.Err = err
		return c
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	p, err := b.Probe(ctx)
	switch {
	case err != nil:
		c.Err = err
	case !p.MessageContent:
		c.Err = fmt.Errorf("%s cannot read messages: switch on the Message Content intent in Discord's developer portal", p.Name)
	default:
		c.Found = fmt.Sprintf("the token is %s's, which is in about %d servers; %d of %d session starts are left",
			p.Name, p.Guilds, p.StartsLeft, p.StartsTotal)
	}
	return c
}
