package bot

import (
	"context"
	"encoding/json"
	"fmt"
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
	kind      int
	guildID   string
	channelID string
	// messageID is the message whose button was pressed.
	messageID string
	actor     turn.Actor
	rights    permissions
	data      interactionData
	reply     *reply
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
	Value json.RawMessage `json:"value"`
}

// option is the text value of a command's option, empty when it was not given.
func (i *interaction) option(name string) string {
	for _, o := range i.data.Options {
		var s string
		if o.Name == name && json.Unmarshal(o.Value, &s) == nil {
			return clean(s)
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
	i := &interaction{kind: w.Type, guildID: w.GuildID, channelID: w.ChannelID}
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
		// None of our options has completions; an empty list at once is better than a spinner.
		i.reply.choices(ctx)
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
