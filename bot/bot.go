package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot/delivery"
	"github.com/parleybot/parley/turn"
)

// DefaultAPIBase is Discord.
const DefaultAPIBase = "https://discord.com"

// Config is what a Bot is made of. Its functions are called on the path of every message: they must return at once.
type Config struct {
	// Token is the bot's token without the word Bot in front. It is never logged.
	Token string
	// APIBase is scheme and host of the REST API, DefaultAPIBase when empty. The gateway's address comes from there.
	APIBase string
	// Version is told to Discord in the User-Agent.
	Version string
	// Shard and Shards say which part of the servers this process serves; Shards 0 means all.
	Shard, Shards int
	// LogChannel is the channel that receives a guild's hidden notices, empty for none. May be nil.
	LogChannel func(guildID string) string
	// Blocked says who may not use the bot where; guildID is empty in private chats. May be nil.
	Blocked func(guildID, channelID, userID string) bool
	// Mode is how answers appear in a guild; nil means delivery.ModeEdit everywhere.
	Mode func(guildID string) delivery.Mode
	Log  zerolog.Logger
}

// Deps are the ports a Bot uses.
type Deps struct {
	// Commands remembers the registered commands; nil registers them once per process.
	Commands CommandHash
	// Budget is shared with the other processes of the same bot; nil when there are none.
	Budget Budget
}

// Turns is what the edge needs of the turns. No method but Kill and those of Settings, Memory and Privacy may wait.
type Turns interface {
	Settings
	Memory
	Privacy
	Receive(ctx context.Context, in turn.Inbound)
	Edited(channelID, messageID, content string)
	Deleted(channelID string, messageIDs ...string)
	// Gone ends the turns of channels that are gone; without channels, of the whole guild.
	Gone(guildID string, channelIDs ...string)
	Kill(ctx context.Context, r turn.KillRequest) turn.KillReport
	// Card finds an open approval card.
	Card(token string) (turn.Card, bool)
	// Approve answers a card; false when nobody waits for the answer any more.
	Approve(token string, d turn.Decision) bool
	Status(channelID string) turn.ChannelStatus
	Totals() turn.Totals
}

// Bot is the Discord edge. It implements turn.Edge; those methods are safe for concurrent use at any time between New and
// Close. Attach it to the turns, then Run it once.
type Bot struct {
	cfg       Config
	deps      Deps
	log       zerolog.Logger
	transport *http.Transport
	rest      *restClient
	turns     Turns
	started   time.Time

	identity *identity
	guilds   *guilds
	backfill *backfill
	cards    *cards
	// questions wait for a member's yes.
	questions *questions
	refusals  *refusals
	stops     *stops

	events     chan event
	dropped    atomic.Uint64
	reconnects atomic.Uint64
	connected  atomic.Bool
	ready      chan struct{}
	readyOnce  sync.Once

	work        sync.WaitGroup // started by the dispatcher, ends with Run
	filling     chan struct{}
	interacting *tasks
	behind      *tasks // what nobody waits for, ends with Close
	asking      *tasks // what an interaction waits for only briefly, ends with Close
	registering sync.Mutex
	registered  string // guarded by registering

	reconnectBase time.Duration
}

// New makes a Bot. It connects nowhere before Run.
func New(cfg Config, deps Deps) (*Bot, error) {
	if cfg.Token == "" {
		return nil, errors.New("creating the bot: no Discord token")
	}
	if cfg.APIBase == "" {
		cfg.APIBase = DefaultAPIBase
	}
	if u, err := url.Parse(cfg.APIBase); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("creating the bot: %q is no http address", cfg.APIBase)
	}
	if cfg.Version == "" {
		cfg.Version = "dev"
	}
	if cfg.Shard < 0 || cfg.Shard >= max(cfg.Shards, 1) {
		return nil, fmt.Errorf("creating the bot: shard %d of %d", cfg.Shard, max(cfg.Shards, 1))
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("creating the bot: the default HTTP transport was replaced")
	}
	transport = transport.Clone()
	// Many channels are written to at once, and all of it goes to one host.
	transport.MaxIdleConnsPerHost = 64
	return &Bot{
		cfg: cfg, deps: deps, log: cfg.Log, transport: transport, rest: newRestClient(cfg, deps.Budget, transport),
		started: time.Now(), identity: &identity{}, guilds: newGuilds(), backfill: newBackfill(), cards: newCards(), questions: newQuestions(),
		refusals: newRefusals(), stops: newStops(),
		events: make(chan event, queueSize), ready: make(chan struct{}), filling: make(chan struct{}, backfillAtOnce),
		interacting: newTasks(maxInteractions), behind: newTasks(maxBackground), asking: newTasks(maxAsking), reconnectBase: reconnectBase,
	}, nil
}

// maxBackground is how many notices may be under way at once.
const maxBackground = 64

// maxAsking is how many completions and forms may wait for a store at once; further ones are empty.
const maxAsking = 32

// Attach gives the bot its turns. They need the bot as their edge, so they come second. It must be called before Run.
func (b *Bot) Attach(t Turns) { b.turns = t }

// Ready is closed when Discord has greeted the bot for the first time.
func (b *Bot) Ready() <-chan struct{} { return b.ready }

// Run connects and serves events until ctx ends, then disconnects and returns nil. It returns a *FatalError when Discord
// refuses the bot for good. After it, no inbound and no command arrives; turns that still run can go on writing until
// Close.
func (b *Bot) Run(ctx context.Context) error {
	if b.turns == nil {
		return errors.New("running the bot: it has no turns attached")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dispatched := make(chan struct{})
	go func() {
		defer close(dispatched)
		b.dispatch(ctx)
	}()
	err := b.supervise(ctx)
	cancel()
	<-dispatched
	b.interacting.wait()
	b.work.Wait()
	return err
}

// Close waits for what is still being written in the background and lets go of the network. Call it last.
func (b *Bot) Close() {
	b.behind.wait()
	b.asking.wait()
	b.transport.CloseIdleConnections()
}

// Stats are counts for health and metrics.
type Stats struct {
	// Connected: a gateway session stands.
	Connected  bool
	Guilds     int
	Reconnects uint64
	// Dropped events did not fit the queue.
	Dropped uint64
	// Queued events wait for the dispatcher.
	Queued int
}

// Stats returns the present counts.
func (b *Bot) Stats() Stats {
	return Stats{
		Connected: b.connected.Load(), Guilds: b.guilds.count(), Reconnects: b.reconnects.Load(),
		Dropped: b.dropped.Load(), Queued: len(b.events),
	}
}
