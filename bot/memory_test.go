package bot

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func about(scope store.MemoryScope, id int64, guild, content string) store.Memory {
	m := store.Memory{
		ID: id, Scope: scope, GuildID: guild, Content: content, Private: guild == "", AuthorID: "42",
		CreatedAt: time.Unix(1000, 0), UpdatedAt: time.Unix(1000, 0),
	}
	if scope == store.ScopeMember {
		m.MemberID = "42"
	}
	return m
}

var factNumbers = regexp.MustCompile("`#(\\d+)`")

// Every fact is on one page, in order, and every page fits a message, whatever facts say.
func TestMemoryPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		i := &interaction{guildID: rapid.SampledFrom([]string{"1", ""}).Draw(t, "guild")}
		var facts []store.Memory
		for n := range rapid.IntRange(1, 40).Draw(t, "facts") {
			text := rapid.OneOf(
				rapid.StringN(1, 40, -1),
				rapid.Map(rapid.IntRange(1, 1000), func(n int) string { return strings.Repeat("*@`猫", n)[:n] }),
			).Draw(t, "text")
			scope := rapid.SampledFrom([]store.MemoryScope{store.ScopeMember, store.ScopeGuild}).Draw(t, "scope")
			guild := rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "told in")
			if scope == store.ScopeGuild {
				guild = "1"
			}
			facts = append(facts, about(scope, int64(n+1), guild, text))
		}
		var shown []string
		for _, page := range memoryPages(i, facts) {
			if units(page) > maxMessage-300 || strings.TrimSpace(page) == "" {
				t.Fatalf("a page of %d units", units(page))
			}
			if !strings.HasPrefix(page, "\n**") {
				t.Fatalf("a page without a heading: %q", page)
			}
			for _, m := range factNumbers.FindAllStringSubmatch(page, -1) {
				shown = append(shown, m[1])
			}
		}
		slices.Sort(shown)
		if n := len(slices.Compact(slices.Clone(shown))); n != len(facts) || n != len(shown) {
			t.Fatalf("%d facts, shown %v", len(facts), shown)
		}
	})
}

func TestMemoryListTurnsPages(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	tw.turns.fakeMembers.set(func(f *fakeMembers) {
		for n := range 30 {
			f.facts = append(f.facts, about(store.ScopeMember, int64(n+1), string(tw.guild), "fact "+strings.Repeat("x", 300)+" @everyone"))
		}
	})
	tw.start(t)
	s := tw.answered(t, try(tw.ana.Slash(tw.general, "memory list")).ID)
	if !s.Ephemeral || !strings.Contains(tw.text(s.Original), "page 1 of 8") {
		t.Fatalf("%+v: %s", s, tw.text(s.Original))
	}
	page := func(button, want string) {
		t.Helper()
		try(tw.ana.Click(s.Original, button))
		tw.wait(t, want, func(v discordsim.View) bool {
			m, _ := v.Message(s.Original)
			return strings.Contains(m.Content, want) && m.Pings.None()
		})
	}
	page(memoryPrefix+"1", "page 2 of 8")
	page(memoryPrefix+"0", "page 1 of 8")
	page(memoryPrefix+"1", "page 2 of 8")
	// What was forgotten meanwhile is not there any more, and a page that is gone is the last one.
	tw.turns.fakeMembers.set(func(f *fakeMembers) { f.facts = f.facts[:1] })
	try(tw.ana.Click(s.Original, memoryPrefix+"2"))
	tw.wait(t, "one page without buttons", func(v discordsim.View) bool {
		m, _ := v.Message(s.Original)
		return strings.Contains(m.Content, "fact xxx") && !strings.Contains(m.Content, "page") && noButtons(m)
	})
}

func TestMemoryCommands(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	members := tw.turns.fakeMembers
	tw.start(t)
	members.set(func(f *fakeMembers) {
		f.facts = []store.Memory{about(store.ScopeMember, 3, string(tw.guild), "likes tea")}
	})
	text := func(s string) discordsim.Option { return discordsim.Option{Name: "text", Value: s} }
	fact := func(s string) discordsim.Option { return discordsim.Option{Name: "fact", Value: s} }
	server := discordsim.Option{Name: "about", Value: "server"}
	for _, c := range []struct {
		by      *discordsim.Person
		in      discordsim.ID
		command string
		options []discordsim.Option
		want    string
		says    string
	}{
		{tw.ana, tw.general, "memory add", []discordsim.Option{text("likes tea")}, "remember member likes tea", "about you in this server, as fact `#7`"},
		{tw.ana, tw.ana.DM(), "memory add", []discordsim.Option{text("likes tea")}, "remember member likes tea", "in private only"},
		{tw.ana, tw.general, "memory add", []discordsim.Option{text("known")}, "remember member known", "knew that already"},
		{tw.ana, tw.general, "memory add", []discordsim.Option{text("x"), server}, "", string(refusedServer)},
		{tw.mod, tw.general, "memory add", []discordsim.Option{text("x"), server}, "", string(refusedServer)},
		{tw.ana, tw.ana.DM(), "memory add", []discordsim.Option{text("x"), server}, "", string(refusedNoServer)},
		{tw.olga, tw.general, "memory add", []discordsim.Option{text("x"), server}, "remember guild x", "for everybody here"},
		{tw.ana, tw.general, "memory edit", []discordsim.Option{fact("#3 likes tea"), text("y")}, "edit 3 y", "fact `#3` is now: y"},
		{tw.ana, tw.general, "memory edit", []discordsim.Option{fact("tea"), text("y")}, "", "write its number"},
		{tw.ana, tw.general, "memory forget", []discordsim.Option{fact("3")}, "forget 3", "Forgotten: what it was"},
		{tw.ana, tw.general, "memory forget", []discordsim.Option{fact("#")}, "", "write its number"},
		{tw.mod, tw.general, "memory forget-all", []discordsim.Option{server}, "", string(refusedServer)},
	} {
		said, private := tw.use(t, c.by, c.in, c.command, c.options...)
		if !strings.Contains(said, c.says) || !private {
			t.Errorf("%s %v says %q (private %t), want %q", c.command, c.options, said, private, c.says)
		}
		if got := strings.Join(members.called(), ", "); got != c.want {
			t.Errorf("%s %v did %q, want %q", c.command, c.options, got, c.want)
		}
	}
	members.set(func(f *fakeMembers) {
		f.err = &turn.Refusal{Kind: turn.RefusedFull, Problem: "It is full.", Remedy: "Forget one."}
	})
	if said, _ := tw.use(t, tw.ana, tw.general, "memory add", text("x")); said != "It is full. Forget one." {
		t.Errorf("a refusal is told as %q", said)
	}
}

// A fact is corrected in a form that begins with its words and comes back with its number.
func TestMemoryForms(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	members := tw.turns.fakeMembers
	long := strings.Repeat("猫", turn.MaxFactLength)
	members.set(func(f *fakeMembers) { f.facts = []store.Memory{about(store.ScopeMember, 3, string(tw.guild), long)} })
	tw.start(t)
	i := try(tw.ana.Slash(tw.general, "memory edit", discordsim.Option{Name: "fact", Value: "3"}))
	if s := tw.answered(t, i.ID); s.Modal == nil || s.Modal.Inputs[0].Value != long {
		t.Fatalf("%+v", s)
	}
	tw.answered(t, try(tw.ana.Submit(i, map[string]string{"text": "short"})).ID)
	i = try(tw.olga.Slash(tw.general, "memory add", discordsim.Option{Name: "about", Value: "server"}))
	tw.answered(t, i.ID)
	tw.answered(t, try(tw.olga.Submit(i, map[string]string{"text": "of the server"})).ID)
	i = try(tw.ana.Slash(tw.general, "memory add"))
	tw.answered(t, i.ID)
	tw.answered(t, try(tw.ana.Submit(i, map[string]string{"text": "of mine"})).ID)
	if diff := cmp.Diff([]string{"edit 3 short", "remember guild of the server", "remember member of mine"}, members.called()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFactNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{
		"3": 3, "#3": 3, " #12 likes 4 teas": 12, "12abc": 12, "": 0, "#": 0, "tea": 0, "-3": 0, "0": 0, "99999999999999999999": 0,
	} {
		if got, ok := factNumber(in); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %d, %t", in, got, ok)
		}
	}
}

// Completions fit Discord's limit however long facts are.
func TestFactNamesFit(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.turns.fakeMembers.set(func(f *fakeMembers) {
		f.facts = []store.Memory{about(store.ScopeMember, 3, "1", strings.Repeat("猫😀", 300)), about(store.ScopeMember, 4, "1", "two\nlines")}
	})
	names, err := tw.bot.factNames(t.Context(), &interaction{})
	must(t, err)
	if got := matching(names, ""); len(got) != 2 || got[1].Name != "#4 two lines" {
		t.Errorf("%+v", got)
	}
	if id, ok := factNumber(names[0]); !ok || id != 3 {
		t.Error(fmt.Sprint("the long one names fact ", id))
	}
}
