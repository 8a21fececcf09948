package scene

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// expectVerbs are what must be true behind what people see.
func expectVerbs() []verb {
	waits := "within TIME"
	counted := []string{"containing TEXT", "answered STATUS", waits}
	return []verb{
		{form: form("expect idle"), clauses: with(waits), do: (*stage).idle},
		{form: form("expect turn started"), clauses: with(placeClauses, waits), do: (*stage).turnStarted},
		{form: form("expect turn WORD"), clauses: with(placeClauses, waits), check: checkStatus, do: (*stage).turnEnded},
		{form: form("expect tool WORD running"), clauses: with(waits), do: (*stage).toolRunning},
		{form: form("expect tool WORD done"), clauses: with("containing TEXT", waits), do: toolEnded(store.CallDone)},
		{form: form("expect tool WORD failed"), clauses: with("because WORD", "containing TEXT", waits), do: toolEnded(store.CallError)},
		{form: form("expect model asked COUNT times"), clauses: with(waits), do: (*stage).askedTimes},
		{form: form("expect model asked"), clauses: with("containing TEXT", "not containing TEXT", "matching TEXT", "offering WORD",
			"not offering WORD", "with result TEXT", waits), check: checkContent, do: (*stage).modelAsked},
		{form: form("expect COUNT requests ROUTE"), clauses: with(counted), do: (*stage).requests},
		{form: form("expect at most COUNT requests ROUTE"), clauses: with(counted), do: (*stage).requests},
		{form: form("expect at least COUNT requests ROUTE"), clauses: with(counted), do: (*stage).requests},
		{form: form("expect typing"), clauses: with(placeClauses, waits), do: (*stage).typing},
		{form: form("expect gateway connected"), clauses: with(waits), do: (*stage).connected},
		{form: form("expect memory TEXT of PERSON"), clauses: with(placeClauses), do: (*stage).memory},
		{form: form("expect no memory TEXT of PERSON"), clauses: with(placeClauses), do: (*stage).memory},
		{form: form("expect no journal WORD"), clauses: with("done", "failed", "running", "because WORD", placeClauses), do: (*stage).journal},
		{form: form("expect journal WORD"), clauses: with("done", "failed", "running", "because WORD", "COUNT times", placeClauses),
			do: (*stage).journal},
		{form: form("expect log containing TEXT"), clauses: with(waits), do: (*stage).logged},
		{form: form("expect exit COUNT"), clauses: with(waits), do: (*stage).exited},
		{form: form("expect LABEL admitted"), clauses: with("because WORD", waits), do: (*stage).decided},
		{form: form("expect LABEL ignored"), clauses: with("because WORD", waits), do: (*stage).decided},
		{form: form("expect LABEL refused"), clauses: with("because WORD", waits), do: (*stage).decided},
		{form: form("expect LABEL discarded"), clauses: with("because WORD", waits), do: (*stage).decided},
	}
}

// idle waits until the bot has decided about every message, every turn has ended and every command was answered.
func (s *stage) idle(ctx context.Context, st *step) error {
	open := func() []string {
		out := s.turns.open()
		for _, i := range s.sent {
			if state := i.State(); state.Answered.IsZero() {
				out = append(out, fmt.Sprintf("%s of %s is not answered", state.Name, s.names.of(state.User)))
			}
		}
		return out
	}
	return s.await(ctx, st, func() (bool, error) { return s.boot == nil || len(open()) == 0, nil },
		func() string { return strings.Join(open(), "; ") })
}

// statuses are how a turn can end.
var statuses = []string{
	string(store.TurnCompleted), string(store.TurnEmptyResponse), string(store.TurnError), string(store.TurnTimeout),
	string(store.TurnStoppedByUser), string(store.TurnFollowUpInterrupt), string(store.TurnDenied),
	string(store.TurnMaxIterations), string(store.TurnInterrupted), string(store.TurnSkipped),
}

func checkStatus(_ *cast, s *step) error {
	if w := s.head.text("WORD"); !slices.Contains(statuses, w) {
		return fmt.Errorf("no turn ends as %s%s; statuses are: %s", w, closest(w, statuses), strings.Join(statuses, ", "))
	}
	return nil
}

// event waits for the next event of the bot's turns that no step has seen yet and that suits. A suitable event that is
// not as it should be fails at once.
func (s *stage) event(ctx context.Context, st *step, suits func(turn.Event) bool, wrong func(turn.Event) string, none string) error {
	return s.await(ctx, st, func() (bool, error) {
		for i, e := range s.turns.all() {
			if s.used[i] || !suits(e.Event) {
				continue
			}
			if w := wrong(e.Event); w != "" {
				return false, &unmet{saw: w}
			}
			s.used[i] = true
			return true, nil
		}
		return false, nil
	}, func() string { return none })
}

func nothingWrong(turn.Event) string { return "" }

func (s *stage) turnStarted(ctx context.Context, st *step) error {
	channel := string(s.channel(st.place))
	return s.event(ctx, st, func(e turn.Event) bool { return e.Kind == turn.EventStarted && e.ChannelID == channel },
		nothingWrong, "no turn has started")
}

func (s *stage) turnEnded(ctx context.Context, st *step) error {
	channel, want := string(s.channel(st.place)), st.head.text("WORD")
	return s.event(ctx, st, func(e turn.Event) bool { return e.Kind == turn.EventDone && e.ChannelID == channel },
		func(e turn.Event) string {
			if string(e.Status) == want {
				return ""
			}
			return "the turn ended as " + string(e.Status)
		}, "no turn has ended")
}

func (s *stage) toolRunning(ctx context.Context, st *step) error {
	name := st.head.text("WORD")
	return s.event(ctx, st, func(e turn.Event) bool {
		return e.Kind == turn.EventToolCall && e.Call.Tool == name && !e.Call.Card
	}, nothingWrong, "no call of "+name)
}

func toolEnded(want store.CallStatus) func(*stage, context.Context, *step) error {
	return func(s *stage, ctx context.Context, st *step) error {
		name := st.head.text("WORD")
		because, reasoned := st.clause("because WORD")
		return s.event(ctx, st, func(e turn.Event) bool { return e.Kind == turn.EventToolResult && e.Call.Tool == name },
			func(e turn.Event) string {
				c, ok := st.clause("containing TEXT")
				if e.Call.Status == want && (!reasoned || because.text("WORD") == string(e.Call.Reason)) && (!ok || says(c, e.Call.Result)) {
					return ""
				}
				return fmt.Sprintf("%s ended as %s (%s): %s", name, e.Call.Status, e.Call.Reason, short(e.Call.Result))
			}, "no call of "+name+" has ended")
	}
}

// decided waits for what the bot decided about a message.
func (s *stage) decided(ctx context.Context, st *step) error {
	kind := map[string]string{"admitted": "admit", "ignored": "ignore", "refused": "refuse", "discarded": "discard"}[st.verb.form[2]]
	because, reasoned := st.clause("because WORD")
	return s.at(st, func(id discordsim.ID) error {
		seen := "no decision about it"
		return s.event(ctx, st, func(e turn.Event) bool {
			if e.Kind != turn.EventAdmission || e.MessageID != string(id) {
				return false
			}
			seen = e.Text
			disposition, reason, _ := strings.Cut(e.Text, ":")
			return disposition == kind && (!reasoned || reason == because.text("WORD"))
		}, nothingWrong, seen)
	})
}

// modelAsked looks for a request from the one on that was spoken of last, so that several steps may speak of the same.
func (s *stage) modelAsked(ctx context.Context, st *step) error {
	suits := func(r *asked) bool {
		return !slices.ContainsFunc(st.clauses, func(c bound) bool { return !says(c, r.text) || !r.has(c) })
	}
	return s.await(ctx, st, func() (bool, error) {
		for _, r := range s.model.requests() {
			if r.number >= max(s.asked, 1) && suits(r) {
				s.asked = r.number
				return true, nil
			}
		}
		return false, nil
	}, func() string {
		var out []string
		for _, r := range s.model.requests() {
			if r.number >= s.asked {
				out = append(out, fmt.Sprintf("request %d, tools %v:\n%s", r.number, r.tools, r.text))
			}
		}
		return strings.Join(append(out, "no further request"), "\n")
	})
}

// has reports whether a request is as a clause wants it, apart from its text.
func (r *asked) has(c bound) bool {
	switch c.form {
	case "offering WORD":
		return slices.Contains(r.tools, c.text("WORD"))
	case "not offering WORD":
		return !slices.Contains(r.tools, c.text("WORD"))
	case "with result TEXT":
		return slices.ContainsFunc(r.results, func(text string) bool { return strings.Contains(text, c.text("TEXT")) })
	}
	return true
}

func (s *stage) askedTimes(ctx context.Context, st *step) error {
	if err := s.idle(ctx, st); err != nil {
		return err
	}
	if got := len(s.model.requests()); got != st.head.number("COUNT") {
		return &unmet{saw: fmt.Sprintf("the model was asked %d times", got)}
	}
	return nil
}

// requests counts what the bot sent to Discord on one route since the scene began, once it has nothing more to do.
func (s *stage) requests(ctx context.Context, st *step) error {
	if err := s.idle(ctx, st); err != nil {
		return err
	}
	want, least, most := st.head.number("COUNT"), true, true
	switch {
	case strings.HasPrefix(st.head.form, "expect at most"):
		least = false
	case strings.HasPrefix(st.head.form, "expect at least"):
		most = false
	}
	got := 0
	for _, r := range s.world.Requests(route(st.head.text("ROUTE"))) {
		if c, ok := st.clause("containing TEXT"); ok && !says(c, string(r.Body)) {
			continue
		}
		if c, ok := st.clause("answered STATUS"); ok && r.Status != c.number("STATUS") {
			continue
		}
		got++
	}
	if least && got < want || most && got > want {
		return &unmet{saw: fmt.Sprintf("%d such requests", got)}
	}
	return nil
}

// typing waits until the bot types, after the last message of a person in the place.
func (s *stage) typing(ctx context.Context, st *step) error {
	channel, bot := s.channel(st.place), s.world.Bot()
	return s.await(ctx, st, func() (typing bool, _ error) {
		s.world.Look(func(v discordsim.View) {
			for _, e := range v.Entries(0) {
				switch e := e.Event.(type) {
				case discordsim.TypingStarted:
					typing = typing || e.Channel == channel && e.User == bot
				case discordsim.MessageCreated:
					typing = typing && (e.Message.Channel != channel || e.Message.Author == bot)
				default:
				}
			}
		})
		return typing, nil
	}, func() string { return "the bot does not type" })
}

// connected waits for a session that begins or is taken up again after the gateway's last fault.
func (s *stage) connected(ctx context.Context, st *step) error {
	return s.await(ctx, st, func() (ok bool, _ error) {
		s.world.Look(func(v discordsim.View) {
			for _, e := range v.Entries(s.gateway) {
				switch e.Event.(type) {
				case discordsim.GatewayIdentified, discordsim.GatewayResumed:
					ok = true
				default:
				}
			}
		})
		return ok, nil
	}, func() string { return "no session since the gateway's last fault" })
}

// memory looks into the store for a fact that may be recalled in the step's place.
func (s *stage) memory(ctx context.Context, st *step) error {
	q := store.MemoryQuery{GuildID: string(s.guild), MemberID: string(s.people[st.head.text("PERSON")].ID)}
	if strings.HasPrefix(st.place, "@") {
		q.GuildID, q.Private = "", true
	}
	want := st.verb.form[1] != "no"
	return s.inStore(ctx, func(ctx context.Context, v StoreView) error {
		facts, err := v.FindMemories(ctx, q)
		if err != nil {
			return err
		}
		var texts []string
		for _, f := range facts {
			texts = append(texts, f.Content)
		}
		has := slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, st.head.text("TEXT")) })
		if has != want {
			return &unmet{saw: fmt.Sprintf("the memories %q", texts)}
		}
		return nil
	})
}

// journal looks into the store for calls of a tool in the place's finished turns.
func (s *stage) journal(ctx context.Context, st *step) error {
	name := st.head.text("WORD")
	return s.inStore(ctx, func(ctx context.Context, v StoreView) error {
		turns, err := v.RecentTurns(ctx, string(s.channel(st.place)), 100)
		if err != nil {
			return err
		}
		got, all := 0, []string{}
		for _, t := range turns {
			calls, err := v.Calls(ctx, t.ID)
			if err != nil {
				return err
			}
			for _, c := range calls {
				all = append(all, fmt.Sprintf("%s %s %s", c.Tool, c.Status, c.Reason))
				if c.Tool == name && inState(st, c) {
					got++
				}
			}
		}
		n, exact := st.clause("COUNT times")
		none := st.verb.form[1] == "no"
		if none && got > 0 || !none && got == 0 || exact && got != n.number("COUNT") {
			return &unmet{saw: fmt.Sprintf("%d such calls among %q", got, all)}
		}
		return nil
	})
}

// inState reports whether a journal row is as the step's clauses want it.
func inState(st *step, c store.Call) bool {
	for _, b := range st.clauses {
		ok := true
		switch b.form {
		case "done":
			ok = c.Status == store.CallDone
		case "failed":
			ok = c.Status == store.CallError
		case "running":
			ok = c.Status == store.CallRunning
		case "because WORD":
			ok = string(c.Reason) == b.text("WORD")
		}
		if !ok {
			return false
		}
	}
	return true
}

func (s *stage) logged(ctx context.Context, st *step) error {
	return s.await(ctx, st, func() (bool, error) { return s.log.contains(st.head.text("TEXT")), nil },
		func() string { return "no such line in the bot's log" })
}

func (s *stage) exited(ctx context.Context, st *step) error {
	if s.boot == nil {
		return errors.New("no bot has run")
	}
	err := s.await(ctx, st, func() (bool, error) { return s.boot.ended(), nil }, func() string { return "the bot runs" })
	if err != nil {
		return err
	}
	s.boot.asked = true // an end that was expected is no accident
	if got := s.boot.bot.Exit(); got != st.head.number("COUNT") {
		return &unmet{saw: fmt.Sprintf("exit code %d", got)}
	}
	return nil
}
