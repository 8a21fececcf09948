package toolloop

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// Entry is one tool call paired with its result, and the text shown before it.
type Entry struct {
	// ResponseID is shared by the calls of one response; they are replayed as one assistant turn.
	ResponseID string         `json:"response_id"`
	Iteration  int            `json:"iteration"`
	Call       providers.Call `json:"-"`
	// FunctionResponse is what the model was given.
	FunctionResponse FunctionResponse         `json:"functionResponse"`
	Success          bool                     `json:"success"`
	Images           []registry.ImageMetadata `json:"images,omitempty"`
	// PreToolText is the visible text of the same iteration, untrimmed, on the response's first entry only.
	PreToolText string `json:"pre_tool_text,omitempty"`
}

// FunctionResponse pairs a tool's name with its result.
type FunctionResponse struct {
	Name     string         `json:"name"`
	Response ResponseResult `json:"response"`
}

// ResponseResult wraps a result: text as a string, anything else as JSON.
type ResponseResult struct {
	Result any `json:"result"`
}

// batch is the calls of one response on their way through the execute stage.
type batch struct {
	resp  providers.Response
	calls []providers.Call
	// results are the tool messages so far, added what restarts put into the context.
	results   []providers.Message
	added     []registry.ContextItem
	restarted []string
	recorded  int
	// stopped: a restart, an endTurn or a denial ended the batch; unsettled: some call wants the model to go on.
	stopped   bool
	unsettled bool
}

// record appends an entry. The text shown before the calls belongs to the first one only.
func (b *batch) record(t *Turn, e Entry) {
	if b.recorded == 0 && strings.TrimSpace(b.resp.Text) != "" {
		e.PreToolText = b.resp.Text
	}
	b.recorded++
	t.entries = append(t.entries, e)
	text, _ := e.FunctionResponse.Response.Result.(string)
	if text == "" {
		text = encode(e.FunctionResponse.Response.Result)
	}
	b.results = append(b.results, providers.Message{
		Role: providers.RoleTool, CallKey: e.Call.Key, ToolName: e.FunctionResponse.Name, Content: text, Failed: !e.Success,
	})
}

// append puts the whole response into the turn's exchange: one assistant message with the text shown before the calls,
// the results in call order, then what restarts added. A call whose restart replaced its result is not replayed.
func (b *batch) append(t *Turn) {
	m := providers.Message{Role: providers.RoleAssistant, Thinking: b.resp.Thinking}
	if strings.TrimSpace(b.resp.Text) != "" {
		m.Content = b.resp.Text
	}
	for _, c := range b.calls {
		if !slices.Contains(b.restarted, c.Key) {
			m.Calls = append(m.Calls, c)
		}
	}
	if m.Content != "" || len(m.Calls) > 0 {
		t.messages = append(t.messages, m)
	}
	t.messages = append(t.messages, b.results...)
	for _, item := range b.added {
		t.messages = append(t.messages, providers.Message{Role: providers.RoleUser, Content: "[context: " + item.Kind + "]\n" + item.Text})
	}
}

// settles reports whether the batch ends the turn although no tool said so: every call was a success that needs no
// further word, and the model had already spoken.
func (b *batch) settles(t *Turn) bool {
	return !b.stopped && !b.unsettled && b.recorded > 0 && strings.TrimSpace(b.resp.Text) != ""
}

// succeed records a success.
func (l *Loop) succeed(x *execution, res registry.Result) History {
	x.turn.lastTool = x.tool
	result := l.resultValue(res)
	text := l.resultText(res)
	l.end(x, store.CallDone, store.CallReasonNone, text)
	h := History{Entry: l.entry(x, result), Success: true, EndTurn: res.EndTurn, Sticker: StickerUntouched{},
		settles: x.tool.EndsTurnAfterText}
	h.Entry.Success = true
	h.Entry.Images = res.Images
	if x.name == stickerTool {
		h.Sticker = l.sticker(x.turn.GuildID, res)
	}
	if res.EndTurn {
		x.batch.stopped = true
	}
	return h
}

// fail records a failure with the reason the model reads.
func (l *Loop) fail(x *execution, reason string, why store.CallReason) History {
	if why != store.CallReasonTruncated && why != store.CallReasonDenied && x.turn.Deliberate {
		l.hidden(x.turn, HiddenNotice{Title: "Tool failed", Tool: x.name, Detail: reason})
	}
	return l.refuse(x, failedResult{Status: "tool_execution_failed", ToolName: x.name, Reason: cut(reason, l.limits.ResultMaxBytes)}, reason, why)
}

// refuse records a failure whose result is given.
func (l *Loop) refuse(x *execution, result any, reason string, why store.CallReason) History {
	if x.dispatched {
		x.turn.lastTool = x.tool
	}
	l.end(x, store.CallError, why, reason)
	h := History{Entry: l.entry(x, result), Sticker: StickerUntouched{}}
	if x.name == stickerTool && x.dispatched {
		h.Sticker = StickerCleared{}
	}
	return h
}

func (l *Loop) entry(x *execution, result any) Entry {
	return Entry{
		ResponseID: responseID(x.turn), Iteration: x.turn.iteration, Call: *x.call,
		FunctionResponse: FunctionResponse{Name: x.name, Response: ResponseResult{Result: result}},
	}
}

// refuseSurplus answers a call beyond the limit of one response. It does not count toward the error cap: the model may
// send it again in its next response.
func (l *Loop) refuseSurplus(ctx context.Context, t *Turn, b *batch, c *providers.Call) Outcome {
	x := &execution{ctx: ctx, turn: t, batch: b, call: c, name: l.registry.Canonical(c.Name), started: time.Now()}
	h := l.fail(x, "too many calls in one response: only the first 32 were handled; send this one again", store.CallReasonRejected)
	h.uncounted = true
	return h
}

// notRun closes the calls that a stopped batch leaves: a journal row, a result for whoever watches, and no entry. The
// repair of the sent copy supplies their results.
func (l *Loop) notRun(ctx context.Context, t *Turn, calls []providers.Call) {
	why := store.CallReasonNotRun
	if ctx.Err() != nil {
		why = store.CallReasonStopped
	}
	for i := range calls {
		l.close(ctx, t, &calls[i], ending{status: store.CallError, reason: why, result: "not run"})
	}
}

// ending is how a call ended.
type ending struct {
	status store.CallStatus
	reason store.CallReason
	// result is the text the model was given, or would have been.
	result string
	took   time.Duration
	// opened: the journal already holds the call as running.
	opened bool
}

// close ends a call in the journal and tells the observer; it comes once for each call. The write happens although the
// turn may have ended.
func (l *Loop) close(ctx context.Context, t *Turn, c *providers.Call, e ending) {
	now := time.Now()
	row := store.Call{
		TurnID: t.ID, Key: c.Key, Iteration: t.iteration, Tool: l.registry.Canonical(c.Name), Arguments: shownArguments(c),
		Status: e.status, Reason: e.reason, Result: e.result, StartedAt: now.Add(-e.took), FinishedAt: now,
	}
	ctx, cancel := final(ctx)
	defer cancel()
	write := l.journal.OpenCall
	if e.opened {
		write = l.journal.CloseCall
	}
	if err := write(ctx, row); err != nil {
		l.log.Error().Err(err).Str("turn", t.ID).Str("tool", row.Tool).Msg("journal.close_failed")
	}
	l.notify(t, ToolResult{
		Key: c.Key, Tool: row.Tool, Iteration: t.iteration, Status: e.status, Reason: e.reason, Result: e.result, Duration: e.took,
	})
}

// end closes the call of an execution.
func (l *Loop) end(x *execution, s store.CallStatus, r store.CallReason, result string) {
	l.close(x.ctx, x.turn, x.call, ending{status: s, reason: r, result: result, took: time.Since(x.started), opened: x.opened})
}

// shownArguments is what events and the journal may show of a call's arguments: nothing of a truncated one.
func shownArguments(c *providers.Call) string {
	if c.State == providers.Truncated {
		return "{}"
	}
	return c.Arguments
}
