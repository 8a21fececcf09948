package bot

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

const (
	// surePrefix begins the id of a button that confirms or takes back; the rest is a random token and the answer.
	surePrefix = "sure:"
	sureYes    = "y"
	sureNo     = "n"
	// sureLife is how long a question waits for its answer, maxSure how many wait at once.
	sureLife = 5 * time.Minute
	maxSure  = 1000
	// noLongerActive answers a button or form that nobody waits for any more.
	noLongerActive = "This is no longer active. Nothing was done; use the command again if you still want it."
)

// questions are what members are asked before something that can't be taken back. Safe for concurrent use.
type questions struct {
	mu   sync.Mutex
	open map[string]question
}

type question struct {
	userID string
	until  time.Time
	// yes does it.
	yes func(*Bot, context.Context, *interaction) said
}

func newQuestions() *questions { return &questions{open: map[string]question{}} }

// ask keeps a question and returns its token.
func (q *questions) ask(x question, now time.Time) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	for token, other := range q.open {
		// Asking again takes the earlier question back: of two that look alike only the newest may be answered.
		if now.After(other.until) || other.userID == x.userID {
			delete(q.open, token)
		}
	}
	if len(q.open) >= maxSure {
		for token := range q.open {
			delete(q.open, token)
			break
		}
	}
	token := rand.Text()
	q.open[token] = x
	return token
}

// take ends a question of this member, once and before it expires. Somebody else's answer leaves it open.
func (q *questions) take(token, userID string, now time.Time) (x question, ok, others bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x, ok = q.open[token]
	if ok && x.userID != userID {
		return question{}, false, true
	}
	delete(q.open, token)
	return x, ok && now.Before(x.until), false
}

// sure asks the actor before it is done. The answer's buttons work for them alone, once, for some minutes.
func (b *Bot) sure(i *interaction, text, yes string, do func(*Bot, context.Context, *interaction) said) said {
	token := b.questions.ask(question{userID: i.actor.ID, until: time.Now().Add(sureLife), yes: do}, time.Now())
	s := privately(text)
	s.message.Components = &[]component{{Type: componentRow, Components: []component{
		{Type: componentButton, Style: buttonDanger, Label: yes, CustomID: surePrefix + token + ":" + sureYes},
		{Type: componentButton, Style: buttonSecondary, Label: "No", CustomID: surePrefix + token + ":" + sureNo},
	}}}
	return s
}

// answered handles the answer to a question.
func (b *Bot) answered(ctx context.Context, i *interaction, id string) {
	token, answer, _ := strings.Cut(id, ":")
	x, ok, others := b.questions.take(token, i.actor.ID, time.Now())
	switch {
	case others:
		i.reply.say(ctx, privately("That question was not for you."))
	case !ok:
		i.reply.change(ctx, func(context.Context) said { return privately(noLongerActive) })
	case answer == sureYes:
		i.reply.change(ctx, func(ctx context.Context) said { return x.yes(b, ctx, i) })
	default:
		i.reply.change(ctx, func(context.Context) said { return privately("Nothing was done.") })
	}
}
