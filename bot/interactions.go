package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/turn"
)

const (
	// maxInteractions is how many interactions are handled at once.
	maxInteractions = 128
	// interactionLife bounds one handler: Discord's token lives for 15 minutes.
	interactionLife = 14 * time.Minute
)

// interaction is something a person did with the bot's commands, buttons or forms.
type interaction struct {
	id        string
	kind      int
	guildID   string
	channelID string
	// messageID is the message whose button was pressed.
	messageID string
	actor     turn.Actor
	rights    permissions
	data      interactionData
	// sub is the subcommand, empty when there is none; data.Options are its options then.
	sub string
	// key is what a form's maker gave it to bring back.
	key   string
	reply *reply
}

type interactionData struct {
	Name     string          `json:"name"`
	Options  []commandOption `json:"options"`
	CustomID string          `json:"custom_id"`
	// Components are the rows of a form.
	Components []struct {
		Components []struct {
			CustomID string `json:"custom_id"`
			Value    string `json:"value"`
		} `json:"components"`
	} `json:"components"`
}

type commandOption struct {
	Name  string          `json:"name"`
	Type  int             `json:"type"`
	Value json.RawMessage `json:"value"`
	// Focused: it is this option that is being typed.
	Focused bool            `json:"focused"`
	Options []commandOption `json:"options"`
}

func (o commandOption) text() string {
	var s string
	if json.Unmarshal(o.Value, &s) != nil {
		return ""
	}
	return clean(s)
}

// option is the text, choice or id that was given for an option, empty when it was not given.
func (i *interaction) option(name string) string {
	for _, o := range i.data.Options {
		if o.Name == name {
			return o.text()
		}
	}
	return ""
}

// number is the whole number that was given for an option.
func (i *interaction) number(name string) (n int, given bool) {
	for _, o := range i.data.Options {
		if o.Name == name {
			return n, json.Unmarshal(o.Value, &n) == nil
		}
	}
	return 0, false
}

// typed is what has been typed of the option that asks for completions.
func (i *interaction) typed() string {
	for _, o := range i.data.Options {
		if o.Focused {
			return strings.TrimSpace(o.text())
		}
	}
	return ""
}

// field is the first form field's value.
func (i *interaction) field(id string) string {
	for _, row := range i.data.Components {
		for _, c := range row.Components {
			if c.CustomID == id {
				return clean(c.Value)
			}
		}
	}
	return ""
}

// attempt is the interaction as authorise judges it.
func (i *interaction) attempt(n need, ownerID string) attempt {
	return attempt{guildID: i.guildID, channelID: i.channelID, userID: i.actor.ID, rights: i.rights, need: n, ownerID: ownerID}
}

// onInteraction starts a handler; it never waits.
func (b *Bot) onInteraction(ctx context.Context, e event) error {
	w, err := read[wireInteraction](e)
	if err != nil {
		return err
	}
	i, err := b.interaction(w)
	if err != nil {
		return err
	}
	ok := b.interacting.try(func() {
		ctx, cancel := context.WithTimeout(ctx, interactionLife)
		defer cancel()
		defer b.recovered("an interaction")
		b.interact(ctx, i)
	})
	if !ok {
		b.log.Warn().Int("kind", w.Type).Msg("interaction.dropped")
	}
	return nil
}

func (b *Bot) interaction(w wireInteraction) (*interaction, error) {
	i := &interaction{id: w.ID, kind: w.Type, guildID: w.GuildID, channelID: w.ChannelID}
	user := w.User
	if w.Member != nil && w.Member.User != nil {
		user = w.Member.User
		i.rights = parseBits(w.Member.Permissions).effective()
	}
	if w.GuildID == "" {
		i.rights = 0
	}
	who := person(user, w.Member)
	i.actor = turn.Actor{
		ID: who.ID, Name: who.Name,
		ManageMessages: i.rights.has(permManageMessages), ManageGuild: i.rights.has(permManageGuild),
	}
	if w.Message != nil {
		i.messageID = w.Message.ID
	}
	if len(w.Data) > 0 {
		// Options of commands that are not ours may have other shapes.
		if err := json.Unmarshal(w.Data, &i.data); err != nil {
			return nil, fmt.Errorf("reading the interaction's data: %w", err)
		}
	}
	if o := i.data.Options; len(o) == 1 && o[0].Type == optionSubcommand {
		i.sub, i.data.Options = o[0].Name, o[0].Options
	}
	i.reply = &reply{
		rest: b.rest, log: b.log, id: w.ID, token: w.Token, application: w.ApplicationID,
		channelID: w.ChannelID, began: time.Now(),
	}
	return i, nil
}

// interact routes an interaction. The block list is asked first and alike for every kind.
func (b *Bot) interact(ctx context.Context, i *interaction) {
	v := authorise(i.attempt(needNothing, ""), b.cfg.Blocked)
	switch i.kind {
	case interactionAutocomplete:
		b.completions(ctx, i, v)
	case interactionCommand, interactionComponent, interactionModal:
		if v != allowed {
			i.reply.say(ctx, privately(string(v)))
			return
		}
		switch i.kind {
		case interactionCommand:
			b.command(ctx, i)
		case interactionComponent:
			b.clicked(ctx, i)
		case interactionModal:
			b.submitted(ctx, i)
		}
	}
}
