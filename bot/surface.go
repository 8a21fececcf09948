package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/parleybot/parley/bot/delivery"
	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// surface shows one turn. Its calls come from one goroutine at a time.
type surface struct {
	bot     *Bot
	opening turn.Opening
	stream  *delivery.Streamer
	// gone: the channel was deleted or may not be seen any more.
	gone atomic.Bool
}

var (
	_ turn.Surface      = (*surface)(nil)
	_ turn.Reachability = (*surface)(nil)
)

// Open returns the surface of a turn; typing begins at once.
func (b *Bot) Open(o turn.Opening) turn.Surface {
	mode := delivery.ModeEdit
	if b.cfg.Mode != nil {
		mode = b.cfg.Mode(o.GuildID)
	}
	// The delivery ends with Finish, which every turn calls exactly once, and with nothing else: a turn's own context ends
	// before its last words are out.
	s := &surface{bot: b, opening: o}
	s.stream = delivery.Start(context.Background(), delivery.Config{
		Port: port{bot: b, channelID: o.ChannelID}, Mode: mode, ReplyTo: o.ReplyToID, PingReplied: true,
		Lost: func(err error) {
			s.gone.Store(unreachable(err))
			b.log.Warn().Err(err).Str("turn", string(o.TurnID)).Str("channel", o.ChannelID).Msg("surface.lost")
		},
	})
	return s
}

// Unreachable reports that nothing more can be delivered.
func (s *surface) Unreachable() bool { return s.gone.Load() }

// unreachable tells a channel that is gone from one that merely refuses to be written to, which may clear by itself.
func unreachable(err error) bool {
	if errors.Is(err, delivery.ErrUnknownChannel) {
		return true
	}
	refused, ok := errors.AsType[*APIError](err)
	return ok && refused.Code == codeMissingAccess
}

// Text appends visible text.
func (s *surface) Text(delta string) { s.stream.Append(clean(delta)) }

// Boundary ends the current iteration's text.
func (s *surface) Boundary() { s.stream.Boundary() }

// Progress shows the one quiet line.
func (s *surface) Progress(p turn.Progress) { s.stream.Progress(progressText(p)) }

func progressText(p turn.Progress) string {
	var parts []string
	switch {
	case p.Waiting:
		parts = append(parts, "waiting for an approval")
	case p.Tool != "":
		parts = append(parts, "running "+delivery.Name(p.Tool, 64))
	}
	if p.Count > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%d done", p.Count))
	}
	if p.KillHint {
		parts = append(parts, "`/kill` stops me")
	}
	return strings.Join(parts, " · ")
}

// Retract removes the current iteration's text.
func (s *surface) Retract(ctx context.Context) {
	if err := s.stream.Retract(ctx); err != nil {
		s.bot.log.Warn().Err(err).Str("turn", string(s.opening.TurnID)).Msg("surface.retract_failed")
	}
}

// Ask shows an approval card, below the text that came before it.
func (s *surface) Ask(ctx context.Context, c turn.Card) (string, error) {
	if err := s.stream.Flush(ctx); err != nil {
		return "", fmt.Errorf("showing an approval card: %w", err)
	}
	return s.bot.ask(ctx, c)
}

// CloseCard shows how a card ended.
func (s *surface) CloseCard(ctx context.Context, token string, state turn.CardState) {
	s.bot.closeCard(ctx, token, state)
}

// Finish delivers what is left, or marks what stays unfinished.
func (s *surface) Finish(ctx context.Context, e turn.Ending) turn.Delivered {
	var err error
	state := unfinished(e)
	if state == "" {
		// Only an answer that could not be delivered in full is left to be marked then.
		err, state = s.stream.Finish(ctx), "not delivered in full"
	}
	if closeErr := s.stream.Close(ctx, state); err == nil {
		err = closeErr
	}
	got := s.stream.Delivered()
	if err != nil && unreachable(err) {
		err = fmt.Errorf("%w: %w", turn.ErrUnreachable, err)
	}
	out := turn.Delivered{Text: got.Text, MessageIDs: got.IDs, Err: err}
	s.afterwards(ctx, e, len(got.IDs) > 0)
	return out
}

// afterwards sends what stands below an answer.
func (s *surface) afterwards(ctx context.Context, e turn.Ending, answered bool) {
	told := s.bot.stops.tells(s.opening, e.Cause)
	if public := strings.TrimSpace(clean(e.Public)); public != "" && !told {
		m := newMessage(clip(public, maxMessage))
		if !answered {
			m = m.replyingTo(s.opening.ReplyToID)
		}
		m.Flags = flagSuppressEmbeds
		s.send(ctx, m, "surface.public_failed")
	}
	if e.StickerID != "" && e.Status == store.TurnCompleted {
		m := messageBody{AllowedMentions: mentionNobody(), StickerIDs: []string{e.StickerID}}
		s.send(ctx, m, "surface.sticker_failed")
	}
}

func (s *surface) send(ctx context.Context, m messageBody, event string) {
	p := port{bot: s.bot, channelID: s.opening.ChannelID}
	if _, err := s.bot.rest.create(ctx, s.opening.ChannelID, m); p.noted(err) != nil {
		s.bot.log.Warn().Err(err).Str("turn", string(s.opening.TurnID)).Msg(event)
	}
}

// unfinished is the mark below the text of a turn that was ended from outside; empty when the text is to be delivered in
// full. A stop stops the words too.
func unfinished(e turn.Ending) string {
	switch e.Cause.(type) {
	case abort.Killed, abort.Stopped:
		return "stopped"
	case abort.Shutdown:
		return "interrupted by a restart"
	case abort.TurnTimeout, abort.Gone, nil:
	}
	if e.Status == store.TurnFollowUpInterrupt {
		return "interrupted by the next message"
	}
	return ""
}
