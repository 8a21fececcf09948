package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
)

// deliberate is a registry with the tools that the rows of deliberate mode name.
func deliberate(t *testing.T) *registry.Registry {
	t.Helper()
	always := func(t *registry.Tool) { t.AlwaysAllowed = true }
	search := func(t *registry.Tool) { t.Category = registry.CategorySearch }
	return newRegistry(t,
		tool("select_sticker_for_response", always),
		tool("web_search", triggers("search*", "look up"), search),
		tool("fetch_url", triggers("url", "website"), search),
		tool("generate_image", triggers("pic", "draw*")),
		tool("create_task", triggers("remind*")),
		tool("update_task", triggers("cancel reminder", "cancel the reminder")),
		tool("read_file", func(t *registry.Tool) { t.Triggers = registry.OnAttachment(registry.AttachmentFile) }),
		tool("create_long_term_memory", func(t *registry.Tool) { t.Aliases = []string{"remember_this_fact"} }),
	)
}

func TestDeliberateModeRows(t *testing.T) {
	t.Parallel()
	const sticker = "select_sticker_for_response"
	for name, tc := range map[string]struct {
		rows []string
		req  registry.AllowRequest
		want []string
	}{
		"TL146 hello":                    {[]string{"TL146", "TL157"}, registry.AllowRequest{Text: "hello"}, []string{sticker}},
		"TL147 search the web":           {[]string{"TL147"}, registry.AllowRequest{Text: "search the web for cats"}, []string{sticker, "web_search"}},
		"TL148 a PDF and no words":       {[]string{"TL148"}, registry.AllowRequest{Attachments: []registry.AttachmentKind{registry.AttachmentFile}}, []string{"read_file", sticker}},
		"TL150 cancel reminder":          {[]string{"TL150"}, registry.AllowRequest{Text: "Cancel   Reminder"}, []string{"create_task", sticker, "update_task"}},
		"TL151 custom group":             {[]string{"TL151"}, registry.AllowRequest{Text: "nag me", Custom: map[string][]string{"reminder": {"nag*"}}}, []string{"create_task", sticker, "update_task"}},
		"TL152 ^ and no text":            {[]string{"TL152"}, registry.AllowRequest{Custom: map[string][]string{"web_search": {"^"}}}, []string{sticker, "web_search"}},
		"TL153 pic is not pictures":      {[]string{"TL153"}, registry.AllowRequest{Text: "pictures and epic-pic and pic_1"}, []string{sticker}},
		"TL153 pic":                      {[]string{"TL153"}, registry.AllowRequest{Text: "a PIC!"}, []string{"generate_image", sticker}},
		"TL153 stem":                     {[]string{"TL153"}, registry.AllowRequest{Text: "um lembrete", Custom: map[string][]string{"create_task": {"lembr*"}}}, []string{"create_task", sticker}},
		"TL153 stem not inside a word":   {[]string{"TL153"}, registry.AllowRequest{Text: "relembrar", Custom: map[string][]string{"create_task": {"lembr*"}}}, []string{sticker}},
		"TL154 regexp":                   {[]string{"TL154"}, registry.AllowRequest{Text: "Wetter in Köln?", Custom: map[string][]string{"web_search": {`/wetter in \p{L}+/`}}}, []string{sticker, "web_search"}},
		"TL154 invalid regexp":           {[]string{"TL154"}, registry.AllowRequest{Text: "(", Custom: map[string][]string{"web_search": {"/(/"}}}, []string{sticker}},
		"custom: category":               {nil, registry.AllowRequest{Text: "google it", Custom: map[string][]string{"search": {"google"}}}, []string{"fetch_url", sticker, "web_search"}},
		"custom: alias":                  {nil, registry.AllowRequest{Text: "merk es", Custom: map[string][]string{"remember_this_fact": {"merk*"}}}, []string{"create_long_term_memory", sticker}},
		"custom: unknown target":         {nil, registry.AllowRequest{Text: "x", Custom: map[string][]string{"sticker": {"^"}, "": {"^"}}}, []string{sticker}},
		"custom: too long or too many":   {nil, registry.AllowRequest{Text: strings.Repeat("a", 41) + " z", Custom: map[string][]string{"web_search": {strings.Repeat("a", 41)}, "fetch_url": append(make([]string, 16), "z")}}, []string{sticker}},
		"windows and follow-ups":         {nil, registry.AllowRequest{Text: "again", Windows: []string{"web_search", "gone"}, FollowUp: []string{"fetch_url"}}, []string{"fetch_url", sticker, "web_search"}},
		"attachments of another kind":    {nil, registry.AllowRequest{Attachments: []registry.AttachmentKind{registry.AttachmentImage}}, []string{sticker}},
		"an attachment's kind as a word": {nil, registry.AllowRequest{Text: "file"}, []string{sticker}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row(t, tc.rows...)
			r := deliberate(t)
			list := r.Allow(tc.req)
			if !list.Active() {
				t.Fatal("the list is off")
			}
			if diff := cmp.Diff(tc.want, list.Names()); diff != "" {
				t.Error(diff)
			}
			// What is offered is what the list says, and nothing else.
			if diff := cmp.Diff(tc.want, names(r.Offer(registry.TurnView{}, list))); diff != "" {
				t.Errorf("offered: %s", diff)
			}
		})
	}
}

func TestTL056ProvenanceOfAnEntry(t *testing.T) {
	t.Parallel()
	row(t, "TL56") // the notice itself is the tool loop's
	r := deliberate(t)
	list := r.Allow(registry.AllowRequest{
		Text:        "search and nag me",
		Custom:      map[string][]string{"search": {"`nag` me", "nag*"}, "generate_image": {"/na+g/"}},
		Attachments: []registry.AttachmentKind{registry.AttachmentFile},
		Windows:     []string{"update_task", "web_search"},
		FollowUp:    []string{"create_task"},
	})
	for name, want := range map[string]registry.Allowed{
		"web_search":                  {Tool: "web_search", Source: registry.SourceBuiltIn, Trigger: "search*"},
		"fetch_url":                   {Tool: "fetch_url", Source: registry.SourceCustom, Trigger: "nag*"},
		"generate_image":              {Tool: "generate_image", Source: registry.SourceCustom, Trigger: "/na+g/"},
		"read_file":                   {Tool: "read_file", Source: registry.SourceAttachment, Trigger: "file"},
		"select_sticker_for_response": {Tool: "select_sticker_for_response", Source: registry.SourceAlways},
		"update_task":                 {Tool: "update_task", Source: registry.SourceWindow},
		"create_task":                 {Tool: "create_task", Source: registry.SourceFollowUp},
	} {
		got, ok := list.Entry(name)
		if !ok {
			t.Errorf("%s is not listed", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, ok := list.Entry("create_long_term_memory"); ok {
		t.Error("a tool that nothing asked for has an entry")
	}
}

func TestTL157AnEmptyListAllowsNothing(t *testing.T) {
	t.Parallel()
	row(t, "TL157")
	r := newRegistry(t, tool("echo", triggers("echo")))
	for name, list := range map[string]registry.Allowlist{
		"restrict to nothing": registry.Restrict(),
		"no intent":           r.Allow(registry.AllowRequest{Text: "hi"}),
	} {
		if !list.Active() || list.Allows("echo") || len(r.Offer(registry.TurnView{}, list)) != 0 || len(list.Names()) != 0 {
			t.Errorf("%s: something is allowed", name)
		}
	}
	var off registry.Allowlist
	if off.Active() || !off.Allows("echo") || !off.Allows("whatever") || len(r.Offer(registry.TurnView{}, off)) != 1 {
		t.Error("the zero value does not mean that the mode is off")
	}
}

func TestRestrictKeepsTheFirstEntry(t *testing.T) {
	t.Parallel()
	list := registry.Restrict(
		registry.Allowed{Tool: "echo", Source: registry.SourceCustom, Trigger: "first"},
		registry.Allowed{Tool: "echo", Source: registry.SourceWindow})
	if got, _ := list.Entry("echo"); got.Trigger != "first" {
		t.Errorf("kept %+v", got)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	want := []string{
		"create_long_term_memory", "create_task", "fetch_url", "generate_image", "read_file", "reminder", "search",
		"select_sticker_for_response", "update_task", "web_search",
	}
	if diff := cmp.Diff(want, deliberate(t).Targets()); diff != "" {
		t.Error(diff)
	}
}

func TestTL156ContextTurns(t *testing.T) {
	t.Parallel()
	row(t, "TL156")
	for _, tc := range []struct {
		setting *int
		want    int
	}{{nil, 4}, {new(-2), 0}, {new(0), 0}, {new(7), 7}, {new(10), 10}, {new(25), 10}} {
		if got := registry.ContextTurns(tc.setting); got != tc.want {
			t.Errorf("%v: got %d, want %d", tc.setting, got, tc.want)
		}
	}
}
