package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Text is a string; anything else reads as "". Members whose type differs between servers are read leniently: a surprise
// in one of them must not cost the rest of the event.
type Text string

// UnmarshalJSON never fails. Nearly every text is plain, and reading it needs no second decoder.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		*t = Text(raw[1 : n-1])
		return nil
	}
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	*t = Text(s)
	return nil
}

// Count is a number that some servers send as 12.0; anything else reads as 0.
type Count int

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(f >= 0 && f <= 1<<40) {
		f = 0
	}
	*c = Count(f)
	return nil
}
