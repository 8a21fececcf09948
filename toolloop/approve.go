package toolloop

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// deniedReason is what the reason of every denial begins with, in the transcript and in the sent copy.
const deniedReason = "denied by user"

// Decision is a person's answer to a card. A denial with a reason lets the turn go on; the model reads the reason.
type Decision struct {
	Approve bool
	Reason  string
	By      string
}

// Broker holds the open approval cards of a process. It is safe for concurrent use.
type Broker struct {
	mu   sync.Mutex
	open map[string]*parked
}

type parked struct {
	card   Card
	answer chan Decision
}

// NewBroker returns a broker without cards.
func NewBroker() *Broker { return &Broker{open: map[string]*parked{}} }

// park registers a card before anyone can see it, so that an answer from inside the showing finds it.
func (b *Broker) park(c Card) *parked {
	p := &parked{card: c, answer: make(chan Decision, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[c.Token] = p
	return p
}

// withdraw closes a card to further answers. One that was taken already counts: whoever gave it was told so.
func (b *Broker) withdraw(p *parked) (Decision, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, p.card.Token)
	select {
	case d := <-p.answer:
		return d, true
	default:
		return Decision{}, false
	}
}

// Card returns an open card, for checking rights before deciding.
func (b *Broker) Card(token string) (Card, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.open[token]
	if !ok {
		return Card{}, false
	}
	return p.card, true
}

// Decide answers a card. The first decision counts; an unknown token changes nothing and gives false.
func (b *Broker) Decide(token string, d Decision) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.open[token]
	if !ok {
		return false
	}
	delete(b.open, token)
	p.answer <- d // buffered, and sent once
	return true
}

// approve asks a person and waits. It returns nil when the call was approved and may still run.
func (l *Loop) approve(x *execution) Outcome {
	t := x.turn
	card := Card{
		Token: rand.Text(), TurnID: t.ID, ChannelID: t.ChannelID, GuildID: t.GuildID, OwnerID: t.UserID, CallKey: x.call.Key,
		Approver: x.tool.Approval, Tool: x.name, Arguments: string(x.args), ExpiresAt: time.Now().Add(l.limits.ApprovalTimeout),
	}
	shown := sha256.Sum256(x.args)
	x.approval = &Approval{Approver: card.Approver, Asked: time.Now()}
	d, state := l.ask(x, card)
	x.approval.Decided, x.approval.State, x.approval.By, x.approval.Reason = time.Now(), state, d.By, d.Reason
	defer l.closeCard(x, card, state, d)
	if out := l.stopCheck(x); out != nil {
		return x.refusedAt(GateApproval, out) // a kill while a card is open is a stop, not a denial
	}
	if state == CardApproved && sha256.Sum256(x.args) == shown {
		x.passed(GateApproval, "")
		return l.gateAgain(x)
	}
	return x.refusedAt(GateApproval, l.refusedByCard(x, d, state))
}

// refusedByCard ends a call that nobody approved.
func (l *Loop) refusedByCard(x *execution, d Decision, state CardState) Outcome {
	switch state {
	case CardApproved:
		return l.deny(x, " (the arguments changed after they were shown)")
	case CardDenied:
		if d.Reason != "" {
			return l.refuse(x, deniedReason+": "+d.Reason, store.CallReasonDenied)
		}
		return l.deny(x, "")
	case cardFailed:
		return l.deny(x, " (nobody could be asked)")
	case CardExpired, CardStopped:
		return l.deny(x, " (nobody answered in time)")
	}
	return l.deny(x, "")
}

// deny ends the turn and still records that it was asked: what follows in the channel must know of it.
func (l *Loop) deny(x *execution, why string) Outcome {
	h := l.refuse(x, deniedReason+why, store.CallReasonDenied)
	return Abort{Status: store.TurnDenied, Entry: &h.Entry}
}

// gateAgain repeats the turn gate: the turn may have changed while the card waited.
func (l *Loop) gateAgain(x *execution) Outcome {
	if _, rej := l.registry.Resolve(x.name, x.turn.view(x.attempt.Provider.Name()), x.turn.Allow); rej != nil {
		return x.refusedAt(GateTurn, l.reject(x, rej))
	}
	x.started = time.Now()
	return nil
}

// ask shows the card and waits for an answer, the timeout or the end of the turn; the timeout covers the showing, so no
// wait is without an end. Waiting stops the turn's clock.
func (l *Loop) ask(x *execution, card Card) (Decision, CardState) {
	if c := x.turn.Clock; c != nil {
		c.Pause()
		defer c.Resume()
	}
	ctx, cancel := context.WithDeadline(x.ctx, card.ExpiresAt)
	defer cancel()
	p := l.broker.park(card)
	if !l.show(ctx, x, card) {
		l.broker.withdraw(p)
		if x.ctx.Err() != nil { // it may be visible all the same, and says what ended it
			return Decision{}, CardStopped
		}
		return Decision{}, cardFailed
	}
	var d Decision
	select {
	case d = <-p.answer:
	case <-ctx.Done():
		var answered bool
		switch d, answered = l.broker.withdraw(p); {
		case x.ctx.Err() != nil:
			return Decision{}, CardStopped
		case !answered:
			return Decision{}, CardExpired
		}
	}
	l.log.Info().Str("turn", x.turn.ID).Str("tool", x.name).Str("by", d.By).Bool("approved", d.Approve).Msg("approval.decided")
	if d.Approve {
		return d, CardApproved
	}
	return d, CardDenied
}

// show makes the card visible. An error or a panic means that nobody can answer it.
func (l *Loop) show(ctx context.Context, x *execution, card Card) bool {
	t := x.turn
	if t.Cards == nil {
		l.log.Error().Str("turn", t.ID).Str("tool", x.name).Msg("approval.nobody_to_ask")
		return false
	}
	l.notify(t, ToolCall{Key: x.call.Key, Tool: x.name, Arguments: card.Arguments, Iteration: t.iteration, Card: true})
	err := fmt.Errorf("showing the card panicked")
	l.guard(t, "card", func() { err = t.Cards.Show(ctx, card) })
	if err != nil && x.ctx.Err() == nil {
		l.log.Error().Err(err).Str("turn", t.ID).Str("tool", x.name).Msg("approval.card_failed")
	}
	return err == nil
}

// closeCard shows how the card ended. After a stop it gets half of what all final writes get, so that a slow edit of a
// message doesn't cost the journal its rows.
func (l *Loop) closeCard(x *execution, card Card, state CardState, d Decision) {
	if x.turn.Cards == nil {
		return
	}
	if state == cardFailed {
		state = CardDenied
	}
	_ = x.write(func(ctx context.Context) error {
		if x.ctx.Err() != nil {
			half, cancel := context.WithTimeout(ctx, stopGrace/2)
			defer cancel()
			ctx = half
		}
		l.guard(x.turn, "card", func() { x.turn.Cards.Close(ctx, card.Token, state, d) })
		return nil
	})
}

// needsApproval reports whether a person must agree before a tool runs.
func needsApproval(t *registry.Tool) bool { return t != nil && t.Approval != registry.ApproverNone }
