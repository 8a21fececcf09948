package playground

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// answerWithin is how long a bot may take for its first answer before Discord's client says that it did not respond.
const answerWithin = 3 * time.Second

// answered is what became of a command, click or modal at first. What the bot shows comes with the stream.
type answered struct {
	Interaction discordsim.ID `json:"interaction"`
	// Silent: the bot did not respond in time.
	Silent bool `json:"silent,omitempty"`
	// Modal is the form that it opened.
	Modal *modal `json:"modal,omitempty"`
	// Choices are what it suggested.
	Choices []choice `json:"choices,omitempty"`
}

type modal struct {
	Title  string       `json:"title"`
	Inputs []modalInput `json:"inputs"`
}

type modalInput struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Placeholder string `json:"placeholder,omitempty"`
	Value       string `json:"value,omitempty"`
	Paragraph   bool   `json:"paragraph,omitempty"`
	Required    bool   `json:"required,omitempty"`
	MinLength   int    `json:"min_length,omitempty"`
	MaxLength   int    `json:"max_length,omitempty"`
}

type choice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// modalsKept bounds the forms that are open at once.
const modalsKept = 64

// modals remembers which interactions opened a form. The zero value is ready. Safe for concurrent use.
type modals struct {
	mu   sync.Mutex
	open []*discordsim.Interaction
}

func (m *modals) put(i *discordsim.Interaction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.open) == modalsKept {
		m.open = m.open[1:]
	}
	m.open = append(m.open, i)
}

func (m *modals) find(id discordsim.ID) *discordsim.Interaction {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.open {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// slash runs a command.
func slash(ctx context.Context, p *Playground, who resident, r request) (any, error) {
	options, err := p.options(who, r)
	if err != nil {
		return nil, err
	}
	i, err := who.Slash(r.Channel, r.Name, options...)
	return p.await(ctx, i, err)
}

// complete asks for suggestions.
func complete(ctx context.Context, p *Playground, who resident, r request) (any, error) {
	options, err := p.options(who, r)
	if err != nil {
		return nil, err
	}
	i, err := who.Autocomplete(r.Channel, r.Name, r.Focused, options...)
	return p.await(ctx, i, err)
}

func click(ctx context.Context, p *Playground, who resident, r request) (any, error) {
	i, err := who.Click(r.Message, r.CustomID)
	return p.await(ctx, i, err)
}

func choose(ctx context.Context, p *Playground, who resident, r request) (any, error) {
	i, err := who.Select(r.Message, r.CustomID, r.Chosen...)
	return p.await(ctx, i, err)
}

// submit fills a form in.
func submit(ctx context.Context, p *Playground, who resident, r request) (any, error) {
	open := p.modal.find(r.Interaction)
	if open == nil {
		return nil, errors.New("that form is no longer open")
	}
	i, err := who.Submit(open, r.Values)
	return p.await(ctx, i, err)
}

// await waits for the bot's first answer, no longer than Discord does.
func (p *Playground) await(ctx context.Context, i *discordsim.Interaction, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	out := answered{Interaction: i.ID}
	s, err := i.Wait(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out.Silent = true
		return out, nil
	case err != nil:
		return nil, err
	}
	if s.Modal != nil {
		p.modal.put(i)
		out.Modal = &modal{Title: s.Modal.Title, Inputs: []modalInput{}}
		for _, in := range s.Modal.Inputs {
			out.Modal.Inputs = append(out.Modal.Inputs, modalInput{
				ID: in.CustomID, Label: in.Label, Description: in.Description, Placeholder: in.Placeholder, Value: in.Value,
				Paragraph: in.Paragraph, Required: in.Required, MinLength: in.MinLength, MaxLength: in.MaxLength,
			})
		}
	}
	for _, c := range s.Choices {
		out.Choices = append(out.Choices, choice{Name: c.Name, Value: c.Value})
	}
	return out, nil
}

// Discord's numbers for the option types whose values JSON cannot tell apart.
const (
	optionInteger    = 4
	optionUser       = 6
	optionChannel    = 7
	optionRole       = 8
	optionAny        = 9
	optionAttachment = 11
)

// options gives the values that a page sent the types that the command declares.
func (p *Playground) options(who resident, r request) ([]discordsim.Option, error) {
	var declared []discordsim.OptionInfo
	p.town.world().Look(func(v discordsim.View) {
		for _, c := range v.CommandsFor(r.Channel, who.ID) {
			if c.Name == r.Name {
				declared = c.Options
			}
		}
	})
	var out []discordsim.Option
	for _, d := range declared { // In the declared order; what is not declared is refused below.
		value, ok := r.Options[d.Name]
		if !ok {
			continue
		}
		v, err := typed(d.Type, value)
		if err != nil {
			return nil, fmt.Errorf("option %q: %w", d.Name, err)
		}
		out = append(out, discordsim.Option{Name: d.Name, Value: v})
	}
	if len(out) != len(r.Options) {
		return nil, fmt.Errorf("/%s has no such options: %w", r.Name, errBadRequest)
	}
	return out, nil
}

func typed(kind int, value any) (any, error) {
	switch kind {
	case optionInteger:
		n, ok := value.(float64)
		if !ok || n != float64(int64(n)) {
			return nil, errors.New("it takes a whole number")
		}
		return int64(n), nil
	case optionUser, optionChannel, optionRole, optionAny:
		id, ok := value.(string)
		if !ok {
			return nil, errBadRequest
		}
		return discordsim.ID(id), nil
	case optionAttachment:
		m, _ := value.(map[string]any)
		name, _ := m["name"].(string)
		text, _ := m["data"].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || name == "" {
			return nil, errBadRequest
		}
		return discordsim.File{Name: name, Data: data}, nil
	}
	return value, nil
}

// command is a slash command as pages list it.
type command struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Options     []option `json:"options,omitempty"`
}

type option struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Type         int      `json:"type"`
	Required     bool     `json:"required,omitempty"`
	Autocomplete bool     `json:"autocomplete,omitempty"`
	Choices      []choice `json:"choices,omitempty"`
	MinValue     *float64 `json:"min_value,omitempty"`
	MaxValue     *float64 `json:"max_value,omitempty"`
	MinLength    *int     `json:"min_length,omitempty"`
	MaxLength    *int     `json:"max_length,omitempty"`
	// Kinds are the kinds of channel that it takes; empty for all.
	Kinds []string `json:"kinds,omitempty"`
}

// serveCommands lists what a person can run in a channel.
func (p *Playground) serveCommands(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	me := p.town.resident(discordsim.ID(q.Get("person")))
	out := []command{}
	p.town.world().Look(func(v discordsim.View) {
		for _, c := range v.CommandsFor(discordsim.ID(q.Get("channel")), me.ID) {
			cmd := command{Name: c.Name, Description: c.Description}
			for _, o := range c.Options {
				cmd.Options = append(cmd.Options, optionOf(o))
			}
			out = append(out, cmd)
		}
	})
	reply(w, http.StatusOK, map[string]any{"commands": out})
}

func optionOf(o discordsim.OptionInfo) option {
	out := option{
		Name: o.Name, Description: o.Description, Type: o.Type, Required: o.Required, Autocomplete: o.Autocomplete,
		MinValue: o.MinValue, MaxValue: o.MaxValue, MinLength: o.MinLength, MaxLength: o.MaxLength,
	}
	for _, c := range o.Choices {
		out.Choices = append(out.Choices, choice{Name: c.Name, Value: c.Value})
	}
	for _, k := range o.ChannelTypes {
		out.Kinds = append(out.Kinds, channelKind(k))
	}
	return out
}
