// Package providers holds the provider-neutral conversation, the fragments that wire formats emit and the rules by which
// fragments become a response: which calls arrived whole, how a stream ended, what may be retried. It knows no vendor;
// one sub-package per wire format does.
package providers

import (
	"context"
	"encoding/json"
	"iter"
)

// Role says who a message is from.
type Role string

// The roles. RoleNote is local: it is shown and stored, never sent to a provider.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleNote      Role = "note"
)

// Message is one entry of a conversation.
type Message struct {
	Role    Role
	Content string
	// Images are what a user message shows beside its text; a wire whose model can't see says so in words instead.
	Images []Image
	// Thinking is the model's reasoning as text, for people and the record; it is not sent back.
	Thinking string
	// ThinkingBlocks are the signed blocks of an assistant message in their order, replayed unchanged to the service and
	// model they came from, and to no other.
	ThinkingBlocks []ThinkingBlock
	// Calls are the tool calls an assistant message asked for, in order.
	Calls []Call
	// CallKey names, on a tool message, the Call.Key it answers.
	CallKey string
	// ToolName and Failed describe a tool message's result.
	ToolName string
	Failed   bool
	// Stopped marks an assistant message that was cut short.
	Stopped bool
}

// Image is a picture in its encoded form, whole.
type Image struct {
	// MIME is the media type, such as "image/png".
	MIME string
	Data []byte
}

// ThinkingBlock is a piece of reasoning that a vendor wants back byte for byte, since its signature covers it.
type ThinkingBlock struct {
	// Provider and Model say where it came from.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Raw is the vendor's own JSON.
	Raw json.RawMessage `json:"raw"`
	// AfterText and AfterCalls are the bytes of text and the number of calls that came before it in its answer, for
	// vendors that think between them.
	AfterText  int `json:"after_text,omitempty"`
	AfterCalls int `json:"after_calls,omitempty"`
}

// Call is one tool call of a response. Its arguments are the raw text that arrived, never a repaired one.
type Call struct {
	// Key is ours and unique within a turn. Provider ids repeat, so nothing of ours is keyed by them.
	Key string
	// ID is the provider's id; it may be empty or repeated.
	ID   string
	Name string
	// Arguments is the argument text as it arrived, for the record; Object is what may be executed.
	Arguments string
	// Object is the argument object to execute: set only when State is Whole.
	Object json.RawMessage
	State  ArgumentState
	// Problem says, for every state but Whole, what is wrong, in words a model can act on.
	Problem string
	// WholeKeys names the top-level keys that arrived whole before a cut, for the hidden notice only.
	WholeKeys []string
	// Opaque is provider data to send back with the call (say, a thought signature).
	Opaque json.RawMessage
}

// ArgumentState says whether a call's arguments may be executed.
type ArgumentState string

// The argument states.
const (
	// Whole arguments are one complete JSON object.
	Whole ArgumentState = "whole"
	// Truncated arguments end early: the call is refused and never dispatched.
	Truncated ArgumentState = "truncated"
	// Malformed arguments are broken elsewhere (trailing data, duplicate keys, not an object): an ordinary failure.
	Malformed ArgumentState = "malformed"
)

// ToolSpec is what a model is told about a tool.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON schema of the arguments, an object schema.
	Schema json.RawMessage
}

// Request is one round trip to a model.
type Request struct {
	Model string
	// System is the system text; it is sent as the first message or the vendor's own field.
	System   string
	Messages []Message
	Tools    []ToolSpec
	// MaxOutputTokens bounds the answer; 0 leaves it to the wire's default.
	MaxOutputTokens int
	// Thinking asks for more or less reasoning; "" leaves it to the model. A model that can't reason ignores it.
	Thinking ThinkingLevel
	// Temperature is the sampling temperature; nil leaves it to the service. Models that refuse one get none.
	Temperature *float64
	// Attempt counts the requests of one turn from 1, for logs and for deterministic fakes.
	Attempt int
}

// ThinkingLevel says how much a model is to reason before it answers.
type ThinkingLevel string

// The thinking levels.
const (
	ThinkingDefault ThinkingLevel = ""
	ThinkingOff     ThinkingLevel = "off"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
)

// Usage is what a round trip cost in tokens. Input counts everything sent (cache reads and writes are parts of it),
// Output everything received (reasoning is a part of it).
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
	// CostNanos is the price in billionths of a US dollar, so that adding up loses nothing. With Unpriced set it is a
	// lower bound: the price of some of it is not known.
	CostNanos int64 `json:"cost_nanos,omitempty"`
	Unpriced  bool  `json:"unpriced,omitempty"`
}

// Add returns the sum of two round trips.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite, Reasoning: u.Reasoning + v.Reasoning,
		CostNanos: u.CostNanos + v.CostNanos, Unpriced: u.Unpriced || v.Unpriced,
	}
}

// Provider is one model service. Implementations are safe for concurrent use.
type Provider interface {
	// Name is the vendor prefix shown in logs, gates and errors ("openai", "rehearsal").
	Name() string
	// Stream starts one round trip. The sequence yields fragments in order and at most one error, last. Leaving the
	// loop early closes the connection. A cancelled context ends the sequence with the context's error.
	Stream(ctx context.Context, req Request) iter.Seq2[Fragment, error]
}
