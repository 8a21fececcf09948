package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// CommandHash remembers which set of slash commands was registered last, across restarts: Discord limits how often
// commands may be written.
type CommandHash interface {
	// Load returns what was saved last, empty when nothing was.
	Load(ctx context.Context) (string, error)
	Save(ctx context.Context, hash string) error
}

// command is one slash command: how Discord is told about it, and what it does. Commands are registered for everyone and
// decided when they run, by the rights Discord sends along.
type command struct {
	spec commandSpec
	// run does the work and returns what to say. It honours ctx.
	run func(*Bot, context.Context, *interaction) said
}

type commandSpec struct {
	Name        string       `json:"name"`
	Type        int          `json:"type"`
	Description string       `json:"description"`
	Options     []optionSpec `json:"options,omitempty"`
	// Contexts: in servers and in the bot's private chats.
	Contexts         []int `json:"contexts"`
	IntegrationTypes []int `json:"integration_types"`
}

type optionSpec struct {
	Type        int          `json:"type"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Required    bool         `json:"required"`
	Choices     []choiceSpec `json:"choices,omitempty"`
}

type choiceSpec struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// optionString is the option type of a text.
const optionString = 3

func slash(name, description string, options ...optionSpec) commandSpec {
	return commandSpec{
		Name: name, Type: 1, Description: description, Options: options,
		Contexts: []int{0, 1}, IntegrationTypes: []int{0},
	}
}

// commands are all slash commands. A new one is a file beside these and a line here.
func commands() []command {
	return []command{killCommand(), statusCommand(), helpCommand()}
}

// command runs a slash command.
func (b *Bot) command(ctx context.Context, i *interaction) {
	for _, c := range commands() {
		if c.spec.Name == i.data.Name {
			b.log.Info().Str("command", c.spec.Name).Str("user", i.actor.ID).Str("channel", i.channelID).Msg("command.run")
			i.reply.soon(ctx, func(ctx context.Context) said { return c.run(b, ctx, i) })
			return
		}
	}
	i.reply.say(ctx, privately("I don't know that command any more. Discord may take a while to forget it."))
}

// registerTimeout bounds the registration, which runs beside everything else.
const registerTimeout = 2 * time.Minute

// registerCommands tells Discord the commands when they changed since the last time. A failure is logged and tried again
// at the next start of a session; the bot works without.
func (b *Bot) registerCommands(ctx context.Context, application string) {
	if !b.registering.TryLock() {
		return
	}
	b.work.Go(func() {
		defer b.registering.Unlock()
		defer b.recovered("the registration of commands")
		ctx, cancel := context.WithTimeout(ctx, registerTimeout)
		defer cancel()
		if err := b.writeCommands(ctx, application); err != nil && ctx.Err() == nil {
			b.log.Error().Err(err).Msg("commands.register_failed")
		}
	})
}

func (b *Bot) writeCommands(ctx context.Context, application string) error {
	list := commands()
	specs := make([]commandSpec, len(list))
	for i, c := range list {
		specs[i] = c.spec
	}
	payload, err := json.Marshal(specs)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(application+"\n"), payload...))
	hash := hex.EncodeToString(sum[:])
	saved := b.registered
	if b.deps.Commands != nil && saved == "" {
		if saved, err = b.deps.Commands.Load(ctx); err != nil {
			b.log.Warn().Err(err).Msg("commands.hash_unreadable")
			saved = ""
		}
	}
	if saved == hash {
		b.registered = hash
		return nil
	}
	err = b.rest.do(ctx, call{
		route: route{method: http.MethodPut, template: "/applications/{application}/commands", major: application},
		path:  "/applications/" + url.PathEscape(application) + "/commands",
		body:  specs, repeatable: true,
	}, nil)
	if err != nil {
		return err
	}
	b.registered = hash
	b.log.Info().Int("commands", len(specs)).Msg("commands.registered")
	if b.deps.Commands == nil {
		return nil
	}
	return b.deps.Commands.Save(ctx, hash)
}
