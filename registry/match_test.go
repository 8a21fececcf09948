package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
)

func TestParseTrigger(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]registry.Trigger{
		"^":             {Kind: registry.TriggerAlways, Pattern: "^"},
		"Look  up":      {Kind: registry.TriggerLiteral, Pattern: "Look  up"},
		" remind* ":     {Kind: registry.TriggerStem, Pattern: "remind"},
		"/imagine":      {Kind: registry.TriggerLiteral, Pattern: "/imagine"},
		`/wetter\b/`:    {Kind: registry.TriggerRegexp, Pattern: `wetter\b`},
		"c++":           {Kind: registry.TriggerLiteral, Pattern: "c++"},
		"何でも":           {Kind: registry.TriggerLiteral, Pattern: "何でも"},
		"what is this?": {Kind: registry.TriggerLiteral, Pattern: "what is this?"},
	} {
		got, err := registry.ParseTrigger(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", s, diff)
		}
	}
	for s, want := range map[string]string{
		"":                                   "it is empty",
		" \t ":                               "it is empty",
		"*":                                  "a bare * would match every message",
		"a*b":                                "* may only stand once, at the end",
		"a**":                                "* may only stand once, at the end",
		"//":                                 "the regular expression is empty",
		"/(/":                                "not a regular expression",
		"/(?=a)/":                            "not a regular expression",
		"/a*/":                               "matches an empty text",
		"絵":                                  "a single character of a script without spaces",
		"絵*":                                 "a single character of a script without spaces",
		"a\x00b":                             "control character",
		strings.Repeat("a", 201):             "201 characters, at most 200 are possible",
		"/" + strings.Repeat("a", 201) + "/": "201 characters, at most 200 are possible",
	} {
		if _, err := registry.ParseTrigger(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", s, err, want)
		}
	}
}

func TestCheckCustomTriggers(t *testing.T) {
	t.Parallel()
	if err := registry.CheckCustomTriggers([]string{"nag*", strings.Repeat("é", 40)}); err != nil {
		t.Error(err)
	}
	many := make([]string, 17)
	for i := range many {
		many[i] = "ok"
	}
	many[3], many[5] = "*", strings.Repeat("é", 41)
	err := registry.CheckCustomTriggers(many)
	for _, want := range []string{"17 triggers for one target, at most 16", "a bare *", "41 characters, at most 40"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestTriggerMatching(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		trigger, text string
		want          bool
	}{
		{"search", "Please SEARCH.", true},
		{"search", "research", false},
		{"search", "searching", false},
		{"search", "search-engine", false},
		{"search", "search_engine", false},
		{"search", "search2", false},
		{"search", "researcher, then search", true},
		{"search", "", false},
		{"c++", "in C++?", true},
		{"look up", "LOOK\n\t up this", true},
		{"look up", "overlook upper", true}, // phrases count anywhere
		{"remind*", "reminders", true},
		{"remind*", "remind", true},
		{"remind*", "un-remind", false},
		{"über", "ÜBER alles", true},
		{"café", "cafe\u0301 noir", true}, // composed or not, it is the same word
		{"cafe", "cafe\u0301", false},
		{"don't forget", "Don’t forget!", true},
		{"search", "ｓｅａｒｃｈ", true},
		{"हिन्द", "हिन्दी", false}, // a vowel sign goes on with the word
		{"画像", "この画像を見て", true},
		{"ค้นหา", "ช่วยค้นหาแมว", true},
		{"/v\\d+$/", "Version V12", true},
		{"/v\\d+$/", "v12 is out", false},
		{"^", "", true},
	} {
		trigger, err := registry.ParseTrigger(tc.trigger)
		if err != nil {
			t.Errorf("%q: %v", tc.trigger, err)
			continue
		}
		r := newRegistry(t, tool("echo", func(t *registry.Tool) { t.Triggers = []registry.Trigger{trigger} }))
		if got := r.Allow(registry.AllowRequest{Text: tc.text}).Allows("echo"); got != tc.want {
			t.Errorf("%q in %q: got %v", tc.trigger, tc.text, got)
		}
	}
}

func TestTL165ExplicitLTMIntent(t *testing.T) {
	t.Parallel()
	row(t, "TL165")
	for text, want := range map[string]bool{
		"remember that I like tea":              true,
		"Please REMEMBER: no nuts":              true,
		"don’t forget my birthday":              true,
		"could you commit this to memory?":      true,
		"For future reference, I'm left-handed": true,
		"Can you remember that I moved?":        true,
		"take note: I'm vegan":                  true,
		"紅茶が好きだと覚えておいて":                         true,
		"内緒だと忘れないで":                             true,
		"내 생일 기억해줘":                             true,
		"ｒｅｍｅｍｂｅｒ this":                         true,
		"do you remember my name?":              false,
		"I can't remember the word":             false,
		"I don't remember":                      false,
		"remember when we met?":                 false,
		"do you remember? well, remember this":  true,
		"this is noteworthy":                    false,
		"remembering is hard":                   false,
		"hello":                                 false,
		"":                                      false,
	} {
		if got := registry.ExplicitLTMIntent(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func BenchmarkAllow(b *testing.B) {
	var tools []registry.Tool
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"} {
		tools = append(tools, tool(n, triggers("remember*", "look up", "search", "forget", "note")))
	}
	r := newRegistry(b, tools...)
	req := registry.AllowRequest{
		Text:   strings.Repeat("a message of the usual length that asks for nothing in particular ", 4),
		Custom: map[string][]string{"a": {"nag*", "/wetter in (köln|bonn)/", "zeig mal"}},
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Allow(req)
	}
}
