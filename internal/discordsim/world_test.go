package discordsim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

// TestEveryReadRoute lets the validator look at the answer of each route that only reads.
func TestEveryReadRoute(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	_, err := tw.world.AddSticker(tw.guild, "wave", "a waving hand", "wave")
	must(t, err)
	_, err = tw.world.AddEmoji(tw.guild, "party")
	must(t, err)
	thread, err := tw.ana.Thread(tw.general, "a thread", "")
	must(t, err)
	guild := "/guilds/" + string(tw.guild)
	for _, path := range []string{
		"/gateway", "/gateway/bot", "/users/@me", "/users/" + string(tw.ana.ID), "/applications/@me", "/oauth2/applications/@me",
		guild, guild + "?with_counts=true", guild + "/channels", guild + "/roles", guild + "/emojis", guild + "/stickers",
		guild + "/members?limit=10", guild + "/members/search?query=an", guild + "/members/" + string(tw.ana.ID),
		guild + "/threads/active", "/channels/" + string(tw.general), "/channels/" + string(thread), "/channels/" + string(tw.ana.DM()),
		"/applications/" + string(tw.world.Bot()) + "/commands",
	} {
		if r := tw.do(t, "GET", path, ""); r.status != 200 {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	for version, want := range map[string]int{"v10": 200, "v8": 404} {
		if r := tw.do(t, "GET", "/api/"+version+"/users/@me", ""); r.status != want {
			t.Errorf("API %s: %d, want %d", version, r.status, want)
		}
	}
}

func TestThreadsAndDMsOfTheBot(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	var thread struct {
		ID       discordsim.ID
		ParentID discordsim.ID `json:"parent_id"`
	}
	id := tw.say(t, tw.ana, "let us talk")
	g.expect("MESSAGE_CREATE")
	path := tw.messages() + "/" + string(id) + "/threads"
	tw.do(t, "POST", path, `{"name":"talk"}`).into(t, &thread)
	g.expect("THREAD_CREATE")
	if thread.ID != id || thread.ParentID != tw.general {
		t.Errorf("thread: %+v", thread)
	}
	if r := tw.do(t, "POST", path, `{"name":"again"}`); r.code(t) != 160004 {
		t.Errorf("a second thread: %d %s", r.status, r.text)
	}
	if r := tw.do(t, "POST", "/channels/"+string(thread.ID)+"/messages", `{"content":"here"}`); r.status != 200 {
		t.Errorf("a message in the thread: %d %s", r.status, r.text)
	}
	tw.do(t, "POST", "/channels/"+string(tw.general)+"/threads", `{"name":"free","type":11}`).into(t, &thread)
	tw.do(t, "PATCH", "/channels/"+string(thread.ID), `{"name":"renamed","archived":true}`)
	if _, ok := tw.world.ChannelNamed(tw.guild, "renamed"); !ok {
		t.Error("the thread was not renamed")
	}
	var dm struct{ ID discordsim.ID }
	tw.do(t, "POST", "/users/@me/channels", `{"recipient_id":"`+string(tw.ana.ID)+`"}`).into(t, &dm)
	if dm.ID != tw.ana.DM() {
		t.Errorf("the DM is %s for the bot and %s for ana", dm.ID, tw.ana.DM())
	}
}

func TestPeopleNeedPermissions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	hidden := tw.channel(t, "hidden", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermViewChannel})
	bots := tw.do(t, "POST", tw.messages(), `{"content":"hello"}`)
	var m struct{ ID discordsim.ID }
	bots.into(t, &m)
	acts := map[string]func() error{
		"writes where hidden":   func() error { _, err := tw.ana.Say(hidden, "x"); return err },
		"edits the bot's":       func() error { return tw.ana.Edit(m.ID, "x") },
		"deletes the bot's":     func() error { return tw.ana.Delete(m.ID) },
		"says nothing":          func() error { _, err := tw.ana.Say(tw.general, " "); return err },
		"says too much":         func() error { _, err := tw.ana.Say(tw.general, strings.Repeat("x", 2001)); return err },
		"writes from outside":   func() error { _, err := tw.world.Person("stranger").Say(tw.general, "x"); return err },
		"writes in ana's DM":    func() error { _, err := tw.olga.Say(tw.ana.DM(), "x"); return err },
		"types while timed out": func() error { return tw.world.Person("tim").Type(tw.general) },
	}
	must(t, tw.world.Join(tw.guild, tw.world.Person("tim").ID))
	must(t, tw.world.Timeout(tw.guild, tw.world.Person("tim").ID, time.Now().Add(time.Hour)))
	for name, act := range acts {
		if err := act(); !errors.Is(err, discordsim.ErrNotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, tw.olga.Delete(m.ID)) // The owner may.
}

func TestFixturesTellTheGateway(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	var role discordsim.ID
	var err error
	steps := []struct {
		event string
		do    func() error
	}{
		{"GUILD_ROLE_CREATE", func() error {
			role, err = tw.world.AddRole(tw.guild, discordsim.RoleSpec{Name: "r"})
			return err
		}},
		{"GUILD_ROLE_UPDATE", func() error { return tw.world.SetRolePermissions(tw.guild, role, discordsim.PermAdministrator) }},
		{"GUILD_MEMBER_UPDATE", func() error { return tw.world.SetRoles(tw.guild, tw.ana.ID, role) }},
		{"GUILD_MEMBER_UPDATE", func() error { return tw.world.SetNick(tw.guild, tw.world.Bot(), "Parl") }},
		{"GUILD_ROLE_DELETE", func() error { return tw.world.DeleteRole(tw.guild, role) }},
		{"GUILD_MEMBER_ADD", func() error { return tw.world.Join(tw.guild, tw.world.Person("new").ID) }},
		{"CHANNEL_UPDATE", func() error { return tw.world.SetOverwrites(tw.general, discordsim.Overwrite{ID: tw.guild}) }},
		{"CHANNEL_DELETE", func() error { return tw.world.DeleteChannel(tw.general) }},
		{"CHANNEL_CREATE", func() error {
			_, err := tw.world.AddChannel(tw.guild, discordsim.ChannelSpec{Name: "next"})
			return err
		}},
		{"GUILD_CREATE", func() error { tw.world.AddGuild(discordsim.GuildSpec{Name: "Second"}); return nil }},
	}
	for _, s := range steps {
		must(t, s.do())
		g.expect(s.event)
	}
	if _, err := tw.ana.Say(tw.general, "into the void"); err == nil {
		t.Error("a deleted channel takes messages")
	}
}

func TestJournalTellsInOrder(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	var start int
	tw.world.Look(func(v discordsim.View) { start = v.Seq() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan string, 16)
	var follower sync.WaitGroup
	follower.Go(func() {
		defer close(seen)
		for e := range tw.world.Follow(ctx, start) {
			seen <- strings.TrimPrefix(fmt.Sprintf("%T", e.Event), "discordsim.")
		}
	})
	id := tw.say(t, tw.ana, "a")
	must(t, tw.ana.Edit(id, "b"))
	must(t, tw.ana.React(id, "👍"))
	must(t, tw.ana.Delete(id))
	tw.do(t, "POST", "/channels/"+string(tw.general)+"/typing", "")
	var got []string
	for range 6 {
		got = append(got, <-seen)
	}
	cancel()
	follower.Wait()
	want := []string{"MessageCreated", "MessageEdited", "ReactionAdded", "MessageDeleted", "TypingStarted", "RequestServed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	m, ok := tw.world.Message(id)
	if !ok || m.Deleted.IsZero() || len(m.Earlier) != 1 {
		t.Errorf("the deleted message: %+v", m)
	}
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{JournalLimit: 10})
	for i := range 100 {
		tw.say(t, tw.ana, fmt.Sprint(i))
	}
	tw.world.Look(func(v discordsim.View) {
		entries := v.Entries(0)
		if n := len(entries); n < 10 || n > 20 {
			t.Errorf("%d entries are kept, want 10 to 20", n)
		}
		if last := entries[len(entries)-1]; last.Seq != v.Seq() || len(v.Entries(v.Seq()-1)) != 1 {
			t.Errorf("the newest of %d entries has number %d", v.Seq(), last.Seq)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := discordsim.New(discordsim.Config{}).World()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := w.Wait(ctx, func(discordsim.View) bool { return false }); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
}

type refuser struct{}

func (refuser) Validate(discordsim.Exchange) error { return errors.New("odd") }

func TestViolationsAreKept(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{Validator: refuser{}})
	tw.do(t, "GET", "/users/@me", "")
	if got := tw.server.Violations(); !slices.Equal(got, []string{"GET /users/@me: odd"}) {
		t.Errorf("violations: %q", got)
	}
	if r := tw.world.Requests("GET /users/@me"); len(r) != 1 || r[0].Violation != "odd" {
		t.Errorf("journal: %+v", r)
	}
}

func TestViewOfGuildsAndPeople(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	thread, err := tw.ana.Thread(tw.general, "side talk", "")
	must(t, err)
	tw.world.Look(func(v discordsim.View) {
		g := v.Guilds()[0]
		var names []string
		for _, m := range g.Members {
			names = append(names, m.Name)
		}
		for _, c := range g.Channels {
			names = append(names, "#"+c.Name)
		}
		if diff := cmp.Diff([]string{"olga", "Parley", "ana", "#general", "#side talk"}, names); diff != "" {
			t.Errorf("members and channels (-want +got):\n%s", diff)
		}
		if c, ok := v.Channel(thread); !ok || c.Parent != tw.general || c.Kind != discordsim.ThreadPublic {
			t.Errorf("thread: %+v", c)
		}
		if u, ok := v.User(v.Guilds()[0].Owner); !ok || u.Name != "olga" {
			t.Errorf("owner: %+v", u)
		}
		if !v.Permissions(tw.general, tw.olga.ID).Has(discordsim.PermAdministrator) || v.Permissions("1", tw.olga.ID) != 0 {
			t.Error("permissions are wrong")
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{HistoryLimit: 10})
	first := tw.say(t, tw.ana, "first")
	for i := range 100 {
		tw.say(t, tw.ana, fmt.Sprint(i))
	}
	all := tw.world.Messages(tw.general)
	if n := len(all); n < 10 || n > 20 || all[n-1].Content != "99" {
		t.Errorf("%d messages are kept, want 10 to 20 with the newest", n)
	}
	if _, ok := tw.world.Message(first); ok {
		t.Error("the first message is still known")
	}
}

func TestWhatAViewSelects(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	one := tw.say(t, tw.ana, "one")
	two, err := tw.olga.Reply(one, "two")
	must(t, err)
	must(t, tw.ana.Delete(one))
	tw.world.Look(func(v discordsim.View) {
		if v.Connected() {
			t.Error("the bot is connected")
		}
		if got := v.AllMessages(tw.general); len(got) != 2 {
			t.Errorf("all messages: %+v", got)
		}
		got := v.MessagesBy(tw.general, tw.olga.ID)
		if len(got) != 1 || got[0].ID != two || got[0].ReplyTo != one || got[0].Pings.None() || len(v.MessagesBy(tw.general, tw.ana.ID)) != 0 {
			t.Errorf("messages of olga: %+v", got)
		}
	})
	tw.open(t, 1)
	must(t, tw.world.Wait(t.Context(), discordsim.View.Connected))
	if _, err := tw.olga.Reply(one, "too late"); err == nil {
		t.Error("a deleted message can be replied to")
	}
}
