package discordsim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Interaction is a command, click, modal or autocomplete that a person sent.
type Interaction struct {
	ID     ID
	person *Person
}

// maxInput is how many characters a text input of a modal takes.
const maxInput = 4000

// ErrNoCommand is why a slash command cannot be sent: the bot has not registered it for that place, or not for that
// person.
var ErrNoCommand = errors.New("no such command here")

// Option is one argument of a slash command. Value is a string, bool, int, float64, an [ID] for users, channels and
// roles, or a [File].
type Option struct {
	Name  string
	Value any
}

// Slash sends a slash command as registered; name may go on with a group and a subcommand, as in "memory forget".
// Options are checked as Discord's client checks them.
func (p *Person) Slash(channel ID, name string, options ...Option) (*Interaction, error) {
	return p.command(InteractionCommand, channel, name, "", options)
}

// Autocomplete asks for suggestions while the person types the option named focused.
func (p *Person) Autocomplete(channel ID, name, focused string, options ...Option) (*Interaction, error) {
	return p.command(InteractionAutocomplete, channel, name, focused, options)
}

func (p *Person) command(kind InteractionKind, channel ID, name, focused string, options []Option) (*Interaction, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c, perms, err := p.in(channel, "uses /"+name)
	if err != nil {
		return nil, err
	}
	path := strings.Fields(strings.TrimPrefix(name, "/"))
	if len(path) == 0 {
		return nil, fmt.Errorf("%s uses a command without a name: %w", p.Name, ErrNoCommand)
	}
	cmd := p.w.visibleCommand(c, perms, path[0])
	if cmd == nil {
		return nil, fmt.Errorf("%s uses /%s: %w", p.Name, name, ErrNoCommand)
	}
	r := &resolver{w: p.w, c: c, focused: focused, resolved: &wireResolved{}}
	wire, err := r.path(cmd.Options, path[1:], options)
	if err != nil {
		return nil, fmt.Errorf("%s uses /%s: %w", p.Name, name, err)
	}
	if focused != "" && !r.sawFocus {
		return nil, fmt.Errorf("%s uses /%s: option %q has no autocomplete", p.Name, name, focused)
	}
	data := wireCommandData{ID: cmd.id, Name: cmd.Name, Type: cmd.Type, Options: wire, Resolved: r.result(), GuildID: cmd.guild}
	i := &interaction{kind: kind, channel: c.id, guild: c.guild, user: p.ID, name: strings.Join(path, " ")}
	return &Interaction{ID: p.w.send(i, data).id, person: p}, nil
}

// visibleCommand is the slash command that a person sees in a channel: a guild's own before the global one.
func (w *World) visibleCommand(c *channel, perms Permissions, name string) *command {
	if !perms.Has(PermUseCommands) {
		return nil
	}
	for _, cmd := range slices.Concat(w.app.guildCmds[c.guild], w.app.globalCmds) {
		if cmd.Name != name || cmd.Type != commandSlash {
			continue
		}
		if c.guild == "" {
			if cmd.guild == "" && cmd.inDMs() {
				return cmd
			}
			continue
		}
		// An empty set hides a command from all but administrators.
		need, set, _ := cmd.permissions()
		if set && (need == 0 && !perms.Has(PermAdministrator) || !perms.Has(need)) || !cmd.inGuilds() {
			continue
		}
		return cmd
	}
	return nil
}

// Click presses a button of a message.
func (p *Person) Click(message ID, customID string) (*Interaction, error) {
	return p.use(message, customID, componentButton, nil)
}

// Select chooses values of a select menu: the values of a string select, or the ids of users, roles and channels.
func (p *Person) Select(message ID, customID string, values ...string) (*Interaction, error) {
	return p.use(message, customID, 0, values)
}

// use sends what a person does with a component; kind 0 stands for any select menu.
func (p *Person) use(message ID, customID string, kind int, values []string) (*Interaction, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	m, _, err := p.message(message, "uses a component of")
	if err != nil {
		return nil, err
	}
	does := fmt.Sprintf("uses %q of message %s", customID, message)
	part := findComponent(m.Components, customID)
	if part == nil || part.Type != kind && (kind != 0 || !part.isSelect()) {
		return nil, p.malformed(does, "data.custom_id", "COMPONENT_VALIDATION_FAILED", "Component validation failed")
	}
	if part.Disabled {
		return nil, fmt.Errorf("%s %s, which is disabled: %w", p.Name, does, ErrNotAllowed)
	}
	data := wireComponentData{CustomID: customID, ComponentType: part.Type, Values: values}
	if kind == 0 {
		r := &resolver{w: p.w, c: p.w.channels[m.Channel], resolved: &wireResolved{}}
		if err := r.chosen(part, values); err != nil {
			return nil, fmt.Errorf("%s %s: %w", p.Name, does, err)
		}
		data.Resolved = r.result()
	}
	i := &interaction{
		kind: InteractionComponent, channel: m.Channel, guild: m.Guild, user: p.ID, name: customID, message: m.ID,
	}
	p.w.send(i, data)
	return &Interaction{ID: i.id, person: p}, nil
}

// Submit fills in the modal that the bot opened in answer to i, by the inputs' custom ids. Inputs not named keep the
// value the bot gave them.
func (p *Person) Submit(i *Interaction, values map[string]string) (*Interaction, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	parent := p.w.interactions[i.ID]
	if parent == nil || parent.modal == nil || parent.user != p.ID || p.w.channels[parent.channel] == nil {
		return nil, fmt.Errorf("%s submits a modal that is not open: %w", p.Name, errNoSuch)
	}
	data := wireModalData{CustomID: parent.modal.CustomID, Components: []wireModalRow{}}
	known := 0
	for n, input := range parent.modal.Inputs {
		value, ok := values[input.CustomID]
		if ok {
			known++
		} else {
			value = input.Value
		}
		if err := p.checkInput(n, input, value); err != nil {
			return nil, err
		}
		data.Components = append(data.Components, wireModalRow{Type: componentRow, ID: 2*n + 1, Components: []wireModalInput{{
			Type: componentTextInput, ID: 2*n + 2, CustomID: input.CustomID, Value: value,
		}}})
	}
	if known != len(values) {
		return nil, fmt.Errorf("%s submits inputs that modal %q has not: %w", p.Name, data.CustomID, errNoSuch)
	}
	next := &interaction{
		kind: InteractionModal, channel: parent.channel, guild: parent.guild, user: p.ID, name: data.CustomID,
		message: parent.message, parent: parent,
	}
	p.w.send(next, data)
	return &Interaction{ID: next.id, person: p}, nil
}

// checkInput holds what a person wrote into a modal's nth input to what the bot asked for.
func (p *Person) checkInput(n int, input ModalInput, value string) error {
	does := fmt.Sprintf("submits %q", input.CustomID)
	at := fmt.Sprintf("data.components.%d.components.0.value", n)
	most := maxInput
	if input.MaxLength > 0 {
		most = min(most, input.MaxLength)
	}
	switch size := len([]rune(value)); {
	case size == 0 && input.Required:
		return p.malformed(does, at, "BASE_TYPE_REQUIRED", "This field is required")
	case size > 0 && size < input.MinLength, size > most:
		return p.malformed(does, at, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", input.MinLength, most))
	}
	return nil
}

// State is what became of the interaction so far.
func (i *Interaction) State() (s InteractionState) {
	i.person.w.Look(func(v View) { s, _ = v.Interaction(i.ID) })
	return s
}

// Wait waits for the bot's first answer.
func (i *Interaction) Wait(ctx context.Context) (InteractionState, error) {
	return i.WaitFor(ctx, func(s InteractionState, _ []Message) bool { return !s.Answered.IsZero() })
}

// WaitFor waits until cond likes the state and the answers ([Interaction.Replies]); it runs with the world locked.
func (i *Interaction) WaitFor(ctx context.Context, cond func(InteractionState, []Message) bool) (InteractionState, error) {
	var s InteractionState
	err := i.person.w.Wait(ctx, func(v View) bool {
		s, _ = v.Interaction(i.ID)
		return cond(s, v.replies(s))
	})
	if err != nil {
		return s, fmt.Errorf("waiting for %q of %s: %w", s.Name, i.person.Name, err)
	}
	return s, nil
}

// Replies are the answer and the follow-ups that are there now, ephemeral ones included, oldest first.
func (i *Interaction) Replies() (out []Message) {
	i.person.w.Look(func(v View) {
		s, _ := v.Interaction(i.ID)
		out = v.replies(s)
	})
	return out
}

func (v View) replies(s InteractionState) []Message {
	var out []Message
	for _, id := range append([]ID{s.Original}, s.FollowUps...) {
		if m, ok := v.Message(id); ok && m.Deleted.IsZero() {
			out = append(out, m)
		}
	}
	return out
}
