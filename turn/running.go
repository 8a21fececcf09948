package turn

import (
	"slices"

	"github.com/parleybot/parley/store"
)

// keptCalls bounds how many calls of a running turn /status can show.
const keptCalls = 100

func (r *running) use(m Model) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.model = m
}

func (r *running) end(s store.TurnStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = s
}

func (r *running) interrupted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status == store.TurnFollowUpInterrupt
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

// at returns the tool that runs now and those that have finished with an effect.
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

// killed describes the turn as a kill finds it.
func (r *running) killed() KilledTurn {
	r.mu.Lock()
	defer r.mu.Unlock()
	tool, finished := r.at()
	return KilledTurn{
		TurnID: r.id, ChannelID: r.in.ChannelID, OwnerID: r.in.Author.ID, OwnerName: r.in.Author.Name, Tool: tool, Finished: finished,
	}
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
