package bot

import (
	"context"
	"errors"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// Settings are what members and moderators look at and change with commands. The methods may wait for a store, honour ctx,
// and check the actor's rights once more; errors that people may read are *turn.Refusal.
type Settings interface {
	Tools(ctx context.Context, p turn.Place) (turn.ToolsReport, error)
	SwitchTool(ctx context.Context, p turn.Place, s turn.ToolSwitch) (name string, err error)
	Clear(ctx context.Context, p turn.Place) error
	Model(ctx context.Context, p turn.Place) (turn.ChannelModel, error)
	SetModel(ctx context.Context, p turn.Place, name string) error
	SetSystem(ctx context.Context, p turn.Place, text string) error
	Cost(ctx context.Context, p turn.Place, of turn.CostScope) (turn.CostReport, error)

	GuildSettings(ctx context.Context, p turn.Place) (turn.GuildSettings, error)
	ChannelSettings(ctx context.Context, p turn.Place) (turn.ChannelSettings, error)
	MemberSettings(ctx context.Context, p turn.Place) (turn.MemberSettings, error)

	SetMemberDeliberate(ctx context.Context, p turn.Place, mode turn.DeliberateMode) error
	SetGuildDeliberate(ctx context.Context, p turn.Place, mode turn.DeliberateMode) error
	SetContextTurns(ctx context.Context, p turn.Place, n int) error
	Targets() []string
	SetToolTriggers(ctx context.Context, p turn.Place, target string, triggers []string) error

	SetTriggerWords(ctx context.Context, p turn.Place, words []string) ([]string, error)
	SetAlwaysOn(ctx context.Context, p turn.Place, channelID string, enabled bool) error
	SetLogChannel(ctx context.Context, p turn.Place, channelID string) error
	AuditLog(ctx context.Context, p turn.Place) ([]store.AuditEntry, error)
	SetGuildSwitch(ctx context.Context, p turn.Place, s turn.GuildSwitch, enabled bool) error
}

// place is where the interaction came from, and from whom.
func (i *interaction) place() turn.Place {
	return turn.Place{GuildID: i.guildID, ChannelID: i.channelID, Actor: i.actor, MessageID: i.id}
}

// refused tells the actor why something wasn't done: the problem and the remedy when they are known, else an id under
// which the log has the details.
func (b *Bot) refused(i *interaction, err error) said {
	r, known := errors.AsType[*turn.Refusal](err)
	if !known || r.Err != nil {
		b.log.Warn().Err(err).Str("command", i.data.Name).Str("interaction", i.id).Msg("command.failed")
	}
	if !known {
		return privately("Something went wrong on my side, and it was logged (id " + i.id + "). Please try again in a minute.")
	}
	return privately(r.Error())
}
