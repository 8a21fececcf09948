package bot

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/discordsim"
)

func TestMessagesReachTurnsInOrder(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	stop := tw.start(t)
	mention := "<@" + string(tw.world.Bot()) + ">"
	must(t, tw.world.SetNick(tw.guild, tw.ana.ID, "Ana\x00 B."))
	id := try(tw.ana.Say(tw.general, mention+" hello"))
	in := tw.turns.inbound(t, mention+" hello")
	if in.MessageID != string(id) || in.ChannelID != string(tw.general) || in.GuildID != string(tw.guild) || in.Private ||
		!in.MentionsBot || in.MentionsEveryone || !in.CanReply || in.Author.Name != "Ana B." || in.Author.ID != string(tw.ana.ID) {
		t.Errorf("inbound %+v", in)
	}
	// B88: a redelivery is handed on; the turns' claim drops it.
	if !tw.world.Redeliver(id) {
		t.Fatal("nothing to redeliver")
	}
	must(t, tw.ana.Edit(id, mention+" hello again"))
	tw.turns.wait(t, "the edit", func() bool { return len(tw.turns.edits) == 1 })
	must(t, tw.ana.Delete(id))
	tw.turns.wait(t, "the deletion", func() bool { return len(tw.turns.deleted) == 1 && tw.turns.deleted[0] == string(id) })

	dm := try(tw.ana.Say(tw.ana.DM(), "psst"))
	if in := tw.turns.inbound(t, "psst"); !in.Private || in.MessageID != string(dm) || !in.CanReply || in.MentionsBot {
		t.Errorf("private inbound %+v", in)
	}
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	n := 0
	for _, in := range tw.turns.inbounds {
		if in.MessageID == string(id) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("the redelivered message came %d times", n)
	}
	tw.world.Look(func(v discordsim.View) {
		if v.Connected() {
			t.Error("still connected after Run")
		}
	})
}

func TestUnfurlsSystemMessagesAndUnknownComponents(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	ch := string(tw.general)
	tw.world.SendEvent("MESSAGE_UPDATE", []byte(`{"id":"5","channel_id":"`+ch+`","content":"unfurled","embeds":[{}]}`))
	tw.world.SendEvent("MESSAGE_CREATE", []byte(`{"id":"6","channel_id":"`+ch+`","type":7,"content":"joined","author":{"id":"9","username":"x"}}`))
	tw.world.SendEvent("MESSAGE_CREATE", []byte(`{"id":"7","channel_id":"`+ch+`","type":0,"content":"no author"}`))
	tw.world.SendEvent("MESSAGE_CREATE", []byte(`{"id":7,"channel_id":"`+ch+`"}`))
	tw.world.SendEvent("MESSAGE_CREATE", []byte(`{"id":"8","channel_id":"`+ch+`","type":0,"content":"a\u0000b","author":{"id":"9","username":"x"},"components":[{"type":99}],"timestamp":"2026-01-02T03:04:05+00:00"}`))
	in := tw.turns.inbound(t, "ab")
	if in.MessageID != "8" || in.SentAt.Year() != 2026 {
		t.Errorf("inbound %+v", in)
	}
	tw.turns.mu.Lock()
	defer tw.turns.mu.Unlock()
	if len(tw.turns.inbounds) != 2 || len(tw.turns.edits) != 0 {
		t.Errorf("inbounds %+v, edits %v", tw.turns.inbounds, tw.turns.edits)
	}
}

func TestReconnectsAndReadsWhatItMissed(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*discordsim.World) int{
		"dropped":         (*discordsim.World).Drop,
		"op 7":            (*discordsim.World).Reconnect,
		"closed 4000":     func(w *discordsim.World) int { return w.CloseGateway(4000, "unknown error") },
		"closed 4009":     func(w *discordsim.World) int { return w.CloseGateway(4009, "session timed out") },
		"invalid session": func(w *discordsim.World) int { return w.InvalidSession(false) },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{}, nil)
			stop := tw.start(t)
			try(tw.ana.Say(tw.ana.DM(), "in private"))
			tw.turns.inbound(t, "in private")
			if fault(tw.world) != 1 {
				t.Fatal("no connection")
			}
			// The library takes a second to notice, so these fall into the gap.
			try(tw.ana.Say(tw.general, "in the gap"))
			if name != "invalid session" {
				try(tw.ana.Say(tw.ana.DM(), "in the private gap"))
				tw.turns.inbound(t, "in the private gap")
			}
			in := tw.turns.inbound(t, "in the gap")
			if in.GuildID != string(tw.guild) || !in.CanReply {
				t.Errorf("inbound %+v", in)
			}
			tw.wait(t, "a new session", func(v discordsim.View) bool { return count[discordsim.GatewayIdentified](v) == 2 && v.Connected() })
			try(tw.ana.Say(tw.general, "afterwards"))
			tw.turns.inbound(t, "afterwards")
			if err := stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

func TestZombieIsNoticedAfterTwoIntervals(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{HeartbeatInterval: 50 * time.Millisecond}, nil)
	tw.start(t)
	tw.world.Silence()
	tw.wait(t, "a new session", func(v discordsim.View) bool { return count[discordsim.GatewayIdentified](v) == 2 })
	try(tw.ana.Say(tw.general, "awake?"))
	tw.turns.inbound(t, "awake?")
}

// B90: a final refusal ends Run with a remedy, and no second identify is spent.
func TestFatalCloses(t *testing.T) {
	t.Parallel()
	for _, code := range []int{4004, 4010, 4011, 4012, 4013, 4014} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{}, nil)
			tw.start(t)
			tw.world.CloseGateway(code, "no")
			wantFatal(t, tw, code)
			tw.world.Look(func(v discordsim.View) {
				if n := count[discordsim.GatewayIdentified](v); n != 1 {
					t.Errorf("%d identifies", n)
				}
			})
		})
	}
}

func TestFatalAtStart(t *testing.T) {
	t.Parallel()
	t.Run("intents not switched on", func(t *testing.T) {
		t.Parallel()
		tw := newTown(t, discordsim.Config{Bot: discordsim.BotConfig{IntentsOff: discordsim.IntentMessageContent}}, nil)
		tw.run(t)
		wantFatal(t, tw, 4014)
	})
	t.Run("token refused by REST", func(t *testing.T) {
		t.Parallel()
		tw := newTown(t, discordsim.Config{}, nil)
		tw.world.RefuseToken()
		tw.run(t)
		wantFatal(t, tw, 401)
		tw.world.Look(func(v discordsim.View) {
			if n := count[discordsim.GatewayOpened](v); n != 0 {
				t.Errorf("%d connections", n)
			}
		})
	})
	t.Run("B89 session starts below the floor", func(t *testing.T) {
		t.Parallel()
		tw := newTown(t, discordsim.Config{}, nil)
		tw.world.SetSessionStarts(discordsim.SessionStarts{Total: 1000, Remaining: 3, ResetAfter: time.Hour})
		tw.run(t)
		wantFatal(t, tw, 0)
	})
}

func wantFatal(t *testing.T, tw *town, code int) {
	t.Helper()
	select {
	case err := <-tw.ended:
		tw.ended <- err
		f, ok := errors.AsType[*FatalError](err)
		if !ok || f.Code != code || f.Remedy == "" || strings.Contains(err.Error(), tw.world.Token()) {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Run goes on")
	}
}

func TestStopsWhileDiscordIsAway(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	must(t, tw.world.Inject(discordsim.Fault{Route: "GET /gateway/bot", Kind: discordsim.FaultStatus, Status: 503, Times: 1000}))
	stop := tw.run(t)
	tw.wait(t, "a try", func(v discordsim.View) bool { return len(v.Requests("GET /gateway/bot")) > 0 })
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// scripted is a gateway that answers every identify with one frame.
func scripted(t *testing.T, answer string) (url string, identifies *atomic.Int32) {
	t.Helper()
	identifies = &atomic.Int32{}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	mux.HandleFunc("GET /api/{version}/gateway", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"url":"ws` + strings.TrimPrefix(srv.URL, "http") + `"}`))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var up websocket.Upgrader
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"op":10,"d":{"heartbeat_interval":60000}}`))
		for {
			_, m, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if strings.Contains(string(m), `"op":2`) {
				identifies.Add(1)
				if answer != "" {
					_ = ws.WriteMessage(websocket.TextMessage, []byte(answer))
				}
			}
		}
	})
	return srv.URL, identifies
}

// B92: whatever comes first, opening ends.
func TestOpenNeverHangs(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, answer string, within time.Duration) (*connection, *atomic.Int32, error) {
		url, identifies := scripted(t, answer)
		b, err := New(Config{Token: "t", APIBase: url, Log: zerolog.Nop()}, Deps{})
		must(t, err)
		t.Cleanup(b.Close)
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		c, err := b.newConnection(ctx, b.push)
		must(t, err)
		return c, identifies, c.open(ctx)
	}
	t.Run("reconnect request first", func(t *testing.T) {
		t.Parallel()
		if _, _, err := open(t, `{"op":7,"d":null}`, patience); !errors.Is(err, errOpenAborted) {
			t.Errorf("open: %v", err)
		}
	})
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		if _, _, err := open(t, "", 200*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("open: %v", err)
		}
	})
	t.Run("sessions refused without end", func(t *testing.T) {
		t.Parallel()
		c, identifies, err := open(t, `{"op":9,"d":false}`, patience)
		if err == nil {
			select {
			case <-c.gone:
				err = c.link.reason()
			case <-time.After(patience):
				t.Fatal("goes on identifying")
			}
		}
		if n := identifies.Load(); !errors.Is(err, errStorm) || n > maxBeforeReady {
			t.Errorf("%v after %d identifies", err, n)
		}
		closeCodes.remove(c)
	})
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]discordsim.Intents{"granted": 0, "not granted": discordsim.IntentMessageContent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tw := newTown(t, discordsim.Config{Bot: discordsim.BotConfig{IntentsOff: off}}, nil)
			t.Cleanup(tw.bot.Close)
			tw.world.SetSessionStarts(discordsim.SessionStarts{Total: 1000, Remaining: 7, ResetAfter: time.Hour})
			p, err := tw.bot.Probe(t.Context())
			must(t, err)
			if p.ApplicationID != string(tw.world.Bot()) || p.StartsLeft != 7 || p.StartsTotal != 1000 || p.StartsReset != time.Hour || p.MessageContent != (off == 0) {
				t.Errorf("%+v", p)
			}
			tw.world.RefuseToken()
			if _, err := tw.bot.Probe(t.Context()); fatalIn(err) == nil {
				t.Errorf("a revoked token: %v", err)
			}
		})
	}
}

func TestNoTokenInErrors(t *testing.T) {
	t.Parallel()
	const token = "very-secret"
	b, err := New(Config{Token: token, APIBase: "http://127.0.0.1:1", Log: zerolog.Nop()}, Deps{})
	must(t, err)
	t.Cleanup(b.Close)
	c, err := b.newConnection(t.Context(), b.push)
	must(t, err)
	if err := c.open(t.Context()); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("open: %v", err)
	}
}
