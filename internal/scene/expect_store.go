package scene

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleybot/parley/store"
)

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
