package bot

import (
	"sync"
	"time"

	"github.com/parleybot/parley/turn"
)

// maxCards bounds the cards we remember; one is open per running turn at most.
const maxCards = 2000

// cards remembers where the open approval cards are. Safe for concurrent use.
type cards struct {
	mu   sync.Mutex
	open map[string]openCard
}

type openCard struct {
	card      turn.Card
	messageID string
	// answered: a click was taken, and whoever took it shows the end on the card.
	answered bool
	// ended is how the card ended while the request that shows it was still under way; empty before that.
	ended turn.CardState
}

func newCards() *cards { return &cards{open: map[string]openCard{}} }

// put comes before the card is shown: it may be clicked before the request that shows it has returned.
func (c *cards) put(card turn.Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxCards {
		now := time.Now()
		for token, o := range c.open {
			if now.After(o.card.ExpiresAt) {
				delete(c.open, token)
			}
		}
	}
	c.open[card.Token] = openCard{card: card}
}

// shown notes which message a card became. When the card has ended meanwhile it is given back, to be closed.
func (c *cards) shown(token, messageID string) (openCard, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.open[token]
	if !ok {
		return openCard{}, false
	}
	o.messageID = messageID
	if o.ended != "" {
		delete(c.open, token)
		return o, true
	}
	c.open[token] = o
	return openCard{}, false
}

// end removes a card that is shown. Of one that is about to be shown it notes how it ended, and gives false.
func (c *cards) end(token string, s turn.CardState) (openCard, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.open[token]
	if !ok {
		return openCard{}, false
	}
	if o.messageID == "" {
		o.ended = s
		c.open[token] = o
		return openCard{}, false
	}
	delete(c.open, token)
	return o, true
}

// answer marks a card as answered or, when the answer came too late, as not.
func (c *cards) answer(token string, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.open[token]; ok {
		o.answered = answered
		c.open[token] = o
	}
}

// drop forgets a card that never became a message.
func (c *cards) drop(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, token)
}

// waiting are the turns that wait for somebody to decide.
func (c *cards) waiting() map[turn.ID]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns := map[turn.ID]bool{}
	for _, o := range c.open {
		if !o.answered && o.ended == "" {
			turns[turn.ID(o.card.TurnID)] = true
		}
	}
	return turns
}
