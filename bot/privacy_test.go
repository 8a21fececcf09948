package bot

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// A question is answered by who was asked, once, in time, and only the newest of theirs.
func TestQuestions(t *testing.T) {
	t.Parallel()
	q := newQuestions()
	now := time.Unix(0, 0)
	ask := func(who string) string { return q.ask(question{userID: who, until: now.Add(sureLife)}, now) }
	first := ask("ana")
	if _, ok, others := q.take(first, "ben", now); ok || !others {
		t.Error("somebody else's answer counted")
	}
	second := ask("ana")
	bens := ask("ben")
	if _, ok, others := q.take(first, "ana", now); ok || others {
		t.Error("a question that was asked anew is open still")
	}
	if _, ok, _ := q.take(second, "ana", now); !ok {
		t.Error("the answer did not count")
	}
	if _, ok, _ := q.take(second, "ana", now); ok {
		t.Error("the answer counted twice")
	}
	if _, ok, _ := q.take(bens, "ben", now.Add(sureLife)); ok {
		t.Error("the answer came too late and counted")
	}
	if _, ok, others := q.take("unknown", "ana", now); ok || others {
		t.Error("an unknown token")
	}
	tokens := map[string]bool{}
	for n := range 2 * maxSure {
		tokens[ask(fmt.Sprint(n))] = true
	}
	if len(q.open) > maxSure || len(tokens) != 2*maxSure {
		t.Errorf("%d open, %d different tokens", len(q.open), len(tokens))
	}
}

func TestEraseAsksFirst(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	members := tw.turns.fakeMembers
	tw.start(t)
	for _, in := range []discordsim.ID{tw.general, tw.ana.DM()} {
		s := tw.answered(t, try(tw.ana.Slash(in, "privacy erase")).ID)
		m, _ := tw.world.Message(s.Original)
		if !s.Ephemeral || !strings.Contains(m.Content, "can't be taken back") || len(members.called()) != 0 {
			t.Fatalf("%+v", m)
		}
		yes := customID(t, m, "Erase it all")
		try(tw.ana.Click(m.ID, yes))
		tw.wait(t, "the end of the question", func(v discordsim.View) bool {
			m, _ := v.Message(s.Original)
			return strings.Contains(m.Content, "Erased: 2 facts, 1 conversation turn.") && noButtons(m)
		})
		if diff := cmp.Diff([]string{"erase " + string(tw.ana.ID)}, members.called()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What takes long is put off, and ends in the same message; meanwhile the question can't be answered again.
func TestSlowErase(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	members := tw.turns.fakeMembers
	hold := make(chan struct{})
	members.set(func(f *fakeMembers) { f.hold = hold })
	tw.start(t)
	s := tw.answered(t, try(tw.ana.Slash(tw.general, "privacy erase")).ID)
	m, _ := tw.world.Message(s.Original)
	i := try(tw.ana.Click(m.ID, customID(t, m, "Erase it all")))
	if got := tw.answered(t, i.ID); got.Answer != discordsim.AnswerDeferredUpdate {
		t.Errorf("answered by %v", got.Answer)
	}
	close(hold)
	tw.wait(t, "the end of the question", func(v discordsim.View) bool {
		m, _ := v.Message(s.Original)
		return strings.Contains(m.Content, "Erased: ") && noButtons(m)
	})
}

func customID(t *testing.T, m discordsim.Message, label string) string {
	t.Helper()
	var rows []struct {
		Components []struct {
			Label    string `json:"label"`
			CustomID string `json:"custom_id"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(m.Components, &rows))
	for _, r := range rows {
		for _, c := range r.Components {
			if c.Label == label {
				return c.CustomID
			}
		}
	}
	t.Fatalf("no button %q in %s", label, m.Components)
	return ""
}

func TestPrivacyCommands(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	members := tw.turns.fakeMembers
	tw.start(t)
	for _, c := range []struct{ command, to, did, says string }{
		{"memory", "off", "memory off", "I remember nothing about you"},
		{"memory", "on", "memory on", "again"},
		{"all-servers", "on", "carry on", "in another one"},
		{"all-servers", "off", "carry off", "stays in it"},
		{"ignore-me", "on", "ignore on", "I ignore you from now on"},
		{"ignore-me", "off", "ignore off", "I answer you again"},
	} {
		for _, in := range []discordsim.ID{tw.general, tw.ana.DM()} {
			said, private := tw.use(t, tw.ana, in, "privacy "+c.command, discordsim.Option{Name: "to", Value: c.to})
			if !strings.Contains(said, c.says) || !private {
				t.Errorf("%s %s: %q (private %t)", c.command, c.to, said, private)
			}
			if diff := cmp.Diff([]string{c.did}, members.called()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	tw.turns.fakeSettings.set(func() {
		tw.turns.member = turn.MemberSettings{NoMemory: true, CarryMemory: true, FullPrivacy: true, ErasedBefore: "1477636521984000000"}
	})
	said, private := tw.use(t, tw.ana, tw.general, "privacy show")
	for _, want := range []string{"nothing new about you", "in your other servers", "I ignore you", "everything erased <t:1772366400:f>"} {
		if !strings.Contains(said, want) || !private {
			t.Errorf("no %q in %q", want, said)
		}
	}
	members.set(func(f *fakeMembers) { f.err = context.DeadlineExceeded })
	if said, _ := tw.use(t, tw.ana, tw.general, "privacy export"); !strings.Contains(said, "went wrong") || strings.Contains(said, "deadline") {
		t.Errorf("a fault is told as %q", said)
	}
}

// An export is sent as it is while it fits, compressed when it does not, and without the oldest turns when it still does not.
func TestExportFits(t *testing.T) {
	t.Parallel()
	e := store.Export{Version: store.ExportVersion, MemberID: "ana"}
	var r store.ExportRecords
	for n := range 64 {
		r.Turns = append(r.Turns, store.Turn{ID: fmt.Sprint("turn-", n), Answer: strings.Repeat("tea ", 250)})
	}
	e.Fill(r)
	read := func(f exportedFile) (out store.Export) {
		t.Helper()
		data := f.Data
		if strings.HasSuffix(f.Name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			must(t, err)
			data, err = io.ReadAll(z)
			must(t, err)
		}
		must(t, json.Unmarshal(data, &out))
		return out
	}
	plain, err := exported(e, 1<<20)
	must(t, err)
	if got := read(plain); plain.Name != "parley-export.json" || len(got.Turns) != 64 || plain.truncated {
		t.Errorf("%s, %d turns", plain.Name, len(got.Turns))
	}
	packed, err := exported(e, 20<<10)
	must(t, err)
	if got := read(packed); packed.Name != "parley-export.json.gz" || len(got.Turns) != 64 || packed.truncated {
		t.Errorf("%s, %d turns", packed.Name, len(got.Turns))
	}
	noise := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // texts that can't be compressed
	for n := range e.Turns {
		b := make([]byte, 1000)
		for k := range b {
			b[k] = byte('a' + noise.IntN(26))
		}
		e.Turns[n].Answer = string(b)
	}
	cut, err := exported(e, 20<<10)
	must(t, err)
	got := read(cut)
	if len(cut.Data) > 20<<10 || !cut.truncated || !got.Truncated || len(got.Turns) != 32 || got.Turns[0].ID != "turn-0" {
		t.Errorf("%d bytes, %d turns from %s, truncated %t", len(cut.Data), len(got.Turns), got.Turns[0].ID, got.Truncated)
	}
	if len(e.Turns) != 64 || e.Truncated {
		t.Error("the caller's export was changed")
	}
}

func TestAuditListing(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	tw.turns.fakeMembers.set(func(f *fakeMembers) {
		f.audit = []store.AuditEntry{
			{ActorID: string(tw.mod.ID), SubjectID: string(tw.ana.ID), Action: turn.ActionKilled, ChannelID: string(tw.general), Detail: "turn x", At: time.Unix(5, 0)},
			{Action: turn.ActionErased, Detail: "3 records", At: time.Unix(4, 0)},
			{ActorID: string(tw.olga.ID), Action: "later_action", Detail: "@everyone **x**", At: time.Unix(3, 0)},
		}
	})
	tw.start(t)
	said, private := tw.use(t, tw.mod, tw.general, "config audit")
	want := fmt.Sprintf("**What was done in this channel**, newest first\n"+
		"<t:5:f> <@%s> stopped what ran or waited of <@%s> in <#%s>: turn x\n<t:4:f> somebody had everything about them erased: 3 records\n"+
		"<t:3:f> <@%s> later\\_action: @\u200beveryone \\*\\*x\\*\\*", tw.mod.ID, tw.ana.ID, tw.general, tw.olga.ID)
	if diff := cmp.Diff(want, said); diff != "" || !private {
		t.Errorf("private %t (-want +got):\n%s", private, diff)
	}
	if said, _ := tw.use(t, tw.ana, tw.general, "config audit"); said != string(refusedChannel) {
		t.Errorf("a member is told %q", said)
	}
}

// Every act has words for people.
func TestAuditWords(t *testing.T) {
	t.Parallel()
	for _, a := range turn.AuditActions() {
		if auditWords[a] == "" {
			t.Errorf("%s has no words", a)
		}
	}
	if len(auditWords) != len(turn.AuditActions()) {
		t.Errorf("%d words for %d acts", len(auditWords), len(turn.AuditActions()))
	}
}

// B52: a card that a dead process left is closed, also when it is not known which message it was.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	s := tw.bot.Open(turn.Opening{TurnID: "t1", ChannelID: string(tw.general), GuildID: string(tw.guild)})
	t.Cleanup(func() { s.Finish(t.Context(), turn.Ending{Status: store.TurnCompleted}) })
	for _, known := range []bool{true, false} {
		card := testCard(tw, fmt.Sprint("left", known), turn.Card{})
		id, err := s.Ask(t.Context(), card)
		must(t, err)
		given := ""
		if known {
			given = id
		}
		must(t, tw.bot.Withdraw(t.Context(), card, given))
		m, _ := tw.world.Message(discordsim.ID(id))
		if !strings.Contains(m.Content, "No longer active") || !strings.Contains(m.Content, "a.txt") || !noButtons(m) || !m.Pings.None() {
			t.Errorf("known %t: %+v", known, m)
		}
	}
	must(t, tw.bot.Withdraw(t.Context(), testCard(tw, "never shown", turn.Card{}), ""))
	must(t, tw.bot.Withdraw(t.Context(), testCard(tw, "deleted", turn.Card{}), "999"))
	gone := testCard(tw, "channel gone", turn.Card{})
	gone.ChannelID = "999"
	must(t, tw.bot.Withdraw(t.Context(), gone, "998"))
	must(t, tw.bot.Withdraw(t.Context(), gone, ""))
}

func noButtons(m discordsim.Message) bool {
	return len(m.Components) == 0 || string(m.Components) == "[]"
}
