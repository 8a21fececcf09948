package toolloop

import (
	"strconv"

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

	// text is the result as it is sent.
	text string
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

// entry pairs the call with a result. Every response has an id, which its calls share.
func (x *execution) entry(r rendered) Entry {
	return Entry{
		ResponseID: "r" + strconv.Itoa(x.turn.iteration+1), Iteration: x.turn.iteration, Call: x.call,
		FunctionResponse: FunctionResponse{Name: x.name, Response: ResponseResult{Result: r.value}}, text: r.text,
	}
}

// succeed records a success.
func (l *Loop) succeed(x *execution, res registry.Result) History {
	x.turn.lastTool = x.tool
	r := l.render(x, res)
	l.end(x, store.CallDone, store.CallReasonNone, r.text)
	h := History{
		Entry: x.entry(r), Success: true, EndTurn: res.EndTurn, Sticker: StickerUntouched{}, settles: x.tool.EndsTurnAfterText,
	}
	h.Entry.Success = true
	h.Entry.Images = res.Images
	if x.name == stickerTool {
		h.Sticker = l.sticker(x.turn.GuildID, r.text)
	}
	return h
}

// failRun records what a tool answered that did not succeed. It may still ask for the end of the turn.
func (l *Loop) failRun(x *execution, f finished) History {
	why := f.reason
	if why == store.CallReasonNone {
		why = store.CallReasonFailed
	}
	if x.dispatched {
		x.turn.lastTool = x.tool
	}
	h := l.fail(x, failureReason(f.result), why)
	h.EndTurn = f.result.EndTurn
	if x.name == stickerTool && x.dispatched {
		h.Sticker = StickerCleared{}
	}
	return h
}

// fail records a failure and, in a turn whose errors are surfaced, tells the operators of it.
func (l *Loop) fail(x *execution, reason string, why store.CallReason) History {
	if x.turn.Deliberate {
		l.hidden(x.turn, HiddenNotice{Title: "Tool failed", Tool: x.name, Detail: reason})
	}
	return l.refuse(x, reason, why)
}

// refuse records a failure with the reason the model reads.
func (l *Loop) refuse(x *execution, reason string, why store.CallReason) History {
	reason = cut(reason, l.limits.ResultMaxBytes)
	l.end(x, store.CallError, why, reason)
	r := newRendered(failedResult{Status: "tool_execution_failed", ToolName: x.name, Reason: reason})
	return History{Entry: x.entry(r), Sticker: StickerUntouched{}}
}
