package toolloop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/store"
)

// A scenario is one random turn. Times never tie: whatever people do falls between two milliseconds, everything else on
// one, so the reference knows what came first.
type scenario struct {
	responses     []scriptedResponse
	allow         []string // nil: the mode is off
	maxIterations int
	maxFailures   int
	deliberate    bool
	fallback      bool          // a second model takes over after an error or a timeout
	killAt        time.Duration // 0: never
	followUpAt    time.Duration // 0: never
	observerDies  bool
	journalAway   bool
}

// scriptedResponse is one answer of the model: it thinks, says its text, thinks again, makes its calls and ends.
type scriptedResponse struct {
	think, pause time.Duration
	text         string
	calls        []scriptedCall
	end          ending
}

type ending string

const (
	endsWell  ending = "stop"
	endsLong  ending = "length"
	endsError ending = "error"
	endsGone  ending = "missing"
	endsFault ending = "fault"
)

type scriptedCall struct {
	n    int // unique in the scenario
	tool string
	args argState
	does behaviour
	// takes is the tool's time; decision and waits are what the person does with the card.
	takes    time.Duration
	decision decision
	waits    time.Duration
}

type argState string

const (
	argsWhole     argState = "whole"
	argsCut       argState = "cut"
	argsMalformed argState = "malformed"
)

type behaviour string

const (
	doesOK      behaviour = "ok"
	doesFail    behaviour = "fail"
	doesPanic   behaviour = "panic"
	doesDeaf    behaviour = "deaf" // ignores its context, then succeeds
	doesRestart behaviour = "restart"
	doesEnd     behaviour = "end"
	doesFailEnd behaviour = "fail_end"
)

type decision string

const (
	approves   decision = "approve"
	denies     decision = "deny"
	denySaying decision = "deny_saying"
	ignores    decision = "ignore"
	cannotShow decision = "cannot_show"
)

// The tools of every scenario.
const (
	toolFree     = "free"
	toolRead     = "read"  // runs without a journal
	toolLook     = "look"  // a lookup: the model must go on
	toolWrite    = "write" // needs approval
	toolSTM      = "stm"   // one-shot, ends a turn that has spoken
	toolSticker  = "select_sticker_for_response"
	toolClosed   = "closed"  // not available in any turn
	toolForeign  = "foreign" // not for this provider
	toolUnknown  = "unknown" // not registered
	toolNameless = ""        // no name at all
	firstToken   = 30 * time.Second
	streamIdle   = 20 * time.Second
	toolTimeout  = 10 * time.Second
	cardTimeout  = 60 * time.Second
	knownSticker = "s1"
)

// expected is what a run must come to.
type expected struct {
	Status     store.TurnStatus
	Dispatched []int
	// Entries are "tool:ok" or "tool:failed" in order, Closed "tool status/reason" for every announced call.
	Entries  []string
	Closed   []string
	Shown    []string
	Sticker  string
	Requests int
	Elapsed  time.Duration
}

// reference tells what must come of a scenario. It is written against the design, without the loop's structure: one
// clock, one pass, no goroutine.
type reference struct {
	s   scenario
	now time.Duration
	expected

	open      bool // for a follow-up
	next      int  // response
	failures  int
	disabled  map[string]bool
	deafUntil map[string][]time.Duration
	last      string // the last tool that ran
	partial   bool   // the last shown text belongs to an iteration that failed
}

func refer(s scenario) expected {
	r := &reference{s: s, open: true, disabled: map[string]bool{}, deafUntil: map[string][]time.Duration{}}
	r.Status = r.attempt()
	if again := r.Status == store.TurnError && r.failures < s.maxFailures || r.Status == store.TurnTimeout; again && s.fallback {
		if r.partial {
			r.Shown = r.Shown[:len(r.Shown)-1]
		}
		r.Status = r.attempt()
	}
	if r.Status != store.TurnCompleted {
		r.Sticker = ""
	}
	r.Elapsed = r.now
	return r.expected
}

// pass lets d pass, or less when the turn is killed (or, while streaming, followed up) before; it says which.
func (r *reference) pass(d time.Duration, streaming bool) (ended store.TurnStatus) {
	until, ended := r.now+d, store.TurnStatus("")
	if k := r.s.killAt; k > 0 && k < until {
		until, ended = max(k, r.now), store.TurnStoppedByUser
	}
	if f := r.s.followUpAt; f > 0 && streaming && r.open && f < until {
		until, ended = max(f, r.now), store.TurnFollowUpInterrupt
	}
	r.now = until
	return ended
}

func (r *reference) killed() bool { return r.s.killAt > 0 && r.s.killAt <= r.now }

func (r *reference) attempt() store.TurnStatus {
	for {
		r.partial = false
		if r.killed() {
			return store.TurnStoppedByUser
		}
		if r.Requests >= r.s.maxIterations {
			return store.TurnMaxIterations
		}
		r.Requests++
		resp := scriptedResponse{text: "the end", end: endsWell}
		if r.next < len(r.s.responses) {
			resp = r.s.responses[r.next]
		}
		r.next++
		if ended := r.stream(resp); ended != "" {
			return ended
		}
		r.open = false
		if len(resp.calls) == 0 {
			return r.settle(resp)
		}
		if ended := r.batch(resp); ended != "" {
			return ended
		}
	}
}

func (r *reference) stream(resp scriptedResponse) store.TurnStatus {
	wait := func(d, budget time.Duration) store.TurnStatus {
		if ended := r.pass(min(d, budget), true); ended != "" {
			return ended
		}
		if d > budget {
			return store.TurnTimeout
		}
		return ""
	}
	if ended := wait(resp.think, firstToken); ended != "" {
		return ended
	}
	if resp.text != "" {
		r.Shown = append(r.Shown, resp.text)
		r.partial = true
	}
	budget := streamIdle
	if resp.text == "" {
		budget = firstToken - resp.think // nothing has arrived yet
	}
	if ended := wait(resp.pause, budget); ended != "" {
		return ended
	}
	if resp.end != endsWell && resp.end != endsLong {
		return store.TurnError
	}
	r.partial = false
	return ""
}

func (r *reference) settle(resp scriptedResponse) store.TurnStatus {
	switch {
	case resp.text != "":
		return store.TurnCompleted
	case resp.end == endsWell && r.last != "" && r.last != toolLook && len(r.Shown) > 0:
		return store.TurnCompleted
	default:
		return store.TurnEmptyResponse
	}
}

func (r *reference) batch(resp scriptedResponse) store.TurnStatus {
	entries, settled := len(r.Entries), resp.text != ""
	for i, c := range resp.calls {
		status, cut := r.call(resp, i, c, &settled)
		if status == "" && !cut {
			continue
		}
		why := "not_run"
		if r.killed() {
			why = "stopped"
		}
		for _, rest := range resp.calls[i+1:] {
			r.Closed = append(r.Closed, rest.tool+" error/"+why)
		}
		if status == store.TurnError && len(r.Entries) == entries && resp.text != "" {
			r.partial = true // nothing of this response was used
		}
		return status
	}
	if settled {
		return store.TurnCompleted
	}
	return ""
}

// call executes one call. It returns the status that ends the turn, or whether the rest of the batch is cut.
func (r *reference) call(resp scriptedResponse, i int, c scriptedCall, settled *bool) (store.TurnStatus, bool) {
	close := func(how string) { r.Closed = append(r.Closed, c.tool+" "+how) }
	fail := func(why string) store.TurnStatus {
		close("error/" + why)
		r.Entries = append(r.Entries, c.tool+":failed")
		*settled = false
		if r.failures++; r.failures >= r.s.maxFailures {
			return store.TurnError
		}
		return ""
	}
	switch {
	case c.tool == toolNameless:
		close("error/malformed")
		return store.TurnError, true
	case r.killed():
		close("error/stopped")
		return store.TurnStoppedByUser, true
	case i >= 32:
		close("error/rejected")
		r.Entries = append(r.Entries, c.tool+":failed")
		*settled = false
		return "", false
	case c.args == argsCut, resp.end == endsLong && c.tool == toolWrite && c.args == argsWhole:
		return fail("truncated"), false
	case r.s.allow != nil && !slices.Contains(r.s.allow, c.tool):
		return fail("blocked"), false
	case c.tool == toolUnknown:
		return fail("rejected"), false
	case c.tool == toolForeign, c.tool == toolClosed, r.disabled[c.tool]:
		return fail("unavailable"), false
	case c.args == argsMalformed:
		return fail("malformed"), false
	}
	if c.tool == toolWrite {
		if status, refused := r.ask(c, close, fail, settled); refused {
			return status, status == store.TurnDenied
		}
	}
	r.deafUntil[c.tool] = slices.DeleteFunc(r.deafUntil[c.tool], func(t time.Duration) bool { return t <= r.now })
	if len(r.deafUntil[c.tool]) >= 4 || r.s.journalAway && c.tool != toolRead {
		return fail("unavailable"), false
	}
	r.Dispatched = append(r.Dispatched, c.n)
	began := r.now
	if r.pass(min(c.takes, toolTimeout), false) != "" {
		close("error/stopped")
		if c.does == doesDeaf {
			r.deafUntil[c.tool] = append(r.deafUntil[c.tool], began+c.takes)
		}
		return store.TurnStoppedByUser, true
	}
	r.last = c.tool
	if c.takes > toolTimeout {
		if c.does == doesDeaf {
			r.deafUntil[c.tool] = append(r.deafUntil[c.tool], began+c.takes)
		}
		r.clearSticker(c)
		return fail("timed_out"), false
	}
	return r.finished(c, close, fail, settled)
}

func (r *reference) finished(c scriptedCall, close func(string), fail func(string) store.TurnStatus, settled *bool) (store.TurnStatus, bool) {
	switch c.does {
	case doesFail:
		r.clearSticker(c)
		return fail("failed"), false
	case doesPanic:
		r.clearSticker(c)
		return fail("panicked"), false
	case doesFailEnd:
		r.clearSticker(c)
		if status := fail("failed"); status != "" {
			return status, true
		}
		return store.TurnCompleted, true
	case doesRestart:
		close("done/")
		r.failures = 0
		r.disabled[toolLook] = true
		return "", true
	case doesOK, doesDeaf, doesEnd:
	}
	close("done/")
	r.failures = 0
	r.Entries = append(r.Entries, c.tool+":ok")
	if c.tool == toolSticker {
		r.Sticker = map[bool]string{true: knownSticker}[c.n%2 == 0]
	}
	if c.tool == toolSTM {
		r.disabled[toolSTM] = true
	} else {
		*settled = false
	}
	if c.does == doesEnd {
		return store.TurnCompleted, true
	}
	return "", false
}

// clearSticker: every dispatched selection that yields no known sticker clears the earlier one.
func (r *reference) clearSticker(c scriptedCall) {
	if c.tool == toolSticker {
		r.Sticker = ""
	}
}

// ask shows a card. It reports true when the call was refused, with the status that ends the turn, if one does.
func (r *reference) ask(c scriptedCall, close func(string), fail func(string) store.TurnStatus, settled *bool) (store.TurnStatus, bool) {
	deny := func() (store.TurnStatus, bool) {
		close("error/denied")
		r.Entries = append(r.Entries, c.tool+":failed")
		*settled = false
		return store.TurnDenied, true
	}
	waits, answered := c.waits, true
	switch {
	case c.decision == cannotShow:
		return deny()
	case c.decision == ignores, waits > cardTimeout:
		waits, answered = cardTimeout, false
	}
	if r.pass(waits, false) != "" {
		close("error/stopped")
		return store.TurnStoppedByUser, true
	}
	switch {
	case !answered, c.decision == denies:
		return deny()
	case c.decision == denySaying:
		return fail("denied"), true
	}
	return "", false
}

func (s scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "allow=%q iterations=%d failures=%d fallback=%v kill=%s follow-up=%s journal away=%v\n",
		s.allow, s.maxIterations, s.maxFailures, s.fallback, s.killAt, s.followUpAt, s.journalAway)
	for _, r := range s.responses {
		fmt.Fprintf(&b, "  think %s, say %q, pause %s, end %s\n", r.think, r.text, r.pause, r.end)
		for _, c := range r.calls {
			fmt.Fprintf(&b, "    #%d %q %s %s for %s, %s after %s\n", c.n, c.tool, c.args, c.does, c.takes, c.decision, c.waits)
		}
	}
	return b.String()
}
