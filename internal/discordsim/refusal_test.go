package discordsim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

// What people may not do is refused in the words in which Discord refuses it.
func TestPeopleAreRefusedInDiscordsWords(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	hidden := tw.channel(t, "hidden", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermViewChannel})
	quiet := tw.channel(t, "quiet", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermSendMessages | discordsim.PermAddReactions})
	theirs := tw.say(t, tw.olga, "a message")
	own := tw.say(t, tw.ana, "my message")
	inQuiet, err := tw.olga.Say(quiet, "silence")
	must(t, err)
	dm, err := tw.ana.Say(tw.ana.DM(), "hello")
	must(t, err)
	var private struct{ ID discordsim.ID }
	tw.do(t, "POST", "/channels/"+string(tw.ana.DM())+"/messages", `{"content":"for you"}`).into(t, &private)
	full := tw.say(t, tw.olga, "popular")
	for i := range 20 {
		must(t, tw.olga.React(full, string(rune(0x1F600+i))))
	}
	_, err = tw.ana.Thread(tw.general, "talk", own)
	must(t, err)
	send := func(channel discordsim.ID, d discordsim.Draft) func() error {
		return func() error { _, err := tw.ana.Send(channel, d); return err }
	}
	thread := func(channel discordsim.ID, name string, from discordsim.ID) func() error {
		return func() error { _, err := tw.ana.Thread(channel, name, from); return err }
	}
	files := make([]discordsim.File, 11)
	for i := range files {
		files[i] = discordsim.File{Name: fmt.Sprint(i), Data: []byte("x")}
	}
	cases := map[string]struct {
		do   func() error
		code int
		// problem is the code of the one field that is wrong.
		problem string
	}{
		"an unknown channel":        {send("1", discordsim.Draft{Text: "x"}), 10003, ""},
		"a hidden channel":          {send(hidden, discordsim.Draft{Text: "x"}), 50001, ""},
		"a channel to read":         {send(quiet, discordsim.Draft{Text: "x"}), 50013, ""},
		"typing where one may not":  {func() error { return tw.ana.Type(quiet) }, 50013, ""},
		"nothing":                   {send(tw.general, discordsim.Draft{Text: " \u200b "}), 50006, ""},
		"too much":                  {send(tw.general, discordsim.Draft{Text: strings.Repeat("x", 2001)}), 50035, "BASE_TYPE_MAX_LENGTH"},
		"a reply to nothing":        {send(tw.general, discordsim.Draft{Text: "x", ReplyTo: "1"}), 50035, "REPLIES_UNKNOWN_MESSAGE"},
		"too many files":            {send(tw.general, discordsim.Draft{Files: files}), 50035, "BASE_TYPE_BAD_LENGTH"},
		"a file that is too large":  {send(tw.general, discordsim.Draft{Files: []discordsim.File{{Name: "big", Data: make([]byte, 10<<20+1)}}}), 40005, ""},
		"another's message, edited": {func() error { return tw.ana.Edit(theirs, "x") }, 50005, ""},
		"an edit to nothing":        {func() error { return tw.ana.Edit(own, "") }, 50006, ""},
		"an edit to too much":       {func() error { return tw.ana.Edit(own, strings.Repeat("x", 2001)) }, 50035, "BASE_TYPE_MAX_LENGTH"},
		"another's, deleted":        {func() error { return tw.ana.Delete(theirs) }, 50013, ""},
		"the bot's in a DM":         {func() error { return tw.ana.Delete(private.ID) }, 50003, ""},
		"an unknown message":        {func() error { return tw.ana.Delete("1") }, 10008, ""},
		"a word as a reaction":      {func() error { return tw.ana.React(theirs, "yes") }, 10014, ""},
		"an unknown custom emoji":   {func() error { return tw.ana.React(theirs, "party:1") }, 10014, ""},
		"a reaction, not allowed":   {func() error { return tw.ana.React(inQuiet, "👍") }, 50013, ""},
		"a 21st reaction":           {func() error { return tw.ana.React(full, "🍵") }, 30010, ""},
		"a second thread":           {thread(tw.general, "again", own), 160004, ""},
		"a thread without a name":   {thread(tw.general, " ", ""), 50035, "BASE_TYPE_BAD_LENGTH"},
		"a thread in a DM":          {thread(tw.ana.DM(), "x", dm), 50024, ""},
		"a button that is gone":     {func() error { _, err := tw.ana.Click(theirs, "ok"); return err }, 50035, "COMPONENT_VALIDATION_FAILED"},
	}
	for name, c := range cases {
		got, ok := discordsim.RefusalOf(c.do())
		problem := ""
		if len(got.Problems) > 0 {
			problem = got.Problems[0].Code
		}
		if !ok || got.Code != c.code || problem != c.problem || got.Message == "" || got.Status < 400 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, ok := discordsim.RefusalOf(nil); ok {
		t.Error("no error is a refusal")
	}
	must(t, tw.ana.React(full, "\U0001F600")) // One that is there already does not count.
}

func TestSelectsOfEveryKind(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	role, err := tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "r"})
	must(t, err)
	g.expect("GUILD_ROLE_CREATE")
	var menu struct{ ID discordsim.ID }
	tw.do(t, "POST", tw.messages(), `{"content":"Which?","components":[
		{"type":1,"components":[{"type":3,"custom_id":"s","min_values":1,"max_values":2,"options":[{"label":"A","value":"a"},{"label":"B","value":"b"},{"label":"C","value":"c"}]}]},
		{"type":1,"components":[{"type":5,"custom_id":"u"}]},
		{"type":1,"components":[{"type":6,"custom_id":"r"}]},
		{"type":1,"components":[{"type":7,"custom_id":"m","max_values":2}]},
		{"type":1,"components":[{"type":8,"custom_id":"c","channel_types":[0]}]}]}`).into(t, &menu)
	g.expect("MESSAGE_CREATE")
	thread, err := tw.ana.Thread(tw.general, "talk", "")
	must(t, err)
	g.expect("THREAD_CREATE")
	type resolved struct{ Users, Members, Roles, Channels map[discordsim.ID]any }
	cases := []struct {
		name, menu string
		values     []discordsim.ID
		ok         bool
		seen       []int // how many users, members, roles and channels come with it
	}{
		{"two of three", "s", []discordsim.ID{"a", "c"}, true, []int{0, 0, 0, 0}},
		{"too many", "s", []discordsim.ID{"a", "b", "c"}, false, nil},
		{"none", "s", nil, false, nil},
		{"one twice", "s", []discordsim.ID{"a", "a"}, false, nil},
		{"somebody", "u", []discordsim.ID{tw.olga.ID}, true, []int{1, 1, 0, 0}},
		{"nobody", "u", []discordsim.ID{"1"}, false, nil},
		{"a role", "r", []discordsim.ID{role}, true, []int{0, 0, 1, 0}},
		{"a user as a role", "r", []discordsim.ID{tw.ana.ID}, false, nil},
		{"a user and a role", "m", []discordsim.ID{tw.ana.ID, role}, true, []int{1, 1, 1, 0}},
		{"a channel", "c", []discordsim.ID{tw.general}, true, []int{0, 0, 0, 1}},
		{"a channel of another kind", "c", []discordsim.ID{thread}, false, nil},
	}
	for _, c := range cases {
		values := []string{}
		for _, v := range c.values {
			values = append(values, string(v))
		}
		if _, err := tw.ana.Select(menu.ID, c.menu, values...); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !c.ok {
			continue
		}
		var data struct {
			Values        []string
			ComponentType int      `json:"component_type"`
			Resolved      resolved `json:"resolved"`
		}
		must(t, json.Unmarshal(g.receive().Data, &data))
		r := data.Resolved
		if diff := cmp.Diff(c.seen, []int{len(r.Users), len(r.Members), len(r.Roles), len(r.Channels)}); diff != "" || !cmp.Equal(data.Values, values) {
			t.Errorf("%s: values %v, resolved (-want +got):\n%s", c.name, data.Values, diff)
		}
	}
	bad := `{"content":"x","components":[{"type":1,"components":[{"type":5,"custom_id":"u","min_values":3,"max_values":2}]}]}`
	if r := tw.do(t, "POST", tw.messages(), bad); r.code(t) != 50035 {
		t.Errorf("more at least than at most: %d %s", r.status, r.text)
	}
}

func TestPartsThatDiscordRefuses(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	row := func(parts string) string {
		return `{"content":"x","components":[{"type":1,"components":[` + parts + `]}]}`
	}
	menu := func(options string) string { return row(`{"type":3,"custom_id":"m","options":[` + options + `]}`) }
	cases := map[string]struct{ body, code string }{
		"a link that runs a script":  {`{"embeds":[{"title":"x","url":"javascript:alert(1)"}]}`, "URL_TYPE_INVALID_SCHEME"},
		"a picture from nowhere":     {`{"embeds":[{"image":{"url":"picture"}}]}`, "URL_TYPE_INVALID_URL"},
		"a button that runs it":      {row(`{"type":2,"style":5,"label":"x","url":"javascript:alert(1)"}`), "URL_TYPE_INVALID_SCHEME"},
		"a button without a link":    {row(`{"type":2,"style":5,"label":"x"}`), "BASE_TYPE_REQUIRED"},
		"a menu without options":     {menu(``), "BASE_TYPE_BAD_LENGTH"},
		"an option without a label":  {menu(`{"label":"","value":"a"}`), "BASE_TYPE_BAD_LENGTH"},
		"one value twice":            {menu(`{"label":"A","value":"a"},{"label":"B","value":"a"}`), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"},
		"a menu beside a button":     {row(`{"type":5,"custom_id":"u"},{"type":2,"style":1,"label":"x","custom_id":"b"}`), "COMPONENT_LAYOUT_WIDTH_EXCEEDED"},
		"a menu that no one can use": {row(`{"type":5,"custom_id":"u","min_values":3,"max_values":2}`), "NUMBER_TYPE_MAX"},
	}
	for name, c := range cases {
		r := tw.do(t, "POST", tw.messages(), c.body)
		if r.status != 400 || !strings.Contains(string(r.text), `"code":"`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
	for name, body := range map[string]string{
		"web":        `{"embeds":[{"title":"x","url":"https://example.com/a?b=c","image":{"url":"attachment://x.png"}}]}`,
		"to Discord": row(`{"type":2,"style":5,"label":"x","url":"discord://-/settings"}`),
	} {
		if r := tw.do(t, "POST", tw.messages(), body); r.status != 200 {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
}

// A form is shown as the bot asked for it, and holds people to that.
func TestModalInputs(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, `[{"name":"ask","description":"Ask"}]`)
	g, _ := tw.open(t, allIntents)
	asked, err := tw.ana.Slash(tw.general, "ask")
	must(t, err)
	r := tw.answer(t, g.receive(), `{"type":9,"data":{"custom_id":"form","title":"Why?","components":[
		{"type":18,"label":"Reason","description":"In short","component":{"type":4,"custom_id":"why","style":2,"placeholder":"Because","min_length":3,"max_length":5}},
		{"type":1,"components":[{"type":4,"custom_id":"who","label":"Who","style":1,"required":false}]}]}}`)
	if r.status >= 300 {
		t.Fatalf("the form: %d %s", r.status, r.text)
	}
	want := []discordsim.ModalInput{
		{CustomID: "why", Label: "Reason", Description: "In short", Placeholder: "Because", Paragraph: true, Required: true, MinLength: 3, MaxLength: 5},
		{CustomID: "who", Label: "Who"},
	}
	if diff := cmp.Diff(want, asked.State().Modal.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	for text, code := range map[string]string{"": "BASE_TYPE_REQUIRED", "no": "BASE_TYPE_BAD_LENGTH", "because": "BASE_TYPE_BAD_LENGTH"} {
		_, err := tw.ana.Submit(asked, map[string]string{"why": text})
		if got, ok := discordsim.RefusalOf(err); !ok || got.Code != 50035 || got.Problems[0].Code != code {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if _, err := tw.ana.Submit(asked, map[string]string{"why": "fine"}); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
