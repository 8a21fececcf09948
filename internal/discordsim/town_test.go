package discordsim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/discordspec"
)

// town is a small world with one guild, two people and a running server, validated against Discord's description.
type town struct {
	server  *discordsim.Server
	world   *discordsim.World
	client  *http.Client
	guild   discordsim.ID
	general discordsim.ID
	// ana is an ordinary member, olga owns the guild.
	ana, olga *discordsim.Person
}

func newTown(t *testing.T, cfg discordsim.Config) *town {
	t.Helper()
	if cfg.Validator == nil {
		cfg.Validator = discordspec.New(t)
	}
	s := discordsim.New(cfg)
	must(t, s.Start())
	t.Cleanup(s.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w := s.World()
	tw := &town{server: s, world: w, client: &http.Client{Transport: transport}, ana: w.Person("ana"), olga: w.Person("olga")}
	tw.guild = w.AddGuild(discordsim.GuildSpec{Name: "Town", Owner: "olga"})
	tw.general = tw.channel(t, "general")
	must(t, w.Join(tw.guild, tw.ana.ID))
	return tw
}

func (tw *town) channel(t *testing.T, name string, overwrites ...discordsim.Overwrite) discordsim.ID {
	t.Helper()
	id, err := tw.world.AddChannel(tw.guild, discordsim.ChannelSpec{Name: name, Overwrites: overwrites})
	must(t, err)
	return id
}

func (tw *town) say(t *testing.T, p *discordsim.Person, text string) discordsim.ID {
	t.Helper()
	id, err := p.Say(tw.general, text)
	must(t, err)
	return id
}

// reply is a REST answer.
type reply struct {
	status int
	header http.Header
	text   []byte
}

// into decodes the answer.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.text, v); err != nil {
		t.Fatalf("decoding %s: %v", r.text, err)
	}
}

// code is the error code of the answer.
func (r reply) code(t *testing.T) int {
	t.Helper()
	var e struct{ Code int }
	r.into(t, &e)
	return e.Code
}

// try makes a REST request as the bot; body is JSON text.
func (tw *town) try(t *testing.T, method, path, body string) (reply, error) {
	t.Helper()
	return tw.request(t, method, path, "application/json", bytes.NewReader([]byte(body)), "Bot "+tw.world.Token())
}

func (tw *town) do(t *testing.T, method, path, body string) reply {
	t.Helper()
	r, err := tw.try(t, method, path, body)
	must(t, err)
	return r
}

func (tw *town) request(t *testing.T, method, path, kind string, body io.Reader, auth string) (reply, error) {
	t.Helper()
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/v9" + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, tw.server.URL()+path, body)
	must(t, err)
	if req.ContentLength != 0 {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Authorization", auth)
	res, err := tw.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, text}, err
}

// frame is a gateway frame.
type frame struct {
	Op   int             `json:"op"`
	Type string          `json:"t"`
	Seq  int64           `json:"s"`
	Data json.RawMessage `json:"d"`
}

// gateway is a raw gateway client.
type gateway struct {
	t  *testing.T
	ws *websocket.Conn
}

// allIntents is every intent that the simulator filters by.
const allIntents = 1<<16 - 1

// dial connects and takes the hello.
func (tw *town) dial(t *testing.T) *gateway {
	t.Helper()
	var address struct{ URL string }
	tw.do(t, "GET", "/gateway", "").into(t, &address)
	ws, res, err := websocket.DefaultDialer.DialContext(t.Context(), address.URL+"/?v=9&encoding=json", nil)
	must(t, err)
	res.Body.Close()
	t.Cleanup(func() { ws.Close() })
	g := &gateway{t, ws}
	if f := g.next(); f.Op != 10 {
		t.Fatalf("first frame has op %d, want 10 (hello)", f.Op)
	}
	return g
}

// open connects and identifies, and takes READY and the guild. It returns the session's id.
func (tw *town) open(t *testing.T, intents int) (*gateway, string) {
	t.Helper()
	g := tw.dial(t)
	g.identify(tw.world.Token(), intents)
	var ready struct {
		SessionID string `json:"session_id"`
	}
	must(t, json.Unmarshal(g.expect("READY").Data, &ready))
	if intents&1 != 0 {
		g.expect("GUILD_CREATE")
	}
	return g, ready.SessionID
}

func (g *gateway) send(op int, data any) {
	g.t.Helper()
	must(g.t, g.ws.WriteJSON(map[string]any{"op": op, "d": data}))
}

func (g *gateway) identify(token string, intents int) {
	g.t.Helper()
	g.send(2, map[string]any{"token": token, "intents": intents, "properties": map[string]string{"os": "linux"}})
}

func (g *gateway) resume(token, session string, seq int64) {
	g.t.Helper()
	g.send(6, map[string]any{"token": token, "session_id": session, "seq": seq})
}

func (g *gateway) read() (frame, error) {
	_ = g.ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	var f frame
	err := g.ws.ReadJSON(&f)
	return f, err
}

func (g *gateway) next() frame {
	g.t.Helper()
	f, err := g.read()
	must(g.t, err)
	return f
}

// expect takes the next frame, which must be that event.
func (g *gateway) expect(name string) frame {
	g.t.Helper()
	f := g.next()
	if f.Type != name {
		g.t.Fatalf("got op %d event %q, want %q: %s", f.Op, f.Type, name, f.Data)
	}
	return f
}

// closed reads until the connection ends and returns the close code; 1006 for a cut.
func (g *gateway) closed() int {
	for {
		if _, err := g.read(); err != nil {
			if e, ok := errors.AsType[*websocket.CloseError](err); ok {
				return e.Code
			}
			return 1006
		}
	}
}

// leave closes as a client does.
func (g *gateway) leave(code int) {
	g.t.Helper()
	must(g.t, g.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, "")))
	g.ws.Close()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
