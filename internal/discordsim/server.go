package discordsim

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config is what a [Server] starts with.
type Config struct {
	Bot BotConfig
	// Clock dates messages, makes ids and ages interaction tokens; time.Now when nil. Rate limits and delays of faults
	// are real time.
	Clock func() time.Time
	// StrictInteractions refuses an interaction's first answer when it comes more than 3 s of the clock later, as
	// Discord does.
	StrictInteractions bool
	// HeartbeatInterval is what clients are told; Discord's usual 41.25 s when zero.
	HeartbeatInterval time.Duration
	// JournalLimit is how many of the newest journal lines are kept for certain; 20,000 when zero.
	JournalLimit int
	// HistoryLimit is how many of the newest messages a channel keeps for certain; 10,000 when zero.
	HistoryLimit int
	// Validator, if set, sees every REST request and its answer.
	Validator Validator
}

// BotConfig is the bot's application as its owner set it up.
type BotConfig struct {
	// Name is the bot's user name; Parley when empty.
	Name string
	// Token is what the bot must present; a fixed one that says it is none when empty.
	Token string
	// Owner is the name of the application's owner; owner when empty.
	Owner string
	// IntentsOff are the privileged intents that are not switched on for the application. All are on by default.
	IntentsOff Intents
}

// Validator checks an exchange against a description of Discord's API. What it returns stands in the journal and in
// [Server.Violations].
type Validator interface {
	Validate(Exchange) error
}

// Exchange is one REST request and its answer, for a [Validator].
type Exchange struct {
	Method string
	// Template is the route's path with Discord's parameter names, such as /channels/{channel_id}/messages.
	Template string
	// Path is the path that was asked for, after /api/vN.
	Path         string
	Query        url.Values
	RequestType  string
	RequestBody  []byte // the payload_json of a multipart request
	Files        []string
	Status       int
	ResponseType string
	ResponseBody []byte
}

// Server serves a [World] on loopback: the gateway, the REST API and the CDN.
type Server struct {
	world     *World
	validator Validator
	closing   chan struct{}

	mu     sync.Mutex // guards listener, http and closed
	ln     net.Listener
	http   *http.Server
	closed bool
	wg     sync.WaitGroup

	// Guarded by the world's lock.
	conns      map[*conn]struct{}
	connCount  int
	violations []string
}

// New makes a server with an empty world. It serves nothing before Start.
func New(cfg Config) *Server {
	if cfg.Bot.Name == "" {
		cfg.Bot.Name = "Parley"
	}
	if cfg.Bot.Token == "" {
		cfg.Bot.Token = "simulated-token-not-a-secret"
	}
	if cfg.Bot.Owner == "" {
		cfg.Bot.Owner = "owner"
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.HeartbeatInterval == 0 {
		cfg.HeartbeatInterval = 41250 * time.Millisecond
	}
	if cfg.JournalLimit == 0 {
		cfg.JournalLimit = 20_000
	}
	if cfg.HistoryLimit == 0 {
		cfg.HistoryLimit = 10_000
	}
	return &Server{
		world: newWorld(cfg), validator: cfg.Validator, closing: make(chan struct{}), conns: map[*conn]struct{}{},
	}
}

// World is what the server serves.
func (s *Server) World() *World { return s.world }

// Start listens on a free loopback port. It may be called once.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the Discord simulator: %w", err)
	}
	s.ln = ln
	s.world.mu.Lock()
	s.world.base = "http://" + ln.Addr().String()
	s.world.mu.Unlock()
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second,
		// Cut connections are this server's business, not news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.wg.Go(func() { _ = s.http.Serve(ln) })
	return nil
}

// URL is the server's address, http://127.0.0.1:port. The REST API is under /api/v9 and /api/v10.
func (s *Server) URL() string {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.world.base
}

// Close ends all connections and waits for all goroutines. Later calls do nothing.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed || s.http == nil {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.closing)
	_ = s.http.Close()
	s.mu.Unlock()
	s.wg.Wait()
}

// enter counts a handler in, unless the server closes.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	return true
}

// Violations are what the Validator had against exchanges so far, and requests for routes that the simulator lacks; at
// most the first hundred.
func (s *Server) Violations() []string {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return append([]string(nil), s.violations...)
}

// handler routes to the gateway, the CDN and the REST API.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gateway", s.serveGateway)
	mux.HandleFunc("GET /gateway/{$}", s.serveGateway)
	mux.HandleFunc("GET /attachments/{channel}/{attachment}/{name}", s.serveAttachment)
	for _, r := range routes {
		mux.Handle(r.method+" /api/{version}"+r.template, s.rest(r))
	}
	mux.Handle("/api/{version}/", s.rest(route{handle: func(*call) (int, any, error) { return 0, nil, errNotFound }, open: true}))
	return mux
}
