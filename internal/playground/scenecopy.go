package playground

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// earlierCopied bounds how many turns before the copied one a scene repeats.
const earlierCopied = 20

// byModerator is the approver of tools that only moderators may let run, in the registry's words; viaWindow, viaCustom and
// viaFollowUp are what can put a tool on the list of deliberate mode besides the message's own words.
const (
	byModerator = "moderator"
	viaWindow   = "window"
	viaCustom   = "custom"
	viaFollowUp = "follow-up"
)

// The labels of an approval card's buttons, as bot/ words them.
const (
	approveLabel    = "Approve"
	denyLabel       = "Deny"
	denyReasonLabel = "Deny with reason"
)

// serveScene answers a turn as a scene file (docs/scenes.md) that reproduces it.
func (p *Playground) serveScene(w http.ResponseWriter, r *http.Request) {
	text, err := p.sceneOf(turn.ID(r.URL.Query().Get("turn")))
	if err != nil {
		fail(w, http.StatusConflict, err)
		return
	}
	reply(w, http.StatusOK, map[string]string{"text": text})
}

// sceneOf writes the scene of a kept turn. The model speaks as it spoke then, whichever it was; people do what they did;
// what is expected is what came of it. Earlier turns whose tools changed something come first, since this one may depend
// on that.
func (p *Playground) sceneOf(id turn.ID) (text string, err error) {
	kept := p.feed.state()
	var earlier []script
	var wanted *script
	for _, t := range kept.turns {
		s := scriptOf(t)
		if t.ID == id {
			if t.Cut {
				return "", errors.New("that turn had more events than are kept, so it cannot be reproduced")
			}
			wanted = &s
			break
		}
		if !t.Cut && s.status == store.TurnCompleted && s.changed() {
			earlier = append(earlier, s)
		}
	}
	switch {
	case wanted == nil:
		return "", errors.New("that turn is not kept any more")
	case wanted.ended.IsZero():
		return "", errors.New("that turn still runs; copy it when it has ended")
	case wanted.calls() == 0:
		earlier = nil
	}
	p.town.world().Look(func(v discordsim.View) {
		w := &sceneWriter{p: p, v: v, bot: p.town.world().Bot(), kept: kept, people: map[discordsim.ID]bool{}, places: map[discordsim.ID]bool{}}
		w.heading(*wanted)
		for _, s := range earlier[max(0, len(earlier)-earlierCopied):] {
			w.brief = true
			err = errors.Join(err, w.turn(s))
		}
		w.brief = false
		err = errors.Join(err, w.turn(*wanted))
		text = w.String()
	})
	return text, err
}

// sceneWriter writes one scene, with the world locked.
type sceneWriter struct {
	p    *Playground
	v    discordsim.View
	bot  discordsim.ID
	kept feedState
	// brief: what people see is left out. What tools did is not: each expectation takes the next event of its kind.
	brief  bool
	title  string
	set    []string
	body   []string
	people map[discordsim.ID]bool
	places map[discordsim.ID]bool
	place  string
	// seen is the newest message that a step looks at.
	seen discordsim.ID
	// stopped: what ended the turn has been written.
	stopped bool
	within  time.Duration
}

// String is the file.
func (w *sceneWriter) String() string {
	lines := append([]string{w.title}, w.set...)
	return strings.Join(append(append(lines, ""), w.body...), "\n") + "\n"
}

func (w *sceneWriter) heading(s script) {
	w.title = fmt.Sprintf("# Copied from the playground: turn %s, which ended as %s.", s.id, s.status)
	if s.attempts > 1 {
		w.body = append(w.body, "# It went through several models; a scene has one, so what they said is said by that one.")
	}
}

func (w *sceneWriter) step(format string, a ...any) {
	w.body = append(w.body, fmt.Sprintf(format, a...))
}

// turn writes what led to a turn, what happened in it and how it ended.
func (w *sceneWriter) turn(s script) error {
	w.stopped, w.within = false, 0
	w.settings(s)
	if err := w.trigger(s); err != nil {
		return err
	}
	w.answer(s)
	w.body = append(w.body, "")
	return nil
}

// answer writes the rounds of a turn whose trigger was written.
func (w *sceneWriter) answer(s script) {
	for i, r := range s.rounds {
		w.round(s, r, i == len(s.rounds)-1)
	}
	switch s.status {
	case store.TurnStoppedByUser, store.TurnFollowUpInterrupt, store.TurnInterrupted:
		if !w.stopped { // before anything of the next answer came
			w.cutShort(s, &round{})
		}
	case store.TurnError, store.TurnTimeout:
		w.within = max(w.within, 20*time.Second)
		if n := len(s.rounds); !w.stopped && s.failure != "tool_failures" && (n == 0 || s.rounds[n-1].ended && ordinary(s.rounds[n-1].finish)) {
			w.failure(s, &round{})
		}
	case store.TurnEmptyResponse:
		for n := len(s.rounds); n < 3; n++ {
			w.step("model says nothing")
		}
		w.within = max(w.within, 10*time.Second)
	case store.TurnCompleted, store.TurnDenied, store.TurnMaxIterations, store.TurnSkipped, store.TurnRunning:
	}
	w.step("expect turn %s%s", s.status, w.patience())
	if s.status == store.TurnFollowUpInterrupt {
		w.followUp(s)
	}
}

func ordinary(finish string) bool { return finish == "" || finish == "stop" || finish == "length" }

// patience is what a step needs beside the usual time to be met.
func (w *sceneWriter) patience() string {
	if w.within <= 0 {
		return ""
	}
	return " within " + w.within.Round(time.Second).String()
}

func (w *sceneWriter) round(s script, r *round, last bool) {
	if r.streaming() && last {
		switch s.status {
		case store.TurnStoppedByUser, store.TurnFollowUpInterrupt, store.TurnInterrupted:
			w.cutShort(s, r)
			return
		case store.TurnError, store.TurnTimeout:
			w.failure(s, r)
			return
		case store.TurnCompleted, store.TurnDenied, store.TurnMaxIterations, store.TurnSkipped, store.TurnRunning, store.TurnEmptyResponse:
		}
	}
	w.step("model %s", strings.Join(w.said(r), " "))
	w.see(s, r.text)
	for _, c := range r.calls {
		w.call(s, c)
	}
}

// said are the parts of one answer of the model.
func (w *sceneWriter) said(r *round) []string {
	var parts []string
	if r.thinking != "" {
		parts = append(parts, "thinks "+quote(r.thinking))
	}
	if r.text != "" {
		parts = append(parts, "says "+quote(w.names(r.text)))
	}
	finish := r.finish
	for _, c := range r.calls {
		parts = append(parts, "calls "+word(c.Tool)+" "+arguments(c))
		if c.Reason == store.CallReasonTruncated {
			finish = "length"
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "says nothing")
	}
	switch finish {
	case "length":
		parts = append(parts, "ends by length")
	case "filter", "filtered", "content_filter":
		parts = append(parts, "ends by filter")
	case "missing":
		parts = append(parts, "ends without a reason")
	}
	return parts
}

// call writes what a person did about a call, and how it ended.
func (w *sceneWriter) call(s script, c *turn.CallInfo) {
	if a := c.Approval; a != nil {
		w.approval(s, a)
	} else if c.Reason == store.CallReasonStopped && !w.stopped {
		w.step("expect tool %s running", word(c.Tool))
		w.stop(s)
	}
	if c.Duration > 2*time.Second {
		w.within = max(w.within, 2*c.Duration+3*time.Second)
	}
	switch {
	case c.Status == store.CallDone:
		w.step("expect tool %s done%s", word(c.Tool), w.patience())
	case c.Reason != "":
		w.step("expect tool %s failed because %s%s", word(c.Tool), c.Reason, w.patience())
	default:
		w.step("expect tool %s failed%s", word(c.Tool), w.patience())
	}
}

func (w *sceneWriter) approval(s script, a *turn.ApprovalInfo) {
	by := w.person(discordsim.ID(a.By))
	if a.Approver == byModerator || a.By != "" && a.By != s.owner {
		w.step("# the card asks its %s", a.Approver)
	}
	w.step("see with button %s", approveLabel)
	switch {
	case a.State == "approved":
		w.step("%s clicks %s", by, approveLabel)
	case a.State == "denied" && a.Reason != "":
		w.step("%s clicks %s", by, strconv.Quote(denyReasonLabel))
		w.step("%s submits %s", by, quote(a.Reason))
	case a.State == "denied":
		w.step("%s clicks %s", by, denyLabel)
	case a.State == "expired":
		w.put("set APPROVAL_TIMEOUT_MS 1000")
	case a.State == "stopped" && !w.stopped:
		w.stop(s)
	}
}

// cutShort writes an answer that somebody ended before its end.
func (w *sceneWriter) cutShort(s script, r *round) {
	parts := w.said(&round{thinking: r.thinking, text: r.text})
	if r.text == "" && r.thinking == "" {
		parts = nil
	}
	w.step("model %s", strings.Join(append(parts, `pauses says "(never said)"`), " "))
	if !w.see(s, r.text) { // whoever stopped it must come after its start
		w.step("expect model asked containing %s", quote(w.excerpt(w.names(w.content(s.message)))))
	}
	w.stop(s)
}

// stop writes what ended a turn from outside.
func (w *sceneWriter) stop(s script) {
	w.stopped = true
	switch s.status {
	case store.TurnInterrupted:
		w.step("bot begins to stop")
		return
	case store.TurnFollowUpInterrupt:
		if next, ok := w.follower(s); ok {
			m, _ := w.v.Message(discordsim.ID(next.message))
			w.step("%s says %s", w.person(m.Author), quote(w.names(m.Content)))
		}
		return
	case store.TurnCompleted, store.TurnDenied, store.TurnMaxIterations, store.TurnSkipped, store.TurnRunning,
		store.TurnEmptyResponse, store.TurnError, store.TurnTimeout, store.TurnStoppedByUser:
	}
	for _, e := range w.v.Entries(0) {
		sent, ok := e.Event.(discordsim.InteractionSent)
		i := sent.Interaction
		if ok && i.Kind == discordsim.InteractionCommand && i.Name == "kill" && string(i.Channel) == s.channel && w.during(s, e.At) {
			w.step("%s uses /kill", w.person(i.User))
			return
		}
	}
	if m, ok := w.v.Message(discordsim.ID(s.stopWord)); ok {
		w.step("%s says %s", w.person(m.Author), quote(w.names(m.Content)))
		return
	}
	w.step("# It is not kept who stopped it and how; its owner stands in.")
	w.step("%s uses /kill", w.person(discordsim.ID(s.owner)))
}

// during reports whether something happened between a turn's message and its end.
func (w *sceneWriter) during(s script, at time.Time) bool {
	m, ok := w.v.Message(discordsim.ID(s.message))
	return ok && !at.Before(m.Created) && !at.After(s.ended)
}

// follower is the turn of the message for which a turn made way.
func (w *sceneWriter) follower(s script) (script, bool) {
	for _, t := range w.kept.turns {
		n := scriptOf(t)
		if n.channel == s.channel && n.owner == s.owner && !n.started.IsZero() && n.started.After(s.started) && n.message != s.message {
			return n, !t.Cut && !n.ended.IsZero()
		}
	}
	return script{}, false
}

// followUp writes the turn for which this one made way: its message has been said.
func (w *sceneWriter) followUp(s script) {
	if next, ok := w.follower(s); ok {
		w.stopped = false
		w.answer(next)
	}
}

// failure writes an answer that failed.
func (w *sceneWriter) failure(s script, r *round) {
	w.stopped = true
	text := w.said(&round{thinking: r.thinking, text: r.text})
	if r.text == "" && r.thinking == "" {
		text = nil
	}
	status := map[string]int{
		"auth": 401, "quota": 402, "rate_limit": 429, "overloaded": 503, "bad_request": 400, "too_large": 413, "unavailable": 500,
	}[s.failure]
	switch {
	case s.failure == "first_token":
		w.put("set STREAM_FIRST_TOKEN_TIMEOUT_MS 1000")
		w.put("set STREAM_IDLE_TIMEOUT_MS 10000")
		w.step("model %s", strings.Join(append(text, "pauses"), " "))
	case s.failure == "idle":
		w.put("set STREAM_IDLE_TIMEOUT_MS 10000")
		w.step("model %s", strings.Join(append(text, "pauses"), " "))
	case text == nil && status != 0:
		// What may be tried again was tried three times.
		times := 1
		if status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
			times = 3
		}
		for range times {
			w.step("model fails with %d", status)
		}
	case text == nil:
		for range 3 {
			w.step("model is cut off")
		}
	default:
		w.step("model %s", strings.Join(append(text, "is cut off"), " "))
	}
}

// trigger writes the message that started a turn, and the one it replies to.
func (w *sceneWriter) trigger(s script) error {
	m, ok := w.v.Message(discordsim.ID(s.message))
	if !ok {
		return errors.New("the message that started that turn is not kept any more")
	}
	place := w.placeOf(m.Channel, m.Author)
	files := ""
	for _, a := range m.Attachments {
		files += fmt.Sprintf(" with file %s holding %s", strconv.Quote(a.Name), quote("(what was in "+a.Name+")"))
	}
	who, text := w.person(m.Author), quote(w.names(m.Content))
	to, replied := w.v.Message(m.ReplyTo)
	if !replied || files != "" {
		w.step("%s says %s%s%s", who, text, files, place)
		return nil
	}
	before := quote(w.excerpt(w.names(to.Content)))
	if to.Author == w.bot {
		w.step("%s says %s%s", who, `"@Parley hello"`, place)
		w.step("model says %s", before)
		w.step("see containing %s as earlier", before)
		w.step("expect turn completed")
	} else {
		w.step("%s says %s as earlier%s", w.person(to.Author), strings.ReplaceAll(before, "@Parley", "Parley"), place)
	}
	w.step("%s replies to earlier %s", who, text)
	return nil
}
