package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// testCard is an open card of ana's, known to the turns.
func testCard(tw *town, token string, c turn.Card) turn.Card {
	c.Token, c.ChannelID, c.GuildID, c.OwnerID = token, string(tw.general), string(tw.guild), string(tw.ana.ID)
	if c.Tool == "" {
		c.Tool = "write_file"
	}
	if c.Arguments == "" {
		c.Arguments = `{"path":"a.txt"}`
	}
	c.ExpiresAt = time.Now().Add(time.Minute)
	tw.turns.change(func() { tw.turns.cards[token] = c })
	return c
}

func TestApprovalCards(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	eve := tw.world.Person("eve")
	must(t, tw.world.Join(tw.guild, eve.ID))
	s := tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild)})
	t.Cleanup(func() { s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted}) })

	ask := func(t *testing.T, token string, c turn.Card) discordsim.Message {
		t.Helper()
		must(t, errOf(s.Ask(t.Context(), testCard(tw, token, c))))
		return tw.said(t, tw.general, func(m discordsim.Message) bool { return strings.Contains(string(m.Components), token) })
	}
	click := func(t *testing.T, p *discordsim.Person, m discordsim.Message, token string, a cardAction) discordsim.InteractionState {
		t.Helper()
		return tw.answered(t, try(p.Click(m.ID, cardID(token, a))).ID)
	}
	closed := func(t *testing.T, id discordsim.ID, ending string) {
		t.Helper()
		tw.wait(t, "the card to close", func(v discordsim.View) bool {
			m, _ := v.Message(id)
			return strings.Contains(m.Content, ending) && (len(m.Components) == 0 || string(m.Components) == "[]") && m.Pings.None()
		})
	}
	decided := func() turn.Decision {
		tw.turns.mu.Lock()
		defer tw.turns.mu.Unlock()
		return tw.turns.decided[len(tw.turns.decided)-1]
	}

	t.Run("CD141 a stranger is refused and the card stays", func(t *testing.T) {
		m := ask(t, "tok1", turn.Card{Approver: "owner"})
		got := click(t, eve, m, "tok1", actionApprove)
		if !got.Ephemeral || tw.text(got.Original) != string(refusedOwner) {
			t.Errorf("%+v %q", got, tw.text(got.Original))
		}
		if got := click(t, tw.ana, m, "tok1", actionApprove); got.Answer != discordsim.AnswerUpdate {
			t.Errorf("%+v", got)
		}
		closed(t, m.ID, "Approved by <@"+string(tw.ana.ID)+">")
		s.CloseCard(t.Context(), "tok1", turn.CardApproved)
		if d := decided(); !d.Approve || d.By != string(tw.ana.ID) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("an owner is no moderator", func(t *testing.T) {
		m := ask(t, "tok2", turn.Card{Approver: "moderator"})
		if got := click(t, tw.ana, m, "tok2", actionApprove); !got.Ephemeral {
			t.Errorf("%+v", got)
		}
		click(t, tw.mod, m, "tok2", actionDeny)
		closed(t, m.ID, "Denied by <@"+string(tw.mod.ID)+">")
		if d := decided(); d.Approve || d.Reason != "" {
			t.Errorf("%+v", d)
		}
	})
	t.Run("deny with reason", func(t *testing.T) {
		m := ask(t, "tok3", turn.Card{Approver: "owner"})
		i := try(tw.ana.Click(m.ID, cardID("tok3", actionReason)))
		if got := tw.answered(t, i.ID); got.Answer != discordsim.AnswerModal || got.Modal == nil {
			t.Fatalf("%+v", got)
		}
		sent := try(tw.ana.Submit(i, map[string]string{reasonField: "  use b.txt @everyone "}))
		tw.answered(t, sent.ID)
		closed(t, m.ID, "Denied by <@"+string(tw.ana.ID)+">: use b.txt")
		if d := decided(); d.Approve || d.Reason != "use b.txt @everyone" || d.By != string(tw.ana.ID) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("decided meanwhile", func(t *testing.T) {
		m := ask(t, "tok4", turn.Card{Approver: "owner"})
		i := try(tw.ana.Click(m.ID, cardID("tok4", actionReason)))
		tw.answered(t, i.ID)
		click(t, tw.mod, m, "tok4", actionApprove)
		sent := try(tw.ana.Submit(i, map[string]string{reasonField: "too late"}))
		if got := tw.answered(t, sent.ID); !got.Ephemeral {
			t.Errorf("%+v", got)
		}
	})
	t.Run("unknown token", func(t *testing.T) {
		m := ask(t, "tok5", turn.Card{Approver: "owner"})
		tw.turns.change(func() { delete(tw.turns.cards, "tok5") })
		got := click(t, tw.ana, m, "tok5", actionApprove)
		if !got.Ephemeral || !strings.Contains(tw.text(got.Original), "no longer active") {
			t.Errorf("%+v", got)
		}
		closed(t, m.ID, "Approval needed")
	})
	for state, want := range map[turn.CardState]string{turn.CardExpired: "Nobody decided", turn.CardStopped: "was stopped"} {
		t.Run(string(state), func(t *testing.T) {
			m := ask(t, "tok-"+string(state), turn.Card{Approver: "owner"})
			s.CloseCard(t.Context(), "tok-"+string(state), state)
			closed(t, m.ID, want)
		})
	}
	t.Run("CD145 long arguments are attached in full", func(t *testing.T) {
		args := `{"text":"` + strings.Repeat("0123456789", 512) + `"}`
		m := ask(t, "tok6", turn.Card{Approver: "owner", Arguments: args})
		if len(m.Attachments) != 1 {
			t.Fatalf("attachments %+v", m.Attachments)
		}
		if m.Attachments[0].Size != len(args) {
			t.Errorf("attached %d of %d bytes", m.Attachments[0].Size, len(args))
		}
		click(t, tw.ana, m, "tok6", actionDeny)
		closed(t, m.ID, "Denied by")
		if m, _ := tw.world.Message(m.ID); len(m.Attachments) != 1 {
			t.Error("the file went with the buttons")
		}
	})
}

// TestCardOvertakenByKill: the turn is killed while the request that shows the card is under way. The buttons appear all
// the same, and must not stay.
func TestCardOvertakenByKill(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	s := tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild)})
	t.Cleanup(func() { s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted}) })
	must(t, tw.world.Inject(discordsim.Fault{
		Route: "POST /channels/{channel}/messages", Kind: discordsim.FaultDelay, Delay: 300 * time.Millisecond, Times: 1,
	}))
	ctx, kill := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { _, err := s.Ask(ctx, testCard(tw, "late", turn.Card{})); asked <- err }()
	tw.wait(t, "the request to be under way", func(v discordsim.View) bool {
		for _, e := range v.Entries(0) {
			if _, ok := e.Event.(discordsim.FaultMet); ok {
				return true
			}
		}
		return false
	})
	kill()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("Ask: %v", err)
	}
	s.CloseCard(t.Context(), "late", turn.CardStopped)
	m := tw.said(t, tw.general, func(m discordsim.Message) bool { return strings.Contains(m.Content, "stopped") })
	if len(m.Components) > 2 {
		t.Errorf("the card still has buttons: %s", m.Components)
	}
}

func TestCardShowsEverything(t *testing.T) {
	t.Parallel()
	c := turn.Card{Tool: "x`y*", Arguments: "{\"a\":\"``` @everyone \u202e\u200b\u3164 \U000e0041\"}", Approver: "owner", OwnerID: "1", ExpiresAt: time.Unix(5, 0)}
	text, long := cardText(c)
	if long || strings.Count(text, "`") != 6 {
		t.Errorf("long %v, %q", long, text)
	}
	for _, want := range []string{`\u202e`, `\u200b`, `\u3164`, `\u{e0041}`, `\u0060\u0060\u0060`, "<@1> or a moderator"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %q", want, text)
		}
	}
}

func TestCardIDsFitAndParse(t *testing.T) {
	t.Parallel()
	for _, a := range []cardAction{actionApprove, actionDeny, actionReason, actionForm} {
		token := strings.Repeat("f", 32)
		if got, act, ok := parseCardID(cardID(token, a)); !ok || got != token || act != a || len(cardID(token, a)) > maxCustomID {
			t.Errorf("%s: %q %q %v", a, got, act, ok)
		}
	}
	for _, bad := range []string{"", "parley", "parley::a", "other:tok:a", "parley:a:b:c"} {
		if _, _, ok := parseCardID(bad); ok {
			t.Errorf("%q parsed", bad)
		}
	}
}

func TestAuthoriseFailsClosed(t *testing.T) {
	t.Parallel()
	blocked := func(_, _, user string) bool { return user == "blocked" }
	base := attempt{guildID: "g", channelID: "c", userID: "u", need: needNothing}
	with := func(change func(*attempt)) attempt {
		a := base
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		a    attempt
		want verdict
	}{
		"anybody":                {base, allowed},
		"nobody":                 {with(func(a *attempt) { a.userID = "" }), refusedUnknown},
		"nowhere":                {with(func(a *attempt) { a.channelID = "" }), refusedUnknown},
		"blocked":                {with(func(a *attempt) { a.userID = "blocked" }), refusedBlocked},
		"blocked administrator":  {with(func(a *attempt) { a.userID, a.rights = "blocked", permAll }), refusedBlocked},
		"unknown need":           {with(func(a *attempt) { a.need, a.rights = "?", permAll }), refusedUnknown},
		"approver none":          {with(func(a *attempt) { a.need, a.rights = approverNeed(""), permAll }), refusedUnknown},
		"owner":                  {with(func(a *attempt) { a.need, a.ownerID = needOwner, "u" }), allowed},
		"not the owner":          {with(func(a *attempt) { a.need, a.ownerID = needOwner, "v" }), refusedOwner},
		"moderator for owner":    {with(func(a *attempt) { a.need, a.ownerID, a.rights = needOwner, "v", permManageMessages }), allowed},
		"moderator":              {with(func(a *attempt) { a.need, a.rights = needModerator, permManageMessages }), allowed},
		"owner for moderator":    {with(func(a *attempt) { a.need, a.ownerID = needModerator, "u" }), refusedModerator},
		"no moderators in DMs":   {with(func(a *attempt) { a.need, a.rights, a.guildID = needModerator, permAll, "" }), refusedModerator},
		"owner without an owner": {with(func(a *attempt) { a.need, a.userID, a.ownerID = needOwner, "u", "" }), refusedOwner},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := authorise(c.a, blocked); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestVisibleKeepsWhatShows(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain äöü 日本 🙂\n\tx": "plain äöü 日本 🙂\n\tx",
		"a\u00a0b\u2066c":     `a\u00a0b\u2066c`,
		"\x00\x1b[0m":         `\u0000\u001b[0m`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	long := slices.Repeat([]string{"🙂"}, 10)
	if got := clip(strings.Join(long, ""), 5); got != "🙂🙂" {
		t.Errorf("clip: %q", fmt.Sprint(got))
	}
}
