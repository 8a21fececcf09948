package scene

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// modelVerbs are what the model answers.
func modelVerbs() []verb {
	return []verb{
		{form: form("model goes on"), clauses: with("within TIME"), do: func(s *stage, ctx context.Context, st *step) error {
			return s.await(ctx, st, func() (bool, error) { return s.model.goOn(), nil },
				func() string { return "no answer of the model that pauses" })
		}},
		{form: form("model"), needsClause: true, mark: needsScriptedModel, do: (*stage).answer, clauses: with("asked TEXT", "thinks TEXT", "says nothing", "says TEXT",
			"calls WORD ARGS", "pauses", "slowly", "ends by length", "ends by filter", "ends without a reason", "is cut off",
			"fails with STATUS TEXT", "fails with STATUS", "retry after TIME", "sends raw TEXT")},
	}
}

// answer puts one answer of the model in line. @Name in it becomes a mention, as a model might write one.
func (s *stage) answer(_ context.Context, st *step) error {
	first, _, _ := strings.Cut(st.source, "\n")
	a := &answer{line: st.line, source: strings.TrimPrefix(first, "model ")}
	for _, c := range st.clauses {
		if c.form == "asked TEXT" {
			a.when = c.text("TEXT")
			continue
		}
		if t, ok := c.slot["TEXT"]; ok && c.form == "says TEXT" {
			c.slot = map[string]token{"TEXT": {textToken, s.names.written(t.text)}}
		}
		a.acts = append(a.acts, c)
	}
	s.model.say(a)
	return nil
}

// botVerbs are what becomes of the bot's process.
func botVerbs() []verb {
	return []verb{
		{
			form: form("bot starts"), mark: startsLater,
			do: func(s *stage, ctx context.Context, _ *step) error { return s.start(ctx) },
		},
		{form: form("bot stops"), do: func(s *stage, ctx context.Context, _ *step) error { return s.end(ctx) }},
		{form: form("bot begins to stop"), do: func(s *stage, ctx context.Context, _ *step) error { return s.begin(ctx) }},
		{form: form("bot restarts"), do: func(s *stage, ctx context.Context, _ *step) error {
			if err := s.end(ctx); err != nil {
				return err
			}
			return s.start(ctx)
		}},
		{form: form("bot crashes"), mark: needsOwnProcess, do: (*stage).crash},
	}
}

// startsLater: a scene whose first word about the bot is that it starts has begun without it.
func startsLater(s *Scene) error {
	ended := slices.ContainsFunc(s.steps, func(st *step) bool { return st.verb.form[0] == "bot" })
	s.startsItself = s.startsItself && ended
	return nil
}

func needsOwnProcess(s *Scene) error {
	if !s.ownProcess {
		return errors.New("only a bot in its own process can be killed: put \"own process\" at the top of the scene")
	}
	return nil
}

func needsScriptedModel(s *Scene) error {
	if s.rehearsal {
		return errors.New("the rehearsal model speaks for itself; take \"model rehearsal\" out to say what the model answers")
	}
	return nil
}
