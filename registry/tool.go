// Package registry says what a tool is and decides whether a call may be dispatched: it registers tools, resolves names,
// applies gates, validates arguments against schemas and builds the allowlist of deliberate mode. It dispatches nothing
// itself beyond handing out the tool to run, and it knows neither providers nor stores.
package registry

import (
	"context"
	"encoding/json"
)

// Category groups tools for people (/tools) and for logs.
type Category string

// The categories.
const (
	CategoryDiscord Category = "discord"
	CategorySearch  Category = "search"
	CategoryMemory  Category = "memory"
	CategoryUtility Category = "utility"
	CategoryMCP     Category = "mcp"
)

// Approver says who must agree before a tool runs.
type Approver string

// The approvers. ApproverNone tools run without asking.
const (
	ApproverNone      Approver = ""
	ApproverOwner     Approver = "owner"
	ApproverModerator Approver = "moderator"
)

// Tool is one thing the model may call. A registered tool is immutable and safe for concurrent use.
type Tool struct {
	// Name matches ^[A-Za-z0-9_-]{1,64}$ and is unique, also among aliases.
	Name        string
	Description string
	// Aliases are other names under which models call this tool; they are resolved before anything else looks.
	Aliases []string
	// Schema is a JSON schema of type object. It is sent to the model and enforced before dispatch.
	Schema   json.RawMessage
	Category Category
	// Approval names who must approve a call.
	Approval Approver
	// NeedsFollowUp: the model must see the result to go on (a lookup); an empty answer after it is no answer.
	NeedsFollowUp bool
	// ReadOnly tools change nothing; they may run when the journal is away.
	ReadOnly bool
	// Outside: what the tool answers are others' words (a page, a file, another channel): text in it may try to steer the
	// model, so the turn then counts as one with outside content.
	Outside bool
	// OneShot tools may succeed once in a turn; a success disables them for the rest of it.
	OneShot bool
	// EndsTurnAfterText: a success after visible text of the same response ends the turn, since the model has said what
	// it had to say (a short-term memory update).
	EndsTurnAfterText bool
	// Triggers expose the tool in deliberate mode.
	Triggers []Trigger
	// AlwaysAllowed tools are on every allowlist of deliberate mode.
	AlwaysAllowed bool
	// IDArguments names the top-level arguments that hold opaque ids ("ref_3"); they are resolved before dispatch.
	IDArguments []string
	// Provider reports static support by a provider's name; nil means every provider.
	Provider func(provider string) bool
	// Turn reports whether the tool can be used in the state the turn is in now; nil means always.
	Turn func(TurnView) bool
	// Run executes one call. It must honour ctx; a tool that does not is abandoned. args is one JSON object that
	// satisfies Schema.
	Run func(ctx context.Context, tc ToolContext, args json.RawMessage) Result
}

// Result is what a tool answers.
type Result struct {
	Success bool
	// Data is what the model sees on success; nil becomes {"status":"completed"}. It must marshal to JSON.
	Data any
	// Error and Message describe a failure; the model reads Message, else Error.
	Error   string
	Message string
	// EndTurn ends the turn after the entry was recorded.
	EndTurn bool
	// Images describes images that came with the result.
	Images []ImageMetadata
	// Restart, when set on a success, asks for the turn to go on with richer context instead of a result.
	Restart *Restart
}

// ImageMetadata describes one image of a result.
type ImageMetadata struct {
	URL      string `json:"url"`
	MIMEType string `json:"mime_type,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Alt      string `json:"alt,omitempty"`
}

// Restart is a request to enrich the context and ask the model again (a data type context_restart_*).
type Restart struct {
	// Type is the full type, beginning with RestartPrefix.
	Type string
	// StashKey names a payload that was put aside with ToolContext.Live.Stash; it can be taken once.
	StashKey string
	// Item is an inline payload, used when StashKey is empty.
	Item *ContextItem
	// Disables names the tools that are unavailable for the rest of the turn: what they had to give is now in the context.
	Disables []string
}

// RestartPrefix begins the type of every context restart.
const RestartPrefix = "context_restart_"

// ContextItem is one piece of context that a turn was given or gained.
type ContextItem struct {
	Kind string
	Text string
}

// Fail returns an ordinary failure with a reason the model can act on.
func Fail(reason string) Result { return Result{Error: reason} }

// OK returns a success with data for the model.
func OK(data any) Result { return Result{Success: true, Data: data} }
