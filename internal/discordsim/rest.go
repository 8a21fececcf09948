package discordsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// route is one method of one path. open routes need no bot token.
type route struct {
	method   string
	template string
	handle   func(*call) (status int, body any, err error)
	open     bool
}

func (r route) name() string { return r.method + " " + r.template }

// call is one request while it is handled.
type call struct {
	*payload
	w *World
	r *http.Request
}

// channel finds a channel the bot may see.
func (c *call) channel() (*channel, error) {
	ch := c.w.channels[c.id("channel_id")]
	if ch == nil {
		return nil, errUnknownChannel
	}
	if !c.perms(ch).Has(PermViewChannel) {
		return nil, errMissingAccess
	}
	return ch, nil
}

// perms are the bot's permissions in a channel.
func (c *call) perms(ch *channel) Permissions { return c.w.permissionsIn(ch, c.w.app.bot) }

// need is channel with more permissions asked for.
func (c *call) need(perms Permissions) (*channel, error) {
	ch, err := c.channel()
	if err != nil {
		return nil, err
	}
	if !c.perms(ch).Has(perms) {
		return nil, errMissingPermission
	}
	return ch, nil
}

// message finds a message in a channel; ephemeral ones are not there for the channel's routes.
func (c *call) message(ch *channel) (*message, error) {
	m := c.w.messages[c.id("message_id")]
	if m == nil || m.Channel != ch.id || !m.Deleted.IsZero() || m.VisibleTo != "" {
		return nil, errUnknownMessage
	}
	return m, nil
}

// guild finds a guild the bot is in.
func (c *call) guild() (*guild, error) {
	g := c.w.guilds[c.id("guild_id")]
	if g == nil {
		return nil, errUnknownGuild
	}
	if g.members[c.w.app.bot] == nil {
		return nil, errMissingAccess
	}
	return g, nil
}

func (c *call) id(name string) ID { return ID(c.r.PathValue(name)) }

// render is a message as this application may see it.
func (c *call) render(m *message) wireMessage {
	return c.w.wireMessage(m, c.w.app.privileged.Has(IntentMessageContent))
}

// answer is what goes back: a cut connection, or status, headers and JSON.
type answer struct {
	status int
	header map[string]string
	body   []byte
	cut    bool
	fault  bool
}

func jsonAnswer(status int, body any) answer {
	if body == nil {
		return answer{status: status}
	}
	return answer{status: status, body: encode(body)}
}

// rest serves one route: faults, rate limits, the token, then the handler; and it journals and validates the exchange
// before the client can see the answer.
func (s *Server) rest(r route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if !s.enter() {
			http.Error(rw, "closing", http.StatusServiceUnavailable)
			return
		}
		defer s.wg.Done()
		started := time.Now()
		p, err := readPayload(rw, req)
		var a answer
		if err != nil {
			p = &payload{}
			a = s.failure(err)
		} else {
			a = s.serve(r, &call{payload: p, w: s.world, r: req})
		}
		s.report(r, req, p, a, time.Since(started))
		a.write(rw)
	})
}

// serve applies faults and limits around a route's handler.
func (s *Server) serve(r route, c *call) answer {
	s.world.mu.Lock()
	fault := s.world.takeFault(r, c.r)
	limited, header := s.world.limiter.check(r, c.r)
	s.world.mu.Unlock()
	if fault != nil && !s.wait(c.r, fault.Delay) {
		return answer{cut: true, fault: true}
	}
	switch {
	case fault != nil && fault.Kind == FaultReset:
		return answer{cut: true, fault: true}
	case fault != nil && fault.Kind == FaultStatus:
		return fault.answer()
	case limited != nil:
		return *limited
	}
	a := s.call(r, c)
	a.header = header
	if fault != nil && fault.Kind == FaultAnswerLost {
		a.cut, a.fault = true, true
	}
	return a
}

// wait is the delay of a fault; false when client or server went away.
func (s *Server) wait(req *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-req.Context().Done():
		return false
	case <-s.closing:
		return false
	}
}

// call runs a handler on the locked world.
func (s *Server) call(r route, c *call) answer {
	if v := c.r.PathValue("version"); v != "v9" && v != "v10" {
		return s.failure(errNotFound)
	}
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if !r.open && !s.world.authorized(c.r) {
		return s.failure(errUnauthorized)
	}
	status, body, err := r.handle(c)
	if err != nil {
		return s.failure(err)
	}
	return jsonAnswer(status, body)
}

func (w *World) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	return ok && token == w.app.token && !w.app.tokenRevoked
}

func (s *Server) failure(err error) answer {
	refusal, ok := errors.AsType[*apiError](err)
	if !ok {
		refusal = &apiError{status: http.StatusInternalServerError, message: "500: Internal Server Error: " + err.Error()}
	}
	return jsonAnswer(refusal.status, refusal.body())
}

// report journals and validates an exchange.
func (s *Server) report(r route, req *http.Request, p *payload, a answer, took time.Duration) {
	path := apiPath(req.URL)
	name := r.name()
	if r.template == "" {
		name = req.Method + " "
	}
	violation := ""
	if r.template == "" {
		violation = "the simulator has no route for " + req.Method + " " + path
	}
	if s.validator != nil && r.template != "" && !a.cut {
		err := s.validator.Validate(Exchange{
			Method: r.method, Template: r.template, Path: strings.SplitN(path, "?", 2)[0], Query: req.URL.Query(),
			RequestType: req.Header.Get("Content-Type"), RequestBody: p.body, Files: p.fileNames(),
			Status: a.status, ResponseType: a.contentType(), ResponseBody: a.body,
		})
		if err != nil {
			violation = err.Error()
		}
	}
	header := req.Header.Clone()
	header.Del("Authorization")
	entry := Request{
		Route: name, Method: req.Method, Path: path, Header: header, Body: bytes.Clone(p.body), Files: p.fileNames(),
		Status: a.status, Response: a.body, Fault: a.fault, Violation: violation, Took: took,
	}
	if a.cut {
		entry.Status, entry.Response = 0, nil
	}
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if violation != "" && len(s.violations) < 100 {
		s.violations = append(s.violations, fmt.Sprintf("%s: %s", name, violation))
	}
	s.world.record(RequestServed{Request: entry})
}

// apiPath is what follows /api/vN.
func apiPath(u *url.URL) string {
	rest := strings.TrimPrefix(u.Path, "/api/")
	_, path, _ := strings.Cut(rest, "/")
	path = "/" + path
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

func (a answer) contentType() string {
	if a.body == nil {
		return ""
	}
	return "application/json"
}

// write sends the answer, or cuts the connection.
func (a answer) write(rw http.ResponseWriter) {
	if a.cut {
		nc, _, err := http.NewResponseController(rw).Hijack()
		if err == nil {
			cut(nc)
		}
		return
	}
	for k, v := range a.header {
		rw.Header().Set(k, v)
	}
	if a.body == nil {
		rw.WriteHeader(a.status)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body)
}

// decode reads the JSON body into v.
func (p *payload) decode(v any) error {
	if len(bytes.TrimSpace(p.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(p.body, v); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return invalid(e.Field, "BASE_TYPE_CHOICES", "This field has a wrong type: "+e.Value)
		}
		return errInvalidJSON
	}
	return nil
}
