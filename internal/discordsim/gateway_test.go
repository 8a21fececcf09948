package discordsim_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/parleybot/parley/internal/discordsim"
)

func TestReadyAndGuildCreate(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g := tw.dial(t)
	g.identify(tw.world.Token(), allIntents)
	first := g.expect("READY")
	var ready struct {
		V                int
		User             struct{ ID, Username string }
		SessionID        string `json:"session_id"`
		ResumeGatewayURL string `json:"resume_gateway_url"`
		Guilds           []struct {
			ID          string
			Unavailable bool
		}
		Application struct{ ID string }
	}
	must(t, json.Unmarshal(first.Data, &ready))
	if ready.V != 9 || ready.User.Username != "Parley" || ready.SessionID == "" || ready.ResumeGatewayURL == "" ||
		len(ready.Guilds) != 1 || !ready.Guilds[0].Unavailable || ready.Application.ID != string(tw.world.Bot()) {
		t.Errorf("READY: %s", first.Data)
	}
	second := g.expect("GUILD_CREATE")
	var guild struct {
		Name     string
		Channels []struct{ Name string }
		Members  []struct{ User struct{ Username string } }
	}
	must(t, json.Unmarshal(second.Data, &guild))
	if guild.Name != "Town" || len(guild.Channels) != 1 || len(guild.Members) != 3 {
		t.Errorf("GUILD_CREATE: %s", second.Data)
	}
	if first.Seq != 1 || second.Seq != 2 {
		t.Errorf("sequence numbers %d, %d; want 1, 2", first.Seq, second.Seq)
	}
}

func TestIdentifyRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		token   string
		intents int
		code    int
	}{
		{"wrong token", "nonsense", 1, 4004},
		{"unknown intent bits", "", 1 << 30, 4013},
		{"privileged intent that is off", "", 1 | 1<<15, 4014},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{Bot: discordsim.BotConfig{IntentsOff: discordsim.IntentMessageContent}})
			g := tw.dial(t)
			if tt.token == "" {
				tt.token = tw.world.Token()
			}
			g.identify(tt.token, tt.intents)
			if code := g.closed(); code != tt.code {
				t.Errorf("closed with %d, want %d", code, tt.code)
			}
		})
	}
}

func TestBadFramesAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		send func(*gateway)
		code int
	}{
		{"unknown opcode", func(g *gateway) { g.send(99, nil) }, 4001},
		{"no JSON", func(g *gateway) { must(g.t, g.ws.WriteMessage(1, []byte("{"))) }, 4002},
		{"presence before identify", func(g *gateway) { g.send(3, map[string]any{}) }, 4003},
		{"too many frames", func(g *gateway) {
			for range 121 {
				g.send(1, nil)
			}
		}, 4008},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newTown(t, discordsim.Config{}).dial(t)
			tt.send(g)
			if code := g.closed(); code != tt.code {
				t.Errorf("closed with %d, want %d", code, tt.code)
			}
		})
	}
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	g.send(1, 2)
	if f := g.next(); f.Op != 11 {
		t.Errorf("heartbeat answered with op %d, want 11", f.Op)
	}
	if n := tw.world.RequestHeartbeat(); n != 1 {
		t.Errorf("asked %d connections for a heartbeat, want 1", n)
	}
	if f := g.next(); f.Op != 1 {
		t.Errorf("got op %d, want a heartbeat request", f.Op)
	}
}

func TestResumeReplaysWhatWasMissed(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, session := tw.open(t, allIntents)
	tw.say(t, tw.ana, "seen")
	seen := g.expect("MESSAGE_CREATE").Seq
	if n := tw.world.Drop(); n != 1 {
		t.Fatalf("dropped %d connections, want 1", n)
	}
	if code := g.closed(); code != 1006 {
		t.Errorf("a drop closed with %d, want no close frame", code)
	}
	tw.say(t, tw.ana, "missed")

	again := tw.dial(t)
	again.resume(tw.world.Token(), session, seen)
	var m struct{ Content string }
	replayed := again.expect("MESSAGE_CREATE")
	must(t, json.Unmarshal(replayed.Data, &m))
	if m.Content != "missed" || replayed.Seq != seen+1 {
		t.Errorf("replayed %q with sequence %d, want missed with %d", m.Content, replayed.Seq, seen+1)
	}
	if f := again.expect("RESUMED"); f.Seq != seen+2 {
		t.Errorf("RESUMED has sequence %d, want %d", f.Seq, seen+2)
	}
	tw.say(t, tw.ana, "live")
	again.expect("MESSAGE_CREATE")
}

func TestResumeRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(*town, *gateway)
		seq  int64
		op   int // 9, or 0 for a close
		code int
	}{
		{"client said goodbye with 1000", func(_ *town, g *gateway) { g.leave(1000) }, 2, 9, 0},
		{"client said goodbye with 1001", func(_ *town, g *gateway) { g.leave(1001) }, 2, 9, 0},
		{"server ended the session", func(tw *town, g *gateway) { tw.world.CloseGateway(4009, ""); g.closed() }, 2, 9, 0},
		{"sequence from the future", func(tw *town, g *gateway) { tw.world.Drop(); g.closed() }, 99, 0, 4007},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{})
			g, session := tw.open(t, allIntents)
			tt.end(tw, g)
			gone := func(v discordsim.View) bool {
				return slices.ContainsFunc(v.Entries(0), func(e discordsim.Entry) bool {
					_, ok := e.Event.(discordsim.GatewayClosed)
					return ok
				})
			}
			must(t, tw.world.Wait(t.Context(), gone))
			again := tw.dial(t)
			again.resume(tw.world.Token(), session, tt.seq)
			if tt.op == 0 {
				if code := again.closed(); code != tt.code {
					t.Errorf("closed with %d, want %d", code, tt.code)
				}
				return
			}
			if f := again.next(); f.Op != tt.op || string(f.Data) != "false" {
				t.Errorf("got op %d %s, want 9 false", f.Op, f.Data)
			}
			// The connection takes an identify instead.
			again.identify(tw.world.Token(), 1)
			again.expect("READY")
		})
	}
}

func TestClientCloseThatKeepsTheSession(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, session := tw.open(t, allIntents)
	g.leave(4000)
	again := tw.dial(t)
	again.resume(tw.world.Token(), session, 2)
	again.expect("RESUMED")
}

func TestServerAsksToReconnect(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, session := tw.open(t, allIntents)
	tw.world.Reconnect()
	if f := g.next(); f.Op != 7 {
		t.Fatalf("got op %d, want 7", f.Op)
	}
	g.leave(1012)
	again := tw.dial(t)
	again.resume(tw.world.Token(), session, 2)
	again.expect("RESUMED")
}

func TestInvalidSession(t *testing.T) {
	t.Parallel()
	for _, resumable := range []bool{true, false} {
		tw := newTown(t, discordsim.Config{})
		g, session := tw.open(t, allIntents)
		tw.world.InvalidSession(resumable)
		if f := g.next(); f.Op != 9 || string(f.Data) != map[bool]string{true: "true", false: "false"}[resumable] {
			t.Fatalf("got op %d %s, want 9 %t", f.Op, f.Data, resumable)
		}
		g.resume(tw.world.Token(), session, 2)
		f := g.next()
		if resumed := f.Type == "RESUMED"; resumed != resumable {
			t.Errorf("resumable %t: a resume got op %d %s", resumable, f.Op, f.Type)
		}
	}
}

func TestCloseCodesReachTheClient(t *testing.T) {
	t.Parallel()
	for _, code := range []int{1000, 4000, 4004, 4010, 4013, 4014} {
		tw := newTown(t, discordsim.Config{})
		g, _ := tw.open(t, allIntents)
		tw.world.CloseGateway(code, "because")
		if got := g.closed(); got != code {
			t.Errorf("closed with %d, want %d", got, code)
		}
	}
}

func TestSilenceIsAZombie(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, session := tw.open(t, allIntents)
	tw.world.Silence()
	g.send(1, 2)
	tw.say(t, tw.ana, "unheard")
	// A second connection takes the session over and gets what the zombie did not.
	again := tw.dial(t)
	again.resume(tw.world.Token(), session, 2)
	again.expect("MESSAGE_CREATE")
	again.expect("RESUMED")
	if f, err := g.read(); err == nil {
		t.Errorf("the zombie got op %d %s", f.Op, f.Type)
	}
}

func TestIntentsFilter(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	// Reactions in guilds, and nothing else.
	g, _ := tw.open(t, 1<<10)
	id := tw.say(t, tw.ana, "hello")
	must(t, tw.ana.Type(tw.general))
	must(t, tw.ana.React(id, "👍"))
	_, err := tw.ana.Say(tw.ana.DM(), "direct")
	must(t, err)
	must(t, tw.ana.Unreact(id, "👍"))
	g.expect("MESSAGE_REACTION_ADD")
	g.expect("MESSAGE_REACTION_REMOVE")
}

func TestContentWithheld(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	with, _ := tw.open(t, 1<<9|1<<12|1<<15)
	without, _ := tw.open(t, 1<<9|1<<12)
	content := func(g *gateway) string {
		var m struct {
			Content     string
			Attachments []struct{ Filename string }
		}
		must(t, json.Unmarshal(g.expect("MESSAGE_CREATE").Data, &m))
		for _, a := range m.Attachments {
			m.Content += "+" + a.Filename
		}
		return m.Content
	}
	file := discordsim.File{Name: "a.txt", Data: []byte("x")}
	mention := "hey <@" + string(tw.world.Bot()) + ">"
	tests := []struct {
		name string
		say  func() error
		want [2]string
	}{
		{"plain", func() error { _, err := tw.ana.Attach(tw.general, "secret", file); return err }, [2]string{"secret+a.txt", ""}},
		{"mention", func() error { _, err := tw.ana.Say(tw.general, mention); return err }, [2]string{mention, mention}},
		{"direct", func() error { _, err := tw.ana.Say(tw.ana.DM(), "hi"); return err }, [2]string{"hi", "hi"}},
		{"own", func() error {
			_, err := tw.try(t, "POST", "/channels/"+string(tw.general)+"/messages", `{"content":"mine"}`)
			return err
		}, [2]string{"mine", "mine"}},
	}
	for _, tt := range tests {
		must(t, tt.say())
		if got := [2]string{content(with), content(without)}; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	id := tw.say(t, tw.ana, "once")
	if !tw.world.Redeliver(id) || tw.world.Redeliver("1") {
		t.Error("Redeliver does not know its messages")
	}
	a, b := g.expect("MESSAGE_CREATE"), g.expect("MESSAGE_CREATE")
	if string(a.Data) != string(b.Data) || a.Seq == b.Seq {
		t.Errorf("redelivered %s as %s", a.Data, b.Data)
	}
}

func TestSessionStartsRunOut(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.world.SetSessionStarts(discordsim.SessionStarts{Total: 1000, Remaining: 1})
	tw.open(t, 1)
	g := tw.dial(t)
	g.identify(tw.world.Token(), 1)
	if code := g.closed(); code != 4004 {
		t.Errorf("closed with %d, want 4004", code)
	}
	if r := tw.do(t, "GET", "/users/@me", ""); r.status != 401 {
		t.Errorf("the token still works: %d", r.status)
	}
}

func TestGreetings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		greeting discordsim.Greeting
		want     func(*gateway) bool
	}{
		{"close", discordsim.Greeting{Kind: discordsim.GreetClose, Code: 4000}, func(g *gateway) bool { return g.closed() == 4000 }},
		{"op 7", discordsim.Greeting{Kind: discordsim.GreetReconnect}, func(g *gateway) bool { return g.next().Op == 7 }},
		{"op 9", discordsim.Greeting{Kind: discordsim.GreetInvalidSession}, func(g *gateway) bool { return g.next().Op == 9 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{})
			tt.greeting.Times = 2
			tw.world.Greet(tt.greeting)
			for range 2 {
				g := tw.dial(t)
				g.identify(tw.world.Token(), 1)
				if !tt.want(g) {
					t.Error("the start was not spoiled")
				}
			}
			tw.open(t, 1)
		})
	}
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		tw := newTown(t, discordsim.Config{})
		tw.world.Greet(discordsim.Greeting{Kind: discordsim.GreetCut})
		ws, res, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+tw.server.URL()[len("http"):]+"/gateway", nil)
		if err == nil { // The cut may already meet the upgrade.
			defer ws.Close()
			defer res.Body.Close()
			if _, _, err = ws.ReadMessage(); err == nil {
				t.Error("got a frame")
			}
		}
		tw.open(t, 1)
	})
}

func TestUnfurlIsNoEdit(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	id := tw.say(t, tw.ana, "https://example.com")
	g.expect("MESSAGE_CREATE")
	if !tw.world.Unfurl(id, "Example") {
		t.Fatal("no such message")
	}
	var m struct {
		Embeds          []struct{ Title string }
		EditedTimestamp *string `json:"edited_timestamp"`
	}
	must(t, json.Unmarshal(g.expect("MESSAGE_UPDATE").Data, &m))
	if len(m.Embeds) != 1 || m.Embeds[0].Title != "Example" || m.EditedTimestamp != nil {
		t.Errorf("update: %+v", m)
	}
	tw.do(t, "GET", tw.messages()+"/"+string(id), "")
}

func TestRawEventsAndATokenReset(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	tw.world.SendEvent("MESSAGE_CREATE", []byte(`{"components":[{"type":99}]}`))
	if f := g.expect("MESSAGE_CREATE"); f.Seq != 3 || string(f.Data) != `{"components":[{"type":99}]}` {
		t.Errorf("raw event: %d %s", f.Seq, f.Data)
	}
	tw.world.RefuseToken()
	again := tw.dial(t)
	again.identify(tw.world.Token(), 1)
	if code := again.closed(); code != 4004 {
		t.Errorf("closed with %d, want 4004", code)
	}
}

func TestShards(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	guilds := 0
	for shard := range 2 {
		g := tw.dial(t)
		g.send(2, map[string]any{"token": tw.world.Token(), "intents": 1, "shard": []int{shard, 2}})
		var ready struct{ Guilds []struct{ ID string } }
		must(t, json.Unmarshal(g.expect("READY").Data, &ready))
		guilds += len(ready.Guilds)
	}
	if guilds != 1 {
		t.Errorf("the guild is on %d shards, want 1", guilds)
	}
	g := tw.dial(t)
	g.send(2, map[string]any{"token": tw.world.Token(), "intents": 1, "shard": []int{2, 2}})
	if code := g.closed(); code != 4010 {
		t.Errorf("closed with %d, want 4010", code)
	}
}
