package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What does not fit an export is left out from the oldest, and said; once something is left out nothing older comes in.
func TestExportIsBounded(t *testing.T) {
	t.Parallel()
	var room ExportRoom
	big := Turn{ID: "big", Answer: strings.Repeat("x", ExportMaxBytes/2)}
	for i, fits := range []bool{true, true, false} {
		if room.Turn(big) != fits {
			t.Errorf("turn %d: %t", i, !fits)
		}
	}
	if room.Call(Call{Result: "small"}) || !room.Full() {
		t.Error("something small and older came in behind what did not fit")
	}
	e := Export{MemberID: "ana"}
	var r ExportRecords
	for i := range ExportMaxTurns + 1 {
		r.Turns = append(r.Turns, Turn{ID: fmt.Sprint(i)})
	}
	r.Calls = []Call{{TurnID: "0", Tool: "second"}, {TurnID: "0", Tool: "first"}}
	e.Fill(r)
	if len(e.Turns) != ExportMaxTurns || !e.Truncated || e.Turns[0].Calls[0].Tool != "first" {
		t.Errorf("%d turns, truncated %t, calls %+v", len(e.Turns), e.Truncated, e.Turns[0].Calls)
	}
}

// An export of nothing has every list, so that a program that reads it needs no special case.
func TestExportOfNothing(t *testing.T) {
	t.Parallel()
	e := Export{Version: ExportVersion, MemberID: "ana", Settings: map[string]string{}, ChannelSettings: map[string]map[string]string{}}
	e.Fill(ExportRecords{})
	text, err := json.Marshal(e)
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%s, %v", text, err)
	}
}
