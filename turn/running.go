package turn

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// keptCalls bounds how many calls of a running turn /status can show.
const keptCalls = 100

// running is the turn that holds a channel. The worker and /status read it while the turn's goroutine runs.
type running struct {
	id      ID
	in      Inbound
	verdict Verdict
	turn    *toolloop.Turn
	cancel  context.CancelCauseFunc
	ctx     context.Context //nolint:containedctx // the turn's own: its cause decides how it ended
	started time.Time
	// recorded is called when nothing of the turn is written any more.
	recorded func()
	// inherited is what the turn it continues left to it; waited: it stood in line.
	inherited *inheritance
	waited    bool

	mu       sync.Mutex
	calls    []CallInfo
	approval bool
	model    Model
	status   store.TurnStatus
	// over: how the turn ended is decided, and only its last words and its record are left.
	over bool
	plan plan
	seq  int
	// estimate is how many tokens the last request was thought to have, until its usage is known.
	estimate int
	// spent is what each model cost so far, by its label.
	spent map[string]store.Usage
	// paid is what was taken out of each purse and is not in the ledger yet; it belongs to spending.
	paid map[*purse]int64
	// failed is the model that was to answer, when another one did instead.
	failed string
}

// inheritance is what a turn that made way for a follow-up leaves to it.
type inheritance struct {
	// tools were allowed to it in deliberate mode.
	tools []string
	// windows is the turn for which the channel's windows were counted.
	windows string
}

// end ends the turn for a cause and describes what it was doing; false when it has ended by itself already, or something
// else is ending it: the first cause wins. What came first is decided here and in settle, under one lock.
func (r *running) end(c abort.Cause) (KilledTurn, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ctx.Err() != nil {
		return KilledTurn{}, false
	}
	r.cancel(c)
	tool, finished := r.at()
	return KilledTurn{
		TurnID: r.id, ChannelID: r.in.ChannelID, OwnerID: r.in.Author.ID, OwnerName: r.in.Author.Name, Tool: tool, Finished: finished,
	}, true
}

// settle decides that the turn is over and gives the cause that ended it, nil when it ended by itself.
func (r *running) settle() abort.Cause {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return abort.Of(r.ctx)
}

func (r *running) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// endable: nothing has ended the turn yet.
func (r *running) endable() bool { return !r.settled() && r.ctx.Err() == nil }

// stopping: a person has ended the turn, and it has not settled yet.
func (r *running) stopping() bool { return abort.IsStop(abort.Of(r.ctx)) }

func (r *running) use(m Model) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.model = m
}

// sent notes the estimate of a request; used takes it when its usage is known, 0 otherwise.
func (r *running) sent(estimate int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.estimate = estimate
}

func (r *running) used() (estimate int, model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	estimate, r.estimate = r.estimate, 0
	return estimate, r.model.Name
}

// spend adds what a round trip cost to the model that made it.
func (r *running) spend(u store.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent == nil {
		r.spent = map[string]store.Usage{}
	}
	r.spent[r.model.label()] = r.spent[r.model.label()].Add(u)
}

// bill is what each model that answered has cost, for the ledger, which outlives the turn's own record.
func (r *running) bill() []store.ModelUsage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var bill []store.ModelUsage
	for _, model := range sortedKeys(r.spent) {
		bill = append(bill, store.ModelUsage{Model: model, Usage: r.spent[model]})
	}
	return bill
}

func (r *running) answeredInstead(of Model) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = of.Name
}

// fallback reports whether another model answered than the one that was to.
func (r *running) fallback() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed != ""
}

func (r *running) planned(p plan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan = p
}

// leaves is what the turn's follow-up inherits.
func (r *running) leaves() *inheritance {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &inheritance{tools: r.plan.allow.Names(), windows: r.plan.windows}
}

func (r *running) close(s store.TurnStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = s
}

func (r *running) final() store.TurnStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// called notes a call that was announced or closed.
func (r *running) called(c CallInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.approval = c.Card && c.Status == store.CallRunning
	for i := range r.calls {
		if r.calls[i].Key == c.Key {
			if c.Arguments == "" {
				c.Arguments = r.calls[i].Arguments
			}
			r.calls[i] = c
			return
		}
	}
	if len(r.calls) < keptCalls {
		r.calls = append(r.calls, c)
	}
}

// decided: no card is open any more.
func (r *running) decided() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.approval = false
}

// at returns the tool that runs now and those that have finished with an effect. The caller holds the lock.
func (r *running) at() (tool string, finished []string) {
	for _, c := range r.calls {
		switch c.Status {
		case store.CallRunning:
			if tool == "" {
				tool = c.Tool
			}
		case store.CallDone:
			finished = append(finished, c.Tool)
		case store.CallError:
		}
	}
	return tool, finished
}

// describe tells of the turn for /status.
func (r *running) describe() *RunningStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	tool, _ := r.at()
	s := &RunningStatus{
		TurnID: r.id, OwnerID: r.in.Author.ID, OwnerName: r.in.Author.Name, StartedAt: r.started,
		Tool: tool, Calls: slices.Clone(r.calls), Model: r.model.Name, Approval: r.approval,
	}
	if r.model.Provider != nil {
		s.Provider = r.model.Provider.Name()
	}
	if n := len(r.calls); n > 0 {
		s.Iteration = r.calls[n-1].Iteration
	}
	return s
}
