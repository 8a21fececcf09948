package scene

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleybot/parley/internal/discordsim"
)

// faultVerbs are what goes wrong at Discord.
func faultVerbs() []verb {
	when := []string{"after COUNT", "COUNT times"}
	return []verb{
		{form: form("discord answers ROUTE with STATUS"), clauses: with("retry after TIME", "globally", when), do: fault(discordsim.FaultStatus)},
		{form: form("discord resets ROUTE"), clauses: with(when), do: fault(discordsim.FaultReset)},
		{form: form("discord loses the answer of ROUTE"), clauses: with(when), do: fault(discordsim.FaultAnswerLost)},
		{form: form("discord delays ROUTE by TIME"), clauses: with(when), do: fault(discordsim.FaultDelay)},
		{form: form("discord limits rates"), do: func(s *stage, _ context.Context, _ *step) error {
			return s.world.EnableRateLimits(discordsim.RateLimits{})
		}},
		{form: form("gateway drops"), do: onGateway(func(w *discordsim.World, _ *step) int { return w.Drop() })},
		{form: form("gateway goes silent"), do: onGateway(func(w *discordsim.World, _ *step) int { return w.Silence() })},
		{form: form("gateway asks to reconnect"), do: onGateway(func(w *discordsim.World, _ *step) int { return w.Reconnect() })},
		{form: form("gateway invalidates the session"), clauses: with("for good"), do: onGateway(func(w *discordsim.World, st *step) int {
			return w.InvalidSession(!st.has("for good"))
		})},
		{form: form("gateway closes with STATUS"), do: onGateway(func(w *discordsim.World, st *step) int {
			return w.CloseGateway(st.head.number("STATUS"), "the scene says so")
		})},
		{form: form("gateway delivers LABEL again"), do: (*stage).redeliver},
	}
}

// fault arms a fault for the next request of a route, or as the clauses say.
func fault(kind discordsim.FaultKind) func(*stage, context.Context, *step) error {
	return func(s *stage, _ context.Context, st *step) error {
		f := discordsim.Fault{Kind: kind, Route: route(st.head.text("ROUTE")), Status: st.head.number("STATUS"), Delay: st.head.duration("TIME")}
		f.Global = st.has("globally")
		for _, c := range st.clauses {
			switch c.form {
			case "retry after TIME":
				f.RetryAfter = c.duration("TIME")
			case "after COUNT":
				f.After = c.number("COUNT")
			case "COUNT times":
				f.Times = c.number("COUNT")
			}
		}
		return s.world.Inject(f)
	}
}

func onGateway(do func(*discordsim.World, *step) int) func(*stage, context.Context, *step) error {
	return func(s *stage, _ context.Context, st *step) error {
		s.gateway = s.seq() // what is expected of the gateway comes after this
		if do(s.world, st) == 0 {
			return errors.New("the bot has no connection to the gateway")
		}
		return nil
	}
}

func (s *stage) seq() (n int) {
	s.world.Look(func(v discordsim.View) { n = v.Seq() })
	return n
}

func (s *stage) redeliver(_ context.Context, st *step) error {
	return s.at(st, func(id discordsim.ID) error {
		if s.up() {
			s.turns.handed(id)
		}
		if !s.world.Redeliver(id) {
			return fmt.Errorf("there is no message %s", st.head.text("LABEL"))
		}
		return nil
	})
}
