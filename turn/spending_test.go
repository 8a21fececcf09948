package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// dollar is one in billionths.
const dollar = 1_000_000_000

// priced is an answer that costs so many cents.
func priced(text string, cents int64) reply {
	return reply{pieces: []string{text}, used: providers.Usage{Input: 1, Output: 1, CostNanos: cents * dollar / 100}}
}

// pricedCall is a call of a tool that costs so many cents.
func pricedCall(name, text string, cents int64) reply {
	r := calls(name, "{}", text)
	r.used = priced("", cents).used
	return r
}

// frugal is a world in which each guild may spend a dollar a day, and the bot that much in all.
func frugal(t *testing.T, each, all int64) *world {
	t.Helper()
	w := newWorld(t)
	w.limits.DailyCostGuild, w.limits.DailyCost = each*dollar, all*dollar
	w.tools = []registry.Tool{tool("look", nil)}
	return w
}

// midnight lets the day end.
func (w *world) midnight() {
	now := time.Now().UTC()
	w.pass(now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now))
}

func TestSpending(t *testing.T) {
	t.Parallel()
	check(t, "a turn that uses the budget up ends with an error; what was done and said stays", func(t *testing.T) {
		w := frugal(t, 1, 0)
		ran := 0
		w.tools = []registry.Tool{tool("look", func(context.Context) registry.Result { ran++; return registry.OK(nil) })}
		w.models = append(w.models, turn.Model{Provider: w.model, Name: "m-2"})
		w.start()
		defer func() { w.stop() }()
		w.model.will(pricedCall("look", "One moment.", 100))
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnError)
		if got := w.model.asked(); len(got) != 1 || ran != 1 {
			t.Errorf("the model was asked %d times, the tool ran %d times, want once each", len(got), ran)
		}
		s := w.edge.last()
		want := fmt.Sprintf("I stopped before I was done. This server's budget for today is used up. I can answer again from 00:00 UTC, <t:%d:R>.",
			time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC).Unix())
		if s.said() != "One moment." || s.retract != 0 || s.public() != want {
			t.Errorf("shown %q, retracted %d times, told %q", s.said(), s.retract, s.public())
		}
		for _, e := range w.tape.all() {
			if e.Kind == turn.EventDone && e.Error != "budget" {
				t.Errorf("observers are told %q", e.Error)
			}
		}
		if got := w.store.turns[0]; got.Status != store.TurnError || len(got.Transcript) == 0 || got.Usage.CostNanos != dollar {
			t.Errorf("recorded %+v", got)
		}
		w.admission(w.say("ana", "c", "@bot more?"), "refuse:guild_budget")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 0 {
			t.Errorf("the channel knows, and is told again: %v", told)
		}
	})
	check(t, "whoever asks is refused until the day ends, and a channel is told now and then", func(t *testing.T) {
		w := frugal(t, 1, 0).start()
		defer w.stop()
		w.must(w.m.SetAlwaysOn(context.Background(), w.place("c"), "77", true))
		w.model.will(priced("a", 99), priced("b", 99))
		w.say("ana", "c", "@bot 1")
		w.admission(w.say("ana", "c", "@bot 2"), "admit:mention") // a cent is left
		w.ended(store.TurnCompleted, store.TurnCompleted)
		w.admission(w.say("ana", "77", "hello all"), "refuse:guild_budget")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 0 {
			t.Errorf("nobody asked, and is told %v", told)
		}
		for range 3 {
			w.admission(w.say("ana", "c", "@bot 3"), "refuse:guild_budget")
			w.admission(w.say("ben", "c", "@bot 3"), "refuse:guild_budget")
			w.pass(2 * time.Minute)
		}
		told := w.edge.told(turn.NoticeRefused)
		if len(told) != 1 || !strings.HasPrefix(told[0].Text, "This server's budget for today is used up.") || told[0].ReplyToID == "" {
			t.Errorf("told %v", told)
		}
		w.say("ana", "d", "@bot 3")
		w.pass(10 * time.Minute)
		w.say("ana", "c", "@bot 4")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 3 {
			t.Errorf("told %v", told)
		}
		w.admission(w.say("mod", "c", "@bot 4", moderator), "refuse:guild_budget")
		w.admission(w.say("ana", "e", "@bot 5", func(in *turn.Inbound) { in.GuildID = "8000" }), "admit:mention")
		if got := w.m.Totals().Verdicts["refuse:guild_budget"]; got != 10 {
			t.Errorf("counted %d", got)
		}
		w.midnight()
		w.admission(w.say("ana", "c", "@bot 6"), "admit:mention")
		w.ended(store.TurnCompleted, store.TurnCompleted, store.TurnCompleted, store.TurnCompleted)
	})
	check(t, "turns that run at once share what is left", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.tools = []registry.Tool{tool("wait", sleeping(time.Minute))}
		w.start()
		defer func() { w.stop() }()
		w.model.will(pricedCall("wait", "", 60), pricedCall("wait", "", 60))
		w.say("ana", "c", "@bot go")
		w.say("ben", "d", "@bot go")
		w.admission(w.say("eve", "e", "@bot go"), "refuse:guild_budget") // nothing of it is in the ledger yet
		w.pass(time.Minute)
		w.ended(store.TurnError, store.TurnError)
		if n := len(w.model.asked()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	check(t, "what waited in line ends without a request, and the channel is told once", func(t *testing.T) {
		w := frugal(t, 1, 0).start()
		defer w.stop()
		slow := priced("a", 100)
		slow.wait = time.Minute
		w.model.will(slow)
		w.say("ana", "c", "@bot 1")
		w.say("ben", "c", "@bot 2")
		w.say("eve", "c", "@bot 3")
		w.pass(time.Minute)
		w.ended(store.TurnCompleted, store.TurnError, store.TurnError)
		if all := w.edge.shown(); !strings.HasPrefix(all[1].public(), "This server's budget") || all[2].public() != "" {
			t.Errorf("told %q and %q", all[1].public(), all[2].public())
		}
	})
	check(t, "midnight in a turn opens a new day for its next round trip", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.tools = []registry.Tool{tool("wait", sleeping(5*time.Minute))}
		w.start()
		defer func() { w.stop() }()
		w.pass(24*time.Hour - time.Minute)
		w.model.will(pricedCall("wait", "", 200), priced("done", 10))
		w.say("ana", "c", "@bot go")
		w.pass(5 * time.Minute)
		w.ended(store.TurnCompleted)
		w.admission(w.say("ana", "c", "@bot go"), "admit:mention")
	})
	check(t, "a private chat has a budget of its own", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.shared, w.store.rates = true, &shared{}
		w.start()
		defer func() { w.stop() }()
		w.model.will(priced("a", 100))
		w.say("ana", "dm-ana", "hello", private)
		w.admission(w.say("ana", "dm-ana", "hello", private), "refuse:guild_budget")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 1 || !strings.HasPrefix(told[0].Text, "The budget of our private chat for today") {
			t.Errorf("told %v", told)
		}
		w.admission(w.say("ben", "dm-ben", "hello", private), "admit:direct_message")
		w.admission(w.say("ana", "c", "@bot hello"), "admit:mention")
		// What she has erased from the ledger is spent all the same.
		w.store.set(func(s *memory) { s.ledger = nil })
		for range 2 { // whatever is read beside the first
			w.pass(time.Hour)
			w.admission(w.say("ana", "dm-ana", "hello", private), "refuse:guild_budget")
		}
	})
	check(t, "the bot's budget is that of all guilds and private chats together", func(t *testing.T) {
		w := frugal(t, 0, 1).start()
		defer w.stop()
		w.model.will(priced("a", 50), priced("b", 50))
		w.say("ana", "c", "@bot hello")
		w.say("ben", "dm-ben", "hello", private)
		w.admission(w.say("eve", "e", "@bot hello", func(in *turn.Inbound) { in.GuildID = "8000" }), "refuse:bot_budget")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 1 || !strings.HasPrefix(told[0].Text, "My budget for today is used up.") {
			t.Errorf("told %v", told)
		}
	})
	check(t, "commands are carried out whatever was spent", func(t *testing.T) {
		w := frugal(t, 1, 1).start()
		defer w.stop()
		w.model.will(priced("a", 100))
		w.say("ana", "c", "@bot hello")
		w.admission(w.say("ana", "c", "@bot /cost"), "command:text_command")
	})
	check(t, "without a limit the ledger is never read", func(t *testing.T) {
		w := frugal(t, 0, 0).start()
		defer w.stop()
		w.model.will(priced("a", 1_000_000))
		w.say("ana", "c", "@bot hello")
		w.admission(w.say("ana", "c", "@bot hello"), "admit:mention")
		if n := w.store.sums; n != 0 {
			t.Errorf("it was read %d times", n)
		}
	})
}

func TestSpendingAndTheLedger(t *testing.T) {
	t.Parallel()
	check(t, "a restart begins no new day, and the ledger is read once", func(t *testing.T) {
		w := frugal(t, 1, 5).start()
		w.model.will(priced("a", 60), priced("b", 30), priced("c", 30))
		w.say("ana", "c", "@bot hello")
		w.stop()
		w.store.set(func(s *memory) { s.sums = 0 })
		w.start()
		defer func() { w.stop() }()
		w.say("ana", "c", "@bot hello")
		w.must(w.m.Clear(context.Background(), w.place("c")))
		w.admission(w.say("ana", "c", "@bot hello"), "admit:mention")
		w.admission(w.say("ana", "c", "@bot hello"), "refuse:guild_budget")
		w.pass(time.Hour)
		w.admission(w.say("ana", "c", "@bot hello"), "refuse:guild_budget")
		if n := w.store.sums; n != 2 { // the guild's and the bot's
			t.Errorf("the ledger was read %d times", n)
		}
	})
	check(t, "what other processes spend is seen within a minute, and nothing counts twice", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.shared = true
		w.store.rates = &shared{}
		w.start()
		defer func() { w.stop() }()
		w.model.will(priced("a", 40), priced("b", 10))
		w.say("ana", "c", "@bot hello")
		w.store.set(func(s *memory) {
			s.ledger = append(s.ledger, store.UsageEntry{
				TurnID: "elsewhere", Model: "m-1", GuildID: guildID, Usage: store.Usage{CostNanos: 40 * dollar / 100}, At: time.Now(),
			})
		})
		for range 3 { // 40 + 40 + 10 of 100
			w.pass(time.Minute)
			w.say("ana", "c", "@bot hello")
			synctest.Wait()
			rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostServerToday)
			w.must(err)
			if want := "The limit of a day is $1.0000, and $0.1000 of it is left. A new day begins"; !strings.Contains(rep.String(), want) {
				t.Errorf("%q, want %q in it", rep.String(), want)
			}
		}
	})
	check(t, "a turn that is being written counts once, whenever the ledger is read", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.shared = true
		w.store.rates = &shared{}
		w.store.slow = map[string]time.Duration{"FinishTurn": 3 * time.Minute}
		w.start()
		defer func() { w.stop() }()
		w.model.will(priced("a", 60))
		w.say("ana", "c", "@bot hello")
		for range 8 {
			w.pass(time.Minute)
			w.say("ben", fmt.Sprint("d", time.Now().Unix()), "@bot hello")
			rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostServerToday)
			w.must(err)
			if rep.Budget == nil || rep.Budget.Left != 40*dollar/100 {
				t.Errorf("left: %+v", rep.Budget)
			}
		}
	})
	check(t, "what is written while the ledger is read counts", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.shared, w.store.rates = true, &shared{}
		w.start()
		defer func() { w.stop() }()
		w.say("ana", "c", "@bot hello")
		w.pass(time.Minute)
		w.store.set(func(s *memory) { s.slow = map[string]time.Duration{"UsageOf's answer": 10 * time.Second} })
		w.model.will(reply{wait: time.Second, pieces: []string{"a"}, used: priced("", 60).used})
		w.say("ana", "c", "@bot hello")
		w.pass(5 * time.Second)
		w.ended(store.TurnCompleted, store.TurnCompleted)
		for range 15 {
			w.pass(10 * time.Second)
			rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostServerToday)
			w.must(err)
			if rep.Budget.Left != 40*dollar/100 {
				t.Errorf("left: %+v", rep.Budget)
			}
		}
	})
	check(t, "while the store is away, what is known counts", func(t *testing.T) {
		w := frugal(t, 1, 0)
		w.start()
		defer func() { w.stop() }()
		w.model.will(priced("a", 50), priced("b", 50), priced("c", 10))
		w.say("ana", "c", "@bot hello") // read, and in the ledger
		w.store.set(func(s *memory) { s.away = true })
		w.admission(w.say("ana", "c", "@bot hello"), "admit:mention")
		w.admission(w.say("ana", "c", "@bot hello"), "refuse:guild_budget")
		w.midnight() // nothing is known of the new day
		w.store.set(func(s *memory) { s.sums = 0 })
		w.admission(w.say("ana", "c", "@bot hello"), "admit:mention")
		if n := w.store.sums; n != 1 { // not for each check
			t.Errorf("a ledger that is away was asked %d times at once", n)
		}
		w.store.set(func(s *memory) {
			s.away = false
			s.ledger = append(s.ledger, store.UsageEntry{
				TurnID: "elsewhere", Model: "m-1", GuildID: guildID, Usage: store.Usage{CostNanos: 95 * dollar / 100}, At: time.Now(),
			})
		})
		w.pass(10 * time.Second)
		w.admission(w.say("ana", "c", "@bot hello"), "refuse:guild_budget") // 95 and the 10 that are in no ledger
	})
	check(t, "a store that hangs holds nobody up for long", func(t *testing.T) {
		w := frugal(t, 1, 1)
		w.start()
		defer func() { w.stop() }()
		w.store.set(func(s *memory) { s.slow = map[string]time.Duration{"UsageOf": time.Hour} })
		in := w.say("ana", "c", "@bot hello")
		w.pass(2 * time.Second)
		w.admission(in, "admit:mention")
		w.pass(2 * time.Second)
		w.ended(store.TurnCompleted)
	})
}

func TestCostTellsTheLimit(t *testing.T) {
	t.Parallel()
	check(t, "to those who manage the server, and in a private chat", func(t *testing.T) {
		w := frugal(t, 1, 2).start()
		defer w.stop()
		w.model.will(priced("a", 25), priced("b", 175))
		w.say("ana", "c", "@bot hello")
		report := func(p turn.Place, of turn.CostScope) string {
			t.Helper()
			rep, err := w.m.Cost(context.Background(), p, of)
			w.must(err)
			return rep.String()
		}
		const limit = "\nThe limit of a day is $1.0000, and $0.7500 of it is left. A new day begins at 00:00 UTC, <t:946771200:R>."
		for _, of := range []turn.CostScope{turn.CostServerToday, turn.CostServerMonth} {
			if got := report(w.place("c"), of); !strings.HasSuffix(got, limit) {
				t.Errorf("%s: %q", of, got)
			}
		}
		for _, of := range []turn.CostScope{turn.CostHere, turn.CostHereToday, turn.CostMine} {
			if got := report(w.place("c"), of); strings.Contains(got, "limit") {
				t.Errorf("%s: %q", of, got)
			}
		}
		dm := turn.Place{ChannelID: "dm-ben", Actor: turn.Actor{ID: person("ben").ID}}
		if got := report(dm, turn.CostHere); !strings.HasSuffix(got, "$1.0000 of it is left. A new day begins at 00:00 UTC, <t:946771200:R>.") {
			t.Errorf("in a private chat: %q", got)
		}
		w.say("ben", "dm-ben", "hello", private)
		want := "$0.7500 of it is left. My budget for all servers together is used up for today."
		if got := report(w.place("c"), turn.CostServerToday); !strings.Contains(got, want) {
			t.Errorf("when the bot has spent all: %q", got)
		}
	})
	check(t, "and there is nothing to tell without one", func(t *testing.T) {
		w := frugal(t, 0, 1).start()
		defer w.stop()
		w.say("ana", "c", "@bot hello")
		if rep, err := w.m.Cost(context.Background(), w.place("c"), turn.CostServerToday); err != nil || rep.Budget != nil {
			t.Errorf("%+v, %v", rep.Budget, err)
		}
	})
}
