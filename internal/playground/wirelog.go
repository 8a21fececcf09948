package playground

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleybot/parley/internal/discordsim"
)

// What the log of Discord requests keeps.
const (
	wireKept     = 200
	wireBodyKept = 2 << 10
)

// wireLine is one thing that passed between the bot and Discord: a REST request with its answer, or a word about the
// gateway connection.
type wireLine struct {
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
	// Gateway is set for what is no request.
	Gateway string `json:"gateway,omitempty"`
	Method  string `json:"method,omitempty"`
	Route   string `json:"route,omitempty"`
	Path    string `json:"path,omitempty"`
	// Channel is where it belongs, when that can be told.
	Channel  discordsim.ID `json:"channel,omitempty"`
	Status   int           `json:"status,omitempty"`
	TookMS   float64       `json:"took_ms,omitempty"`
	Body     string        `json:"body,omitempty"`
	Response string        `json:"response,omitempty"`
	Files    []string      `json:"files,omitempty"`
	// Fault: an injected fault or a rate limit made the answer. Violation is what was wrong with the request.
	Fault     bool   `json:"fault,omitempty"`
	Violation string `json:"violation,omitempty"`
}

var (
	channelInPath     = regexp.MustCompile(`^/channels/(\d+)`)
	interactionInPath = regexp.MustCompile(`^/interactions/(\d+)/`)
)

// wireOf makes a line of the log of a line of the world's journal. ok is false for what is not between bot and Discord.
func wireOf(v discordsim.View, e discordsim.Entry) (l wireLine, ok bool) {
	l = wireLine{Seq: e.Seq, At: e.At}
	switch e := e.Event.(type) {
	case discordsim.RequestServed:
		r := e.Request
		l.Method, l.Route, l.Path, l.Status, l.Files = r.Method, r.Route, r.Path, r.Status, r.Files
		l.TookMS = float64(r.Took.Microseconds()) / 1000
		l.Body, l.Response = bodyShown(r.Body), bodyShown(r.Response)
		l.Fault, l.Violation = r.Fault, r.Violation
		if m := channelInPath.FindStringSubmatch(r.Path); m != nil {
			l.Channel = discordsim.ID(m[1])
		} else if m := interactionInPath.FindStringSubmatch(r.Path); m != nil {
			i, _ := v.Interaction(discordsim.ID(m[1]))
			l.Channel = i.Channel
		}
	case discordsim.GatewayOpened:
		l.Gateway = "connection opened"
	case discordsim.GatewayIdentified:
		l.Gateway = "identified: a new session"
	case discordsim.GatewayResumed:
		l.Gateway = fmt.Sprintf("resumed: the same session, %d events sent again", e.Replayed)
	case discordsim.GatewayRefused:
		l.Gateway = "refused: " + e.Reason
	case discordsim.GatewayClosed:
		l.Gateway = fmt.Sprintf("connection closed by the bot (%d)", e.Code)
		if e.ByServer {
			l.Gateway = fmt.Sprintf("connection cut by Discord (%d)", e.Code)
		}
	default:
		return l, false
	}
	return l, true
}

// bodyShown is as much of a body as the log keeps.
func bodyShown(body []byte) string {
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	if len(text) <= wireBodyKept {
		return text
	}
	end := wireBodyKept
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:end], len(text)-end)
}

// noteOfWire tells pages of a line.
func noteOfWire(l wireLine) note { return note{kind: noteWire, data: encode(l)} }
