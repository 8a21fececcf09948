package store

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
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

// Every field of an export is described where members are sent to read about it.
func TestExportIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), fmt.Sprintf(`"version": %d`, ExportVersion)) {
		t.Errorf("the document does not describe version %d", ExportVersion)
	}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Slice, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			for field := range of.Fields() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if name != "" && !strings.Contains(string(text), `"`+name+`":`) {
					t.Errorf("%s.%s (%s) is not described", of.Name(), field.Name, name)
				}
				look(field.Type)
			}
		default:
		}
	}
	look(reflect.TypeFor[Export]())
}
