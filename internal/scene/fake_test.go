package scene

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// fakeBooter starts a bot of a hundred lines, so that the runner is tested without the real one: it answers mentions with
// what the model says, tells its observer, and keeps nothing.
type fakeBooter struct{}

func (fakeBooter) Boot(_ context.Context, s Setup) (Bot, error) {
	f := &fakeBot{setup: s, ready: make(chan struct{}), done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	ws, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.DiscordAPI, "http")+"/gateway?v=10&encoding=json", nil)
	if err != nil {
		f.cancel()
		return nil, err
	}
	_ = res.Body.Close()
	go f.serve(ws)
	return f, nil
}

type fakeBot struct {
	setup  Setup
	ctx    context.Context
	cancel context.CancelFunc
	ready  chan struct{}
	done   chan struct{}
	exit   int
	turns  sync.WaitGroup
	self   string
}

func (f *fakeBot) Ready(ctx context.Context) error {
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeBot) Stop(context.Context) error {
	f.cancel()
	<-f.done
	return nil
}

func (f *fakeBot) Crash() error          { return f.Stop(context.Background()) }
func (f *fakeBot) Done() <-chan struct{} { return f.done }
func (f *fakeBot) Exit() int             { return f.exit }

func (f *fakeBot) Store(context.Context) (StoreView, error) {
	return nil, fmt.Errorf("the fake keeps nothing: %w", store.ErrUnavailable)
}

func (f *fakeBot) serve(ws *websocket.Conn) {
	defer close(f.done)
	defer f.turns.Wait()
	stop := context.AfterFunc(f.ctx, func() { _ = ws.Close() })
	defer stop()
	_ = ws.WriteJSON(map[string]any{"op": 2, "d": map[string]any{
		"token": f.setup.Env["DISCORD_TOKEN"], "intents": 1<<16 - 1, "properties": map[string]string{"os": "x"},
	}})
	for {
		var frame struct {
			Type string          `json:"t"`
			Data json.RawMessage `json:"d"`
		}
		if err := ws.ReadJSON(&frame); err != nil {
			if f.ctx.Err() == nil {
				f.exit = 1
			}
			return
		}
		switch frame.Type {
		case "READY":
			var r struct{ User struct{ ID string } }
			_ = json.Unmarshal(frame.Data, &r)
			f.self = r.User.ID
			close(f.ready)
		case "MESSAGE_CREATE":
			f.turns.Go(func() { f.hear(frame.Data) })
		}
	}
}

func (f *fakeBot) hear(data json.RawMessage) {
	var m struct {
		ID, Content string
		ChannelID   string `json:"channel_id"`
		Author      struct{ ID string }
	}
	_ = json.Unmarshal(data, &m)
	e := turn.Event{MessageID: m.ID, ChannelID: m.ChannelID, TurnID: turn.ID(m.ID), At: time.Now()}
	tell := func(kind turn.EventKind, text string, status store.TurnStatus) {
		e.Kind, e.Text, e.Status = kind, text, status
		f.setup.Observer.Observe(e)
	}
	if m.Author.ID == f.self || !strings.Contains(m.Content, "<@"+f.self+">") {
		tell(turn.EventAdmission, "ignore:not_addressed", "")
		return
	}
	tell(turn.EventAdmission, "admit:mention", "")
	tell(turn.EventStarted, "mention", "")
	status := store.TurnError
	if text, err := f.ask(m.Content); err == nil && f.post(m.ChannelID, m.ID, text) == nil {
		status = store.TurnCompleted
	}
	tell(turn.EventDone, "", status)
}

// ask asks the model and gives the text it streamed.
func (f *fakeBot) ask(prompt string) (string, error) {
	body, _ := json.Marshal(map[string]any{"stream": true, "messages": []any{map[string]string{"role": "user", "content": prompt}}})
	req, err := http.NewRequestWithContext(f.ctx, http.MethodPost, f.setup.Env["OPENAI_BASE_URL"]+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		_ = json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &chunk)
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return text.String(), nil
}

func (f *fakeBot) post(channel, replyTo, text string) error {
	body, _ := json.Marshal(map[string]any{"content": text, "message_reference": map[string]string{"message_id": replyTo}})
	req, err := http.NewRequestWithContext(f.ctx, http.MethodPost, f.setup.DiscordAPI+"/api/v10/channels/"+channel+"/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bot "+f.setup.Env["DISCORD_TOKEN"])
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
