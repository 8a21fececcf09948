// Package rehearsal is a deterministic model that needs no key and no network. It follows a small grammar written in the
// newest user message (Help shows it), so that people, scenes and tests can make "the model" call any tool, stall, cut
// its arguments, err or stream slowly; it knows a few everyday phrases about memory; and to anything else it answers
// that it is a rehearsal model. It keeps no state: what it does next follows from the request alone.
package rehearsal

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/parleybot/parley/providers"
)

// Name is the provider's name in logs, gates and errors.
const Name = "rehearsal"

// Provider is the rehearsal model. It is safe for concurrent use.
type Provider struct{ pace time.Duration }

// Config sets the model up; the zero value is fine.
type Config struct {
	// Pace is the wait before each streamed piece, unless a message says "slow". 0 streams without waiting.
	Pace time.Duration
}

// New returns the model.
func New(c Config) *Provider { return &Provider{pace: c.Pace} }

var _ providers.Provider = (*Provider)(nil)

// Name is "rehearsal".
func (p *Provider) Name() string { return Name }

// Stream plays the step of the newest user message that the request has reached: the script's first step on the first
// round trip, the next one after each answer with calls.
func (p *Provider) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		s := speaker{ctx: ctx, yield: yield, pace: p.pace, finish: providers.FinishStop, attempt: req.Attempt}
		for _, a := range plan(read(req)) {
			if !a.perform(&s) {
				return
			}
		}
		s.end(req)
	}
}

// scene is what the model looks at in a request.
type scene struct {
	author string
	text   string
	tools  map[string]bool
	// iteration counts the answers with calls since the newest user message.
	iteration int
	results   []result
}

func read(req providers.Request) scene {
	sc := scene{tools: make(map[string]bool, len(req.Tools))}
	for _, t := range req.Tools {
		sc.tools[t.Name] = true
	}
	calls := map[string]providers.Call{}
	for _, m := range req.Messages {
		switch m.Role {
		case providers.RoleUser:
			if strings.HasPrefix(m.Content, "[context:") { // what a tool added, not what a person wrote
				continue
			}
			sc.author, sc.text = "", m.Content
			sc.iteration, sc.results = 0, nil
		case providers.RoleAssistant:
			if len(m.Calls) > 0 {
				sc.iteration++
			}
			for _, c := range m.Calls {
				calls[c.Key] = c
			}
		case providers.RoleTool:
			sc.results = append(sc.results, readResult(m, calls[m.CallKey].Name))
		case providers.RoleSystem, providers.RoleNote:
		}
	}
	sc.author, sc.text = splitAuthor(withoutRemarks(sc.text))
	return sc
}

// withoutRemarks drops the lines in square brackets below a message: what the bot remarks about it (attachments, that it
// waited) is no directive.
func withoutRemarks(text string) string {
	for {
		text = strings.TrimRight(text, " \t\r\n")
		i := strings.LastIndexByte(text, '\n')
		if i < 0 || text[i+1] != '[' || !strings.HasSuffix(text, "]") {
			return text
		}
		text = text[:i]
	}
}

// plan decides what to do in this round trip.
func plan(sc scene) []act {
	if isHelp(sc.text) {
		return []act{say{Help()}}
	}
	if steps, ok := parse(sc.text); ok {
		if sc.iteration < len(steps) && len(steps[sc.iteration]) > 0 {
			return steps[sc.iteration]
		}
		return []act{say{reportResults(sc.results)}}
	}
	return everyday(sc)
}
