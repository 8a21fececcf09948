package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxAsked bounds a request to the model.
const maxAsked = 8 << 20

// modelServer is the model behind a scene: a server on loopback that answers what the scene says next, in OpenAI's format
// or Anthropic's, as it is asked.
// A request that comes before its answer was written waits for it, so the two may stand in either order. Safe for
// concurrent use.
type modelServer struct {
	woken  *signal
	tape   *tape
	http   *http.Server
	addr   string
	served sync.WaitGroup
	// closing ends what is held back.
	closing context.Context //nolint:containedctx // the server's own life, ended by close
	stop    context.CancelFunc

	mu      sync.Mutex
	answers []*answer
	asked   []*asked
	paused  []chan struct{}
	closed  bool
}

// asked is one request to the model.
type asked struct {
	number int
	// text is the whole conversation as the model reads it, a message a line; last is the newest message of a person.
	text, last string
	results    []string
	tools      []string
	// answered: the scene had an answer for it. given is closed then; answer is set before.
	answered bool
	given    chan struct{}
	answer   *answer
}

func newModelServer(woken *signal, t *tape) *modelServer {
	ctx, stop := context.WithCancel(context.Background())
	return &modelServer{woken: woken, tape: t, closing: ctx, stop: stop}
}

func (m *modelServer) url() string { return "http://" + m.addr }

func (m *modelServer) start() error {
	var lc net.ListenConfig
	ln, err := lc.Listen(m.closing, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the model's server: %w", err)
	}
	m.addr = ln.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, req *http.Request) {
		m.complete(w, req, readChunksAsked, chunks{})
	})
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, req *http.Request) {
		m.complete(w, req, readBlocksAsked, &blocks{})
	})
	m.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // cut connections are part of the play
	}
	m.served.Go(func() { _ = m.http.Serve(ln) })
	return nil
}

// close cuts what is still being answered and waits for it.
func (m *modelServer) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	if m.http != nil {
		_ = m.http.Close()
	}
	m.served.Wait()
}

// enter counts a handler in, unless the server closes.
func (m *modelServer) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.served.Add(1)
	return true
}

// say puts an answer in line and hands it to the oldest request that waits for it.
func (m *modelServer) say(a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = append(m.answers, a)
	for _, r := range m.asked {
		if r.answer == nil && m.give(r) {
			return
		}
	}
}

// give finds the first answer that suits a request.
func (m *modelServer) give(r *asked) bool {
	i := slices.IndexFunc(m.answers, func(a *answer) bool { return strings.Contains(r.last, a.when) })
	if i < 0 {
		return false
	}
	r.answer, r.answered = m.answers[i], true
	m.answers = slices.Delete(m.answers, i, i+1)
	close(r.given)
	return true
}

// complete serves one request.
func (m *modelServer) complete(w http.ResponseWriter, req *http.Request, read func([]byte) (*asked, error), f format) {
	if !m.enter() {
		return
	}
	defer m.served.Done()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxAsked))
	if err != nil {
		return
	}
	r, err := read(body)
	if err != nil {
		m.tape.happened("", "model is asked something it cannot read: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	r.number = len(m.asked) + 1
	m.asked = append(m.asked, r)
	m.give(r)
	m.mu.Unlock()
	m.tape.happened("", "→ model %d: %s", r.number, short(r.last))
	m.woken.happened()
	select {
	case <-r.given:
	case <-req.Context().Done():
		return
	case <-m.closing.Done():
		return
	}
	m.tape.happened("", "← model %d: %s", r.number, r.answer.source)
	p := &performance{server: m, ctx: req.Context(), w: w, out: http.NewResponseController(w), format: f}
	p.perform(r.answer)
}

// hold waits for the scene to say that the model goes on; false when the client left or the scene is over.
func (m *modelServer) hold(ctx context.Context) bool {
	resume := make(chan struct{})
	m.mu.Lock()
	m.paused = append(m.paused, resume)
	m.mu.Unlock()
	m.woken.happened()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paused = slices.DeleteFunc(m.paused, func(c chan struct{}) bool { return c == resume })
	}()
	select {
	case <-resume:
		return true
	case <-ctx.Done():
	case <-m.closing.Done():
	}
	return false
}

// goOn lets the oldest paused answer go on.
func (m *modelServer) goOn() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.paused) == 0 {
		return false
	}
	close(m.paused[0])
	m.paused = m.paused[1:]
	return true
}

// requests are the requests so far.
func (m *modelServer) requests() []*asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// unanswered names the requests for which the scene has no answer.
func (m *modelServer) unanswered() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, r := range m.asked {
		if !r.answered {
			out = append(out, fmt.Sprintf("the model was asked (request %d) and the scene has no answer to: %s", r.number, short(r.last)))
		}
	}
	return out
}

// unused names the answers that nobody asked for.
func (m *modelServer) unused() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, a := range m.answers {
		out = append(out, fmt.Sprintf("the model was never asked for line %d: %s", a.line, a.source))
	}
	return out
}

// contentText is a message's text, which the wire has as a string or as parts.
func contentText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text  string
		Image struct{ URL string } `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	for _, p := range parts {
		text += p.Text
		if kind, _, data := strings.Cut(strings.TrimPrefix(p.Image.URL, "data:"), ";"); data {
			text += "[" + kind + "]"
		}
	}
	return text
}
