package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleybot/parley/providers"
)

// fitting keeps the requests of one attempt within what its model can read. It is asked before every round trip, since
// what tools say can fill a window that was half empty when the turn began. What must go goes in this order: the oldest
// exchanges of the past, the long results of this turn from the oldest on, the turn's oldest steps, and last the length of
// its newest results. The trigger always stays. When something must go, more goes than needed, so that the beginning of
// the requests then stays the same for some round trips.
type fitting struct {
	m     *Manager
	r     *running
	c     conversation
	model Model
	// past is what is left of the channel's exchanges; own is the turn's own exchange as it is sent, with what each
	// message costs.
	past  []exchange
	own   []providers.Message
	costs []int
	// left counts the messages of own that were left out.
	left int
	late []providers.Message
}

// Bounds of what is shortened, in bytes.
const (
	// shortResult is what stays of an older result, leastResult of the newest ones when even they don't fit.
	shortResult = 600
	leastResult = 1500
)

func (m *Manager) newFitting(r *running, c conversation, model Model) *fitting {
	late := c.recollection.text(m.estimates.budget(model) / 4)
	return &fitting{m: m, r: r, c: c, model: model, past: c.past, late: []providers.Message{{Role: providers.RoleUser, Content: late}}}
}

// fit is toolloop.Attempt's Fit.
func (f *fitting) fit(tools []providers.ToolSpec, gained []providers.Message) []providers.Message {
	first := len(f.own) == 0 && len(gained) == 0
	for _, x := range gained {
		f.own, f.costs = append(f.own, x), append(f.costs, messageTokens(x))
	}
	fixed := textTokens(f.c.system) + toolTokens(tools)
	for _, x := range slices.Concat(f.late, f.c.trigger) {
		fixed += messageTokens(x)
	}
	budget := f.m.estimates.budget(f.model) - fixed
	if f.total() > budget {
		f.shrink(budget * 3 / 4)
		if first && len(f.past) > 0 {
			f.m.dialogues.beginAt(f.c.channelID, f.past[0].id)
		}
	}
	f.r.sent(fixed + f.total())
	var out []providers.Message
	for _, e := range f.past {
		out = append(out, e.messages...)
	}
	out = append(providers.Repair(out), f.late...)
	out = append(out, f.c.trigger...)
	if f.left > 0 {
		out = append(out, providers.Message{Role: providers.RoleUser, Content: remark(fmt.Sprintf(
			"%d earlier messages of this answer's own tool use were left out to make room; what those tools did stays done", f.left))})
	}
	return append(out, f.own...)
}

func (f *fitting) total() int {
	n := 0
	for _, e := range f.past {
		n += e.tokens
	}
	for _, c := range f.costs {
		n += c
	}
	return n
}

// shrink lets go of what must go.
func (f *fitting) shrink(budget int) {
	for len(f.past) > 0 && f.total() > budget {
		f.past = f.past[1:]
	}
	newest := f.newestStep()
	for i := 0; i < newest && f.total() > budget; i++ {
		f.shorten(i, shortResult)
	}
	for f.newestStep() > 0 && f.total() > budget {
		f.dropStep()
	}
	if f.total() <= budget || len(f.own) == 0 {
		return
	}
	for limit := 16 * leastResult; limit >= leastResult && f.total() > budget; limit /= 2 {
		for i := range f.own {
			f.shorten(i, limit)
		}
	}
}

// newestStep is where the turn's last step begins in own.
func (f *fitting) newestStep() int {
	for i := len(f.own) - 1; i > 0; i-- {
		if f.beginsStep(i) {
			return i
		}
	}
	return 0
}

// beginsStep: a step is a response with what belongs to it, or only what a restart added, when nothing of the response
// is sent again.
func (f *fitting) beginsStep(i int) bool {
	switch f.own[i].Role {
	case providers.RoleAssistant:
		return true
	case providers.RoleUser:
		return i == 0 || f.own[i-1].Role == providers.RoleUser
	case providers.RoleSystem, providers.RoleTool, providers.RoleNote:
	}
	return false
}

// dropStep leaves out the oldest step of the turn.
func (f *fitting) dropStep() {
	n := 1
	for n < len(f.own) && !f.beginsStep(n) {
		n++
	}
	f.own, f.costs, f.left = f.own[n:], f.costs[n:], f.left+n
}

// shorten cuts a result, or what a restart added, on the copy that is sent. A model's own words stay whole.
func (f *fitting) shorten(i, limit int) {
	x := f.own[i]
	if x.Role == providers.RoleAssistant || len(x.Content) <= limit+len(restLeftOut) {
		return
	}
	x.Content = strings.ToValidUTF8(x.Content[:limit], "") + restLeftOut
	f.own[i], f.costs[i] = x, messageTokens(x)
}

const restLeftOut = "\n[the rest was left out to make room]"
