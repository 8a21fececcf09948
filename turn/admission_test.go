package turn_test

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

var update = flag.Bool("update", false, "write docs/admission.md")

var (
	self     = turn.Person{ID: botID, Name: "Parley", Self: true}
	otherBot = turn.Person{ID: "55", Name: "Other", Bot: true}
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	s := turn.AdmissionSettings{TriggerWords: []string{"mori", "モリ"}, AlwaysOn: []string{"on"}, LogChannel: "log"}
	running := turn.AdmissionState{OwnerID: "9ana", FollowUps: true}
	cases := []struct {
		name    string
		in      turn.Inbound
		set     turn.AdmissionSettings
		state   turn.AdmissionState
		want    string
		passive bool
	}{
		{name: "mention", in: turn.Inbound{Content: "<@1> hi", MentionsBot: true}, want: "admit:mention"},
		{name: "reply to the bot", in: turn.Inbound{Content: "why?", ReplyTo: &turn.Quote{Author: self}}, want: "admit:reply_to_bot"},
		{name: "direct message", in: turn.Inbound{Content: "hi", Private: true}, want: "admit:direct_message"},
		{name: "trigger word", in: turn.Inbound{Content: "Hey MORI, hi"}, set: s, want: "admit:trigger_word"},
		{name: "trigger word in a script without spaces", in: turn.Inbound{Content: "ねえモリちゃん"}, set: s, want: "admit:trigger_word"},
		{name: "trigger word inside another", in: turn.Inbound{Content: "memorise mori_x morié"}, set: s, want: "ignore:not_addressed"},
		{name: "always on", in: turn.Inbound{Content: "hi", ChannelID: "on"}, set: s, want: "admit:always_on_channel", passive: true},
		{name: "a thread of it", in: turn.Inbound{Content: "hi", ChannelID: "t", ParentID: "on"}, set: s, want: "admit:always_on_channel", passive: true},
		{name: "in a thread without us, then a mention B25", in: turn.Inbound{Content: "<@1>", ChannelID: "t", ParentID: "c", MentionsBot: true}, want: "admit:mention"},
		{name: "everyone B23", in: turn.Inbound{Content: "@everyone meeting", MentionsEveryone: true}, want: "ignore:not_addressed"},
		{name: "nobody", in: turn.Inbound{Content: "hi"}, want: "ignore:not_addressed"},
		{name: "itself B27", in: turn.Inbound{Content: "mori here", Author: self}, set: s, want: "ignore:self"},
		{name: "another bot B26", in: turn.Inbound{Content: "<@1>", MentionsBot: true, Author: otherBot}, want: "ignore:other_bot"},
		{name: "a webhook", in: turn.Inbound{Content: "<@1>", MentionsBot: true, Author: turn.Person{ID: "3", Webhook: true}}, want: "ignore:webhook"},
		{name: "another bot where bots are answered", in: turn.Inbound{Content: "<@1>", MentionsBot: true, Author: otherBot}, set: turn.AdmissionSettings{AnswerBots: true}, want: "admit:mention", passive: true},
		{name: "a bot that says a trigger word", in: turn.Inbound{Content: "mori", Author: otherBot}, set: turn.AdmissionSettings{AnswerBots: true, TriggerWords: s.TriggerWords}, want: "ignore:other_bot"},
		{name: "bang", in: turn.Inbound{Content: "!play", Private: true}, want: "ignore:bang_prefix"},
		{name: "bang where it is answered", in: turn.Inbound{Content: "!play", Private: true}, set: turn.AdmissionSettings{AnswerBang: true}, want: "admit:direct_message"},
		{name: "reply to another bot", in: turn.Inbound{Content: "hm", ReplyTo: &turn.Quote{Author: otherBot}}, want: "ignore:reply_to_other_bot"},
		{name: "the same in an always-on channel", in: turn.Inbound{Content: "hm", ChannelID: "on", ReplyTo: &turn.Quote{Author: otherBot}}, set: s, want: "ignore:reply_to_other_bot"},
		{name: "reply to another bot with a mention", in: turn.Inbound{Content: "<@1>?", MentionsBot: true, ReplyTo: &turn.Quote{Author: otherBot}}, want: "admit:mention"},
		{name: "reply to nobody known", in: turn.Inbound{Content: "mori?", ReplyTo: &turn.Quote{MessageID: "5"}}, set: s, want: "admit:trigger_word"},
		{name: "log channel", in: turn.Inbound{Content: "<@1>", MentionsBot: true, ChannelID: "log"}, set: s, want: "ignore:log_channel"},
		{name: "read only", in: turn.Inbound{Content: "<@1>", MentionsBot: true}, want: "refuse:cannot_reply"},
		{name: "command", in: turn.Inbound{Kind: turn.KindCommand, Content: "go"}, want: "admit:command"},
		{name: "reminder", in: turn.Inbound{Kind: turn.KindReminder, Content: "tea"}, want: "admit:reminder"},
		{name: "owner goes on", in: turn.Inbound{Content: "I meant Spain"}, state: running, want: "admit:follow_up"},
		{name: "owner talks to somebody else", in: turn.Inbound{Content: "<@77> lunch?"}, state: running, want: "ignore:not_addressed"},
		{name: "owner replies to somebody else", in: turn.Inbound{Content: "yes", ReplyTo: &turn.Quote{Author: person("ben")}}, state: running, want: "ignore:not_addressed"},
		{name: "no more follow-ups", in: turn.Inbound{Content: "and"}, state: turn.AdmissionState{OwnerID: "9ana"}, want: "ignore:not_addressed"},
		{name: "owner says stop", in: turn.Inbound{Content: "Stop!!"}, state: running, want: "stop:natural_stop"},
		{name: "owner says it with a mention", in: turn.Inbound{Content: "<@1> please stop", MentionsBot: true}, state: running, want: "stop:natural_stop"},
		{name: "owner says it in Japanese", in: turn.Inbound{Content: "もういいよ"}, state: running, want: "stop:natural_stop"},
		{name: "stop in a sentence", in: turn.Inbound{Content: "<@1> stop using tables", MentionsBot: true}, state: running, want: "admit:mention"},
		{name: "another one says stop", in: turn.Inbound{Content: "stop"}, state: turn.AdmissionState{OwnerID: "9ben", FollowUps: true}, want: "ignore:not_addressed"},
		{name: "nobody's stop", in: turn.Inbound{Content: "stop"}, want: "ignore:not_addressed"},
		{name: "while stopping", in: turn.Inbound{Content: "<@1>", MentionsBot: true}, state: turn.AdmissionState{OwnerID: "9ana", Stopping: true}, want: "ignore:stop_pending"},
		{name: "text command", in: turn.Inbound{Content: "<@1> /clear", MentionsBot: true}, want: "command:text_command"},
		{name: "text command in a direct message", in: turn.Inbound{Content: "/COST", Private: true}, want: "command:text_command"},
		{name: "text command to nobody", in: turn.Inbound{Content: "/clear"}, want: "ignore:not_addressed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := c.in
			if in.Kind == "" {
				in.Kind = turn.KindMessage
			}
			if in.Author == (turn.Person{}) {
				in.Author = person("ana")
			}
			if in.ChannelID == "" {
				in.ChannelID = "c"
			}
			in.CanReply = c.name != "read only"
			got := turn.Admit(in, c.set, c.state)
			if verdict := string(got.Disposition) + ":" + string(got.Reason); verdict != c.want {
				t.Fatalf("judged %s, want %s", verdict, c.want)
			}
			if got.Disposition == turn.DispositionAdmit && got.Deliberate == c.passive {
				t.Errorf("deliberate is %v", got.Deliberate)
			}
			if again := turn.Admit(in, c.set, c.state); again != got {
				t.Errorf("a second look gave %v", again)
			}
		})
	}
}

func TestAdmissionRows(t *testing.T) {
	t.Parallel()
	words := func(w *world, words ...string) []string {
		t.Helper()
		kept, err := w.m.SetTriggerWords(context.Background(), w.place("c"), words)
		w.must(err)
		return kept
	}
	row(t, "TL099", "a mention is answered", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.say("ana", "c", "@bot hello")
		w.ended(store.TurnCompleted)
	})
	row(t, "TL105 TL106", "trigger words are normalized, and none matches inside an accented word", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		if diff := cmp.Diff([]string{"mori", "big mori"}, words(w, `"Mori"`, "MORI", " ", "Big  Mori")); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		w.say("ana", "c", "morié and amori")
		w.say("ana", "c", "Mori?")
		w.ended(store.TurnCompleted)
	})
	row(t, "TL107", "what is no trigger leaves an idle channel untouched", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.say("ana", "c", "hello all")
		if w.m.IsBusy("c") || w.m.Totals().ActiveChannels != 0 || len(w.edge.shown()) != 0 {
			t.Error("the channel was touched")
		}
	})
	row(t, "TL108 TL109 TL110 TL130", "errors are told to who addressed the bot, unless the inbound is quiet", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		words(w, "mori")
		for _, id := range []string{"801", "802", "803", "804"} {
			w.must(w.m.SetAlwaysOn(context.Background(), w.place("c"), id, id != "803"))
		}
		w.model.brain = func(providers.Request) reply { return fails(providers.KindNetwork) }
		w.say("ana", "801", "hello")
		if got := w.edge.last().public(); got != "" {
			t.Errorf("a passive turn said %q", got)
		}
		w.say("ana", "802", "hello mori")
		if got := w.edge.last().public(); !strings.HasPrefix(got, "The provider could not be reached. (id ") {
			t.Errorf("a trigger word's turn said %q", got)
		}
		w.say("ana", "803", "hello mori", func(in *turn.Inbound) { in.Quiet = true })
		if got := w.edge.last().public(); got != "" {
			t.Errorf("a quiet turn said %q", got)
		}
		w.model.brain = func(providers.Request) reply { return hangs() }
		w.say("ana", "804", "hello")
		w.pass(time.Hour)
		if got := w.edge.last().public(); got != "" {
			t.Errorf("a passive turn that timed out said %q", got)
		}
		w.ended(store.TurnError, store.TurnError, store.TurnError, store.TurnTimeout)
	})
	row(t, "TL111 TL113", "replies to other bots are theirs; an unknown author blocks nothing", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.admission(w.say("ana", "c", "really?", replyTo(otherBot, "beep")), "ignore:reply_to_other_bot")
		w.admission(w.say("ana", "c", "@bot really?", replyTo(turn.Person{}, "")), "admit:mention")
	})
	row(t, "TL114", "a direct message after our own is answered", func(t *testing.T) {
		w := newWorld(t)
		w.edge.histories["dm"] = []turn.Message{{ID: "5", Author: self, Content: "hi there"}}
		w.start()
		defer w.stop()
		w.say("ana", "dm", "hello", private)
		w.ended(store.TurnCompleted)
	})
	row(t, "TL116", "who wants full privacy is not answered and not shown", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		p := w.place("c")
		p.Actor = turn.Actor{ID: "9ana"}
		w.must(w.m.SetFullPrivacy(context.Background(), p, true))
		w.admission(w.say("ana", "c", "@bot my secret"), "ignore:full_privacy")
		w.say("ben", "c", "@bot hello")
		w.say("ana", "c", "another secret")
		w.say("ben", "c", "@bot again")
		w.ended(store.TurnCompleted, store.TurnCompleted)
		for _, r := range w.model.asked() {
			if strings.Contains(prompt(r), "secret") {
				t.Errorf("the model was told\n%s", prompt(r))
			}
		}
	})
	row(t, "TL119", "a message that begins with ! is other bots', by a setting", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.admission(w.say("ana", "c", "!play @bot"), "ignore:bang_prefix")
		w.must(w.m.SetGuildSwitch(context.Background(), w.place("c"), turn.SwitchAnswerBang, true))
		w.admission(w.say("ana", "c", "!play @bot"), "admit:mention")
	})
	row(t, "TL121", "a member with three turns gets no fourth, and is told once", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.brain = func(providers.Request) reply { return hangs() }
		for i := range 3 {
			w.say("ana", fmt.Sprint("c", i), "@bot go")
		}
		w.admission(w.say("ana", "c4", "@bot go"), "refuse:member_limit")
		w.admission(w.say("ana", "c5", "@bot go"), "refuse:member_limit")
		if n := w.edge.told(turn.NoticeRefused); len(n) != 1 {
			t.Errorf("told %v", n)
		}
		w.admission(w.say("ben", "c4", "@bot go"), "admit:mention")
		w.kill("ana", "c0", false)
		w.admission(w.say("ana", "c6", "@bot go"), "admit:mention")
	})
	row(t, "TL122", "moderators are exempt where that is set", func(t *testing.T) {
		w := newWorld(t)
		w.limits.TurnsPerMinuteMember = 1
		w.start()
		defer w.stop()
		w.say("mod", "c", "@bot 1", moderator)
		w.admission(w.say("mod", "c", "@bot 2", moderator), "refuse:member_rate")
		w.must(w.m.SetGuildSwitch(context.Background(), w.place("c"), turn.SwitchExemptModerators, true))
		w.admission(w.say("mod", "c", "@bot 3", moderator), "admit:mention")
		w.say("ana", "c", "@bot 1")
		w.pass(12 * time.Second)
		w.admission(w.say("ana", "c", "@bot 2"), "refuse:member_rate")
		if n := w.edge.told(turn.NoticeRefused); !strings.HasSuffix(n[len(n)-1].Text, "more than 1 messages in a minute. Please try again in 48 seconds.") {
			t.Errorf("told %q", n[len(n)-1].Text)
		}
		if got := w.m.Totals().Verdicts; got["refuse:member_rate"] != 2 || got["admit:mention"] != 3 {
			t.Errorf("counted %v", got)
		}
		w.pass(time.Minute)
		w.admission(w.say("ana", "c", "@bot 3"), "admit:mention")
	})
	row(t, "TL123", "limits hold and people are answered while the store is away", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.store.set(func(s *memory) { s.away = true })
		w.admission(w.say("ana", "c", "@bot 1"), "admit:mention")
		w.ended(store.TurnCompleted)
	})
	check(t, "a guild runs ten turns at once", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.brain = func(providers.Request) reply { return hangs() }
		for i := range 10 {
			w.say(fmt.Sprint("p", i), fmt.Sprint("c", i), "@bot go")
		}
		w.admission(w.say("x", "c10", "@bot go"), "refuse:guild_limit")
		w.admission(w.say("x", "c3", "@bot go"), "admit:mention") // it waits there, which runs nothing more
		w.admission(w.say("y", "dm", "go", private), "admit:direct_message")
	})
	check(t, "a channel starts only so many turns in a minute", func(t *testing.T) {
		w := newWorld(t)
		w.limits.TurnsPerMinuteChannel = 2
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot 1")
		w.say("ben", "c", "@bot 2")
		w.admission(w.say("cleo", "c", "@bot 3"), "refuse:channel_rate")
	})
	row(t, "B26", "bots that talk to each other come to an end", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.must(w.m.SetGuildSwitch(context.Background(), w.place("c"), turn.SwitchAnswerBots, true))
		bot := func(in *turn.Inbound) { in.Author = otherBot }
		w.model.brain = func(providers.Request) reply { return fails(providers.KindNetwork) }
		for range 50 {
			w.say("x", "c", "@bot beep", bot)
		}
		if n := len(w.edge.shown()); n != 3 {
			t.Errorf("%d turns for another bot", n)
		}
		for _, s := range w.edge.shown() {
			if s.public() != "" {
				t.Errorf("a bot was told %q", s.public())
			}
		}
		w.say("ana", "c", "enough of that")
		w.admission(w.say("x", "c", "@bot beep", bot), "admit:mention")
	})
	check(t, "a mention in the log channel gets one notice in ten minutes", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.must(w.m.SetLogChannel(context.Background(), w.place("c"), "900"))
		for range 3 {
			w.admission(w.say("ana", "900", "@bot hi"), "ignore:log_channel")
		}
		w.say("ana", "900", "hi")
		if n := w.edge.told(turn.NoticeLogChannel); len(n) != 1 {
			t.Errorf("told %d times", len(n))
		}
		w.pass(11 * time.Minute)
		w.say("ana", "900", "@bot hi")
		if n := w.edge.told(turn.NoticeLogChannel); len(n) != 2 {
			t.Errorf("told %d times", len(n))
		}
	})
	check(t, "messages keep their order while a guild's settings are read", func(t *testing.T) {
		w := newWorld(t)
		w.must(w.store.PutSetting(context.Background(), store.Setting{Scope: store.SettingGuild, ID: guildID, Name: turn.SettingTriggerWords, Value: `["mori"]`}))
		w.store.set(func(s *memory) { s.delay = time.Second })
		w.start()
		defer w.stop()
		for _, p := range []string{"a", "b", "c", "d"} {
			w.m.Receive(context.Background(), w.message(p, "c", "hello mori"))
		}
		w.pass(time.Minute)
		var order []string
		for _, s := range w.edge.shown() {
			order = append(order, s.opening.Owner.Name)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, order); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
	check(t, "one error notice per channel and minute", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.brain = func(providers.Request) reply { return fails(providers.KindNetwork) }
		told := 0
		for range 3 {
			w.say("ana", "c", "@bot go")
			if w.edge.last().public() != "" {
				told++
			}
		}
		w.pass(time.Minute)
		w.say("ana", "c", "@bot go")
		if told != 1 || w.edge.last().public() == "" {
			t.Errorf("%d notices, then %q", told, w.edge.last().public())
		}
	})
}

// Every reason constant is explained exactly once, and the table in the docs is what the code says.
func TestAdmissionTable(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				declared = append(declared, strings.Trim(lit.Value, `"`))
			}
		}
		return true
	})
	var explained []string
	for _, e := range turn.Explanations() {
		explained = append(explained, string(e.Reason))
	}
	slices.Sort(declared)
	slices.Sort(explained)
	if diff := cmp.Diff(declared, explained); diff != "" {
		t.Errorf("reasons (-declared +explained):\n%s", diff)
	}

	path := filepath.Join("..", "docs", "admission.md")
	if *update {
		if err := os.WriteFile(path, []byte(admissionPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(admissionPage(), string(got)); diff != "" {
		t.Errorf("docs/admission.md is out of date; run go test ./turn -update (-want +got):\n%s", diff)
	}
}

func admissionPage() string {
	var b strings.Builder
	b.WriteString(`# Why a message was answered, or not

<!-- Written by go test ./turn -update. -->

Every message gets one verdict with a reason code. The code is in the log (` + "`turn.admission`, `turn.discarded`" + `) and in the
metrics. *admit*: a turn runs now, or waits for the channel to be free. *command* and *stop*: done at once, no turn.
*ignore*: not meant for the bot, nobody is told. *refuse*: meant for it and not possible now. *discard*: admitted earlier,
and will never run here. A turn that ran has a status instead; none has both.

| reason | verdict | meaning |
| --- | --- | --- |
`)
	for _, e := range turn.Explanations() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Reason, e.Disposition, e.Text)
	}
	return b.String()
}
