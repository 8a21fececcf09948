package toolloop

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// deniedReason is what a plain denial begins with, in the transcript and in the sent copy.
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
func (b *Broker) park(c Card) <-chan Decision {
	p := &parked{card: c, answer: make(chan Decision, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[c.Token] = p
	return p.answer
}

func (b *Broker) forget(token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, token)
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
	now := time.Now()
	card := Card{
		Token: rand.Text(), TurnID: t.ID, ChannelID: t.ChannelID, GuildID: t.GuildID, OwnerID: t.UserID, CallKey: x.call.Key,
		Approver: x.tool.Approval, Tool: x.name, Arguments: string(x.args), ExpiresAt: now.Add(l.limits.ApprovalTimeout),
	}
	shown := sha256.Sum256(x.args)
	d, state := l.ask(x, card)
	if t.Cards != nil {
		ctx, cancel := final(x.ctx)
		t.Cards.Close(ctx, card.Token, state)
		cancel()
	}
	if out := l.stopCheck(x.ctx, t, x.call); out != nil {
		return out // a kill while a card is open is a stop, not a denial
	}
	switch {
	case state == CardApproved && sha256.Sum256(x.args) == shown:
		return l.gateAgain(x)
	case state == CardDenied && d.Reason != "":
		return l.fail(x, deniedReason+": "+d.Reason, store.CallReasonDenied)
	default:
		h := l.fail(x, deniedReason, store.CallReasonDenied)
		return Abort{Status: store.TurnDenied, Entry: &h.Entry}
	}
}

// gateAgain repeats the turn gate: the turn may have changed while the card waited.
func (l *Loop) gateAgain(x *execution) Outcome {
	if _, rej := l.registry.Resolve(x.name, x.turn.view(x.attempt.Provider.Name()), x.turn.Allow); rej != nil {
		return l.reject(x, rej)
	}
	x.started = time.Now()
	return nil
}

// ask shows the card and waits for an answer, the timeout or the end of the turn. Waiting stops the turn's clock. A
// card that cannot be shown, and any panic in showing it, counts as denied.
func (l *Loop) ask(x *execution, card Card) (d Decision, state CardState) {
	t := x.turn
	answer := l.broker.park(card)
	defer l.broker.forget(card.Token)
	if t.Clock != nil {
		t.Clock.Pause()
		defer t.Clock.Resume()
	}
	if !l.show(x, card) {
		return Decision{}, CardDenied
	}
	timeout := time.NewTimer(l.limits.ApprovalTimeout)
	defer timeout.Stop()
	select {
	case d = <-answer:
		if d.Approve {
			return d, CardApproved
		}
		return d, CardDenied
	case <-timeout.C:
		return Decision{}, CardExpired
	case <-x.ctx.Done():
		return Decision{}, CardStopped
	}
}

func (l *Loop) show(x *execution, card Card) (ok bool) {
	if x.turn.Cards == nil {
		l.log.Error().Str("turn", x.turn.ID).Str("tool", x.name).Msg("approval.nobody_to_ask")
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			l.log.Error().Str("turn", x.turn.ID).Str("tool", x.name).Interface("panic", p).Msg("approval.card_panicked")
			ok = false
		}
	}()
	l.notify(x.turn, ToolCall{
		Key: x.call.Key, Tool: x.name, Arguments: card.Arguments, Iteration: x.turn.iteration, Card: true,
	})
	if err := x.turn.Cards.Show(x.ctx, card); err != nil {
		l.log.Error().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Msg("approval.card_failed")
		return false
	}
	return true
}

// needsApproval reports whether a person must agree before a tool runs.
func needsApproval(t *registry.Tool) bool { return t != nil && t.Approval != registry.ApproverNone }
