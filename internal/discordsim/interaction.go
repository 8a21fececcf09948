package discordsim

import (
	"encoding/json"
	"slices"
	"time"
)

// InteractionKind is Discord's interaction type number.
type InteractionKind int

// What people can send to a bot beside messages.
const (
	InteractionCommand      InteractionKind = 2
	InteractionComponent    InteractionKind = 3
	InteractionAutocomplete InteractionKind = 4
	InteractionModal        InteractionKind = 5
)

// AnswerKind is Discord's interaction callback type number; 0 is no answer yet.
type AnswerKind int

// How a bot can answer.
const (
	AnswerMessage        AnswerKind = 4
	AnswerDeferred       AnswerKind = 5
	AnswerDeferredUpdate AnswerKind = 6
	AnswerUpdate         AnswerKind = 7
	AnswerChoices        AnswerKind = 8
	AnswerModal          AnswerKind = 9
)

const (
	// answerWithin is Discord's limit for the first answer, tokenLife that for all that follows.
	answerWithin = 3 * time.Second
	tokenLife    = 15 * time.Minute
	// inputParagraph is the style of a text input with several lines.
	inputParagraph = 2
	// maxInteractions is how many are remembered.
	maxInteractions = 10_000
)

// InteractionState is one interaction and what became of it.
type InteractionState struct {
	ID            ID
	Kind          InteractionKind
	Channel, User ID
	// Guild is empty in a DM.
	Guild ID
	// Name is the command with its subcommand, or the custom id that was clicked or submitted.
	Name string
	Sent time.Time
	// Answered is zero while the bot has not answered.
	Answered time.Time
	Answer   AnswerKind
	// Ephemeral says that the answer is for the person only.
	Ephemeral bool
	// Original is the message that the answer made or changed; a deferred answer makes one with FlagLoading.
	Original  ID
	FollowUps []ID
	// Modal is what AnswerModal opened.
	Modal *Modal
	// Choices are what AnswerChoices offered.
	Choices []Choice
}

// Modal is a form the bot opened.
type Modal struct {
	CustomID, Title string
	Inputs          []ModalInput
}

// ModalInput is a text field of a modal.
type ModalInput struct {
	CustomID, Label, Value   string
	Description, Placeholder string
	// Paragraph says that the text may have several lines.
	Paragraph            bool
	Required             bool
	MinLength, MaxLength int
}

// Choice is one suggestion of an autocomplete.
type Choice struct {
	Name  string
	Value any
}

type interaction struct {
	id            ID
	kind          InteractionKind
	channel, user ID
	guild         ID
	name          string
	token         string
	sent          time.Time
	answered      time.Time
	answer        AnswerKind
	ephemeral     bool
	message       ID // clicked
	original      ID
	followUps     []ID
	modal         *Modal
	choices       []Choice
	parent        *interaction // that opened the modal
}

func (i *interaction) state() InteractionState {
	s := InteractionState{
		ID: i.id, Kind: i.kind, Channel: i.channel, User: i.user, Guild: i.guild, Name: i.name, Sent: i.sent,
		Answered: i.answered, Answer: i.answer, Ephemeral: i.ephemeral, Original: i.original,
		FollowUps: slices.Clone(i.followUps), Choices: slices.Clone(i.choices),
	}
	if i.modal != nil {
		m := *i.modal
		m.Inputs = slices.Clone(m.Inputs)
		s.Modal = &m
	}
	return s
}

// send registers an interaction and delivers it to the bot.
func (w *World) send(i *interaction, data any) *interaction {
	i.id, i.sent = w.newID(), w.now()
	i.token = "interaction-token-" + string(w.newID())
	w.interactions[i.id] = i
	w.tokens[i.token] = i
	w.asked = append(w.asked, i.id)
	if len(w.asked) > maxInteractions {
		old := w.interactions[w.asked[0]]
		delete(w.tokens, old.token)
		delete(w.interactions, old.id)
		w.asked = w.asked[1:]
	}
	w.record(InteractionSent{i.state()})
	// Interactions need no intent.
	w.dispatch(dispatch{name: "INTERACTION_CREATE", guild: i.guild, body: w.wireInteraction(i, data)})
	return i
}

// settle notes the bot's first answer.
func (w *World) settle(i *interaction, kind AnswerKind) {
	i.answered, i.answer = w.now(), kind
	w.record(InteractionAnswered{i.state()})
}

// readModal keeps what a person would see of a modal.
func readModal(customID, title string, components []json.RawMessage) *Modal {
	m := &Modal{CustomID: customID, Title: title}
	var top []component
	if json.Unmarshal(encode(components), &top) != nil {
		return m
	}
	label, description := "", ""
	for i := range top {
		top[i].all(func(c *component) bool {
			if c.Type == componentLabel {
				label, description = c.Label, c.Description
			}
			if c.Type == componentTextInput {
				input := ModalInput{
					CustomID: c.CustomID, Label: c.Label, Value: c.Value, Required: c.Required == nil || *c.Required,
					MinLength: c.MinLength, MaxLength: c.MaxLength, Placeholder: c.Placeholder, Paragraph: c.Style == inputParagraph,
				}
				if input.Label == "" {
					input.Label, input.Description = label, description
				}
				m.Inputs = append(m.Inputs, input)
			}
			return true
		})
	}
	return m
}
