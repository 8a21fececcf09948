package bot

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

// /help lists what somebody may use, and nothing else.
func TestHelpListsWhatOneMayUse(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	for _, c := range []struct {
		who     string
		by      *discordsim.Person
		in      discordsim.ID
		has     []string
		without []string
	}{
		{"member", tw.ana, tw.general, []string{"`/kill`", "`/tools` See which tools I may use here, and switch them (list)", "(show, me)"}, []string{"`/clear`", "`/config`", "reset"}},
		{"moderator", tw.mod, tw.general, []string{"`/clear`", "(list, on, off)", "(show, set, reset)", "(audit)"}, []string{"always-on", "triggers"}},
		{"owner", tw.olga, tw.general, []string{"`/config`", "(show, me, server, triggers)"}, nil},
		{"in private", tw.ana, tw.ana.DM(), []string{"`/clear`", "(list, on, off)"}, []string{"`/config`", "triggers"}},
	} {
		text, private := tw.use(t, c.by, c.in, "help")
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %q", c.who, want, text)
			}
		}
		for _, no := range c.without {
			if strings.Contains(text, no) {
				t.Errorf("%s: %q in %q", c.who, no, text)
			}
		}
		if !private {
			t.Errorf("%s: public", c.who)
		}
	}
}

// Every action says what it needs, and one that may answer in private alone says so.
func TestCommandsAreWhole(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		for _, a := range c.actions {
			if a.need == "" || a.run == nil || a.description == "" || (a.form == nil) != (a.submit == nil) {
				t.Errorf("%s is not whole", c.title(&a))
			}
			completes := false
			for _, o := range a.options {
				completes = completes || o.Autocomplete
			}
			if completes != (a.complete != nil) {
				t.Errorf("%s: completions %v, offered %v", c.title(&a), a.complete != nil, completes)
			}
		}
	}
}

// B103: what another build registered in single servers is cleared when the commands change, and only looked for then.
func TestStaleServerCommandsAreCleared(t *testing.T) {
	t.Parallel()
	saved := &memoryHash{}
	tw := newTown(t, discordsim.Config{}, func(_ *Config, d *Deps) { d.Commands = saved })
	other := tw.world.AddGuild(discordsim.GuildSpec{Name: "Other", Owner: "olga"})
	app := string(tw.world.Bot())
	must(t, tw.bot.rest.do(t.Context(), call{
		route: route{method: "PUT", template: "/applications/{application}/guilds/{guild}/commands", major: string(other)},
		path:  "/applications/" + app + "/guilds/" + string(other) + "/commands",
		body:  []commandSpec{{Name: "kill", Type: typeSlash, Description: "Old", Contexts: []int{0}, IntegrationTypes: []int{0}}},
	}, nil))
	tw.start(t)
	tw.wait(t, "no command twice", func(v discordsim.View) bool {
		return len(v.Commands("")) == len(commands()) && len(v.Commands(other)) == 0
	})
	var registered int
	tw.world.Look(func(v discordsim.View) { registered = count[discordsim.CommandsRegistered](v) })
	if registered != 3 {
		t.Errorf("%d writes: one was the old build's, one is global, one clears", registered)
	}
}

var update = flag.Bool("update", false, "write docs/commands.md")

const (
	commandsPage  = "../docs/commands.md"
	commandsBegin = "<!-- Written by: go test ./bot -run Docs -update -->\n\n"
	commandsEnd   = "\n<!-- end -->\n"
)

// The table in docs/commands.md is the declarations'.
func TestDocsListTheCommands(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| command | what it does | who may |\n| --- | --- | --- |\n")
	for _, c := range commands() {
		for _, a := range c.actions {
			var options []string
			for _, o := range a.options {
				name := o.Name + ":"
				if !o.Required {
					name = "[" + name + "]"
				}
				options = append(options, name)
			}
			title := strings.TrimSpace(c.title(&a) + " " + strings.Join(options, " "))
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", title, strings.ReplaceAll(a.description, "|", `\|`), who(t, c, a))
		}
	}
	data, err := os.ReadFile(commandsPage)
	must(t, err)
	before, rest, ok := strings.Cut(string(data), commandsBegin)
	got, after, closed := strings.Cut(rest, commandsEnd)
	if !ok || !closed {
		t.Fatal("docs/commands.md has lost its marks")
	}
	if got == table.String() {
		return
	}
	if !*update {
		t.Fatal("docs/commands.md is not up to date; write it with: go test ./bot -run Docs -update")
	}
	must(t, os.WriteFile(commandsPage, []byte(before+commandsBegin+table.String()+commandsEnd+after), 0o600))
}

func who(t *testing.T, c command, a action) string {
	t.Helper()
	who := map[need]string{
		needNothing: "everybody", needChannel: "Manage Messages (in a private chat: you)", needServer: "Manage Server",
	}[a.need]
	switch {
	case c.name == "kill":
		who = "the turn's owner; Manage Messages; whole server: Manage Server"
	case a.needOf != nil:
		who += "; whole server: Manage Server"
	}
	if who == "" {
		t.Errorf("%s: nobody may use it", c.title(&a))
	}
	return who
}

// Commas separate triggers, but not inside a regular expression.
func TestSplitTriggers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a, b":                  "a|b",
		" ,a,, b c ,":           "a|b c",
		"/x{1,3}/, y":           "/x{1,3}/|y",
		"/a,b/":                 "/a,b/",
		`/a\/,b/ , c`:           `/a\/,b/|c`,
		"/unclosed, word":       "/unclosed|word",
		"/":                     "/",
		"":                      "",
		"^":                     "^",
		"/a/ x, b":              "/a/ x|b",
		"remind*,/(one|two)/,^": "remind*|/(one|two)/|^",
	} {
		if got := strings.Join(splitTriggers(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A text that is cut into fields and joined again is the same, when it has lines that fit.
func TestCutText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", strings.Repeat("a line of text\n", 30) + "end", strings.Repeat("é", 99) + "\n" + strings.Repeat("😀", 40)} {
		var parts []string
		for rest := text; rest != ""; {
			var part string
			part, rest = cutText(rest, 100)
			if units(part) > 100 {
				t.Errorf("a part of %d units", units(part))
			}
			parts = append(parts, part)
		}
		if got := strings.Join(parts, "\n"); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if part, rest := cutText(strings.Repeat("x", 150), 100); len(part) != 100 || len(rest) != 50 {
		t.Errorf("one long word: %d and %d", len(part), len(rest))
	}
}
