package storetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func recall(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("without a text the newest first, with a limit", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, content := range []string{"one", "two", "three", "four"} {
			_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, content, i), 10)
			must(t, err)
		}
		_, err := e.Memories.AddMemory(t.Context(), guildFact("1", "between three and four", 2), 10)
		must(t, err)
		q := anaInOne
		q.Limit = 3
		found, err := e.Memories.FindMemories(t.Context(), q)
		must(t, err)
		if diff := cmp.Diff([]string{"four", "between three and four", "three"}, contents(found)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("no limit means 100", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i := range 120 {
			_, err := e.Memories.AddMemory(t.Context(), guildFact("1", fmt.Sprintf("fact %d", i), i), 1000)
			must(t, err)
		}
		found, err := e.Memories.FindMemories(t.Context(), anaInOne)
		must(t, err)
		if len(found) != 100 || found[0].Content != "fact 119" {
			t.Errorf("%d facts, first %q; want 100 from fact 119", len(found), found[0].Content)
		}
	})

	// In each case the older facts hold what is asked about and twenty newer ones don't; only three may be returned.
	for _, test := range []struct {
		name  string
		facts []string
		ask   string
		first string
	}{
		{"one word", []string{"Ana's cat is called Mia"}, "what is the name of the cat", "Ana's cat is called Mia"},
		{"case and diacritics", []string{"Lives in MÜNCHEN"}, "münchen", "Lives in MÜNCHEN"},
		{"the rarer word wins", []string{"the deploy runs on Fridays", "the the the the"}, "when does the deploy run, the real one", "the deploy runs on Fridays"},
		{"Chinese, a pair inside a sentence", []string{"他的生日是五月四日"}, "明天是谁的生日？", "他的生日是五月四日"},
		{"Japanese", []string{"アナさんは猫が好きです"}, "好きなものは何", "アナさんは猫が好きです"},
		{"Japanese, one character at the end of a run", []string{"アナさんが好きなのは猫"}, "猫", "アナさんが好きなのは猫"},
		{"Japanese, one character at the start of a run", []string{"猫が好きなアナさん"}, "猫", "猫が好きなアナさん"},
		{"Korean, another particle", []string{"생일은 오월이다"}, "생일이 언제야", "생일은 오월이다"},
		{"Thai, with vowel signs", []string{"เขาชอบดื่มชา"}, "ดื่ม", "เขาชอบดื่มชา"},
		{"Russian", []string{"Аня любит чай"}, "чай", "Аня любит чай"},
		{"Hindi", []string{"उसे चाय पसंद है"}, "चाय", "उसे चाय पसंद है"},
		{"the index's own language is text", []string{`says NEAR("x y") OR z* : -places`}, `NEAR("x y"`, `says NEAR("x y") OR z* : -places`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			for i, content := range test.facts {
				_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, content, i), 100)
				must(t, err)
			}
			for i := range 20 {
				_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, fmt.Sprintf("newer fact number %d", i), 100+i), 100)
				must(t, err)
			}
			q := anaInOne
			q.Text, q.Limit = test.ask, 3
			found, err := e.Memories.FindMemories(t.Context(), q)
			must(t, err)
			if len(found) != 3 || found[0].Content != test.first {
				t.Fatalf("%q found %q, want %q first of 3", test.ask, contents(found), test.first)
			}
			// What was updated or deleted is not found by its old words.
			_, err = e.Memories.UpdateMemory(t.Context(), anaInOne, found[0].ID, "zzz", start)
			must(t, err)
			again, err := e.Memories.FindMemories(t.Context(), q)
			must(t, err)
			for _, m := range again {
				if m.ID == found[0].ID {
					t.Errorf("still found by the words it had")
				}
			}
		})
	}

	t.Run("a budget of bytes keeps the most relevant", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i := range 20 {
			_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, fmt.Sprintf("fact number %02d", i), i), 100) // 14 bytes each
			must(t, err)
		}
		for _, test := range []struct {
			text  string
			bytes int
			want  []string
		}{
			{"", 14 * 3, []string{"fact number 19", "fact number 18", "fact number 17"}},
			{"", 14*3 - 1, []string{"fact number 19", "fact number 18"}},
			{"number 07", 14 * 2, []string{"fact number 07", "fact number 19"}},
			{"number 07", 1, []string{"fact number 07"}},
		} {
			q := anaInOne
			q.Text, q.MaxBytes = test.text, test.bytes
			found, err := e.Memories.FindMemories(t.Context(), q)
			must(t, err)
			if diff := cmp.Diff(test.want, contents(found)); diff != "" {
				t.Errorf("%q in %d bytes (-want +got):\n%s", test.text, test.bytes, diff)
			}
		}
	})

	t.Run("everything when it fits, the relevant first", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, content := range []string{"likes tea", "works nights", "plays chess"} {
			_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, content, i), 10)
			must(t, err)
		}
		q := anaInOne
		q.Text = "tea or something else"
		found, err := e.Memories.FindMemories(t.Context(), q)
		must(t, err)
		if diff := cmp.Diff([]string{"likes tea", "plays chess", "works nights"}, contents(found)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, text := range []string{"?!", " ", "\x00", `"`, "' OR 1=1 --", "*", "AND", "a\xffb"} {
			q.Text = text
			found, err := e.Memories.FindMemories(t.Context(), q)
			must(t, err)
			if len(found) != 3 {
				t.Errorf("text %q found %d of 3", text, len(found))
			}
		}
	})
}
