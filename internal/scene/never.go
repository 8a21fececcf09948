package scene

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// neverVerbs are what must not be at any time. They may stand anywhere in a scene and are checked at its end, when the
// bot has stopped and can do nothing more: every version of every message, and every request, counts.
func neverVerbs() []verb {
	return []verb{
		{form: form("never see"), needsClause: true, clauses: with(contentClauses, placeClauses), check: checkContent, do: (*stage).never},
		{form: form("never pings anybody"), do: (*stage).never},
		{form: form("never pings everyone"), do: (*stage).never},
		{form: form("never pings PERSON"), do: (*stage).never},
		{form: form("never types after the end"), do: (*stage).never},
		{form: form("never sends unsafe mentions"), do: (*stage).never},
		{form: form("never model asked containing TEXT"), do: (*stage).never},
	}
}

// never notes the step; broken looks when the scene is over.
func (s *stage) never(_ context.Context, st *step) error {
	s.nevers = append(s.nevers, st)
	return nil
}

// broken checks one never.
func (s *stage) broken(st *step) error {
	var saw string
	s.world.Look(func(v discordsim.View) {
		switch st.verb.form.String() {
		case "never see":
			saw = s.everSeen(st, v)
		case "never pings anybody", "never pings everyone", "never pings PERSON":
			saw = s.everPinged(st, v)
		case "never types after the end":
			saw = s.typedLate(v)
		case "never sends unsafe mentions":
			saw = unsafe(v)
		case "never model asked containing TEXT":
			for _, r := range s.model.requests() {
				if strings.Contains(r.text, st.head.text("TEXT")) {
					saw = "request " + fmt.Sprint(r.number) + ":\n" + r.text
				}
			}
		}
	})
	if saw != "" {
		return &unmet{saw: saw}
	}
	return nil
}

// everSeen looks at every version of every message of the bot, private ones included.
func (s *stage) everSeen(st *step, v discordsim.View) string {
	places := s.channels
	if st.has("in CHANNEL") || st.has("in DM") || st.has("in DM with PERSON") {
		places = map[string]discordsim.ID{st.place: s.channels[st.place]}
	}
	for _, channel := range places {
		for _, m := range v.AllMessages(channel) {
			versions := []string{m.Content}
			for _, r := range m.Earlier {
				versions = append(versions, r.Content)
			}
			for _, text := range versions {
				text = s.names.read(text)
				if m.Author == s.world.Bot() && !slices.ContainsFunc(st.clauses, func(c bound) bool { return !says(c, text) }) {
					return short(text)
				}
			}
		}
	}
	return ""
}

func (s *stage) everPinged(st *step, v discordsim.View) string {
	for _, e := range v.Entries(0) {
		m, ok := e.Event.(discordsim.MessageCreated)
		if !ok || m.Message.Author != s.world.Bot() {
			continue
		}
		p := m.Message.Pings
		bad := false
		switch st.verb.form.String() {
		case "never pings anybody":
			bad = !p.None()
		case "never pings everyone":
			bad = p.Everyone || p.Here || len(p.Roles) > 0
		default:
			bad = slices.Contains(p.Users, s.people[st.head.text("PERSON")].ID)
		}
		if bad {
			return short(s.names.read(m.Message.Content))
		}
	}
	return ""
}

// underWay is how long after the end of a turn a typing request may still arrive that was sent before it: nobody can call
// back what is on its way.
const underWay = 250 * time.Millisecond

// typedLate looks for a typing indicator that came when no turn ran in its channel any more.
func (s *stage) typedLate(v discordsim.View) string {
	running := map[string]int{}
	ended := map[string]time.Time{}
	events := s.turns.all()
	for _, e := range v.Entries(0) {
		for len(events) > 0 && events[0].seq < e.Seq {
			switch told := events[0]; told.Kind {
			case turn.EventStarted:
				running[told.ChannelID]++
			case turn.EventDone:
				running[told.ChannelID]--
				ended[told.ChannelID] = told.At
			default:
			}
			events = events[1:]
		}
		t, ok := e.Event.(discordsim.TypingStarted)
		if !ok || t.User != s.world.Bot() || running[string(t.Channel)] > 0 {
			continue
		}
		if end := ended[string(t.Channel)]; !end.IsZero() && e.At.Sub(end) > underWay {
			return fmt.Sprintf("typing in %s, %s after the turn had ended", s.names.of(t.Channel), e.At.Sub(end).Round(time.Millisecond))
		}
	}
	return ""
}

// unsafe looks for a message that left it to Discord whom to ping.
func unsafe(v discordsim.View) string {
	for _, r := range v.Requests("") {
		if r.Method != http.MethodPost && r.Method != http.MethodPatch {
			continue
		}
		if err := safeMentions(r.Body); err != nil {
			return fmt.Sprintf("%s: %v: %s", r.Route, err, short(string(r.Body)))
		}
	}
	return ""
}

// safeMentions wants empty lists in every message a request carries, itself or as an interaction's data.
func safeMentions(body []byte) error {
	var m struct {
		Content *string `json:"content"`
		Allowed *struct {
			Parse, Users, Roles *[]string
		} `json:"allowed_mentions"`
		Data json.RawMessage `json:"data"`
	}
	if len(body) == 0 || json.Unmarshal(body, &m) != nil {
		return nil //nolint:nilerr // a form with files says nothing here
	}
	if len(m.Data) > 0 {
		return safeMentions(m.Data)
	}
	switch {
	case m.Content == nil:
		return nil
	case m.Allowed == nil || m.Allowed.Parse == nil:
		return errors.New("allowed_mentions does not say parse: []")
	case len(*m.Allowed.Parse) > 0 || m.Allowed.Users != nil && len(*m.Allowed.Users) > 0 || m.Allowed.Roles != nil && len(*m.Allowed.Roles) > 0:
		return errors.New("allowed_mentions allows some")
	}
	return nil
}
