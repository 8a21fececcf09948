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

// shown notes which message a card became.
func (c *cards) shown(token, messageID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.open[token]; ok {
		o.messageID = messageID
		c.open[token] = o
	}
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

// take removes a card.
func (c *cards) take(token string) (openCard, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.open[token]
	delete(c.open, token)
	return o, ok
}
