package scene

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
)

// peopleVerbs are what people do.
func peopleVerbs() []verb {
	return []verb{
		{form: form("PERSON says TEXT"), clauses: with("as NEWLABEL", "with file NAME holding TEXT", placeClauses), do: (*stage).say},
		{form: form("PERSON replies to LABEL TEXT"), clauses: with("as NEWLABEL", "without a ping"), do: (*stage).reply},
		{form: form("PERSON edits LABEL to TEXT"), do: (*stage).edit},
		{form: form("PERSON deletes LABEL"), do: (*stage).delete},
		{form: form("PERSON reacts to LABEL with WORD"), do: (*stage).react},
		{form: form("PERSON types"), clauses: with(placeClauses), do: (*stage).typeIn},
		{
			form: form("PERSON opens thread CHANNEL"), clauses: with("from LABEL", placeClauses), newChannel: true,
			check: learnThread, do: (*stage).openThread,
		},
		{form: form("PERSON uses COMMAND"), clauses: with(placeClauses, "within TIME", "OPTION"), do: (*stage).use},
		{form: form("PERSON clicks WORD"), clauses: with(placeClauses, "within TIME"), do: (*stage).click},
		{form: form("PERSON submits TEXT"), clauses: with("within TIME"), do: (*stage).submit},
	}
}

func (s *stage) person(st *step) *discordsim.Person { return s.people[st.head.text("PERSON")] }

func (s *stage) say(_ context.Context, st *step) error {
	d := discordsim.Draft{Text: s.names.written(st.head.text("TEXT"))}
	for _, c := range st.clauses {
		if c.form == "with file NAME holding TEXT" {
			d.Files = append(d.Files, discordsim.File{Name: c.text("NAME"), Data: []byte(c.text("TEXT"))})
		}
	}
	return s.send(st, s.channel(st.place), d)
}

func (s *stage) reply(_ context.Context, st *step) error {
	to, err := s.message(st.head.text("LABEL"))
	if err != nil {
		return err
	}
	m, _ := s.world.Message(to)
	return s.send(st, m.Channel, discordsim.Draft{
		Text: s.names.written(st.head.text("TEXT")), ReplyTo: to, Silent: st.has("without a ping"),
	})
}

// send posts a message and labels it. A bot that is up owes a decision about it.
func (s *stage) send(st *step, channel discordsim.ID, d discordsim.Draft) error {
	id, err := s.person(st).Send(channel, d)
	if err != nil {
		return err
	}
	if s.up() {
		s.turns.handed(id)
	}
	if b, ok := st.clause("as NEWLABEL"); ok {
		s.labels[b.text("NEWLABEL")] = id
	}
	return nil
}

func (s *stage) edit(_ context.Context, st *step) error {
	return s.at(st, func(id discordsim.ID) error { return s.person(st).Edit(id, s.names.written(st.head.text("TEXT"))) })
}

func (s *stage) delete(_ context.Context, st *step) error {
	return s.at(st, func(id discordsim.ID) error { return s.person(st).Delete(id) })
}

func (s *stage) react(_ context.Context, st *step) error {
	return s.at(st, func(id discordsim.ID) error { return s.person(st).React(id, st.head.text("WORD")) })
}

// at does something to the labelled message of a step.
func (s *stage) at(st *step, do func(discordsim.ID) error) error {
	id, err := s.message(st.head.text("LABEL"))
	if err != nil {
		return err
	}
	return do(id)
}

func (s *stage) typeIn(_ context.Context, st *step) error {
	return s.person(st).Type(s.channel(st.place))
}

func learnThread(c *cast, s *step) error {
	name := s.head.text("CHANNEL")
	if c.channels[name] {
		return fmt.Errorf("there is a channel %s already", name)
	}
	c.channels[name] = true
	return nil
}

func (s *stage) openThread(_ context.Context, st *step) error {
	var from discordsim.ID
	if b, ok := st.clause("from LABEL"); ok {
		var err error
		if from, err = s.message(b.text("LABEL")); err != nil {
			return err
		}
	}
	name := st.head.text("CHANNEL")
	id, err := s.person(st).Thread(s.channel(st.place), strings.TrimPrefix(name, "#"), from)
	if err != nil {
		return err
	}
	s.channels[name] = id
	s.names.channel(name, id)
	return nil
}

// use sends a slash command. The bot registers its commands some time after it started, so this waits for them.
func (s *stage) use(ctx context.Context, st *step) error {
	name := strings.TrimPrefix(st.head.text("COMMAND"), "/")
	var options []discordsim.Option
	for _, c := range st.clauses {
		if key, value, ok := strings.Cut(c.text("OPTION"), "="); ok {
			options = append(options, discordsim.Option{Name: key, Value: s.optionValue(value)})
		}
	}
	channel := s.channel(st.place)
	var known []string
	err := s.await(ctx, st, func() (bool, error) {
		s.world.Look(func(v discordsim.View) { known = slices.Concat(v.Commands(s.guild), v.Commands("")) })
		command, _, _ := strings.Cut(name, " ")
		return slices.Contains(known, command), nil
	}, func() string { return fmt.Sprintf("the bot has registered the commands %q", known) })
	if err != nil {
		return err
	}
	i, err := s.person(st).Slash(channel, name, options...)
	return s.sentBy(st, i, err)
}

// sentBy remembers what a person sent to the bot.
func (s *stage) sentBy(st *step, i *discordsim.Interaction, err error) error {
	if err != nil {
		return err
	}
	s.clicked[st.head.text("PERSON")] = i
	if s.up() {
		s.sent = append(s.sent, i)
	}
	return nil
}

// optionValue takes @Name for a person, true and false, whole numbers, and anything else as text.
func (s *stage) optionValue(text string) any {
	if p := s.people[strings.TrimPrefix(text, "@")]; p != nil && strings.HasPrefix(text, "@") {
		return p.ID
	}
	if id, ok := s.channels[text]; ok {
		return id
	}
	if b, err := strconv.ParseBool(text); err == nil && len(text) > 1 {
		return b
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return s.names.written(text) // the client writes mentions in an option as it does in a message
}

// click presses the newest button with a label, as soon as there is one that can be pressed.
func (s *stage) click(ctx context.Context, st *step) error {
	p, label, channel := s.person(st), st.head.text("WORD"), s.channel(st.place)
	var target discordsim.ID
	var customID string
	err := s.await(ctx, st, func() (bool, error) {
		for _, m := range slices.Backward(p.Sees(channel)) {
			if b, ok := buttonOf(m.Components, label); ok && !b.Disabled {
				target, customID = m.ID, b.CustomID
				return true, nil
			}
		}
		return false, nil
	}, func() string { return "no button that says " + strconv.Quote(label) })
	if err != nil {
		return err
	}
	i, err := p.Click(target, customID)
	return s.sentBy(st, i, err)
}

// submit fills in the first field of the form that the person's last click opened.
func (s *stage) submit(ctx context.Context, st *step) error {
	i := s.clicked[st.head.text("PERSON")]
	if i == nil {
		return errors.New("nothing was clicked that could open a form")
	}
	err := s.await(ctx, st, func() (bool, error) { return i.State().Modal != nil, nil },
		func() string { return "no form was opened" })
	if err != nil {
		return err
	}
	form := i.State().Modal
	if len(form.Inputs) == 0 {
		return fmt.Errorf("the form %q has no field", form.Title)
	}
	next, err := s.person(st).Submit(i, map[string]string{form.Inputs[0].CustomID: st.head.text("TEXT")})
	return s.sentBy(st, next, err)
}

// button is a button of a message as people see it.
type button struct {
	Type       int      `json:"type"`
	Label      string   `json:"label"`
	CustomID   string   `json:"custom_id"`
	Disabled   bool     `json:"disabled"`
	Components []button `json:"components"`
	Accessory  *button  `json:"accessory"`
}

// buttonOf finds a button by its label anywhere in a message's components.
func buttonOf(components json.RawMessage, label string) (button, bool) {
	var list []button
	if len(components) == 0 || json.Unmarshal(components, &list) != nil {
		return button{}, false
	}
	for len(list) > 0 {
		b := list[0]
		list = append(list[1:], b.Components...)
		if b.Accessory != nil {
			list = append(list, *b.Accessory)
		}
		if b.Label == label && b.CustomID != "" {
			return b, true
		}
	}
	return button{}, false
}
