package bot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/bot/delivery"
	"github.com/parleybot/parley/turn"
)

const (
	cardPrefix = "parley"
	// maxCustomID is Discord's limit.
	maxCustomID = 100
	// maxInlineArguments is how much of a call's arguments the card's text holds; longer ones are attached in full.
	maxInlineArguments = 1000
	maxExcerpt         = 600
	maxReason          = 500
	reasonField        = "reason"
)

// cardAction is what a button or form of a card asks for.
type cardAction string

const (
	actionApprove cardAction = "a"
	actionDeny    cardAction = "d"
	actionReason  cardAction = "r" // opens the form
	actionForm    cardAction = "f" // the form was sent
)

// cardID is all that a button carries: a fixed prefix, the card's random token and what to do.
func cardID(token string, a cardAction) string { return cardPrefix + ":" + token + ":" + string(a) }

func parseCardID(id string) (token string, a cardAction, ok bool) {
	parts := strings.Split(id, ":")
	if len(parts) != 3 || parts[0] != cardPrefix || parts[1] == "" {
		return "", "", false
	}
	return parts[1], cardAction(parts[2]), true
}

// ask shows a card and returns the id of its message.
func (b *Bot) ask(ctx context.Context, c turn.Card) (string, error) {
	if len(cardID(c.Token, actionApprove)) > maxCustomID || strings.Contains(c.Token, ":") || c.Token == "" {
		return "", errors.New("showing an approval card: its token cannot be carried by a button")
	}
	m, err := cardMessage(c)
	if err != nil {
		return "", err
	}
	b.cards.put(c)
	type result struct {
		id  string
		err error
	}
	shown := make(chan result, 1)
	if !b.behind.try(func() {
		id, err := b.show(context.WithoutCancel(ctx), c, m)
		shown <- result{id, err}
	}) {
		b.cards.drop(c.Token)
		return "", errors.New("showing an approval card: too much is being written already")
	}
	select {
	case r := <-shown:
		return r.id, r.err
	case <-ctx.Done():
		return "", fmt.Errorf("showing an approval card: %w", context.Cause(ctx))
	}
}

// closingTimeout bounds what closes a card after a click, also while the bot ends.
const closingTimeout = 3 * time.Second

// cardTimeout bounds the request that shows a card.
const cardTimeout = 30 * time.Second

// show sends a card. It outlives the end of the turn: a request that is under way may already have put the buttons into
// the channel, and only its answer tells which message they are on.
func (b *Bot) show(ctx context.Context, c turn.Card, m messageBody) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	id, err := b.rest.create(ctx, c.ChannelID, m)
	if err != nil {
		b.cards.drop(c.Token)
		return "", fmt.Errorf("showing an approval card: %w", err)
	}
	if o, ended := b.cards.shown(c.Token, id); ended {
		b.markClosed(ctx, o, o.ended)
	}
	return id, nil
}

// cardMessage is an open card with everything that will be run to be seen.
func cardMessage(c turn.Card) (messageBody, error) {
	text, long := cardText(c)
	m := newMessage(text)
	m.Flags = flagSuppressEmbeds
	buttons := []component{{
		Type: componentRow,
		Components: []component{
			{Type: componentButton, Style: buttonSuccess, Label: "Approve", CustomID: cardID(c.Token, actionApprove)},
			{Type: componentButton, Style: buttonDanger, Label: "Deny", CustomID: cardID(c.Token, actionDeny)},
			{Type: componentButton, Style: buttonSecondary, Label: "Deny with reason", CustomID: cardID(c.Token, actionReason)},
		},
	}}
	m.Components = &buttons
	if units(text) > maxMessage {
		return m, errors.New("showing an approval card: it does not fit a message")
	}
	if long {
		m = m.with(delivery.File{Name: "arguments.json", Data: []byte(c.Arguments)})
	}
	return m, nil
}

// cardText describes the call. long says that the arguments are too long for the text and belong into a file.
func cardText(c turn.Card) (text string, long bool) {
	who := fmt.Sprintf("<@%s> or a moderator", c.OwnerID)
	if c.Approver == turn.ApproverModerator {
		who = "a moderator"
	}
	shown := visible(c.Arguments)
	note := ""
	if long = units(shown) > maxInlineArguments; long {
		shown = clip(shown, maxExcerpt) + "…"
		note = "\nThe arguments are longer than this: all of them are in the attached file."
	}
	return fmt.Sprintf("🔐 **Approval needed**: %s wants to run **%s**. %s may decide, until <t:%d:t>.\n```json\n%s\n```%s",
		"the model", inline(c.Tool, 100), who, c.ExpiresAt.Unix(), shown, note), long
}

// closedCard is a card that ended: what it said, how it ended, no buttons. Its file stays.
func closedCard(c turn.Card, ending string) messageBody {
	text, _ := cardText(c)
	m := newMessage(text + "\n" + ending)
	m.Components = &[]component{}
	return m
}

func endingText(s turn.CardState) string {
	switch s {
	case turn.CardApproved:
		return "✅ Approved."
	case turn.CardDenied:
		return "⛔ Denied."
	case turn.CardExpired:
		return "⌛ Nobody decided in time: denied."
	case turn.CardStopped:
		return "🛑 The turn was stopped: nothing was run."
	}
	return "Closed."
}

// closeCard shows how a card ended, unless a click's handler shows it.
func (b *Bot) closeCard(ctx context.Context, token string, s turn.CardState) {
	if o, ok := b.cards.end(token, s); ok {
		b.markClosed(ctx, o, s)
	}
}

const withdrawnText = "⌛ No longer active: I was restarted before anybody decided, so nothing was run."

// Withdraw implements turn.Edge.
func (b *Bot) Withdraw(ctx context.Context, c turn.Card, messageID string) error {
	var err error
	if messageID == "" {
		if messageID, err = b.findCard(ctx, c); messageID == "" && err == nil {
			return nil // it was never shown
		}
	}
	if err == nil {
		err = b.rest.edit(ctx, c.ChannelID, messageID, closedCard(c, withdrawnText))
	}
	if errors.Is(err, delivery.ErrUnknownMessage) || unreachable(err) {
		return nil // nobody can press what is not there
	}
	return err
}

// findCard looks for a card among the newest messages of its channel, by its token; empty when it is not there.
func (b *Bot) findCard(ctx context.Context, c turn.Card) (messageID string, err error) {
	var messages []json.RawMessage
	err = b.rest.do(ctx, call{
		route: channelRoute(http.MethodGet, "/channels/{channel}/messages", c.ChannelID),
		path:  "/channels/" + url.PathEscape(c.ChannelID) + "/messages", query: url.Values{"limit": {strconv.Itoa(maxHistory)}}, repeatable: true,
	}, &messages)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		var found struct {
			ID string `json:"id"`
		}
		if bytes.Contains(m, []byte(cardID(c.Token, actionApprove))) && json.Unmarshal(m, &found) == nil {
			return found.ID, nil
		}
	}
	return "", nil
}

func (b *Bot) markClosed(ctx context.Context, o openCard, s turn.CardState) {
	if o.answered && (s == turn.CardApproved || s == turn.CardDenied) {
		return
	}
	if err := b.rest.edit(ctx, o.card.ChannelID, o.messageID, closedCard(o.card, endingText(s))); err != nil {
		b.log.Warn().Err(err).Msg("card.close_failed")
	}
}

// clicked handles a button.
func (b *Bot) clicked(ctx context.Context, i *interaction) {
	if id, ok := strings.CutPrefix(i.data.CustomID, memoryPrefix); ok {
		b.turned(ctx, i, id)
		return
	}
	if id, ok := strings.CutPrefix(i.data.CustomID, surePrefix); ok {
		b.answered(ctx, i, id)
		return
	}
	token, action, ok := parseCardID(i.data.CustomID)
	if !ok {
		i.reply.say(ctx, privately("That button is not mine any more."))
		return
	}
	card, ok := b.mayDecide(ctx, i, token)
	if !ok {
		return
	}
	switch action {
	case actionApprove:
		b.decide(ctx, i, card, turn.Decision{Approve: true, By: i.actor.ID})
	case actionDeny:
		b.decide(ctx, i, card, turn.Decision{By: i.actor.ID})
	case actionReason:
		f := form{title: "Deny with a reason", fields: []formField{{
			id: reasonField, label: "What should change?", placeholder: "The model reads this and goes on.", maxLength: maxReason, required: true,
		}}}
		err := i.reply.form(ctx, cardID(token, actionForm), f.title, f.rows()...)
		if err != nil {
			b.log.Warn().Err(err).Msg("card.form_failed")
		}
	case actionForm:
		fallthrough
	default:
		i.reply.say(ctx, privately("That button is not mine any more."))
	}
}

// submitted handles a form: a command's, or that of "deny with reason". Rights are checked again: they may have changed
// since the click.
func (b *Bot) submitted(ctx context.Context, i *interaction) {
	if id, ok := strings.CutPrefix(i.data.CustomID, formPrefix); ok {
		b.filled(ctx, i, id)
		return
	}
	token, action, ok := parseCardID(i.data.CustomID)
	if !ok || action != actionForm {
		i.reply.say(ctx, privately("That form is not mine any more."))
		return
	}
	card, ok := b.mayDecide(ctx, i, token)
	if !ok {
		return
	}
	reason := strings.TrimSpace(clip(i.field(reasonField), maxReason))
	b.decide(ctx, i, card, turn.Decision{Reason: reason, By: i.actor.ID})
}

// mayDecide finds the card and checks the rights of who clicked; it answers when it says no.
func (b *Bot) mayDecide(ctx context.Context, i *interaction, token string) (turn.Card, bool) {
	card, ok := b.turns.Card(token)
	if !ok || card.ChannelID != i.channelID {
		b.stale(ctx, i)
		return turn.Card{}, false
	}
	if v := authorise(i.attempt(approverNeed(card.Approver), card.OwnerID), b.cfg.Blocked); v != allowed {
		b.log.Info().Str("user", i.actor.ID).Str("tool", card.Tool).Msg("card.refused")
		i.reply.say(ctx, privately(string(v)))
		return turn.Card{}, false
	}
	return card, true
}

// stale answers a click on a card that nobody waits for any more and takes its buttons away.
func (b *Bot) stale(ctx context.Context, i *interaction) {
	i.reply.say(ctx, privately("This is no longer active."))
	if i.messageID == "" {
		return
	}
	m := messageBody{AllowedMentions: mentionNobody(), Components: &[]component{}}
	if err := b.rest.edit(ctx, i.channelID, i.messageID, m); err != nil {
		b.log.Debug().Err(err).Msg("card.strip_failed")
	}
}

// decide hands the decision to the turn; the first one wins.
func (b *Bot) decide(ctx context.Context, i *interaction, card turn.Card, d turn.Decision) {
	b.cards.answer(card.Token, true)
	if !b.turns.Approve(card.Token, d) {
		b.cards.answer(card.Token, false)
		i.reply.say(ctx, privately("That was already decided."))
		return
	}
	digest := sha256.Sum256([]byte(card.Arguments))
	b.log.Info().Str("turn", card.TurnID).Str("tool", card.Tool).Str("user", i.actor.ID).Bool("approved", d.Approve).
		Bool("with_reason", d.Reason != "").Str("arguments_sha256", hex.EncodeToString(digest[:8])).Msg("card.decided")
	ending := fmt.Sprintf("⛔ Denied by <@%s>.", i.actor.ID)
	switch {
	case d.Approve:
		ending = fmt.Sprintf("✅ Approved by <@%s>.", i.actor.ID)
	case d.Reason != "":
		ending = fmt.Sprintf("⛔ Denied by <@%s>: %s", i.actor.ID, inline(d.Reason, 300))
	}
	m := closedCard(card, ending)
	// The decision is made: a bot that is ending meanwhile must not leave buttons that look alive.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTimeout)
	defer cancel()
	err := i.reply.update(ctx, m)
	if err != nil && i.messageID != "" {
		err = b.rest.edit(ctx, card.ChannelID, i.messageID, m)
	}
	if err != nil {
		b.log.Warn().Err(err).Msg("card.close_failed")
	}
}
