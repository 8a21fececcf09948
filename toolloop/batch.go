package toolloop

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// What the model reads in later turns of a call that a stop caught after its dispatch. The result itself stays hidden,
// but "not run" would invite the model to do again what may have been done.
const (
	caughtRunning  = "stopped while it ran; it may have taken effect"
	caughtFinished = "the turn was stopped when it had just finished; it has taken effect"
)

// batch is the calls of one response on their way through the execute stage.
type batch struct {
	resp  providers.Response
	calls []*execution
	// results are the tool messages so far, added what restarts put into the context.
	results  []providers.Message
	added    []registry.ContextItem
	recorded int
	// stopped: a restart, an endTurn or a denial ended the batch; unsettled: some call wants the model to go on.
	stopped   bool
	unsettled bool
}

// batch executes the calls of one response in order. It returns nil when the model is to be asked again.
func (l *Loop) batch(e *exchange, resp providers.Response) *Result {
	b := l.announce(e, resp)
	var end *Result
	for i, x := range b.calls {
		if end = l.step(x); end != nil || b.stopped {
			l.notRun(b.calls[i+1:])
			break
		}
	}
	b.append(e.turn, end)
	if end == nil && b.settles() {
		end = &Result{Status: store.TurnCompleted, Text: resp.Text}
	}
	if end != nil && end.Status == store.TurnCompleted {
		end.CutAtLimit = resp.Finish == providers.FinishLength
	}
	return end
}

// announce gives every call its key and tells the observer of all of them before the first one runs.
func (l *Loop) announce(e *exchange, resp providers.Response) *batch {
	b := &batch{resp: resp, calls: make([]*execution, len(resp.Calls))}
	calls := make([]execution, len(resp.Calls))
	for i, c := range resp.Calls {
		x := &calls[i]
		*x = execution{exchange: e, batch: b, index: i, call: c, name: c.Name}
		x.call.Key = e.turn.nextKey()
		if x.tool, _ = l.registry.Lookup(c.Name); x.tool != nil {
			x.name = x.tool.Name
		} else {
			x.call.Name = clip(c.Name, maxNameBytes)
			x.name = x.call.Name
		}
		if resp.Finish == providers.FinishLength && needsApproval(x.tool) && c.State == providers.Whole {
			// Nobody can tell whether a whole object would have been followed by more; no person is asked to approve that.
			x.call.State = providers.Truncated
		}
		b.calls[i] = x
		l.notify(e.turn, ToolCall{Key: x.call.Key, Tool: x.name, Arguments: x.shownArguments(), Iteration: e.turn.iteration})
	}
	if resp.Extra > 0 {
		l.log.Warn().Str("turn", e.turn.ID).Int("dropped", resp.Extra).Msg("tool.calls_dropped")
	}
	return b
}

// step executes one call of a batch, applies its outcome and tells the observer, once the entry is there to be seen.
func (l *Loop) step(x *execution) *Result {
	end := l.apply(x, l.execute(x))
	l.notify(x.turn, x.told())
	return end
}

// apply does what an outcome asks for; the order is fixed: append, error cap, end of turn.
func (l *Loop) apply(x *execution, out Outcome) *Result {
	t, b := x.turn, x.batch
	switch o := out.(type) {
	case Restart:
		t.failures = 0
		x.unsent = true
		b.stopped = true
		return nil
	case Abort:
		switch {
		case o.Entry != nil:
			b.record(t, *o.Entry)
		case o.Status == store.TurnError:
			x.unsent = true // no vendor takes back a call that it could not name
		case x.dispatched:
			b.caught(x)
		}
		return &Result{Status: o.Status, Err: o.Err}
	case History:
		b.record(t, o.Entry)
		t.applySticker(o.Sticker)
		b.unsettled = b.unsettled || !o.settles
		b.stopped = b.stopped || o.EndTurn
		return l.count(x, o)
	default:
		return &Result{Status: store.TurnError, Err: errors.New("unknown outcome of a call")}
	}
}

// count applies the error cap and the end of the turn to a recorded call.
func (l *Loop) count(x *execution, o History) *Result {
	t := x.turn
	switch {
	case o.Success:
		t.failures = 0
	case !o.uncounted:
		t.failures++
		if t.failures >= l.limits.MaxConsecutiveErrors {
			return &Result{Status: store.TurnError, Err: ErrTooManyFailures}
		}
	}
	if o.EndTurn {
		return &Result{Status: store.TurnCompleted, Text: x.batch.resp.Text}
	}
	return nil
}

func (t *Turn) applySticker(c StickerChange) {
	switch c := c.(type) {
	case StickerSelected:
		t.sticker = c.ID
	case StickerCleared:
		t.sticker = ""
	case StickerUntouched:
	}
}

// record appends an entry. The text shown before the calls belongs to the first one only.
func (b *batch) record(t *Turn, e Entry) {
	if b.recorded == 0 && b.spoke() {
		e.PreToolText = b.resp.Text
	}
	b.recorded++
	t.entries = append(t.entries, e)
	b.results = append(b.results, providers.Message{
		Role: providers.RoleTool, CallKey: e.Call.Key, ToolName: e.FunctionResponse.Name, Content: e.text, Failed: !e.Success,
	})
}

// caught pairs a call that a stop caught after its dispatch with the truth about it: no entry, and nothing of its result.
func (b *batch) caught(x *execution) {
	text := caughtRunning
	if x.ended.Status == store.CallDone {
		text = caughtFinished
	}
	b.results = append(b.results, providers.Message{
		Role: providers.RoleTool, CallKey: x.call.Key, ToolName: x.name, Content: text, Failed: true,
	})
}

// append puts the whole response into the turn's exchange: one assistant message with the text shown before the calls,
// the results in call order, then what restarts added. A call whose restart replaced its result is not replayed. A
// response that turned out unusable before anything of it was recorded leaves only its text, as a failed stream does.
func (b *batch) append(t *Turn, end *Result) {
	if end != nil && end.Status == store.TurnError && b.recorded == 0 {
		t.keepPartial(b.resp)
		return
	}
	m := providers.Message{Role: providers.RoleAssistant, Thinking: b.resp.Thinking, ThinkingBlocks: b.resp.ThinkingBlocks}
	if b.spoke() {
		m.Content = b.resp.Text
	}
	for _, x := range b.calls {
		if !x.unsent {
			m.Calls = append(m.Calls, x.call)
		}
	}
	if end != nil {
		m.Stopped = end.Status == store.TurnStoppedByUser || end.Status == store.TurnTimeout || end.Status == store.TurnInterrupted
	}
	if m.Content != "" || len(m.Calls) > 0 {
		t.messages = append(t.messages, m)
	}
	t.messages = append(t.messages, b.results...)
	for _, item := range b.added {
		t.messages = append(t.messages, providers.Message{Role: providers.RoleUser, Content: "[context: " + item.Kind + "]\n" + item.Text})
	}
}

// spoke reports whether the response showed text before its calls.
func (b *batch) spoke() bool { return strings.TrimSpace(b.resp.Text) != "" }

// settles reports whether the batch ends the turn although no tool said so: every call was a success that needs no
// further word, and the model had already spoken.
func (b *batch) settles() bool {
	return !b.stopped && !b.unsettled && b.recorded > 0 && b.spoke()
}

// notRun closes the calls that a stopped batch leaves: a journal row, a result for whoever watches, and no entry. The
// repair of the sent copy supplies their results.
func (l *Loop) notRun(calls []*execution) {
	for _, x := range calls {
		x.unsent = strings.TrimSpace(x.call.Name) == ""
		why := store.CallReasonNotRun
		if x.ctx.Err() != nil {
			why = stopReason(x.ctx)
		}
		l.end(x, store.CallError, why, "not run")
		l.notify(x.turn, x.told())
	}
}

// maxNameBytes bounds the name of a tool that does not exist; no real one is longer.
const maxNameBytes = 64

// clip cuts s at a rune boundary; text that is no UTF-8 has none and is cut as it is.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for n := limit; n > 0 && n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n]
		}
	}
	return s[:limit]
}
