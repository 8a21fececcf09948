package scene

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
)

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
