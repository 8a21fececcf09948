package providers

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers/internal/rows"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	whole := func(key string) Call {
		return Call{Key: key, Name: "n" + key, Arguments: `{}`, Object: json.RawMessage(`{}`), State: Whole}
	}
	asked := func(text string, calls ...Call) Message {
		return Message{Role: RoleAssistant, Content: text, Calls: calls}
	}
	result := func(key, content string) Message {
		return Message{Role: RoleTool, CallKey: key, ToolName: "n" + key, Content: content}
	}
	failed := func(key, content string) Message {
		r := result(key, content)
		r.Failed = true
		return r
	}
	user := Message{Role: RoleUser, Content: "hi"}
	for _, c := range []struct {
		name     string
		row      string
		in, want []Message
	}{
		{"nothing to do", "", []Message{user, asked("", whole("1")), result("1", "r")}, []Message{user, asked("", whole("1")), result("1", "r")}},
		{
			"a denied batch", "CD124",
			[]Message{user, asked("", whole("1"), whole("2")), failed("1", "denied by user")},
			[]Message{user, asked("", whole("1"), whole("2")), failed("1", "denied by user"), failed("2", notRunDenied)},
		},
		{
			"a denial as the loop records it", "CD124",
			[]Message{asked("", whole("1"), whole("2")), failed("1", `{"status":"tool_execution_failed","reason":"denied by user"}`)},
			[]Message{asked("", whole("1"), whole("2")), failed("1", `{"status":"tool_execution_failed","reason":"denied by user"}`), failed("2", notRunDenied)},
		},
		{"B52 an interrupted call", "", []Message{asked("", whole("1")), user}, []Message{asked("", whole("1")), failed("1", notRunInterrupted), user}},
		{
			"order, seconds and strays", "",
			[]Message{result("0", "stray"), asked("", whole("1"), whole("2")), result("2", "b"), result("9", "stray"), result("1", "a"), result("1", "second")},
			[]Message{asked("", whole("1"), whole("2")), result("1", "a"), result("2", "b")},
		},
		{
			"a late result is a stray", "",
			[]Message{asked("", whole("1")), user, result("1", "late")},
			[]Message{asked("", whole("1")), failed("1", notRunInterrupted), user},
		},
		{
			"the iteration-limit line and other notes", "CD125",
			[]Message{user, asked("", whole("1")), {Role: RoleNote, Content: "stopped: tool loop iteration limit reached"}, result("1", "r"), {Role: RoleNote}},
			[]Message{user, asked("", whole("1")), result("1", "r")},
		},
		{"B56 an empty answer", "", []Message{user, asked(" \n"), user}, []Message{user, user}},
		{
			"B50 broken arguments become an empty object, in the copy", "",
			[]Message{asked("", Call{Key: "1", Name: "n1", Arguments: `{"a":`, State: Truncated, Problem: "p"}), result("1", "r")},
			[]Message{asked("", Call{Key: "1", Name: "n1", Arguments: `{}`, Object: json.RawMessage(`{}`), State: Truncated, Problem: "p"}), result("1", "r")},
		},
		{
			"a wrapped object is sent unwrapped", "",
			[]Message{asked("", Call{Key: "1", Name: "n1", Arguments: `"{\"a\":1}"`, Object: json.RawMessage(`{"a":1}`), State: Whole}), result("1", "r")},
			[]Message{asked("", Call{Key: "1", Name: "n1", Arguments: `{"a":1}`, Object: json.RawMessage(`{"a":1}`), State: Whole}), result("1", "r")},
		},
	} {
		t.Run(c.row+" "+c.name, func(t *testing.T) {
			t.Parallel()
			if c.row != "" {
				rows.Ran(t, c.row)
			}
			before := fmt.Sprintf("%#v", c.in)
			if d := cmp.Diff(c.want, Repair(c.in)); d != "" {
				t.Error(d)
			}
			if fmt.Sprintf("%#v", c.in) != before {
				t.Error("the input was modified")
			}
		})
	}
}

// TestRepairPairsEverything draws conversations with anything missing, doubled or out of place.
func TestRepairPairsEverything(t *testing.T) {
	t.Parallel()
	roles := []Role{RoleSystem, RoleUser, RoleAssistant, RoleTool, RoleTool, RoleNote}
	keys := rapid.SampledFrom([]string{"1", "2", "3", "4"})
	arguments := rapid.SampledFrom([]string{``, `{}`, `{"a":1}`, `{"a":`, `[]`, `"{}"`})
	message := rapid.Custom(func(t *rapid.T) Message {
		m := Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Content: rapid.SampledFrom([]string{"", "x", "denied by user"}).Draw(t, "content")}
		switch m.Role {
		case RoleAssistant:
			for _, k := range rapid.SliceOfN(keys, 0, 3).Draw(t, "calls") {
				c := Call{Key: k, Arguments: arguments.Draw(t, "arguments")}
				c.State = Classify(c.Arguments, FinishStop).State
				m.Calls = append(m.Calls, c)
			}
		case RoleTool:
			m.CallKey, m.Failed = keys.Draw(t, "key"), rapid.Bool().Draw(t, "failed")
		case RoleSystem, RoleUser, RoleNote:
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(message, 0, 12).Draw(t, "messages")
		before := fmt.Sprintf("%#v", in)
		out := Repair(in)
		if fmt.Sprintf("%#v", in) != before {
			t.Fatal("the input was modified")
		}
		users := 0
		for i := 0; i < len(out); i++ {
			m := out[i]
			switch m.Role {
			case RoleAssistant:
				if m.Content == "" && len(m.Calls) == 0 {
					t.Fatal("an empty answer was kept")
				}
				for _, c := range m.Calls {
					i++
					if i == len(out) || out[i].Role != RoleTool || out[i].CallKey != c.Key {
						t.Fatalf("call %s has no result after it", c.Key)
					}
					if Classify(c.Arguments, FinishStop).State != Whole || string(c.Object) != c.Arguments {
						t.Fatalf("arguments %q would be sent", c.Arguments)
					}
				}
			case RoleTool, RoleNote:
				t.Fatalf("a stray %s message", m.Role)
			case RoleUser:
				users++
			case RoleSystem:
			}
		}
		for _, m := range in {
			if m.Role == RoleUser {
				users--
			}
		}
		if users != 0 {
			t.Fatal("user messages were lost or added")
		}
		if d := cmp.Diff(out, Repair(out)); d != "" {
			t.Fatalf("repairing twice changes more: %s", d)
		}
	})
}
