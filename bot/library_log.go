package bot

import (
	"errors"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"github.com/rs/zerolog"
)

// InstallLogger routes the Discord library's log lines to log, without their arguments, which hold message texts. Call it
// once, before any Bot runs: the library has a single, unguarded log function for the whole process. It is also the only
// place where the library tells with which code Discord closed a standing connection; without this call such a code is
// learned from the next attempt only.
func InstallLogger(log zerolog.Logger) {
	discordgo.Logger = func(level, _ int, format string, args ...any) {
		switch {
		case strings.HasPrefix(format, "error reading from gateway"):
			closeCodes.note(args)
		case strings.HasPrefix(format, "Closing and reconnecting in response to Op7") && insideOpen():
			// Inside Open the library holds the lock that its Close is about to take: a reconnect request as the first
			// message would block this goroutine for ever. Ending the goroutine here runs Open's deferred unlock;
			// connection.open waits for exactly that.
			runtime.Goexit()
		}
		if level <= discordgo.LogWarning {
			line, _, _ := strings.Cut(format, "\n")
			log.Debug().Int("level", level).Str("line", line).Msg("discordgo.log")
		}
	}
}

// insideOpen reports whether Session.Open is among this goroutine's callers.
func insideOpen() bool {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "discordgo.(*Session).Open") {
			return true
		}
		if !more {
			return false
		}
	}
}

// closeCodes finds the connection that a log line is about. The line names the gateway's address only, so when several
// connections of one process go to the same address, none is told: the next attempt will tell.
var closeCodes = &closeRegistry{byHost: map[string][]*connection{}}

type closeRegistry struct {
	mu     sync.Mutex
	byHost map[string][]*connection
}

func (r *closeRegistry) add(host string, c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byHost[host] = append(r.byHost[host], c)
}

func (r *closeRegistry) remove(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for host, list := range r.byHost {
		list = slices.DeleteFunc(list, func(other *connection) bool { return other == c })
		if r.byHost[host] = list; len(list) == 0 {
			delete(r.byHost, host)
		}
	}
}

// note reads the arguments of the line: the gateway's address and what ended the reading.
func (r *closeRegistry) note(args []any) {
	var host string
	code := 0
	for _, a := range args {
		switch v := a.(type) {
		case string:
			if u, err := url.Parse(v); err == nil {
				host = hostPort(u)
			}
		case error:
			if ce, ok := errors.AsType[*websocket.CloseError](v); ok {
				code = ce.Code
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.byHost[host]; len(list) == 1 && code != 0 {
		list[0].closeCode.Store(int32(code))
	}
}

// hostPort is the address that a gateway URL is dialled at.
func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "ws" {
		return u.Host + ":80"
	}
	return u.Host + ":443"
}
