package bot

import (
	"context"
	"errors"
	"time"

	"github.com/parleybot/parley/bot/delivery"
)

// port lets a delivery write into one channel.
type port struct {
	bot       *Bot
	channelID string
}

var _ delivery.Port = port{}

// Create sends a message.
func (p port) Create(ctx context.Context, m delivery.Outgoing) (string, error) {
	body := newMessage(m.Content).with(m.Files...).replyingTo(m.ReplyTo)
	body.AllowedMentions.RepliedUser = m.ReplyTo != "" && m.PingReplied
	body.Nonce = m.Nonce
	body.Flags = flagSuppressEmbeds
	if m.Silent {
		body.Flags |= flagSilent
	}
	id, err := p.bot.rest.create(ctx, p.channelID, body)
	return id, p.noted(err)
}

// Edit replaces a message's text and adds files.
func (p port) Edit(ctx context.Context, id string, m delivery.Outgoing) error {
	return p.noted(p.bot.rest.edit(ctx, p.channelID, id, newMessage(m.Content).with(m.Files...)))
}

// Delete removes a message.
func (p port) Delete(ctx context.Context, id string) error {
	return p.bot.rest.remove(ctx, p.channelID, id)
}

// Typing shows the typing indicator.
func (p port) Typing(ctx context.Context) error { return p.bot.rest.typing(ctx, p.channelID) }

// noted remembers channels in which the bot may not write.
func (p port) noted(err error) error {
	if errors.Is(err, delivery.ErrForbidden) {
		p.bot.refusals.note(p.channelID, time.Now())
	}
	return err
}
