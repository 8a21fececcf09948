package bot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/bot/delivery"
	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func (tw *town) open(question discordsim.ID) turn.Surface {
	return tw.bot.Open(turn.Opening{
		TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild),
		ReplyToID: string(question), Owner: turn.Person{ID: string(tw.ana.ID)}, Deliberate: true,
	})
}

func TestSurfaceShowsATurn(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	t.Cleanup(tw.bot.Close)
	q := try(tw.ana.Say(tw.general, "say it"))
	s := tw.open(q)
	tw.wait(t, "typing", func(v discordsim.View) bool { return count[discordsim.TypingStarted](v) > 0 })
	s.Text("repeat: @everyone @here <@" + string(tw.mod.ID) + "> ")
	s.Text("and <@&" + string(tw.guild) + ">")
	got := s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted})
	if got.Err != nil || len(got.MessageIDs) != 1 || !strings.Contains(got.Text, "@everyone") {
		t.Fatalf("delivered %+v", got)
	}
	m, _ := tw.world.Message(discordsim.ID(got.MessageIDs[0]))
	// B21: only the person who asked is told, by the reply.
	want := discordsim.Pings{Users: []discordsim.ID{tw.ana.ID}}
	if diff := cmp.Diff(want, m.Pings); diff != "" || m.ReplyTo != q {
		t.Errorf("reply to %s, pings %s", m.ReplyTo, diff)
	}
}

// CD143: whatever is sent carries allowed mentions with nothing in them.
func TestEverythingForbidsMentions(t *testing.T) {
	t.Parallel()
	log := discordsim.ID("")
	tw := newTown(t, discordsim.Config{}, func(c *Config, _ *Deps) { c.LogChannel = func(string) string { return string(log) } })
	log = tw.channel(t, "log")
	tw.start(t)
	evil := "@everyone <@" + string(tw.mod.ID) + ">"
	q := try(tw.ana.Say(tw.general, "q"))
	must(t, tw.bot.Notify(t.Context(), turn.Notice{Kind: turn.NoticeQueueFull, ChannelID: string(tw.general), ReplyToID: string(q), Text: evil}))
	tw.bot.Hidden(t.Context(), turn.HiddenNotice{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild), Title: evil, Tool: evil, Detail: evil + "```"})
	s := tw.open(q)
	must(t, errOf(s.Ask(t.Context(), testCard(tw, "tok", turn.Card{Tool: "x", Arguments: `{"a":"` + evil + `"}`, Approver: "owner"}))))
	s.CloseCard(t.Context(), "tok", turn.CardExpired)
	if d := s.Finish(t.Context(), turn.Ending{Status: store.TurnError, Public: "error " + evil}); d.Err != nil {
		t.Error(d.Err)
	}
	tw.said(t, log, func(m discordsim.Message) bool { return strings.Contains(m.Content, "t1") })
	tw.world.Look(func(v discordsim.View) {
		seen := 0
		for _, r := range v.Requests("") {
			if len(r.Body) == 0 || strings.HasPrefix(r.Route, "PUT ") || strings.Contains(r.Route, "typing") {
				continue
			}
			seen++
			if !strings.Contains(string(r.Body), `"allowed_mentions":{"parse":[],"users":[],"roles":[],"replied_user":false}`) {
				t.Errorf("%s %s", r.Route, r.Body)
			}
		}
		if seen < 5 {
			t.Errorf("only %d requests", seen)
		}
		for _, m := range append(v.Messages(tw.general), v.Messages(log)...) {
			if m.Author == tw.world.Bot() && !m.Pings.None() {
				t.Errorf("pings: %+v", m)
			}
		}
	})
}

func TestSurfaceEndings(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	t.Cleanup(tw.bot.Close)
	q := try(tw.ana.Say(tw.general, "q"))
	t.Run("stopped in the middle", func(t *testing.T) {
		s := tw.open(q)
		s.Text("half of it")
		tw.said(t, tw.general, func(m discordsim.Message) bool { return m.Content == "half of it" })
		s.Text(" and more")
		got := s.Finish(t.Context(), turn.Ending{Status: store.TurnStoppedByUser, Cause: abort.Killed{By: "1"}})
		if m, _ := tw.world.Message(discordsim.ID(got.MessageIDs[0])); got.Err != nil || !strings.Contains(m.Content, "stopped") {
			t.Errorf("%+v %q", got, m.Content)
		}
	})
	t.Run("an error without an answer", func(t *testing.T) {
		s := tw.open(q)
		got := s.Finish(t.Context(), turn.Ending{Status: store.TurnError, Public: "something went wrong (network), id 3f2a"})
		m := tw.said(t, tw.general, func(m discordsim.Message) bool { return strings.Contains(m.Content, "3f2a") })
		if got.Text != "" || m.ReplyTo != q {
			t.Errorf("%+v %+v", got, m)
		}
	})
	t.Run("a sticker", func(t *testing.T) {
		id := try(tw.world.AddSticker(tw.guild, "wave", "a wave", "👋"))
		s := tw.open(q)
		s.Text("hi")
		s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted, StickerID: string(id)})
		tw.said(t, tw.general, func(m discordsim.Message) bool { return len(m.Stickers) == 1 })
	})
	t.Run("B03 the question is gone", func(t *testing.T) {
		gone := try(tw.ana.Say(tw.general, "never mind"))
		must(t, tw.ana.Delete(gone))
		s := tw.open(gone)
		s.Text("an answer to nothing")
		if got := s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted}); got.Err != nil || len(got.MessageIDs) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TL117, X05: a refusal is final, closes the channel for a while, and is known by its sentinel.
func TestRefusedChannel(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	must(t, tw.world.Inject(discordsim.Fault{Route: "POST /channels/{channel_id}/messages", Kind: discordsim.FaultStatus, Status: 403}))
	err := tw.bot.Notify(t.Context(), turn.Notice{Kind: turn.NoticeError, ChannelID: string(tw.general), Text: "x"})
	if !errors.Is(err, delivery.ErrForbidden) {
		t.Fatalf("Notify: %v", err)
	}
	try(tw.ana.Say(tw.general, "can you?"))
	if in := tw.turns.inbound(t, "can you?"); in.CanReply {
		t.Error("the refusal was forgotten")
	}
	must(t, tw.bot.Notify(t.Context(), turn.Notice{Kind: turn.NoticeError, ChannelID: string(tw.general), Text: "now it works"}))
	tw.turns.inbound(t, "now it works")
	try(tw.ana.Say(tw.general, "and now?"))
	if in := tw.turns.inbound(t, "and now?"); !in.CanReply {
		t.Error("a success did not lift the refusal")
	}
}

func TestCanReplyFollowsPermissions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	mute := tw.channel(t, "mute", discordsim.Overwrite{ID: tw.world.Bot(), Member: true, Deny: discordsim.PermSendMessages})
	tw.start(t)
	for n, step := range []struct {
		do   func() error
		want bool
	}{
		{func() error { return nil }, false},
		{func() error { return tw.world.SetOverwrites(mute) }, true},
		{func() error { return tw.world.Timeout(tw.guild, tw.world.Bot(), time.Now().Add(time.Hour)) }, false},
		{func() error { return tw.world.Timeout(tw.guild, tw.world.Bot(), time.Time{}) }, true},
		{func() error {
			return tw.world.SetRolePermissions(tw.guild, tw.guild, discordsim.PermDefault&^discordsim.PermSendMessages)
		}, false},
	} {
		must(t, step.do())
		text := fmt.Sprintf("step %d", n)
		try(tw.olga.Say(mute, text))
		if in := tw.turns.inbound(t, text); in.CanReply != step.want {
			t.Errorf("%s: %v", text, in.CanReply)
		}
	}
	thread := try(tw.olga.Thread(tw.general, "side", ""))
	try(tw.olga.Say(thread, "in a thread"))
	if in := tw.turns.inbound(t, "in a thread"); in.ParentID != string(tw.general) || !in.CanReply {
		t.Errorf("B25 %+v", in)
	}
}

func TestHistoryIsOldestFirst(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	t.Cleanup(tw.bot.Close)
	var want []string
	for n := range 8 {
		text := fmt.Sprintf("message %d", n)
		try(tw.ana.Say(tw.general, text))
		want = append(want, text)
	}
	got, err := tw.bot.History(t.Context(), string(tw.general), 5)
	must(t, err)
	var texts []string
	for _, m := range got {
		texts = append(texts, m.Content)
	}
	if diff := cmp.Diff(want[3:], texts); diff != "" {
		t.Error(diff)
	}
}

// Hidden notices never carry anything out of a private place.
func TestHiddenNoticesStayOut(t *testing.T) {
	t.Parallel()
	log := discordsim.ID("")
	tw := newTown(t, discordsim.Config{}, func(c *Config, _ *Deps) { c.LogChannel = func(string) string { return string(log) } })
	log = tw.channel(t, "log")
	secret := tw.channel(t, "secret", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermViewChannel},
		discordsim.Overwrite{ID: tw.world.Bot(), Member: true, Allow: discordsim.PermViewChannel})
	tw.start(t)
	for _, n := range []turn.HiddenNotice{
		{TurnID: "dm", ChannelID: string(tw.ana.DM()), Title: "x"},
		{TurnID: "secret", ChannelID: string(secret), GuildID: string(tw.guild), Title: "x"},
		{TurnID: "unknown", ChannelID: "1", GuildID: string(tw.guild), Title: "x"},
	} {
		tw.bot.Hidden(t.Context(), n)
	}
	tw.bot.behind.wait()
	if got := tw.world.Messages(log); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSurfaceOfAGoneChannel: the turn hears that nobody can be told, which is not the same as being refused once.
func TestSurfaceOfAGoneChannel(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	s := tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild)})
	must(t, tw.world.DeleteChannel(tw.general))
	s.Text("Hello?")
	got := s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted})
	if !errors.Is(got.Err, turn.ErrUnreachable) || len(got.MessageIDs) != 0 {
		t.Errorf("delivered %+v", got)
	}
	if r, ok := s.(turn.Reachability); !ok || !r.Unreachable() {
		t.Error("the surface still hopes")
	}
	for err, want := range map[error]bool{
		&APIError{Status: 403, Code: codeMissingAccess}: true, &APIError{Status: 403, Code: codeMissingPermission}: false,
		errors.New("reset"): false,
	} {
		if unreachable(err) != want {
			t.Errorf("unreachable(%v) is not %t", err, want)
		}
	}
}
