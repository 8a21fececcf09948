package providers

import "encoding/json"

// Fragment is a piece of a streamed answer as a wire emits it. The set is closed; Collect understands all of it.
//
//sumtype:decl
type Fragment interface{ fragment() }

// TextDelta is visible text.
type TextDelta struct{ Text string }

// ThinkingDelta is reasoning text.
type ThinkingDelta struct{ Text string }

// ThinkingDone is a finished block of reasoning that has to be sent back unchanged. Its text has come as ThinkingDelta.
type ThinkingDone struct{ Block ThinkingBlock }

// CallDelta is a piece of a tool call. Slot tells the calls of one response apart and orders them; assembling vendors'
// odd indexes into slots is the wire's job. ID and Name are set once known; Arguments is appended.
type CallDelta struct {
	Slot      int
	ID        string
	Name      string
	Arguments string
	Opaque    json.RawMessage
}

// UsageReport replaces any earlier usage of the same stream: some servers report cumulative numbers in every chunk.
type UsageReport struct {
	Usage Usage
	Model string
	// Reported is the price of the round trip in billionths of a US dollar as the service itself said it, nil when it
	// said nothing.
	Reported *int64
}

// Beat shows that the stream is alive without saying anything (a comment, a ping). It feeds the idle timer.
type Beat struct{}

// End is the end of the answer as the vendor said it. A stream that just stops has no End.
type End struct {
	Reason FinishReason
	// Raw is the vendor's own word.
	Raw string
}

func (TextDelta) fragment()     {}
func (ThinkingDelta) fragment() {}
func (ThinkingDone) fragment()  {}
func (CallDelta) fragment()     {}
func (UsageReport) fragment()   {}
func (Beat) fragment()          {}
func (End) fragment()           {}

// FinishReason says how an answer ended.
type FinishReason string

// The finish reasons.
const (
	// FinishStop is a normal end, with or without calls: vendors disagree on the word, the presence of calls decides.
	FinishStop FinishReason = "stop"
	// FinishLength means that the output limit cut the answer.
	FinishLength FinishReason = "length"
	// FinishFiltered means that the vendor's filter or the model's refusal ended it.
	FinishFiltered FinishReason = "filtered"
	// FinishError means that the vendor reported an error as the end.
	FinishError FinishReason = "error"
	// FinishMissing means that the stream ended without saying how: it was cut off.
	FinishMissing FinishReason = "missing"
)
