package discordsim

import (
	"encoding/json"
	"net/http"
	"slices"
)

func interactionRoutes() []route {
	const hook = "/webhooks/{webhook_id}/{webhook_token}"
	return []route{
		{method: "POST", template: "/interactions/{interaction_id}/{interaction_token}/callback", handle: answerInteraction, open: true},
		{method: "POST", template: hook, handle: followUp, open: true},
		{method: "GET", template: hook + "/messages/@original", handle: getAnswer, open: true},
		{method: "PATCH", template: hook + "/messages/@original", handle: editAnswer, open: true},
		{method: "DELETE", template: hook + "/messages/@original", handle: deleteAnswer, open: true},
		{method: "GET", template: hook + "/messages/{message_id}", handle: getAnswer, open: true},
		{method: "PATCH", template: hook + "/messages/{message_id}", handle: editAnswer, open: true},
		{method: "DELETE", template: hook + "/messages/{message_id}", handle: deleteAnswer, open: true},
	}
}

// callbackForm is an interaction's first answer.
type callbackForm struct {
	Type AnswerKind      `json:"type"`
	Data json.RawMessage `json:"data"`
}

// allowedAnswers says which answers Discord takes for which interaction.
var allowedAnswers = map[InteractionKind][]AnswerKind{
	InteractionCommand:      {AnswerMessage, AnswerDeferred, AnswerModal},
	InteractionComponent:    {AnswerMessage, AnswerDeferred, AnswerDeferredUpdate, AnswerUpdate, AnswerModal},
	InteractionModal:        {AnswerMessage, AnswerDeferred, AnswerDeferredUpdate, AnswerUpdate},
	InteractionAutocomplete: {AnswerChoices},
}

func answerInteraction(c *call) (int, any, error) {
	i := c.w.interactions[c.id("interaction_id")]
	switch {
	case i == nil || i.token != c.r.PathValue("interaction_token"):
		return 0, nil, errUnknownInteract
	case !i.answered.IsZero():
		return 0, nil, errAcknowledged
	case c.w.strict && c.w.now().Sub(i.sent) > answerWithin, c.w.channels[i.channel] == nil:
		return 0, nil, errUnknownInteract
	}
	var in callbackForm
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	fromMessage := in.Type == AnswerUpdate || in.Type == AnswerDeferredUpdate
	if !slices.Contains(allowedAnswers[i.kind], in.Type) || fromMessage && i.message == "" {
		return 0, nil, invalid("type", "BASE_TYPE_CHOICES", "This callback type is not allowed for this interaction.")
	}
	// What the answer says stands one level down.
	data := *c
	data.payload = &payload{body: in.Data, files: c.files}
	if err := data.answer(i, in.Type); err != nil {
		return 0, nil, under("data", err)
	}
	c.w.settle(i, in.Type)
	if c.r.URL.Query().Get("with_response") != "true" {
		return http.StatusNoContent, nil, nil
	}
	return http.StatusOK, c.callbackResult(i), nil
}

// answer does what a callback asks for.
func (c *call) answer(i *interaction, kind AnswerKind) error {
	switch kind {
	case AnswerMessage, AnswerDeferred:
		m, err := c.respond(i, kind == AnswerDeferred)
		if err != nil {
			return err
		}
		i.original, i.ephemeral = m.ID, m.VisibleTo != ""
	case AnswerDeferredUpdate, AnswerUpdate:
		m := c.w.messages[i.message]
		if m == nil || !m.Deleted.IsZero() {
			return errUnknownMessage
		}
		i.original, i.ephemeral = m.ID, m.VisibleTo != ""
		if kind == AnswerUpdate {
			return c.applyEdit(m)
		}
	case AnswerModal:
		return c.openModal(i)
	case AnswerChoices:
		return c.offerChoices(i)
	}
	return nil
}

// respond posts an answer or a follow-up. Answers need none of the channel's permissions.
func (c *call) respond(i *interaction, loading bool) (*message, error) {
	var m messageForm
	if err := c.decode(&m); err != nil {
		return nil, err
	}
	if err := m.check(c.files); err != nil {
		return nil, err
	}
	if !loading && m.empty(c.files) {
		return nil, errEmptyMessage
	}
	d := c.draft(c.w.channels[i.channel], c.w.app.bot, &m, nil)
	d.interaction = i
	if loading {
		d = draft{channel: d.channel, author: d.author, interaction: i, flags: FlagLoading, allowed: d.allowed}
	}
	if m.Flags != nil && *m.Flags&FlagEphemeral != 0 {
		d.flags |= FlagEphemeral
		d.visibleTo = i.user
	}
	return c.w.post(d), nil
}

func (c *call) openModal(i *interaction) error {
	var in struct {
		CustomID   string            `json:"custom_id"`
		Title      string            `json:"title"`
		Components []json.RawMessage `json:"components"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	f := &form{}
	if n := len([]rune(in.Title)); n < 1 || n > 45 {
		f.badLength("title", 1, 45)
	}
	if n := len([]rune(in.CustomID)); n < 1 || n > 100 {
		f.badLength("custom_id", 1, 100)
	}
	if len(in.Components) < 1 || len(in.Components) > 5 {
		f.badLength("components", 1, 5)
	}
	i.modal = readModal(in.CustomID, in.Title, in.Components)
	for _, input := range i.modal.Inputs {
		if n := len([]rune(input.Label)); n < 1 || n > 45 {
			f.badLength("components.label", 1, 45)
		}
	}
	if err := f.err(); err != nil {
		i.modal = nil
		return err
	}
	return nil
}

func (c *call) offerChoices(i *interaction) error {
	var in struct {
		Choices []Choice `json:"choices"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	f := &form{}
	if len(in.Choices) > 25 {
		f.badLength("choices", 0, 25)
	}
	for _, choice := range in.Choices {
		if n := len([]rune(choice.Name)); n < 1 || n > 100 {
			f.badLength("choices.name", 1, 100)
		}
	}
	i.choices = in.Choices
	return f.err()
}

func (c *call) callbackResult(i *interaction) wireCallbackResult {
	out := wireCallbackResult{Interaction: wireCallbackInteraction{
		ID: i.id, Type: i.kind, MessageID: i.original, Ephemeral: i.ephemeral, ChannelID: i.channel, GuildID: i.guild,
	}}
	if m := c.w.messages[i.original]; m != nil {
		out.Interaction.Loading = m.Flags&FlagLoading != 0
		if i.answer == AnswerMessage || i.answer == AnswerUpdate {
			out.Resource = &wireCallbackResource{Type: i.answer, Message: c.w.wireMessage(m, true)}
		}
	}
	return out
}

// hook finds the interaction whose token is used as a webhook's.
func (c *call) hook() (*interaction, error) {
	i := c.w.tokens[c.r.PathValue("webhook_token")]
	switch {
	case c.id("webhook_id") != c.w.app.id:
		return nil, errUnknownWebhook
	case i == nil || c.w.now().Sub(i.sent) > tokenLife:
		return nil, errWebhookToken
	case i.answered.IsZero():
		// Until the interaction is answered there is no webhook.
		return nil, errUnknownWebhook
	case c.w.channels[i.channel] == nil:
		return nil, errUnknownChannel
	}
	return i, nil
}

// followUp posts one more message; the first after a deferred answer takes the place of its loading message.
func followUp(c *call) (int, any, error) {
	i, err := c.hook()
	if err != nil {
		return 0, nil, err
	}
	if m := c.w.messages[i.original]; m != nil && m.Flags&FlagLoading != 0 && m.Deleted.IsZero() {
		if err := c.applyEdit(m); err != nil {
			return 0, nil, err
		}
		return http.StatusOK, c.w.wireMessage(m, true), nil
	}
	m, err := c.respond(i, false)
	if err != nil {
		return 0, nil, err
	}
	i.followUps = append(i.followUps, m.ID)
	return http.StatusOK, c.w.wireMessage(m, true), nil
}

// hookMessage finds the answer or follow-up that a webhook route names.
func (c *call) hookMessage() (*message, error) {
	i, err := c.hook()
	if err != nil {
		return nil, err
	}
	id := c.id("message_id")
	if id == "" {
		id = i.original
	}
	m := c.w.messages[id]
	if m == nil || !m.Deleted.IsZero() || id != i.original && !slices.Contains(i.followUps, id) {
		return nil, errUnknownMessage
	}
	return m, nil
}

func getAnswer(c *call) (int, any, error) {
	m, err := c.hookMessage()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.w.wireMessage(m, true), nil
}

func editAnswer(c *call) (int, any, error) {
	m, err := c.hookMessage()
	if err != nil {
		return 0, nil, err
	}
	if err := c.applyEdit(m); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.w.wireMessage(m, true), nil
}

func deleteAnswer(c *call) (int, any, error) {
	m, err := c.hookMessage()
	if err != nil {
		return 0, nil, err
	}
	c.w.remove(m, c.w.app.bot)
	return http.StatusNoContent, nil, nil
}
