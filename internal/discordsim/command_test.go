package discordsim_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

const commands = `[
 {"name":"kill","description":"Stop"},
 {"name":"config","description":"Configure","default_member_permissions":"32","contexts":[0]},
 {"name":"admin","description":"Administrate","default_member_permissions":"0"},
 {"name":"memory","description":"Memory","options":[
  {"type":1,"name":"forget","description":"Forget","options":[
   {"type":4,"name":"number","description":"Which","required":true,"min_value":1},
   {"type":6,"name":"who","description":"Whose"},
   {"type":3,"name":"kind","description":"Kind","choices":[{"name":"Fact","value":"fact"}]}]}]}]`

func TestCommandsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	type listed struct{ ID, Version, Name string }
	var first, same, changed []listed
	tw.register(t, commands).into(t, &first)
	tw.register(t, commands).into(t, &same)
	if diff := cmp.Diff(first, same); len(first) != 4 || diff != "" {
		t.Errorf("registering the same again (-first +again):\n%s", diff)
	}
	tw.register(t, `[{"name":"kill","description":"Stop now"}]`).into(t, &changed)
	if changed[0].ID != first[0].ID || changed[0].Version == first[0].Version {
		t.Errorf("a changed command went from %+v to %+v", first[0], changed[0])
	}
	tw.do(t, "GET", "/applications/"+string(tw.world.Bot())+"/commands", "").into(t, &same)
	if diff := cmp.Diff(changed, same); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
	guild := "/applications/" + string(tw.world.Bot()) + "/guilds/" + string(tw.guild) + "/commands"
	if r := tw.do(t, "POST", guild, `{"name":"local","description":"Here only"}`); r.status != 201 {
		t.Errorf("create: %d %s", r.status, r.text)
	}
	var names []string
	tw.world.Look(func(v discordsim.View) { names = v.Commands(tw.guild) })
	if diff := cmp.Diff([]string{"local"}, names); diff != "" {
		t.Errorf("guild commands (-want +got):\n%s", diff)
	}
}

func TestBadCommandsAreRefused(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tests := []struct{ name, body, path, code string }{
		{"capitals", `[{"name":"Kill","description":"x"}]`, "0.name", "APPLICATION_COMMAND_INVALID_NAME"},
		{"no description", `[{"name":"kill","description":""}]`, "0.description", "BASE_TYPE_BAD_LENGTH"},
		{"twice", `[{"name":"kill","description":"x"},{"name":"kill","description":"y"}]`, "1.name", "APPLICATION_COMMANDS_DUPLICATE_NAME"},
		{
			"required after optional", `[{"name":"a","description":"x","options":[{"type":3,"name":"b","description":"x"},` +
				`{"type":3,"name":"c","description":"x","required":true}]}]`,
			"0.options.1.required", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
		},
	}
	for _, tt := range tests {
		r := tw.register(t, tt.body)
		if r.status != 400 || formCodes(t, r)[tt.path] != tt.code {
			t.Errorf("%s: got %d %s, want %s at %s", tt.name, r.status, r.text, tt.code, tt.path)
		}
	}
	if r := tw.do(t, "PUT", "/applications/1/commands", "[]"); r.status != 403 {
		t.Errorf("another application's commands: %d", r.status)
	}
}

func TestWhoSeesWhichCommand(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, commands)
	role, err := tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "managers", Permissions: discordsim.PermManageGuild})
	must(t, err)
	manager := tw.world.Person("mia")
	must(t, tw.world.Join(tw.guild, manager.ID, role))
	muted := tw.channel(t, "no-commands", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermUseCommands})
	tests := []struct {
		name    string
		person  *discordsim.Person
		channel discordsim.ID
		command string
		seen    bool
	}{
		{"for everyone", tw.ana, tw.general, "kill", true},
		{"in a DM", tw.ana, tw.ana.DM(), "kill", true},
		{"not registered", tw.ana, tw.general, "nonsense", false},
		{"needs Manage Server", tw.ana, tw.general, "config", false},
		{"has Manage Server", manager, tw.general, "config", true},
		{"guilds only", manager, manager.DM(), "config", false},
		{"administrators only", manager, tw.general, "admin", false},
		{"the owner is one", tw.olga, tw.general, "admin", true},
		{"commands forbidden", tw.ana, muted, "kill", false},
	}
	for _, tt := range tests {
		_, err := tt.person.Slash(tt.channel, tt.command)
		if tt.seen && err != nil || !tt.seen && !errors.Is(err, discordsim.ErrNoCommand) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestOptionsAreCheckedAndResolved(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, commands)
	g, _ := tw.open(t, allIntents)
	opt := func(name string, v any) discordsim.Option { return discordsim.Option{Name: name, Value: v} }
	bad := map[string][]discordsim.Option{
		"missing":       {},
		"too small":     {opt("number", 0)},
		"wrong type":    {opt("number", "one")},
		"no such user":  {opt("number", 1), opt("who", discordsim.ID("1"))},
		"no choice":     {opt("number", 1), opt("kind", "rumour")},
		"no such thing": {opt("number", 1), opt("colour", "red")},
	}
	for name, options := range bad {
		if _, err := tw.ana.Slash(tw.general, "memory forget", options...); err == nil {
			t.Errorf("%s: is possible", name)
		}
	}
	if _, err := tw.ana.Slash(tw.general, "memory"); !errors.Is(err, discordsim.ErrNoCommand) {
		t.Errorf("without its subcommand: %v", err)
	}
	_, err := tw.ana.Slash(tw.general, "memory forget", opt("number", 3), opt("who", tw.olga.ID), opt("kind", "fact"))
	must(t, err)
	var data struct {
		Name    string
		Options []struct {
			Name    string
			Options []struct{ Value any }
		}
		Resolved struct {
			Users   map[string]struct{ Username string }
			Members map[string]struct{ Permissions string }
		}
	}
	raw := g.receive().Data
	must(t, json.Unmarshal(raw, &data))
	values := data.Options[0].Options
	olga := string(tw.olga.ID)
	if data.Name != "memory" || values[0].Value != 3.0 || values[1].Value != olga || values[2].Value != "fact" ||
		data.Resolved.Users[olga].Username != "olga" || data.Resolved.Members[olga].Permissions == "" {
		t.Errorf("command data: %s", raw)
	}
}

func TestCommandsForAPerson(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, commands)
	names := func(p *discordsim.Person) (out []string) {
		tw.world.Look(func(v discordsim.View) {
			for _, c := range v.CommandsFor(tw.general, p.ID) {
				out = append(out, c.Name)
			}
		})
		return out
	}
	if diff := cmp.Diff([]string{"kill", "memory forget"}, names(tw.ana)); diff != "" {
		t.Errorf("a member sees (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"admin", "config", "kill", "memory forget"}, names(tw.olga)); diff != "" {
		t.Errorf("the owner sees (-want +got):\n%s", diff)
	}
}
