package bot

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot/delivery"
)

const (
	// ackWithin is when an interaction is acknowledged although its answer isn't ready; Discord gives 3 s.
	ackWithin = 800 * time.Millisecond
	// replyTimeout bounds one request of a reply.
	replyTimeout = 15 * time.Second
)

// Interaction callback types.
const (
	callbackMessage  = 4
	callbackDeferred = 5
	// callbackLater says that the message whose button was pressed will change.
	callbackLater   = 6
	callbackUpdate  = 7
	callbackChoices = 8
	callbackModal   = 9
)

// said is an answer to an interaction.
type said struct {
	message messageBody
	// private answers are seen by the actor only. They are never posted in the channel instead.
	private bool
}

func publicly(text string) said { return said{message: newMessage(clip(text, maxMessage))} }
func privately(text string) said {
	return said{message: newMessage(clip(text, maxMessage)), private: true}
}

// maxMessage is a little below Discord's 2,000 UTF-16 units.
const maxMessage = 1950

// reply answers one interaction. It is used by one goroutine.
type reply struct {
	rest        *restClient
	log         zerolog.Logger
	id          string
	token       string
	application string
	channelID   string
	began       time.Time
}

// messageSign is what is told of an answer before it is there.
type messageSign struct {
	Flags int `json:"flags,omitempty"`
}

type callback struct {
	Type int `json:"type"`
	Data any `json:"data,omitempty"`
}

// say gives the first and only answer.
func (r *reply) say(ctx context.Context, s said) {
	if s.private {
		s.message.Flags |= flagEphemeral
	}
	r.finish(ctx, s, r.callback(ctx, callbackMessage, s.message))
}

// soon runs work and answers with what it returns: at once when it is quick, else after a sign that it was heard. private
// says that the answer will be private in any case.
func (r *reply) soon(ctx context.Context, private bool, work func(context.Context) said) {
	done := r.begin(ctx, work)
	timer := time.NewTimer(max(ackWithin-time.Since(r.began), 0))
	defer timer.Stop()
	select {
	case s := <-done:
		r.say(ctx, s)
		return
	case <-timer.C:
	}
	var sign messageSign
	if private {
		sign.Flags = flagEphemeral
	}
	err := r.callback(ctx, callbackDeferred, sign)
	s := <-done // work honours ctx
	s.private = s.private || private
	switch {
	case err != nil:
		r.finish(ctx, s, err)
	case s.private && !private:
		// What was begun in public can't become private: take it away and answer anew.
		r.drop(ctx)
		r.finish(ctx, s, r.followUp(ctx, s))
	default:
		r.finish(ctx, s, r.editOriginal(ctx, s))
	}
}

// begin runs work beside; what it returns, or that it broke, comes once.
func (r *reply) begin(ctx context.Context, work func(context.Context) said) <-chan said {
	done := make(chan said, 1)
	go func() {
		s := privately("Something went wrong; it was logged.")
		defer func() {
			if p := recover(); p != nil {
				r.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("command.panic")
			}
			done <- s
		}()
		s = work(ctx)
	}()
	return done
}

// change runs work and puts what it returns in the place of the message whose button was pressed: at once when it is quick,
// else after a sign that it was heard. Buttons that the new message does not have are gone.
func (r *reply) change(ctx context.Context, work func(context.Context) said) {
	done := r.begin(ctx, work)
	timer := time.NewTimer(max(ackWithin-time.Since(r.began), 0))
	defer timer.Stop()
	var (
		s   said
		err error
	)
	select {
	case s = <-done:
		err = r.update(ctx, withoutButtons(s).message)
	case <-timer.C:
		err = r.callback(ctx, callbackLater, nil)
		if s = <-done; err == nil { // work honours ctx
			err = r.editOriginal(ctx, withoutButtons(s))
		}
	}
	r.finish(ctx, s, err)
}

func withoutButtons(s said) said {
	if s.message.Components == nil {
		s.message.Components = &[]component{}
	}
	return s
}

// finish posts a public answer in the channel when the interaction could not carry it.
func (r *reply) finish(ctx context.Context, s said, err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, errTokenExpired) || s.private {
		r.log.Warn().Err(err).Bool("private", s.private).Msg("interaction.answer_failed")
		return
	}
	s.message.Flags &^= flagEphemeral
	if _, err := r.rest.create(ctx, r.channelID, s.message); err != nil {
		r.log.Warn().Err(err).Msg("interaction.fallback_failed")
	}
}

// update replaces the message whose button was pressed, and reports whether it worked.
func (r *reply) update(ctx context.Context, m messageBody) error {
	return r.callback(ctx, callbackUpdate, m)
}

// form opens a modal.
func (r *reply) form(ctx context.Context, customID, title string, rows ...component) error {
	return r.callback(ctx, callbackModal, struct {
		CustomID   string      `json:"custom_id"`
		Title      string      `json:"title"`
		Components []component `json:"components"`
	}{customID, title, rows})
}

// choices answers with completions. The list is never null.
func (r *reply) choices(ctx context.Context, list []choiceSpec) {
	if list == nil {
		list = []choiceSpec{}
	}
	err := r.callback(ctx, callbackChoices, struct {
		Choices []choiceSpec `json:"choices"`
	}{list})
	if err != nil {
		r.log.Debug().Err(err).Msg("interaction.choices_failed")
	}
}

func (r *reply) callback(ctx context.Context, kind int, data any) error {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	err := r.rest.do(ctx, call{
		route: route{method: http.MethodPost, template: "/interactions/{interaction}/{token}/callback", major: r.id, free: true},
		path:  "/interactions/" + url.PathEscape(r.id) + "/" + url.PathEscape(r.token) + "/callback",
		body:  callback{Type: kind, Data: data}, files: filesOf(data), repeatable: true,
	}, nil)
	if ae, ok := errors.AsType[*APIError](err); ok && ae.Code == codeAlreadyAnswered {
		// The first try did arrive, its answer was lost.
		return nil
	}
	return err
}

// filesOf are the files of an answer that is a message.
func filesOf(data any) []delivery.File {
	if m, ok := data.(messageBody); ok {
		return m.files
	}
	return nil
}

func (r *reply) webhook(method, template, tail string) call {
	return call{
		route: route{method: method, template: "/webhooks/{application}/{token}" + template, major: r.token, free: true},
		path:  "/webhooks/" + url.PathEscape(r.application) + "/" + url.PathEscape(r.token) + tail,
	}
}

func (r *reply) editOriginal(ctx context.Context, s said) error {
	c := r.webhook(http.MethodPatch, "/messages/@original", "/messages/@original")
	s.message.Flags = 0
	c.body, c.files, c.repeatable = s.message, s.message.files, true
	return r.rest.do(ctx, c, nil)
}

// followUp is sent once only: Discord has no nonce here that would keep a second try from being a second message.
func (r *reply) followUp(ctx context.Context, s said) error {
	c := r.webhook(http.MethodPost, "", "")
	if s.private {
		s.message.Flags |= flagEphemeral
	}
	c.body, c.files = s.message, s.message.files
	return r.rest.do(ctx, c, nil)
}

func (r *reply) drop(ctx context.Context) {
	c := r.webhook(http.MethodDelete, "/messages/@original", "/messages/@original")
	c.repeatable = true
	if err := r.rest.do(ctx, c, nil); err != nil {
		r.log.Debug().Err(err).Msg("interaction.drop_failed")
	}
}
