package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// refusal fails unless err is a refusal of this kind that names the problem.
func refusal(t *testing.T, err error, kind turn.RefusalKind) {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if !ok || r.Kind != kind || r.Problem == "" {
		t.Errorf("got %v, want a refusal: %s", err, kind)
	}
}

func TestTextCommands(t *testing.T) {
	t.Parallel()
	row(t, "CD102 CD103", "what is a text command and what is none", func(t *testing.T) {
		for text, want := range map[string]turn.TextCommand{
			"/MODEL gpt-4o": {Name: turn.CommandModel, Argument: "gpt-4o"}, " /clear ": {Name: turn.CommandClear},
			"/system be terse": {Name: turn.CommandSystem, Argument: "be terse"}, "/system\nbe terse\ntoo": {Name: turn.CommandSystem, Argument: "be terse\ntoo"},
			"/model": {Name: turn.CommandModel}, "/cost please": {Name: turn.CommandCost},
		} {
			if got, ok := turn.ParseTextCommand(text); !ok || got != want {
				t.Errorf("%q is %+v", text, got)
			}
		}
		for _, text := range []string{"hello /clear", "/nope", "/", "model x", "", "/clearly"} {
			if got, ok := turn.ParseTextCommand(text); ok {
				t.Errorf("%q is %+v", text, got)
			}
		}
	})
	row(t, "CD058", "nothing changes the conversation under a running turn", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs())
		w.say("ana", "c", "@bot go")
		ctx := context.Background()
		for _, err := range []error{
			w.m.Clear(ctx, w.place("c")), w.m.SetModel(ctx, w.place("c"), "m-1"), w.m.SetSystem(ctx, w.place("c"), "be terse"),
		} {
			refusal(t, err, turn.RefusedBusy)
			if !strings.Contains(err.Error(), "/kill") {
				t.Errorf("%v has no remedy", err)
			}
		}
		w.say("mod", "c", "@bot /clear", moderator)
		if n := w.edge.told(turn.NoticeCommand); len(n) != 1 || !strings.Contains(n[0].Text, "/kill") {
			t.Errorf("told %v", n)
		}
		w.kill("mod", "c", true)
		w.must(w.m.Clear(ctx, w.place("c")))
	})
	check(t, "text commands and their answers are no conversation", func(t *testing.T) {
		w := newWorld(t)
		mod := turn.Person{ID: "9mod", Name: "mod"}
		w.edge.histories["c"] = []turn.Message{
			{ID: "5", Author: mod, Content: "<@" + botID + "> /system be terse"},
			{ID: "6", Author: turn.Person{ID: botID, Name: "Parley", Self: true}, Content: "Done, terse.", ReplyToID: "5"},
			{ID: "7", Author: mod, Content: "so there /system works"},
		}
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot hi")
		w.say("mod", "c", "@bot /cost")
		w.say("ana", "c", "@bot and now?")
		got := prompt(w.lastRequest())
		if strings.Contains(got, "terse") || strings.Contains(got, "/cost") || !strings.Contains(got, "so there /system works") {
			t.Errorf("the request was\n%s", got)
		}
	})
	check(t, "clear hides what was before, also after a restart, and keeps the system text", func(t *testing.T) {
		w := newWorld(t)
		w.edge.echo = true
		w.start()
		defer func() { w.stop() }()
		w.must(w.m.SetSystem(context.Background(), w.place("c"), "Speak like a pirate."))
		w.model.will(says("noted"))
		w.say("ana", "c", "@bot my cat is called Mo")
		w.say("mod", "c", "@bot /clear", moderator)
		w.say("ana", "c", "@bot what is it called?")
		w.stop()
		w.edge.histories["c"] = []turn.Message{{ID: "5", Author: person("ana"), Content: "my cat is called Mo"}}
		w.start()
		w.say("ana", "c", "@bot once more?")
		asked := w.model.asked()
		for _, r := range asked[1:] {
			if got := prompt(r); strings.Contains(got, "Mo") || !strings.Contains(r.System, "pirate") {
				t.Errorf("after the clear the model was told\n%s\n%s", r.System, got)
			}
		}
		if len(asked) != 3 {
			t.Errorf("asked %d times", len(asked))
		}
	})
	check(t, "text commands ask for rights, answer once and start no turn", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		in := w.say("ana", "c", "@bot /system be rude")
		w.m.Receive(context.Background(), in)
		w.say("ana", "c", "@bot /cost")
		w.say("mod", "c", "@bot /system be kind", moderator)
		w.say("mod", "c", "@bot /system", moderator)
		w.say("mod", "c", "@bot /model m-9", moderator)
		w.say("ana", "dm", "/system be mine", private)
		synctest.Wait()
		var texts []string
		for _, n := range w.edge.told(turn.NoticeCommand) {
			texts = append(texts, n.Text)
		}
		want := []string{"permission", "Nothing has been used", "Done", "be kind", "no model", "Done"}
		for i, part := range want {
			if i >= len(texts) || !strings.Contains(texts[i], part) {
				t.Fatalf("answers are %q, want %q", texts, want)
			}
		}
		w.ended()
	})
	check(t, "cost adds up what was used since the clear", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a"}, usage: 100}, reply{pieces: []string{"b"}, usage: 30}, reply{pieces: []string{"c"}, usage: 5})
		w.say("ana", "c", "@bot 1")
		w.must(w.m.Clear(context.Background(), w.place("c")))
		w.say("ana", "c", "@bot 2")
		w.say("ana", "c", "@bot 3")
		rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostHere)
		if w.must(err); rep.Turns != 2 || rep.Usage.Input != 35 || len(rep.Models) != 1 || rep.Models[0].Model != "m-1" || rep.Models[0].Turns != 2 {
			t.Errorf("%+v", rep)
		}
	})
}

func TestRights(t *testing.T) {
	t.Parallel()
	check(t, "who may change what", func(t *testing.T) {
		w := newWorld(t)
		w.tools = shelf()
		w.start()
		defer w.stop()
		ctx := context.Background()
		member, mod, nowhere := w.place("c"), w.place("c"), w.place("c")
		member.Actor = turn.Actor{ID: "9ana"}
		mod.Actor = turn.Actor{ID: "9mo", ManageMessages: true}
		nowhere.GuildID = ""
		_, words := w.m.SetTriggerWords(ctx, mod, []string{"mori"})
		refusal(t, words, turn.RefusedForbidden)
		refusal(t, w.m.SetGuildDeliberate(ctx, mod, turn.DeliberateOn), turn.RefusedForbidden)
		refusal(t, w.m.SetAlwaysOn(ctx, member, "5", true), turn.RefusedForbidden)
		refusal(t, w.m.SetLogChannel(ctx, nowhere, "5"), turn.RefusedElsewhere)
		refusal(t, w.m.SetLogChannel(ctx, w.place("c"), "#log"), turn.RefusedInvalid)
		refusal(t, w.m.Clear(ctx, member), turn.RefusedForbidden)
		refusal(t, w.m.SetSystem(ctx, mod, strings.Repeat("x", turn.MaxSystemBytes+1)), turn.RefusedInvalid)
		_, err := w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "web_search", Scope: turn.ScopeGuild})
		refusal(t, err, turn.RefusedForbidden)
		_, err = w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "web_search", Scope: turn.ScopeChannel})
		w.must(err)
		w.must(w.m.SetMemberDeliberate(ctx, member, turn.DeliberateOn))
		_, err = w.m.SetTriggerWords(ctx, w.place("c"), []string{"x"})
		refusal(t, err, turn.RefusedInvalid)
		w.store.set(func(s *memory) { s.away = true })
		refusal(t, w.m.SetGuildDeliberate(ctx, w.place("c"), turn.DeliberateOn), turn.RefusedUnavailable)
	})
	check(t, "a guild whose settings could not be read keeps them when one is changed", func(t *testing.T) {
		w := newWorld(t)
		ctx := context.Background()
		w.must(w.store.PutSetting(ctx, store.Setting{Scope: store.SettingGuild, ID: guildID, Name: turn.SettingAlwaysOn, Value: `["801"]`}))
		w.start()
		defer w.stop()
		w.store.set(func(s *memory) { s.away = true })
		w.say("ana", "c", "hello") // judged by the defaults
		w.store.set(func(s *memory) { s.away = false })
		w.must(w.m.SetAlwaysOn(ctx, w.place("c"), "802", true))
		if got := w.store.settings[store.SettingGuild][guildID][turn.SettingAlwaysOn]; got != `["801","802"]` {
			t.Errorf("stored %s", got)
		}
	})
	check(t, "a change made while settings are read is not lost", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		ctx := context.Background()
		w.must(w.m.SetAlwaysOn(ctx, w.place("c"), "801", true))
		done := make(chan error, 2)
		for _, id := range []string{"802", "803"} {
			go func() { done <- w.m.SetAlwaysOn(ctx, w.place("c"), id, true) }()
		}
		w.must(<-done)
		w.must(<-done)
		got, err := w.m.GuildSettings(ctx, w.place("c"))
		if w.must(err); len(got.AlwaysOn) != 3 {
			t.Errorf("always on: %v", got.AlwaysOn)
		}
		if w.store.settings[store.SettingGuild][guildID][turn.SettingAlwaysOn] == "" {
			t.Error("nothing is stored")
		}
	})
}
