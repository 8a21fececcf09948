package wire

import "encoding/json"

// Text is a string; anything else reads as "". Members whose type differs between servers are read leniently: a surprise
// in one of them must not cost the rest of the event.
type Text string

// UnmarshalJSON never fails.
func (t *Text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	*t = Text(s)
	return nil
}

// Count is a number that some servers send as 12.0; anything else reads as 0.
type Count int

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	var f float64
	if json.Unmarshal(raw, &f) != nil || f < 0 || f > 1<<40 {
		f = 0
	}
	*c = Count(f)
	return nil
}
