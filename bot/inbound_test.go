package bot

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/turn"
)

// testGuilds knows guild 1 with channel 10, private channel 11, thread 12 of 10; the bot is 99 with the managed role 50.
func testGuilds() *guilds {
	g := newGuilds()
	g.begin("99", nil)
	w := wireGuild{
		ID: "1", OwnerID: "7", Locale: "de", Roles: []wireRole{
			{ID: "1", Name: "@everyone", Permissions: "274877975552"}, // view, send, history, send in threads
			{ID: "50", Name: "Parley"}, {ID: "51", Name: "cooks"}, {ID: "52", Name: "mods", Permissions: "8192"},
		}, Channels: []wireChannel{
			{ID: "10", Name: "general"},
			{ID: "11", Name: "staff", Overwrites: []wireOverwrite{{ID: "1", Deny: "1024"}, {ID: "50", Allow: "1024"}}},
			{ID: "13", Name: "mute", Overwrites: []wireOverwrite{{ID: "1", Deny: "2048"}}},
		}, Threads: []wireChannel{{ID: "12", Type: channelPublicThread, ParentID: "10"}, {ID: "14", Type: channelPrivateThread, ParentID: "10"}},
		Members: []wireMember{{User: &wireUser{ID: "99"}, Roles: []string{"50"}}},
	}
	w.Roles[1].Tags.BotID = "99"
	g.putGuild(w)
	return g
}

func TestInbound(t *testing.T) {
	t.Parallel()
	ana := turn.Person{ID: "7", Name: "ana"}
	const author = `"author":{"id":"7","username":"ana"}`
	for name, c := range map[string]struct {
		json string
		want turn.Inbound
	}{
		"nickname before global name": {
			`{"author":{"id":"7","username":"ana","global_name":"Ana"},"member":{"nick":"A.\u0000"},"content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "7", Name: "A.", ManageMessages: true, ManageGuild: true}, Content: "x"}, // the owner
		},
		"a moderator by role": {
			`{"author":{"id":"8","username":"mo"},"member":{"roles":["52"]},"content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "8", Name: "mo", ManageMessages: true}, Content: "x"},
		},
		"a member with another role": {
			`{"author":{"id":"8","username":"mo"},"member":{"roles":["51"]},"content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "8", Name: "mo"}, Content: "x"},
		},
		"global name before user name": {
			`{"author":{"id":"7","username":"ana","global_name":"Ana","bot":true},"content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "7", Name: "Ana", Bot: true}, Content: "x"},
		},
		"mention": {
			`{` + author + `,"content":"<@!99> hi","mentions":[{"id":"99","username":"parley","member":{"nick":"P"}}]}`,
			turn.Inbound{Author: ana, Content: "<@!99> hi", MentionsBot: true, Names: map[string]string{"99": "P"}},
		},
		"mention in a code block is none": {
			`{` + author + `,"content":"\u0060<@99>\u0060","mentions":[]}`,
			turn.Inbound{Author: ana, Content: "`<@99>`"},
		},
		"B24 mention of the bot's own role": {
			`{` + author + `,"content":"<@&50> <@&51> <#10> <#404>","mention_roles":["50","51"]}`,
			turn.Inbound{
				Author: ana, Content: "<@&50> <@&51> <#10> <#404>", MentionsBot: true,
				Names: map[string]string{"50": "Parley", "51": "cooks", "10": "general"},
			},
		},
		"B23 everyone is nobody": {
			`{` + author + `,"content":"@everyone meeting","mention_everyone":true}`,
			turn.Inbound{Author: ana, Content: "@everyone meeting", MentionsEveryone: true},
		},
		"B27 own message": {
			`{"author":{"id":"99","username":"parley","bot":true},"content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "99", Name: "parley", Self: true}, Content: "x"},
		},
		"B26 webhook": {
			`{"author":{"id":"99","username":"parley","bot":true},"webhook_id":"99","content":"x"}`,
			turn.Inbound{Author: turn.Person{ID: "99", Name: "parley", Bot: true, Webhook: true}, Content: "x"},
		},
		"reply": {
			`{"type":19,` + author + `,"content":"why?","mentions":[{"id":"99","username":"parley"}],"message_reference":{"message_id":"3"},"referenced_message":{"author":{"id":"99","username":"parley","bot":true},"content":"so","attachments":[{"filename":"a b.png"}]}}`,
			turn.Inbound{
				Author: ana, Content: "why?", Names: map[string]string{"99": "parley"},
				ReplyTo: &turn.Quote{MessageID: "3", Author: turn.Person{ID: "99", Name: "parley", Self: true}, Content: "so\n[file: a b.png]", Attachments: []turn.Attachment{{Name: "a b.png"}}},
			},
		},
		"reply to what is gone": {
			`{"type":19,` + author + `,"content":"why?","message_reference":{"message_id":"3"},"referenced_message":null}`,
			turn.Inbound{Author: ana, Content: "why?", ReplyTo: &turn.Quote{MessageID: "3"}},
		},
		"B98 forward": {
			`{` + author + `,"content":"","message_reference":{"type":1,"message_id":"3"},"message_snapshots":[{"message":{"content":"the text","embeds":[{"title":"T","description":"D"}],"attachments":[{"id":"5","filename":"p.png","url":"https://cdn/p.png","size":4}]}}]}`,
			turn.Inbound{
				Author: ana, Forwarded: []turn.Quote{{Content: "the text\nT\nD\n[file: p.png]"}},
				Attachments: []turn.Attachment{{ID: "5", Name: "p.png", URL: "https://cdn/p.png", Size: 4}},
			},
		},
		"B99 sticker and poll only": {
			`{` + author + `,"content":"","sticker_items":[{"id":"1","name":"wave"}],"poll":{"question":{"text":"Tea?"},"answers":[{"poll_media":{"text":"yes"}},{"poll_media":{"text":"no"}}]}}`,
			turn.Inbound{Author: ana, Stickers: []string{"wave"}, Poll: "Tea? (yes / no)"},
		},
		"B30 NUL": {
			`{` + author + `,"content":"a\u0000b","attachments":[{"id":"1","filename":"x\u0000.txt"}]}`,
			turn.Inbound{Author: ana, Content: "ab", Attachments: []turn.Attachment{{ID: "1", Name: "x.txt"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m wireMessage
			must(t, json.Unmarshal([]byte(c.json), &m))
			m.ID, m.ChannelID, m.GuildID = "2", "10", "1"
			if !m.readable() {
				t.Fatal("not readable")
			}
			now := time.Unix(1000, 0)
			c.want.Kind, c.want.MessageID, c.want.ChannelID, c.want.GuildID = turn.KindMessage, "2", "10", "1"
			c.want.Locale, c.want.CanReply, c.want.ReceivedAt = "de", true, now.UTC()
			if diff := cmp.Diff(c.want, translator{self: "99", guilds: testGuilds()}.inbound(&m, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHugeMessagesAreBounded(t *testing.T) {
	t.Parallel()
	m := wireMessage{ID: "2", ChannelID: "10", GuildID: "1", Author: &wireUser{ID: "7"}}
	for range 500 {
		m.Attachments = append(m.Attachments, wireAttachment{Filename: "f"})
		m.Mentions = append(m.Mentions, wireUser{ID: newNonce()})
		m.Snapshots = append(m.Snapshots, wireSnapshot{Message: wireMessage{Content: strings.Repeat("x", 10_000)}})
	}
	in := translator{self: "99", guilds: testGuilds()}.inbound(&m, time.Now())
	if len(in.Attachments) > maxAttachments || len(in.Names) > maxNamed || len(in.Forwarded) > maxForwarded || len(in.Forwarded[0].Content) > maxQuote {
		t.Errorf("%d attachments, %d names, %d forwards", len(in.Attachments), len(in.Names), len(in.Forwarded))
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	g := testGuilds()
	for id, want := range map[string]place{
		"10":  {known: true, guildID: "1", locale: "de", canSend: true},
		"11":  {known: true, guildID: "1", locale: "de", canSend: true, hidden: true},
		"12":  {known: true, guildID: "1", locale: "de", canSend: true, parent: "10"},
		"13":  {known: true, guildID: "1", locale: "de"},
		"14":  {known: true, guildID: "1", locale: "de", canSend: true, parent: "10", hidden: true},
		"404": {canSend: true, hidden: true},
	} {
		if diff := cmp.Diff(want, g.place(id, time.Now()), cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("channel %s: %s", id, diff)
		}
	}
	g.removeChannel("10")
	for _, id := range []string{"10", "12", "14"} {
		if g.place(id, time.Now()).known {
			t.Errorf("channel %s outlived its parent", id)
		}
	}
	g.begin("99", []wireGuild{{ID: "1"}})
	if !g.place("11", time.Now()).known {
		t.Error("a new session forgot a guild that it lists")
	}
	g.begin("99", []wireGuild{{ID: "2"}})
	if g.place("11", time.Now()).known || g.count() != 0 || len(g.channels) != 0 {
		t.Error("the guild is still there")
	}
}

func TestMemberPermissions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	g := &guild{id: "1", owner: "7", roles: map[string]role{
		"1": {permissions: permViewChannel | permSendMessages}, "2": {permissions: permManageMessages},
		"3": {permissions: permAdministrator}, "4": {},
	}}
	open := &channel{}
	deny := func(o ...overwrite) *channel { return &channel{overwrites: o} }
	for name, c := range map[string]struct {
		ch   *channel
		user string
		m    member
		want permissions
	}{
		"owner":            {deny(overwrite{id: "1", deny: permAll}), "7", member{}, permAll},
		"administrator":    {deny(overwrite{id: "1", deny: permAll}), "8", member{roles: []string{"3"}}, permAll},
		"everyone":         {open, "8", member{}, permViewChannel | permSendMessages},
		"role":             {open, "8", member{roles: []string{"2"}}, permViewChannel | permSendMessages | permManageMessages},
		"unknown role":     {open, "8", member{roles: []string{"404"}}, permViewChannel | permSendMessages},
		"denied":           {deny(overwrite{id: "1", deny: permSendMessages}), "8", member{}, permViewChannel},
		"role overrides":   {deny(overwrite{id: "1", deny: permSendMessages}, overwrite{id: "2", allow: permSendMessages}), "8", member{roles: []string{"2"}}, permSendMessages | permViewChannel | permManageMessages},
		"allow beats deny": {deny(overwrite{id: "2", deny: permSendMessages}, overwrite{id: "4", allow: permSendMessages}), "8", member{roles: []string{"2", "4"}}, permSendMessages | permViewChannel | permManageMessages},
		"member last":      {deny(overwrite{id: "8", member: true, deny: permSendMessages}, overwrite{id: "4", allow: permSendMessages}), "8", member{roles: []string{"4"}}, permViewChannel},
		"another member":   {deny(overwrite{id: "9", member: true, deny: permSendMessages}), "8", member{}, permViewChannel | permSendMessages},
		"no view, nothing": {deny(overwrite{id: "1", deny: permViewChannel}), "8", member{roles: []string{"2"}}, 0},
		"timeout":          {open, "8", member{roles: []string{"2"}, timeout: now.Add(time.Second)}, permViewChannel},
		"timeout is over":  {open, "8", member{timeout: now}, permViewChannel | permSendMessages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := memberPermissions(g, c.ch, c.user, c.m, now); got != c.want {
				t.Errorf("got %b, want %b", got, c.want)
			}
		})
	}
}

func TestBackfillRemembersTheBusiest(t *testing.T) {
	t.Parallel()
	f := newBackfill()
	for n := range 3 * maxSeen {
		f.saw(newID(n), "5", false)
	}
	if len(f.seen) > maxSeen {
		t.Errorf("%d channels kept", len(f.seen))
	}
	last := newID(3*maxSeen - 1)
	f.saw(last, "4", false) // an older message changes nothing
	f.begin()
	f.saw(last, "900", false)
	all := func(string, sighting) bool { return true }
	if got := f.take(1, all); len(got) != 1 || got[0] != (gapOf{channelID: last, after: "5"}) {
		t.Errorf("%+v", got)
	}
	if got := f.take(1, all); len(got) != 1 || got[0].channelID == last {
		t.Errorf("handed out twice: %+v", got)
	}
	if newer("9", "10") || !newer("10", "9") || newer("9", "9") {
		t.Error("snowflakes compared as text")
	}
}

func newID(n int) string {
	return "1" + strings.Repeat("0", 3) + string(rune('a'+n%26)) + time.Duration(n).String()
}
