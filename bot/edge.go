package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/turn"
)

var _ turn.Edge = (*Bot)(nil)

// backgroundTimeout bounds what nobody waits for.
const backgroundTimeout = 15 * time.Second

// History returns the newest messages of a channel, oldest first, at most limit and at most 100.
func (b *Bot) History(ctx context.Context, channelID string, limit int) ([]turn.Message, error) {
	got, err := b.rest.history(ctx, channelID, "", limit)
	if err != nil {
		return nil, fmt.Errorf("reading the history of a channel: %w", err)
	}
	t := b.translator()
	out := make([]turn.Message, 0, len(got))
	for i := range got {
		if m := &got[i]; m.readable() {
			m.GuildID = b.guilds.guildOf(channelID)
			out = append(out, t.message(m))
		}
	}
	return out, nil
}

// Notify says something that is no answer.
func (b *Bot) Notify(ctx context.Context, n turn.Notice) error {
	text := strings.TrimSpace(clean(n.Text))
	if text == "" {
		return nil
	}
	m := newMessage(clip(text, maxMessage)).replyingTo(n.ReplyToID)
	m.Flags = flagSuppressEmbeds | flagSilent
	p := port{bot: b, channelID: n.ChannelID}
	if _, err := b.rest.create(ctx, n.ChannelID, m); err != nil {
		return fmt.Errorf("sending a notice (%s): %w", n.Kind, p.noted(err))
	}
	return nil
}

// Hidden posts a notice in the guild's log channel. It doesn't wait. Notices of private places go nowhere: the log
// channel's readers may not be allowed to read there.
func (b *Bot) Hidden(ctx context.Context, n turn.HiddenNotice) {
	at := b.guilds.place(n.ChannelID, time.Now())
	if n.GuildID == "" || at.guildID != n.GuildID || at.hidden {
		return
	}
	to := b.logChannel(n.GuildID)
	if to == "" || to == n.ChannelID {
		return
	}
	m := newMessage(hiddenText(n))
	m.Flags = flagSuppressEmbeds | flagSilent
	b.background(ctx, func(ctx context.Context) {
		if _, err := b.rest.create(ctx, to, m); err != nil {
			b.log.Warn().Err(err).Str("guild", n.GuildID).Msg("hidden_notice.failed")
		}
	})
}

func hiddenText(n turn.HiddenNotice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** in <#%s>", inline(n.Title, 200), n.ChannelID)
	if n.Tool != "" {
		fmt.Fprintf(&b, ", tool %s", inline(n.Tool, 64))
	}
	fmt.Fprintf(&b, " (turn `%s`)", inline(string(n.TurnID), 64))
	if n.Detail != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```", clip(visible(clean(n.Detail)), 1200))
	}
	return b.String()
}

// Self is the identity the bot answers with; empty before the first READY.
func (b *Bot) Self() turn.Persona { return b.identity.persona() }

// Surroundings implements turn.Edge.
func (b *Bot) Surroundings(channelID string) turn.Surroundings {
	return b.guilds.surroundings(channelID)
}

// background runs f with a context of its own, unless too much runs already.
func (b *Bot) background(ctx context.Context, f func(context.Context)) {
	ctx = context.WithoutCancel(ctx)
	ok := b.behind.try(func() {
		defer b.recovered("a notice")
		ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
		defer cancel()
		f(ctx)
	})
	if !ok {
		b.log.Warn().Msg("background.dropped")
	}
}

func (b *Bot) logChannel(guildID string) string {
	if b.cfg.LogChannel == nil || guildID == "" {
		return ""
	}
	return b.cfg.LogChannel(guildID)
}

func (b *Bot) translator() translator { return translator{self: b.identity.id(), guilds: b.guilds} }
