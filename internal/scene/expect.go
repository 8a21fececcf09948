package scene

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parleybot/parley/store"
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
		{
			form: form("expect journal WORD"), clauses: with("done", "failed", "running", "because WORD", "COUNT times", placeClauses),
			do: (*stage).journal,
		},
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
