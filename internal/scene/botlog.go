package scene

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// logKept is how many of the newest lines of the bot's log are kept, and logShown how many a failure shows.
const (
	logKept  = 2000
	logShown = 12
)

// botLog takes the bot's log, keeps its end, and reads turns out of it when the bot is a process of its own. Safe for
// concurrent use.
type botLog struct {
	woken *signal
	// turns is told what the log tells; nil when the bot has an observer.
	turns turn.Observer

	mu    sync.Mutex
	rest  []byte
	lines []string
}

// Write implements io.Writer.
func (l *botLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.rest = append(l.rest, p...)
	var whole []string
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			break
		}
		whole = append(whole, string(line))
		l.rest = slices.Clone(rest)
	}
	l.lines = append(l.lines, whole...)
	if n := len(l.lines) - logKept; n > 0 {
		l.lines = slices.Delete(l.lines, 0, n)
	}
	l.mu.Unlock()
	for _, line := range whole {
		if e, ok := eventOf(line); ok && l.turns != nil {
			l.turns.Observe(e)
		}
	}
	l.woken.happened()
	return len(p), nil
}

// contains reports whether a kept line has this text in it.
func (l *botLog) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, text) })
}

// tail are the newest lines that are warnings or worse, and whatever is no log line at all (a crash).
func (l *botLog) tail() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.lines {
		var e struct{ Level string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Level != "debug" && e.Level != "info" {
			out = append(out, line)
		}
	}
	return out[max(len(out)-logShown, 0):]
}

// eventOf reads the lines of the log that tell of turns.
func eventOf(line string) (turn.Event, bool) {
	f, err := fields(line)
	if err != nil {
		return turn.Event{}, false
	}
	e := turn.Event{
		TurnID: turn.ID(f["turn"]), ChannelID: f["channel"], GuildID: f["guild"], OwnerID: f["owner"], MessageID: f["message_id"],
	}
	switch f["message"] {
	case "turn.admission":
		e.Kind, e.Text = turn.EventAdmission, f["disposition"]+":"+f["reason"]
	case "turn.discarded":
		e.Kind, e.Text = turn.EventAdmission, "discard:"+f["reason"]
	case "turn.start":
		e.Kind, e.Text = turn.EventStarted, f["reason"]
	case "turn.end":
		e.Kind, e.Status = turn.EventDone, store.TurnStatus(f["status"])
	default:
		return turn.Event{}, false
	}
	return e, true
}

// fields are a log line's texts.
func fields(line string) (map[string]string, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(all))
	for name, value := range all {
		if text, ok := value.(string); ok {
			out[name] = text
		}
	}
	return out, nil
}
