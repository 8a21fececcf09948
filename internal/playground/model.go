package playground

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Model is one model that can answer in a playground.
type Model struct {
	// ID names it to Config.Boot and to the page; each is there once.
	ID string
	// Name is what the page calls it, From where it comes from.
	Name, From string
	// Offline: it is the built-in one, which follows the tour and the fault menu.
	Offline bool
}

// switchWithin bounds how long a page waits for another model: the bot ends and starts again.
const switchWithin = readyWithin + 5*time.Second

// models is which model answers, and what pages wish for. Safe for concurrent use.
type models struct {
	all    []Model
	wishes chan *wish

	mu  sync.Mutex
	now int
}

// wish is a page's wish for another model. done is told how it went, once.
type wish struct {
	to, from int
	done     chan error
}

func newModels(all []Model) *models { return &models{all: all, wishes: make(chan *wish)} }

func (m *models) current() Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[m.now]
}

func (m *models) set(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = n
}

// choose switches to a model and returns when it answers, or why it does not; then the one before answers on.
func (m *models) choose(ctx context.Context, id string) error {
	to := slices.IndexFunc(m.all, func(x Model) bool { return x.ID == id })
	if to < 0 {
		return fmt.Errorf("there is no model %q here", id)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, switchWithin, errors.New("the bot is still starting"))
	defer cancel()
	m.mu.Lock()
	w := &wish{to: to, from: m.now, done: make(chan error, 1)}
	m.mu.Unlock()
	if w.to == w.from {
		return nil
	}
	select {
	case m.wishes <- w:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// chooseModel makes another model answer from now on. The bot is started again for that, with what it remembers: it is
// then exactly the bot that MODEL in its environment would have made.
func chooseModel(ctx context.Context, p *Playground, _ resident, r request) (any, error) {
	return nil, p.models.choose(ctx, r.Name)
}

// playAll plays the model that answers now, and each that is wished for after it, until ctx ends.
func (p *Playground) playAll(ctx context.Context, ready func()) error {
	var asked *wish
	up := func() {
		p.feed.publish(note{kind: noteWorld}) // pages say who answers
		if asked != nil {
			asked.done <- nil
			asked = nil
		}
		if ready != nil {
			ready()
			ready = nil
		}
	}
	for {
		next, err := p.play(ctx, up)
		switch {
		case err != nil && asked != nil && next == nil && ctx.Err() == nil:
			p.models.set(asked.from)
			asked.done <- err
			asked = nil
			continue
		case err != nil && next != nil:
			next.done <- err
			return err
		case err != nil || next == nil:
			return err
		}
		p.models.set(next.to)
		asked = next
	}
}

// play runs one bot from its start to its end. It returns the wish for which it ended, if it did.
func (p *Playground) play(ctx context.Context, up func()) (*wish, error) {
	bot, err := p.cfg.Boot(ctx, Setup{
		DiscordAPI: p.town.sim.URL(), Token: p.town.world().Token(), Observer: p.feed, Model: p.models.current().ID,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the bot: %w", err)
	}
	playing, leave := context.WithCancel(ctx)
	defer leave()
	// Whoever waits for the bot waits for this; a bot that hangs is given up on, and its process ends.
	ended := make(chan error, 1)
	go func() { ended <- bot.Run(playing) }()
	late := time.NewTimer(readyWithin)
	defer late.Stop()
	select {
	case <-bot.Ready():
	case err := <-ended:
		return nil, botEnded(ctx, err)
	case <-ctx.Done():
		return nil, waitForEnd(ctx, ended, stopWithin)
	case <-late.C:
		leave()
		return nil, errors.Join(fmt.Errorf("the bot was not ready after %s", readyWithin), waitForEnd(playing, ended, stopWithin))
	}
	up()
	select {
	case err := <-ended:
		return nil, botEnded(ctx, err)
	case <-ctx.Done():
		return nil, waitForEnd(ctx, ended, stopWithin)
	case w := <-p.models.wishes:
		leave()
		return w, waitForEnd(playing, ended, readyWithin) // the process goes on, so a slow machine may take its time
	}
}
