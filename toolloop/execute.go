package toolloop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// execute runs one call through the fixed order of checks (DESIGN section 5). Each step either ends the call with an
// outcome or lets it pass; nothing may be moved past another step.
func (l *Loop) execute(ctx context.Context, t *Turn, a Attempt, b *batch, c *providers.Call) Outcome {
	if out := l.validate(ctx, t, c); out != nil { // 1
		return out
	}
	if out := l.stopCheck(ctx, t, c); out != nil { // 2
		return out
	}
	x := l.begin(ctx, t, a, b, c) // 3
	defer x.live.Revoke()
	if x.truncated() { // 4
		return l.refuseTruncated(x)
	}
	if !t.Allow.Allows(x.name) { // 5
		return l.block(x)
	}
	if out := l.resolve(x); out != nil { // 6
		return out
	}
	if needsApproval(x.tool) { // 7
		if out := l.approve(x); out != nil {
			return out
		}
	}
	res, reason := l.dispatch(x)                             // 8
	if out := l.stopCheckAfter(x, res, reason); out != nil { // 9
		return out
	}
	l.report(x, res) // 10
	if !res.Success {
		return l.fail(x, failureReason(res), reason)
	}
	l.retain(x)            // 11
	if l.restart(x, res) { // 12
		return Restart{}
	}
	if x.tool.OneShot { // 13
		t.disable(x.tool.Name)
	}
	return l.succeed(x, res) // 14
}

// stickerTool is the one tool whose result moves the turn's sticker.
const stickerTool = "select_sticker_for_response"

// execution is one call on its way through the stage.
type execution struct {
	ctx     context.Context //nolint:containedctx // lives exactly as long as execute
	turn    *Turn
	attempt Attempt
	batch   *batch
	call    *providers.Call
	// name is the canonical tool name; tool is nil when no such tool is registered.
	name    string
	tool    *registry.Tool
	args    []byte
	context registry.ToolContext
	live    *registry.Live
	started time.Time
	// opened: the journal holds an open row for the call. dispatched: the tool was started.
	opened     bool
	dispatched bool
}

// validate refuses a call without a name: the response is not usable at all.
func (l *Loop) validate(ctx context.Context, t *Turn, c *providers.Call) Outcome {
	if strings.TrimSpace(c.Name) != "" {
		return nil
	}
	l.log.Error().Str("turn", t.ID).Str("call", c.Key).Int("arguments_bytes", len(c.Arguments)).
		Bool("has_id", c.ID != "").Msg("tool.malformed_call")
	err := fmt.Errorf("the model made a tool call without a name")
	l.close(ctx, t, c, ending{status: store.CallError, reason: store.CallReasonMalformed, result: err.Error()})
	return Abort{Status: store.TurnError, Err: err}
}

// stopCheck ends the turn before anything runs. A queued follow-up is not a stop.
func (l *Loop) stopCheck(ctx context.Context, t *Turn, c *providers.Call) Outcome {
	if ctx.Err() == nil {
		return nil
	}
	l.close(ctx, t, c, ending{status: store.CallError, reason: store.CallReasonStopped, result: "stopped before it ran"})
	return Abort{Status: statusOf(ctx), Err: context.Cause(ctx)}
}

// begin builds what the tool may know and touch.
func (l *Loop) begin(ctx context.Context, t *Turn, a Attempt, b *batch, c *providers.Call) *execution {
	live := registry.NewLive(t.Shared)
	name := l.registry.Canonical(c.Name)
	tool, _ := l.registry.Lookup(name)
	return &execution{
		ctx: ctx, turn: t, attempt: a, batch: b, call: c, name: name, tool: tool, live: live,
		started: time.Now(),
		context: registry.ToolContext{
			TurnID: t.ID, CallKey: c.Key, ChannelID: t.ChannelID, GuildID: t.GuildID, UserID: t.UserID, UserName: t.UserName,
			Message: t.Message, Locale: t.Locale, Provider: a.Provider.Name(), Persona: t.Persona, Settings: t.Settings,
			Flags: t.Flags, Private: t.Private, OutsideContent: t.OutsideContent, SuppressProgress: !t.Deliberate,
			ShowKillHint: t.iteration >= l.limits.SoftWarnIterations, Live: live,
		},
	}
}

// truncated reports whether the call's arguments may be incomplete: they ended early, or the whole answer was cut at the
// output limit and a person would be asked to approve what may not be all of it.
func (x *execution) truncated() bool {
	if x.call.State == providers.Truncated {
		return true
	}
	return x.batch.resp.Finish == providers.FinishLength && needsApproval(x.tool)
}

// refuseTruncated refuses a call whose arguments ended early. What arrived is neither executed nor replayed.
func (l *Loop) refuseTruncated(x *execution) Outcome {
	whole := "none"
	if len(x.call.WholeKeys) > 0 {
		whole = strings.Join(x.call.WholeKeys, ", ")
	}
	l.log.Error().Str("turn", x.turn.ID).Str("tool", x.name).Int("whole_keys", len(x.call.WholeKeys)).
		Int("arguments_bytes", len(x.call.Arguments)).Msg("tool.arguments_truncated")
	l.hidden(x.turn, HiddenNotice{
		Title: "Truncated tool call refused", Tool: x.name, Detail: "Arguments that arrived whole: " + whole,
	})
	x.call.Arguments, x.call.Object, x.call.WholeKeys = "{}", []byte("{}"), nil
	return l.fail(x, "the arguments of this call were truncated before they were complete; nothing was executed; "+
		"send the whole call again, with shorter arguments if it was too long", store.CallReasonTruncated)
}

// block refuses a tool that deliberate mode does not offer in this turn.
func (l *Loop) block(x *execution) Outcome {
	names := x.turn.Allow.Names()
	if names == nil {
		names = []string{}
	}
	return l.refuse(x, blockedResult{
		Status: "blocked_by_deliberate_tool_mode", FunctionName: x.name, AllowedToolNames: names,
	}, "blocked by deliberate tool mode", store.CallReasonBlocked)
}

// resolve finds the tool, applies its gates and checks the arguments against its schema.
func (l *Loop) resolve(x *execution) Outcome {
	tool, rej := l.registry.Resolve(x.name, x.turn.view(x.attempt.Provider.Name()), x.turn.Allow)
	if rej != nil {
		return l.reject(x, rej)
	}
	x.tool = tool
	if x.call.State != providers.Whole {
		return l.fail(x, "tool error: the arguments are not one JSON object: "+x.call.Problem, store.CallReasonMalformed)
	}
	args, rej := l.registry.Check(tool, x.call.Object, x.turn.Shared.RealID)
	if rej != nil {
		return l.reject(x, rej)
	}
	x.args = args
	return nil
}

// reject logs a registry's refusal at the level its kind asks for and tells the model why.
func (l *Loop) reject(x *execution, rej *registry.Rejection) Outcome {
	ev := l.log.Error()
	if rej.Warn {
		ev = l.log.Warn()
	}
	ev.Str("turn", x.turn.ID).Str("tool", x.name).Str("kind", string(rej.Kind)).Msg("tool.refused")
	reason := store.CallReasonRejected
	if rej.Kind == registry.TurnUnavailable || rej.Kind == registry.ProviderUnsupported {
		reason = store.CallReasonUnavailable
	}
	return l.fail(x, rej.Reason, reason)
}

// stopCheckAfter ends the turn when it was stopped while the tool ran: no entry, and the model never sees the result.
// The journal keeps it.
func (l *Loop) stopCheckAfter(x *execution, res registry.Result, reason store.CallReason) Outcome {
	if x.ctx.Err() == nil {
		return nil
	}
	text := failureReason(res)
	if res.Success {
		text = l.resultText(res)
	}
	status := store.CallError
	if res.Success && reason == store.CallReasonNone {
		status = store.CallDone // it had finished: a stop undoes nothing
	} else {
		reason = store.CallReasonStopped
	}
	l.end(x, status, reason, text)
	return Abort{Status: statusOf(x.ctx), Err: context.Cause(x.ctx)}
}

// report logs the completion and tells the operators which trigger had exposed the tool.
func (l *Loop) report(x *execution, res registry.Result) {
	ms := time.Since(x.started).Milliseconds()
	l.log.Info().Str("turn", x.turn.ID).Str("tool", x.name).Bool("success", res.Success).
		Msgf("Function call completed: %s (%dms)", x.name, ms)
	if e, ok := x.turn.Allow.Entry(x.name); ok && e.Trigger != "" {
		l.hidden(x.turn, HiddenNotice{
			Title: "Deliberate trigger", Tool: x.name,
			Detail: fmt.Sprintf("trigger %q, source %s", strings.ReplaceAll(e.Trigger, "`", "'"), e.Source),
		})
	}
}

// retain keeps a tool offered for the next turns after a success in deliberate mode. A store that is away closes it.
func (l *Loop) retain(x *execution) {
	if !x.turn.Allow.Active() || l.windows == nil || x.turn.WindowTurns <= 0 {
		return
	}
	if err := l.windows.RetainWindow(x.ctx, x.turn.ChannelID, x.name, x.turn.WindowTurns, time.Now()); err != nil {
		l.log.Warn().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Msg("window.retain_failed")
	}
}

// restart puts what a tool prepared into the context in place of a result. A payload that is gone is logged and the
// turn goes on without it: it still was a restart, so the iteration limit bounds it.
func (l *Loop) restart(x *execution, res registry.Result) bool {
	r := res.Restart
	if r == nil || !strings.HasPrefix(r.Type, registry.RestartPrefix) {
		return false
	}
	item, ok := registry.ContextItem{}, false
	switch {
	case r.StashKey != "":
		item, ok = x.turn.Shared.Take(r.StashKey)
	case r.Item != nil:
		item, ok = *r.Item, true
	}
	if ok {
		x.turn.Shared.Append(item)
		x.batch.added = append(x.batch.added, item)
		l.notify(x.turn, ContextAdded{Label: item.Kind, Bytes: len(item.Text)})
	} else {
		l.log.Warn().Str("turn", x.turn.ID).Str("tool", x.name).Str("type", r.Type).Msg("restart.payload_missing")
	}
	x.turn.disable(r.Disables...)
	x.turn.lastTool = x.tool
	l.end(x, store.CallDone, store.CallReasonNone, "the context was enriched")
	return true
}

func (l *Loop) hidden(t *Turn, n HiddenNotice) {
	if t.Notices != nil {
		t.Notices.Hidden(n)
	}
}
