package playground

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/parleybot/parley/internal/discordsim"
)

// maxBody bounds a request: files come in it as base64, and Discord takes 25 MiB of them at once.
const maxBody = 25<<20*4/3 + 1<<20

// errBadRequest is what a page could only ask for by mistake.
var errBadRequest = errors.New("that request cannot be understood")

// request is what pages send: who acts, where, on what. Each action reads the fields that it needs.
type request struct {
	Person      discordsim.ID     `json:"person"`
	Channel     discordsim.ID     `json:"channel"`
	Message     discordsim.ID     `json:"message"`
	Interaction discordsim.ID     `json:"interaction"`
	Text        string            `json:"text"`
	ReplyTo     discordsim.ID     `json:"reply_to"`
	Silent      bool              `json:"silent"`
	Files       []file            `json:"files"`
	Emoji       string            `json:"emoji"`
	Name        string            `json:"name"`
	Focused     string            `json:"focused"`
	CustomID    string            `json:"custom_id"`
	Options     map[string]any    `json:"options"`
	Chosen      []string          `json:"chosen"`
	Values      map[string]string `json:"values"`
}

type file struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// act is one thing that a person does. What it returns is the answer to the page; it sees the effect in its stream.
type act func(ctx context.Context, p *Playground, who resident, r request) (any, error)

func acts(name string) act {
	switch name {
	case "say":
		return say
	case "edit":
		return edit
	case "delete":
		return remove
	case "react":
		return react
	case "unreact":
		return unreact
	case "thread":
		return thread
	case "type":
		return typing
	case "slash":
		return slash
	case "complete":
		return complete
	case "click":
		return click
	case "choose":
		return choose
	case "submit":
		return submit
	case "fault":
		return fault
	case "model":
		return chooseModel
	}
	return nil
}

func (p *Playground) serveAction(w http.ResponseWriter, r *http.Request) {
	do := acts(r.PathValue("action"))
	if do == nil {
		http.NotFound(w, r)
		return
	}
	var in request
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	body.DisallowUnknownFields()
	err := body.Decode(&in)
	if err == nil && body.Decode(new(any)) != io.EOF {
		err = errBadRequest
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		reply(w, http.StatusRequestEntityTooLarge, refusal{Error: "Request entity too large", Code: 40005})
		return
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	// Nobody acts by mistake in somebody else's name.
	who := p.town.resident(in.Person)
	if who.ID != in.Person {
		fail(w, http.StatusBadRequest, errors.New("there is nobody with that id here; reload the page"))
		return
	}
	answer, err := do(r.Context(), p, who, in)
	if err != nil {
		fail(w, http.StatusConflict, err)
		return
	}
	if answer == nil {
		answer = struct{}{}
	}
	reply(w, http.StatusOK, answer)
}

// serveHistory answers the messages before, after or around one, or the newest.
func (p *Playground) serveHistory(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	me := p.town.resident(discordsim.ID(q.Get("person")))
	part := discordsim.Stretch{
		Before: discordsim.ID(q.Get("before")), After: discordsim.ID(q.Get("after")), Around: discordsim.ID(q.Get("around")), Limit: historyShown,
	}
	var out history
	p.town.world().Look(func(v discordsim.View) {
		out = historyOf(v, discordsim.ID(q.Get("channel")), me.ID, part)
	})
	reply(w, http.StatusOK, out)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // A page that left does not mind.
}

// refusal is why something was not done: the error's text, and what Discord says where it is Discord that refuses.
type refusal struct {
	Error string `json:"error"`
	// Code is Discord's; 0 when its client would not have sent the request.
	Code     int       `json:"code,omitempty"`
	Problems []problem `json:"problems,omitempty"`
}

type problem struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func fail(w http.ResponseWriter, status int, err error) {
	out := refusal{Error: err.Error()}
	if said, ok := discordsim.RefusalOf(err); ok {
		status, out.Error, out.Code = said.Status, said.Message, said.Code
		for _, p := range said.Problems {
			out.Problems = append(out.Problems, problem{Path: p.Path, Code: p.Code, Message: p.Message})
		}
	}
	reply(w, status, out)
}
