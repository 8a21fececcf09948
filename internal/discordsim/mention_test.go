package discordsim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

func TestAllowedMentions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	role, err := tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "helpers", Mentionable: true})
	must(t, err)
	staff, err := tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "staff"})
	must(t, err)
	must(t, tw.world.SetRolePermissions(tw.guild, tw.guild, discordsim.PermDefault|discordsim.PermMentionEveryone))
	question := tw.say(t, tw.olga, "who?")
	ana := string(tw.ana.ID)
	all := "@everyone <@" + ana + "> <@&" + string(role) + "> <@&" + string(staff) + "> <@1>"
	users, roles := []discordsim.ID{tw.ana.ID}, []discordsim.ID{role, staff}
	type pings = discordsim.Pings
	tests := []struct {
		name, content, allowed string
		reply                  bool
		want                   pings
	}{
		{"absent: everything", all, "", false, pings{Everyone: true, Users: users, Roles: roles}},
		{"empty object: nothing", all, `{}`, false, pings{}},
		{"empty parse: nothing", all, `{"parse":[]}`, false, pings{}},
		{"everyone only", all, `{"parse":["everyone"]}`, false, pings{Everyone: true}},
		{"here", "@here", `{"parse":["everyone"]}`, false, pings{Here: true}},
		{"users only", all, `{"parse":["users"]}`, false, pings{Users: users}},
		{"roles only", all, `{"parse":["roles"]}`, false, pings{Roles: roles}},
		{"listed user", all, `{"parse":[],"users":["` + ana + `"]}`, false, pings{Users: users}},
		{"listed role", all, `{"parse":[],"roles":["` + string(staff) + `"]}`, false, pings{Roles: roles[1:]}},
		{"listed but not written", "hello", `{"parse":[],"users":["` + ana + `"]}`, false, pings{}},
		{"in code", "`<@" + ana + ">` ```\n@everyone\n```", "", false, pings{}},
		{"reply, absent", "yes", "", true, pings{Users: []discordsim.ID{tw.olga.ID}}},
		{"reply, empty", "yes", `{"parse":[]}`, true, pings{}},
		{"reply, replied_user", "yes", `{"parse":[],"replied_user":true}`, true, pings{Users: []discordsim.ID{tw.olga.ID}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := `{"content":"` + strings.ReplaceAll(tt.content, "\n", `\n`) + `"`
			if tt.allowed != "" {
				body += `,"allowed_mentions":` + tt.allowed
			}
			if tt.reply {
				body += `,"message_reference":{"message_id":"` + string(question) + `"}`
			}
			var m struct {
				ID              discordsim.ID
				MentionEveryone bool `json:"mention_everyone"`
			}
			tw.do(t, "POST", tw.messages(), body+"}").into(t, &m)
			got, _ := tw.world.Message(m.ID)
			if diff := cmp.Diff(tt.want, got.Pings); diff != "" {
				t.Errorf("pings (-want +got):\n%s", diff)
			}
			if m.MentionEveryone != (tt.want.Everyone || tt.want.Here) {
				t.Errorf("mention_everyone is %t", m.MentionEveryone)
			}
		})
	}
}

func TestMentionsNeedRights(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	staff, err := tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "staff"})
	must(t, err)
	text := "@everyone <@&" + string(staff) + "> <@!" + string(tw.olga.ID) + ">"
	for p, want := range map[*discordsim.Person]discordsim.Pings{
		tw.ana:  {Users: []discordsim.ID{tw.olga.ID}},
		tw.olga: {Everyone: true, Roles: []discordsim.ID{staff}, Users: []discordsim.ID{tw.olga.ID}},
	} {
		m, _ := tw.world.Message(tw.say(t, p, text))
		if diff := cmp.Diff(want, m.Pings); diff != "" {
			t.Errorf("%s pings (-want +got):\n%s", p.Name, diff)
		}
	}
}
