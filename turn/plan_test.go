package turn_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// shelf is the tools that the rows of deliberate mode name.
func shelf() []registry.Tool {
	always := func(t *registry.Tool) { t.AlwaysAllowed = true }
	attached := func(kinds ...registry.AttachmentKind) func(*registry.Tool) {
		return func(t *registry.Tool) { t.Triggers = append(t.Triggers, registry.OnAttachment(kinds...)...) }
	}
	return []registry.Tool{
		tool("select_sticker_for_response", nil, always),
		tool("web_search", nil, triggered("search", "search the web")),
		tool("generate_image", nil, triggered("draw")),
		tool("read_file", nil, attached(registry.AttachmentFile)),
		tool("create_task", nil, triggered("remind me")),
		tool("update_task", nil, triggered("cancel reminder")),
	}
}

// deliberateWorld has the shelf and the guild's mode on.
func deliberateWorld(t *testing.T) *world {
	w := newWorld(t)
	w.tools = shelf()
	w.start()
	w.must(w.m.SetGuildDeliberate(context.Background(), w.place("c"), turn.DeliberateOn))
	return w
}

// offer fails unless the newest request offered these tools besides the sticker tool, which is always allowed.
func (w *world) offer(want ...string) {
	w.t.Helper()
	asked := w.model.asked()
	got := slices.DeleteFunc(offered(asked[len(asked)-1]), func(n string) bool { return n == "select_sticker_for_response" })
	if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
		w.t.Errorf("offered (-want +got):\n%s", diff)
	}
}

func TestDeliberateMode(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	row(t, "TL146 TL147", "small talk offers only what is always allowed; a wish offers its tool", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		w.say("ana", "c", "@bot hello")
		if got := offered(w.model.asked()[0]); !slices.Equal(got, []string{"select_sticker_for_response"}) {
			t.Errorf("offered %v", got)
		}
		w.say("ana", "c", "@bot search the web for cats")
		w.offer("web_search")
	})
	row(t, "TL148", "a file without words offers the file reader", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		w.say("ana", "c", "@bot", func(in *turn.Inbound) {
			in.Attachments = []turn.Attachment{{ID: "1", Name: "a.pdf", ContentType: "application/pdf"}}
		})
		w.offer("read_file")
	})
	row(t, "TL150 TL151 TL152", "words of tools, and the guild's own for a group, also for every message", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		w.say("ana", "c", "@bot cancel reminder")
		w.offer("update_task")
		w.must(w.m.SetToolTriggers(ctx, w.place("c"), "reminder", []string{"alarm"}))
		w.say("ana", "c", "@bot alarm at five")
		w.offer("create_task", "update_task")
		w.must(w.m.SetToolTriggers(ctx, w.place("c"), "generate_image", []string{"^"}))
		w.say("ana", "c", "@bot")
		w.offer("generate_image")
	})
	row(t, "TL153 TL154", "words end where words end, stems go on; expressions match, broken ones are refused when set", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		w.must(w.m.SetToolTriggers(ctx, w.place("c"), "generate_image", []string{"pic", "lembr*", "/c[ao]t/"}))
		for text, want := range map[string][]string{
			"@bot nice pictures": nil, "@bot lembrete": {"generate_image"}, "@bot relembrar": nil, "@bot COT": {"generate_image"},
		} {
			w.say("ana", "c", text)
			w.offer(want...)
		}
		for _, bad := range [][]string{{"/(/"}, {"*"}, {"//"}, {string(make([]byte, 50))}, slices.Repeat([]string{"word"}, 17)} {
			refusal(t, w.m.SetToolTriggers(ctx, w.place("c"), "generate_image", bad), turn.RefusedInvalid)
		}
		refusal(t, w.m.SetToolTriggers(ctx, w.place("c"), "no_such", []string{"a"}), turn.RefusedInvalid)
	})
	row(t, "TL156", "the number of context turns", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		for stored, want := range map[string]int{"": 4, "-2": 0, "25": 10, "x": 4, "3": 3} {
			w.must(w.store.PutSetting(ctx, store.Setting{Scope: store.SettingGuild, ID: "7" + stored, Name: turn.SettingContextTurns, Value: stored}))
			got, err := w.m.GuildSettings(ctx, turn.Place{GuildID: "7" + stored})
			if w.must(err); got.ContextTurns != want {
				t.Errorf("%q means %d, want %d", stored, got.ContextTurns, want)
			}
		}
		refusal(t, w.m.SetContextTurns(ctx, w.place("c"), 11), turn.RefusedInvalid)
	})
	row(t, "TL157", "with no wish nothing is offered, and a call is blocked", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("web_search", nil, triggered("search"))}
		w.start()
		defer w.stop()
		w.must(w.m.SetGuildDeliberate(ctx, w.place("c"), turn.DeliberateOn))
		w.model.will(calls("web_search", "{}"), says("sorry"))
		w.say("ana", "c", "@bot hello")
		w.offer()
		for _, c := range w.store.rows {
			if c.Reason != store.CallReasonBlocked {
				t.Errorf("the call ended as %s (%s)", c.Status, c.Reason)
			}
		}
		if len(w.store.rows) != 1 {
			t.Errorf("%d calls are in the journal", len(w.store.rows))
		}
	})
	row(t, "TL158", "a member's own word goes before the guild's", func(t *testing.T) {
		w := deliberateWorld(t)
		defer w.stop()
		p := w.place("c")
		p.Actor = turn.Actor{ID: "9ana"}
		w.must(w.m.SetMemberDeliberate(ctx, p, turn.DeliberateOff))
		w.say("ana", "c", "@bot hello")
		w.offer("create_task", "generate_image", "read_file", "update_task", "web_search")
		w.must(w.m.SetGuildDeliberate(ctx, w.place("c"), turn.DeliberateOff))
		w.must(w.m.SetMemberDeliberate(ctx, p, turn.DeliberateOn))
		w.say("ana", "c", "@bot hello")
		w.offer()
		w.must(w.m.SetMemberDeliberate(ctx, p, turn.DeliberateFollow))
		w.say("ana", "c", "@bot hello")
		w.offer("create_task", "generate_image", "read_file", "update_task", "web_search")
	})
	row(t, "TL159", "a used tool stays for two turns; use refreshes; the count goes on while the mode is off and over a restart", func(t *testing.T) {
		w := deliberateWorld(t)
		defer func() { w.stop() }()
		w.must(w.m.SetContextTurns(ctx, w.place("c"), 2))
		w.model.will(calls("web_search", "{}"), says("found"))
		w.say("ana", "c", "@bot search")
		w.say("ana", "c", "@bot t+1")
		w.offer("web_search")
		w.model.will(calls("web_search", "{}"), says("found"))
		w.say("ana", "c", "@bot t+2, used again")
		w.stop()
		w.start()
		w.say("ana", "c", "@bot t+3")
		w.offer("web_search")
		w.must(w.m.SetGuildDeliberate(ctx, w.place("c"), turn.DeliberateOff))
		w.say("ana", "c", "@bot t+4, the mode is off")
		w.must(w.m.SetGuildDeliberate(ctx, w.place("c"), turn.DeliberateOn))
		w.say("ana", "c", "@bot t+5")
		w.offer()
	})
	row(t, "CD057", "the master switch takes all tools away", func(t *testing.T) {
		w := newWorld(t)
		w.tools = shelf()
		w.start()
		defer w.stop()
		if _, err := w.m.SwitchTool(ctx, w.place("c"), turn.ToolSwitch{Scope: turn.ScopeChannel}); err != nil {
			t.Fatal(err)
		}
		w.say("ana", "c", "@bot draw")
		if got := offered(w.model.asked()[0]); len(got) != 0 {
			t.Errorf("offered %v", got)
		}
		w.say("ana", "d", "@bot draw")
		if got := offered(w.model.asked()[1]); len(got) != len(shelf()) {
			t.Errorf("offered %v in another channel", got)
		}
	})
	check(t, "switches of a guild and of a channel, as /tools shows them", func(t *testing.T) {
		w := newWorld(t)
		w.tools = shelf()
		w.start()
		defer w.stop()
		for _, s := range []turn.ToolSwitch{{Tool: "web_search", Scope: turn.ScopeGuild}, {Tool: "read_file", Scope: turn.ScopeChannel}} {
			name, err := w.m.SwitchTool(ctx, w.place("c"), s)
			if w.must(err); name != s.Tool {
				t.Errorf("switched %q", name)
			}
		}
		_, err := w.m.SwitchTool(ctx, w.place("c"), turn.ToolSwitch{Tool: "nope"})
		refusal(t, err, turn.RefusedInvalid)
		w.say("ana", "c", "@bot hello")
		w.offer("create_task", "generate_image", "update_task")
		rep, err := w.m.Tools(ctx, w.place("c"))
		w.must(err)
		off := map[string]turn.ToolOff{}
		for _, x := range rep.Tools {
			if !x.On {
				off[x.Name] = x.OffIn
			}
		}
		if diff := cmp.Diff(map[string]turn.ToolOff{"web_search": turn.ToolOffGuild, "read_file": turn.ToolOffChannel}, off); diff != "" {
			t.Errorf("off (-want +got):\n%s", diff)
		}
	})
	check(t, "when nobody knows what is switched off, nothing is offered", func(t *testing.T) {
		w := newWorld(t)
		w.tools = shelf()
		w.start()
		defer w.stop()
		w.store.set(func(s *memory) { s.away = true })
		w.say("ana", "c", "@bot draw")
		if got := offered(w.model.asked()[0]); len(got) != 0 {
			t.Errorf("offered %v", got)
		}
	})
}
