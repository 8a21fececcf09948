package scene

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

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
