package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// pulseWait is how long a server may take to answer a question that costs it nothing.
	pulseWait = 2 * time.Second
	// pulseEvery is how long a silent server is left alone between two questions.
	pulseEvery = time.Second
	// pulseLong is the time from which on a request may try a silent server all the same: nobody waits for its answer.
	pulseLong = 10 * time.Second
)

// Pulse tells a server that takes requests and says nothing, as behind a broken network, from one that is slow. Each request to
// a silent one holds its turn until its time is up, and a turn makes several. With a Pulse that happens to the first only: the
// later ones fail at once, as when the server is away, until it answers again. A nil Pulse lets everybody ask. It is safe for
// concurrent use.
type Pulse struct {
	name string
	ask  func(ctx context.Context) error
	told func(silent bool)

	life context.Context //nolint:containedctx // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	known  chan struct{} // open while it is unknown whether the server is silent
	asking bool
	silent bool
}

// NewPulse returns the pulse of the server that people know by a name. ask asks it on a connection of its own and fails only if
// it gives no answer; told is told when it falls silent and when it answers again, and may be nil. The caller closes the pulse.
func NewPulse(ctx context.Context, name string, ask func(ctx context.Context) error, told func(silent bool)) *Pulse {
	p := &Pulse{name: name, ask: ask, told: told}
	p.life, p.end = context.WithCancel(context.WithoutCancel(ctx))
	return p
}

// Ready says whether a request may be made, with ErrUnavailable as long as the server is silent. It waits while that is being
// found out, at most as long as ctx.
func (p *Pulse) Ready(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	known, silent := p.known, p.silent
	p.mu.Unlock()
	if known == nil && !silent {
		return nil
	}
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > pulseLong {
		return nil
	}
	if known != nil {
		select {
		case <-known:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p.mu.Lock()
		silent = p.silent
		p.mu.Unlock()
	}
	if silent {
		return fmt.Errorf("store %s: the server takes requests and says nothing: %w", p.name, ErrUnavailable)
	}
	return nil
}

// Missed says that a request got no answer in its time.
func (p *Pulse) Missed() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking || p.life.Err() != nil {
		return
	}
	p.asking, p.known = true, make(chan struct{})
	p.work.Go(p.listen)
}

// listen asks until the server answers.
func (p *Pulse) listen() {
	for p.asks() {
		again := time.NewTimer(pulseEvery)
		select {
		case <-again.C:
		case <-p.life.Done():
			again.Stop()
		}
	}
}

// asks asks once, and says whether the server is silent.
func (p *Pulse) asks() bool {
	ctx, cancel := context.WithTimeout(p.life, pulseWait)
	defer cancel()
	silent := p.ask(ctx) != nil && p.life.Err() == nil
	p.mu.Lock()
	changed := silent != p.silent
	p.silent, p.asking = silent, silent
	if p.known != nil {
		close(p.known)
		p.known = nil
	}
	p.mu.Unlock()
	if changed && p.told != nil {
		p.told(silent)
	}
	return silent
}

// Close stops asking.
func (p *Pulse) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.end() // under the lock, so that nobody begins to ask after it
	p.mu.Unlock()
	p.work.Wait()
}
