package app_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/store/storetest"
	"github.com/parleybot/parley/turn"
)

// TestRoundTrips holds every turn on a warm channel to what it may ask of the servers, request by request: 4 of Postgres and
// 2 of Redis, and 2 more of Postgres for each tool call, beside what the tool itself wants to know.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	environ, database, cache := behind(t)
	toDatabase := asking(database, func() wire { return &postgresWire{statements: map[string]string{}} })
	toCache := asking(cache, func() wire { return &redisWire{} })
	h := newHome(t)
	// Limits on costs are checked in every turn, and ask for nothing that was read before.
	a := h.open(t, append(environ, "DAILY_COST_LIMIT_USD=5", "DAILY_COST_LIMIT_GUILD_USD=5")...)
	run(t, a)
	begun := time.Now()
	h.ask(t, "say warm") // what is set for guild, channel and member is read
	h.must(t, "warm")
	app.Idle(t, a)

	plain := []string{"BeginTurn", "FinishTurn", "FindMemories", "ShortTermOf"}
	tool := slices.Concat(plain, []string{"OpenCall", "CloseCall"})
	fleeting := []string{"claim", "windows"}
	here := turn.Place{
		GuildID: string(h.guild), ChannelID: string(h.channel), Actor: turn.Actor{ID: string(h.ada.ID), ManageGuild: true},
	}
	again := 0
	for _, test := range []struct {
		name, ask       string
		deliberate      bool
		database, cache []string
	}{
		{"a plain turn", "say", false, plain, fleeting},
		{"a turn with a tool call", "call read_notes {}; then; say", false, tool, fleeting},
		{"a turn with two", "call read_notes {}; then; call read_notes {}; then; say", false, slices.Concat(tool, []string{"OpenCall", "CloseCall"}), fleeting},
		{"a turn that recalls", "call recall_memory {}; then; say", false, slices.Concat(tool, []string{"FindMemories"}), fleeting},
		// The tool stays offered for some turns, which is written once.
		{"a look at the board in deliberate mode", "call read_notes {}; then; say", true, tool, slices.Concat(fleeting, []string{"windows"})},
	} {
		mode := turn.DeliberateOff
		if test.deliberate {
			mode = turn.DeliberateOn
		}
		if err := app.Manager(a).SetGuildDeliberate(t.Context(), here, mode); err != nil {
			t.Fatal(err)
		}
		for n := range 3 { // a member has 20 turns a minute
			toDatabase.take()
			toCache.take()
			answer := fmt.Sprintf("%s number %d", test.name, n)
			h.ask(t, test.ask+" "+answer)
			h.must(t, answer)
			app.Idle(t, a)
			// Settings, and what others have spent, are read again when a minute has passed, for no turn in particular.
			asked := slices.DeleteFunc(toDatabase.take(), func(name string) bool {
				if name == "SettingsOf" || name == "UsageOf" {
					again++
				}
				return name == "SettingsOf" || name == "UsageOf"
			})
			if diff := cmp.Diff(sorted(test.database), asked); diff != "" {
				t.Errorf("%s asks of Postgres (-want +got):\n%s", answer, diff)
			}
			if diff := cmp.Diff(sorted(test.cache), toCache.take()); diff != "" {
				t.Errorf("%s asks of Redis (-want +got):\n%s", answer, diff)
			}
		}
	}
	// One that waits is put in line, and its turn takes it out as it begins.
	toDatabase.take()
	h.ask(t, "slow 300ms; say first")
	h.ask(t, "say second")
	h.must(t, "second")
	app.Idle(t, a)
	asked := slices.DeleteFunc(toDatabase.take(), func(name string) bool { return name == "SettingsOf" || name == "UsageOf" })
	if diff := cmp.Diff(sorted(slices.Concat(plain, plain, []string{"PutWaiting"})), asked); diff != "" {
		t.Errorf("a message that waits asks of Postgres (-want +got):\n%s", diff)
	}
	if minutes := int(time.Since(begun) / time.Minute); again > 5*minutes {
		t.Errorf("settings and the ledger were read %d times, want 5 at most in each further minute", again)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// asked notes the names of a server's requests. It is safe for concurrent use.
type asked struct {
	mu    sync.Mutex
	conns map[int]wire
	names []string
}

// wire reads what a client sends over one connection, in pieces, and returns the names of the requests that are whole.
type wire interface{ read(piece []byte) []string }

// asking watches a proxy from now on.
func asking(p *storetest.Proxy, open func() wire) *asked {
	a := &asked{conns: map[int]wire{}}
	p.Watch(func(conn int, piece []byte) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.conns[conn] == nil {
			a.conns[conn] = open()
		}
		a.names = append(a.names, a.conns[conn].read(piece)...)
	})
	return a
}

// take returns what was asked since the last take, sorted: a turn asks for some of it at once.
func (a *asked) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := a.names
	a.names = nil
	return sorted(names)
}

// postgresWire is PostgreSQL's protocol. A request is what ends in a Sync and executes something, or a simple query. That a
// connection learns a statement, once, is none, nor is the pool's question whether one that lay unused still lives.
type postgresWire struct {
	rest       []byte
	begun      bool
	statements map[string]string // names by the names they were prepared under
	bound      []string
}

// askForTLS is a first message that is followed by another.
const askForTLS = 80877103

func (w *postgresWire) read(piece []byte) (names []string) {
	for w.rest = append(w.rest, piece...); ; {
		head := 1 // a letter says what it is, but for the first message
		if !w.begun {
			head = 0
		}
		if len(w.rest) < head+4 {
			return names
		}
		size := head + int(binary.BigEndian.Uint32(w.rest[head:]))
		if len(w.rest) < size {
			return names
		}
		body := w.rest[head+4 : size]
		switch {
		case !w.begun:
			w.begun = len(body) < 4 || binary.BigEndian.Uint32(body) != askForTLS
		case w.rest[0] == 'P':
			name, rest, _ := bytes.Cut(body, []byte{0})
			text, _, _ := bytes.Cut(rest, []byte{0})
			w.statements[string(name)] = statement(string(text))
		case w.rest[0] == 'B':
			_, rest, _ := bytes.Cut(body, []byte{0})
			name, _, _ := bytes.Cut(rest, []byte{0})
			w.bound = append(w.bound, w.statements[string(name)])
		case w.rest[0] == 'Q':
			if text := strings.TrimRight(string(body), "\x00"); text != "-- ping" {
				names = append(names, statement(text))
			}
		case w.rest[0] == 'S' && len(w.bound) > 0:
			names = append(names, strings.Join(w.bound, " and "))
			w.bound = nil
		}
		w.rest = w.rest[size:]
	}
}

// statement is the name of a generated query, or what a handwritten one is about.
func statement(text string) string {
	if rest, generated := strings.CutPrefix(text, "-- name: "); generated {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	for about, name := range map[string]string{"memories": "FindMemories", "usage_ledger": "UsageOf"} {
		if strings.Contains(text, about) {
			return name
		}
	}
	return text
}

// redisWire is Redis' protocol. A request is a script, named by its first key, or another command. What a connection sends
// to come about, that it still lives, what it hears of kills and the pace of requests to Discord belong to no turn.
type redisWire struct{ rest []byte }

func (w *redisWire) read(piece []byte) (names []string) {
	for w.rest = append(w.rest, piece...); ; {
		parts, size := command(w.rest)
		if size == 0 {
			return names
		}
		w.rest = w.rest[size:]
		name := strings.ToLower(parts[0])
		if strings.HasPrefix(name, "eval") && len(parts) > 3 {
			_, name, _ = strings.Cut(parts[3], ":") // after the prefix
			name, _, _ = strings.Cut(name, ":")
		}
		if !slices.Contains([]string{"hello", "client", "select", "ping", "time", "xread", "requests"}, name) {
			names = append(names, name)
		}
	}
}

// command reads one command off the front; size is 0 while it is not whole.
func command(data []byte) (parts []string, size int) {
	number := func(sign byte) (int, bool) {
		line, _, whole := bytes.Cut(data[size:], []byte("\r\n"))
		if !whole || len(line) == 0 || line[0] != sign {
			return 0, false
		}
		size += len(line) + 2
		n, err := strconv.Atoi(string(line[1:]))
		return n, err == nil
	}
	count, ok := number('*')
	for ; ok && count > 0; count-- {
		var length int
		if length, ok = number('$'); !ok || size+length+2 > len(data) {
			return nil, 0
		}
		parts = append(parts, string(data[size:size+length]))
		size += length + 2
	}
	if !ok || len(parts) == 0 {
		return nil, 0
	}
	return parts, size
}
