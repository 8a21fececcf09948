package discordsim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what a [Fault] does to a request.
type FaultKind int

const (
	// FaultDelay only delays the request, before its effect.
	FaultDelay FaultKind = iota
	// FaultStatus answers with Fault.Status and has no effect.
	FaultStatus
	// FaultReset cuts the connection and has no effect.
	FaultReset
	// FaultAnswerLost has the effect, and then cuts the connection instead of answering.
	FaultAnswerLost
)

// Fault is something that goes wrong with REST requests.
type Fault struct {
	// Route is method and template, such as "POST /channels/{channel_id}/messages"; the names in braces do not matter.
	// Empty means every route.
	Route string
	// Path, if set, limits the fault to requests whose path (after /api/vN) begins with it.
	Path string
	// After is how many matching requests pass first, Times how many are hit then; 0 means one.
	After, Times int
	Kind         FaultKind
	// Status is the HTTP status of FaultStatus.
	Status int
	// RetryAfter and Global are told with status 429.
	RetryAfter time.Duration
	Global     bool
	// Delay comes before whatever else happens.
	Delay time.Duration
}

type armedFault struct {
	Fault
	key string
}

// Inject arms a fault. Faults of one route are used up in the order they were injected.
func (w *World) Inject(f Fault) error {
	key := routeKey(f.Route)
	if f.Route != "" && !knownRoute(key) {
		return fmt.Errorf("injecting a fault: no route %q", f.Route)
	}
	if f.Kind == FaultStatus && (f.Status < 400 || f.Status > 599) {
		return fmt.Errorf("injecting a fault: status %d is no failure", f.Status)
	}
	if f.Times == 0 {
		f.Times = 1
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, &armedFault{Fault: f, key: key})
	return nil
}

// ClearFaults takes all unused faults back and says how many there were.
func (w *World) ClearFaults() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.faults)
	w.faults = nil
	return n
}

// takeFault counts a request against the armed faults and returns the one that hits it.
func (w *World) takeFault(r route, req *http.Request) *Fault {
	key, path := routeKey(r.name()), apiPath(req.URL)
	for i, f := range w.faults {
		if f.Route != "" && f.key != key || !strings.HasPrefix(path, f.Path) {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		f.Times--
		hit := f.Fault
		if f.Times <= 0 {
			w.faults = append(w.faults[:i:i], w.faults[i+1:]...)
		}
		w.record(FaultMet{Route: r.name(), Kind: hit.Kind})
		return &hit
	}
	return nil
}

// answer is what FaultStatus says.
func (f *Fault) answer() answer {
	var a answer
	switch {
	case f.Status == http.StatusTooManyRequests:
		scope := "user"
		if f.Global {
			scope = "global"
		}
		a = tooMany(f.RetryAfter, scope)
	case f.Status >= 500:
		// Discord's front answers these itself, with no JSON of the API.
		a = answer{status: f.Status}
	default:
		a = jsonAnswer(f.Status, (&apiError{message: strconv.Itoa(f.Status) + ": " + http.StatusText(f.Status)}).body())
	}
	a.fault = true
	return a
}

// routeKey is a route without its parameters' names.
func routeKey(name string) string {
	var b strings.Builder
	inside := false
	for _, r := range name {
		switch {
		case r == '{':
			inside = true
			b.WriteByte('{')
		case r == '}':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func knownRoute(key string) bool {
	for _, r := range routes {
		if routeKey(r.name()) == key {
			return true
		}
	}
	return false
}
