package practice

import (
	"encoding/json"
	"testing"

	"github.com/parleybot/parley/registry"
)

func TestTools(t *testing.T) {
	t.Parallel()
	r, err := registry.New(Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	run := func(name, args string) registry.Result {
		t.Helper()
		tool, ok := r.Lookup(name)
		if !ok {
			t.Fatalf("%s is not registered", name)
		}
		checked, rej := r.Check(tool, json.RawMessage(args), func(string) (string, bool) { return "", false })
		if rej != nil {
			t.Fatalf("%s refuses %s: %s", name, args, rej.Reason)
		}
		return tool.Run(t.Context(), registry.ToolContext{}, checked)
	}
	if res := run("flaky", `{}`); res.Success {
		t.Error("flaky succeeds unless told otherwise")
	}
	if res := run("flaky", `{"fail":false}`); !res.Success {
		t.Errorf("flaky fails although told not to: %s", res.Error)
	}
	run("risky_note", `{"text":"one"}`)
	run("slow_note", `{"text":"two","seconds":0}`)
	got, _ := json.Marshal(run("read_notes", `{}`).Data)
	if want := `{"notes":["one","two"]}`; string(got) != want {
		t.Errorf("read_notes gives %s, want %s", got, want)
	}
	if tool, _ := r.Lookup("risky_note"); tool.Approval != registry.ApproverOwner {
		t.Error("risky_note must ask its owner")
	}
}
