package toolloop_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
)

// CD003 for any conversation, however broken its pairing, and for a provider that changes what it was sent.
func TestCallerRecordsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOfN(message(), 0, 8).Draw(rt, "conversation")
		args := rapid.SampledFrom([]string{`{"a":1}`, `{"a":`, "[1]", ""}).Draw(rt, "arguments")
		kept := clone(before)
		var diff string
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, answer(say("x"), call("echo", args), call("nope", args)), answer(say("y"))).with(newTool("echo", nil).spec)
			f.before = before[:len(before):cap(before)] // an append to it would land in the caller's memory
			f.model.spoil = true
			f.run()
			diff = cmp.Diff(kept, before)
		})
		if diff != "" {
			rt.Fatal(diff)
		}
	})
}

func message() *rapid.Generator[providers.Message] {
	return rapid.Custom(func(t *rapid.T) providers.Message {
		m := providers.Message{
			Role: rapid.SampledFrom([]providers.Role{
				providers.RoleUser, providers.RoleAssistant, providers.RoleAssistant, providers.RoleTool, providers.RoleNote, providers.RoleSystem,
			}).Draw(t, "role"),
			Content: rapid.SampledFrom([]string{"", " ", "hello"}).Draw(t, "content"),
		}
		switch m.Role {
		case providers.RoleTool:
			m.CallKey, m.Content = fmt.Sprint("k", rapid.IntRange(0, 3).Draw(t, "key")), "result"
		case providers.RoleAssistant:
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.Calls = append(m.Calls, providers.Call{
					Key: fmt.Sprint("k", rapid.IntRange(0, 3).Draw(t, "key")), Name: "old", Arguments: `{"a":1}`,
					Object: json.RawMessage(`{"a":1}`), WholeKeys: []string{"a"}, State: providers.Whole,
				})
			}
		case providers.RoleUser, providers.RoleSystem, providers.RoleNote:
		}
		return m
	})
}
