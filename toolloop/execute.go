package toolloop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// execute runs one call through the fixed order of checks (DESIGN section 5). Each step either ends the call with an
// outcome or lets it pass; nothing may be moved past another step.
func (l *Loop) execute(x *execution) Outcome {
	if out := l.validate(x); out != nil { // 1
		return x.refusedAt(GateCall, out)
	}
	x.passed(GateCall, "")
	if out := l.stopCheck(x); out != nil { // 2
		return x.refusedAt(GateStop, out)
	}
	x.passed(GateStop, "")
	l.begin(x) // 3
	defer x.tc.Live.Revoke()
	if x.index >= MaxCallsPerResponse {
		return x.refusedAt(GateBatch, l.refuseSurplus(x))
	}
	if x.call.State == providers.Truncated { // 4
		return x.refusedAt(GateWhole, l.refuseTruncated(x))
	}
	x.passed(GateWhole, "")
	if !x.turn.Allow.Allows(x.name) { // 5
		return x.refusedAt(GateAllowlist, l.block(x))
	}
	x.passed(GateAllowlist, x.allowedBy())
	if out := l.resolve(x); out != nil { // 6
		return out
	}
	if needsApproval(x.tool) { // 7
		if out := l.approve(x); out != nil {
			return out
		}
	}
	f := l.dispatch(x)                             // 8
	if out := l.stopCheckAfter(x, f); out != nil { // 9
		return out
	}
	l.report(x, f.result) // 10
	if !f.result.Success {
		out := l.failRun(x, f)
		if !x.dispatched {
			return x.refusedAt(GateRunnable, out)
		}
		return out
	}
	l.retain(x)                 // 11
	if l.restart(x, f.result) { // 12
		return Restart{}
	}
	if x.tool.OneShot { // 13
		x.turn.disable(x.tool.Name)
	}
	return l.succeed(x, f.result) // 14
}

// execution is one call on its way through the stage.
type execution struct {
	*exchange
	batch *batch
	index int
	call  providers.Call
	// name is the canonical tool name; tool is nil when no such tool is registered.
	name string
	tool *registry.Tool
	// args are the bytes to run: checked, with ids resolved.
	args    []byte
	tc      registry.ToolContext
	started time.Time
	// opened: the journal may hold an open row for the call. dispatched: the tool was started.
	opened     bool
	dispatched bool
	// unsent calls are left out of the replayed response.
	unsent bool
	// ended is told to the observer once the outcome was applied; gates, approval and window go with it.
	ended    ToolResult
	gates    []Gate
	approval *Approval
	window   int
}

// validate refuses a call without a name: the response is not usable at all.
func (l *Loop) validate(x *execution) Outcome {
	if strings.TrimSpace(x.call.Name) != "" {
		return nil
	}
	l.log.Error().Str("turn", x.turn.ID).Str("call", x.call.Key).Int("arguments_bytes", len(x.call.Arguments)).
		Bool("has_id", x.call.ID != "").Msg("tool.malformed_call")
	err := errors.New("the model made a tool call without a name")
	l.end(x, store.CallError, store.CallReasonMalformed, err.Error())
	return Abort{Status: store.TurnError, Err: err}
}

// stopCheck ends the turn before anything runs. A queued follow-up is not a stop.
func (l *Loop) stopCheck(x *execution) Outcome {
	if x.ctx.Err() == nil {
		return nil
	}
	l.end(x, store.CallError, stopReason(x.ctx), "stopped before it ran")
	return Abort{Status: statusOf(x.ctx), Err: context.Cause(x.ctx)}
}

// begin builds what the tool may know and touch: copies, and one locked door to the turn.
func (l *Loop) begin(x *execution) {
	t := x.turn
	x.started = time.Now()
	x.tc = registry.ToolContext{
		TurnID: t.ID, CallKey: x.call.Key, ChannelID: t.ChannelID, GuildID: t.GuildID, UserID: t.UserID, UserName: t.UserName,
		Message: t.Message, Locale: t.Locale, Provider: x.attempt.Provider.Name(), Persona: t.Persona,
		Settings: maps.Clone(t.Settings), Flags: maps.Clone(t.Flags), Private: t.Private, OutsideContent: t.OutsideContent || t.outside,
		SuppressProgress: !t.Deliberate, ShowKillHint: t.iteration >= l.limits.SoftWarnIterations, Live: registry.NewLive(t.Shared),
	}
}

// refuseSurplus answers a call beyond the limit of one response. It does not count toward the error cap: the model may
// send it again in its next response.
func (l *Loop) refuseSurplus(x *execution) Outcome {
	h := l.refuse(x, fmt.Sprintf("too many calls in one response: only the first %d were handled; send this one again",
		MaxCallsPerResponse), store.CallReasonRejected)
	h.uncounted = true
	return h
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
	return l.refuse(x, "the arguments of this call were truncated before they were complete; nothing was executed; "+
		"send the whole call again, with shorter arguments if it was too long", store.CallReasonTruncated)
}

// block refuses a tool that deliberate mode does not offer in this turn.
func (l *Loop) block(x *execution) Outcome {
	names := x.turn.Allow.Names()
	if names == nil {
		names = []string{}
	}
	l.end(x, store.CallError, store.CallReasonBlocked, "blocked by deliberate tool mode")
	return History{Sticker: StickerUntouched{}, Entry: x.entry(newRendered(blockedResult{
		Status: "blocked_by_deliberate_tool_mode", FunctionName: x.name, AllowedToolNames: names,
	}))}
}

// resolve finds the tool, applies its gates and checks the arguments against its schema.
func (l *Loop) resolve(x *execution) Outcome {
	tool, rej := l.registry.Resolve(x.name, x.turn.view(x.attempt.Provider.Name()), x.turn.Allow)
	if rej != nil {
		return x.refusedAt(x.passedBefore(rej.Kind), l.reject(x, rej))
	}
	x.passedBefore(registry.InvalidArguments)
	x.tool = tool
	if x.call.State != providers.Whole {
		return x.refusedAt(GateSchema, l.fail(x, "tool error: the arguments are not one JSON object: "+x.call.Problem, store.CallReasonMalformed))
	}
	args, rej := l.registry.Check(tool, x.call.Object, func(opaque string) (string, bool) { return l.realID(x, opaque) })
	if rej != nil {
		return x.refusedAt(GateSchema, l.reject(x, rej))
	}
	x.passed(GateSchema, "")
	x.args = args
	return nil
}

// realID resolves an opaque id. One that is neither known nor a snowflake passes through, and somebody should know.
func (l *Loop) realID(x *execution, opaque string) (string, bool) {
	id, ok := x.turn.Shared.RealID(opaque)
	if !ok && strings.Trim(opaque, "0123456789") != "" {
		l.log.Warn().Str("turn", x.turn.ID).Str("tool", x.name).Str("id", clip(opaque, maxNameBytes)).Msg("tool.unknown_id")
	}
	return id, ok
}

// reject logs a registry's refusal at the level its kind asks for and tells the model why.
func (l *Loop) reject(x *execution, rej *registry.Rejection) Outcome {
	level := zerolog.ErrorLevel
	if rej.Warn {
		level = zerolog.WarnLevel
	}
	l.log.WithLevel(level).Str("turn", x.turn.ID).Str("tool", x.name).Str("kind", string(rej.Kind)).Msg("tool.refused")
	reason := store.CallReasonRejected
	if rej.Kind == registry.TurnUnavailable || rej.Kind == registry.ProviderUnsupported {
		reason = store.CallReasonUnavailable
	}
	return l.fail(x, rej.Reason, reason)
}

// stopCheckAfter ends the turn when it was stopped while the tool ran: no entry, and the model never sees the result.
// The journal keeps it.
func (l *Loop) stopCheckAfter(x *execution, f finished) Outcome {
	if x.ctx.Err() == nil {
		return nil
	}
	status, reason, text := store.CallError, f.reason, failureReason(f.result)
	switch {
	case f.result.Success: // it had finished: a stop undoes nothing
		status, reason, text = store.CallDone, store.CallReasonNone, l.render(x, f.result).text
	case reason == store.CallReasonNone || reason == store.CallReasonTimedOut:
		reason = stopReason(x.ctx)
	}
	l.end(x, status, reason, text)
	return Abort{Status: statusOf(x.ctx), Err: context.Cause(x.ctx)}
}

// report logs the completion and tells the operators which trigger had exposed the tool.
func (l *Loop) report(x *execution, res registry.Result) {
	if !x.dispatched {
		return
	}
	l.log.Info().Str("turn", x.turn.ID).Str("tool", x.name).Bool("success", res.Success).
		Msgf("Function call completed: %s (%dms)", x.name, time.Since(x.started).Milliseconds())
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
	ctx, cancel := context.WithTimeout(x.ctx, writeTimeout)
	defer cancel()
	if err := l.windows.RetainWindow(ctx, x.turn.ChannelID, x.name, x.turn.WindowTurns, time.Now()); err != nil {
		l.log.Warn().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Msg("window.retain_failed")
		return
	}
	x.window = x.turn.WindowTurns
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
		item.Text = cut(item.Text, maxContextItem)
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

// hidden tells the operators.
func (l *Loop) hidden(t *Turn, n HiddenNotice) {
	if t.Notices != nil {
		n.Detail = cut(n.Detail, maxNoticeBytes)
		l.guard(t, "notice", func() { t.Notices.Hidden(n) })
	}
}
