package turn

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// ErrBusy is returned by Submit with Reject while a turn runs in the channel.
var ErrBusy = errors.New("chat already running for this channel")

// ErrDraining is returned by Submit once the process is ending.
var ErrDraining = errors.New("shutting down: no new turns are taken")

// Mode says what Submit does while the channel is busy.
type Mode int

// The modes.
const (
	Queue Mode = iota
	Reject
)

// Store is what turns keep.
type Store interface {
	store.Turns
	store.Triggers
	store.Claims
	store.Windows
	store.Settings
	// Sweep closes what a process that is gone left running; see store.Journal.
	Sweep(ctx context.Context, at time.Time) ([]store.Turn, []store.Call, error)
}

// Model is one way to get an answer; the chain of them is tried in order.
type Model struct {
	Provider providers.Provider
	Name     string
}

// Limits bound turns; see DESIGN section 12.
type Limits struct {
	TurnTimeout        time.Duration
	QueueLimit         int
	FollowUpInterrupts int
	// ResumeWithin is how old a stored trigger may be to run after a restart.
	ResumeWithin time.Duration
	// ClaimTTL is how long a message id stays claimed.
	ClaimTTL time.Duration
	// HistoryMaxBytes bounds a stored transcript.
	HistoryMaxBytes int
}

// DefaultLimits are the limits of DESIGN section 12.
func DefaultLimits() Limits {
	return Limits{
		TurnTimeout: 900 * time.Second, QueueLimit: 5, FollowUpInterrupts: 3, ResumeWithin: 10 * time.Minute,
		ClaimTTL: 24 * time.Hour, HistoryMaxBytes: 200 * 1024,
	}
}

// Deps are what a manager needs.
type Deps struct {
	Edge     Edge
	Store    Store
	Loop     *toolloop.Loop
	Broker   *toolloop.Broker
	Registry *registry.Registry
	// Models is the chain of models; empty means that no provider is configured.
	Models []Model
	// Persona is added to the system text of every turn.
	Persona string
	Limits  Limits
	// Observers are told every event; they must not block.
	Observers []Observer
	Log       zerolog.Logger
}

// Manager takes inbounds and runs turns, one at a time in each channel. It is safe for concurrent use.
type Manager struct {
	Deps
	limits    Limits
	dialogues *dialogues
	fallback  localClaims

	mu      sync.Mutex
	workers map[string]*worker
	counts  map[store.TurnStatus]int

	stopping atomic.Bool
	// owned are the goroutines that must have ended before Drain returns.
	owned sync.WaitGroup
	// ctx ends when Drain gives up waiting for stores and surfaces.
	ctx    context.Context //nolint:containedctx // the manager's own life, ended by Drain
	cancel context.CancelFunc
}

// NewManager returns a manager without turns. Drain must be called at the end.
func NewManager(d Deps) *Manager {
	ctx, cancel := context.WithCancel(context.Background())
	return &Manager{
		Deps: d, limits: d.Limits, dialogues: newDialogues(), workers: map[string]*worker{},
		counts: map[store.TurnStatus]int{}, ctx: ctx, cancel: cancel,
	}
}

// Receive takes a message that appeared in a channel, whoever wrote it. It never blocks: the message is remembered for
// context, and when it addresses the bot it is put in line.
func (m *Manager) Receive(_ context.Context, in Inbound) {
	m.dialogues.record(in.ChannelID, messageOf(in))
	d := Admit(in, AdmissionSettings{})
	if d.Disposition == DispositionAdmit && m.stopping.Load() {
		d = Verdict{Disposition: DispositionRefuse, Reason: ReasonDraining}
	}
	if d.Disposition != DispositionAdmit {
		m.admitted(in, "", d)
		return
	}
	id := newID()
	m.post(in.ChannelID, func(w *worker) { w.accept(in, d, id) })
}

// Submit starts a turn for an inbound that needs no admission. With Reject it returns ErrBusy unless the channel is
// free.
func (m *Manager) Submit(ctx context.Context, in Inbound, mode Mode) (ID, error) {
	if m.stopping.Load() {
		return "", ErrDraining
	}
	id := newID()
	taken := make(chan bool, 1)
	m.post(in.ChannelID, func(w *worker) {
		if mode == Reject && (w.running != nil || len(w.queue) > 0) {
			taken <- false
			return
		}
		w.accept(in, Verdict{Disposition: DispositionAdmit, Reason: ReasonCommand, Deliberate: true}, id)
		taken <- true
	})
	select {
	case ok := <-taken:
		if !ok {
			return "", ErrBusy
		}
		return id, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Edited applies an edit: to the context, and to a trigger that still waits.
func (m *Manager) Edited(channelID, messageID, content string) {
	m.dialogues.edit(channelID, messageID, content)
	m.postIfActive(channelID, func(w *worker) { w.edited(messageID, content) })
}

// Deleted applies deletions: to the context, and to triggers that still wait.
func (m *Manager) Deleted(channelID string, messageIDs ...string) {
	m.dialogues.remove(channelID, messageIDs)
	m.postIfActive(channelID, func(w *worker) { w.deleted(messageIDs) })
}

// Kill ends what runs and drops what waits, as far as the actor may. It returns when every channel it covers has
// answered, not when the turns have ended.
func (m *Manager) Kill(ctx context.Context, req KillRequest) KillReport {
	answers := make(chan KillReport, 1)
	channels := m.covered(req)
	asked := 0
	for _, c := range channels {
		if m.postIfActive(c, func(w *worker) {
			rep := KillReport{}
			if req.ChannelID != "" || w.guild() == req.GuildID {
				rep = w.kill(req)
			}
			select {
			case answers <- rep:
			case <-ctx.Done():
			}
		}) {
			asked++
		}
	}
	var total KillReport
	refused := false
	for range asked {
		select {
		case rep := <-answers:
			total.Killed = append(total.Killed, rep.Killed...)
			total.Discarded += rep.Discarded
			refused = refused || rep.Refused
		case <-ctx.Done():
			return total
		}
	}
	total.Refused = refused && len(total.Killed) == 0 && total.Discarded == 0
	return total
}

func (m *Manager) covered(req KillRequest) []string {
	if req.ChannelID != "" {
		return []string{req.ChannelID}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	channels := make([]string, 0, len(m.workers))
	for c := range m.workers {
		channels = append(channels, c)
	}
	return channels
}

// Card returns an open approval card, so that rights can be checked before deciding.
func (m *Manager) Card(token string) (Card, bool) {
	c, ok := m.Broker.Card(token)
	if !ok {
		return Card{}, false
	}
	return cardOf(c), true
}

// Approve decides an open card. An unknown token is a silent no-op and gives false.
func (m *Manager) Approve(token string, d Decision) bool {
	return m.Broker.Decide(token, toolloop.Decision{Approve: d.Approve, Reason: strings.TrimSpace(d.Reason), By: d.By})
}

// IsBusy reports whether a turn runs or waits in the channel.
func (m *Manager) IsBusy(channelID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.workers[channelID]
	return ok
}

// Status says what is known of a channel.
func (m *Manager) Status(channelID string) ChannelStatus {
	answer := make(chan ChannelStatus, 1)
	if !m.postIfActive(channelID, func(w *worker) { answer <- w.status() }) {
		return ChannelStatus{}
	}
	return <-answer
}

// Totals counts over the whole process.
func (m *Manager) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := Totals{ActiveChannels: len(m.workers), Abandoned: m.Loop.Abandoned(), Statuses: map[store.TurnStatus]int{}}
	for s, n := range m.counts {
		if s == store.TurnRunning {
			t.RunningTurns = n
			continue
		}
		t.Statuses[s] = n
	}
	return t
}

// post runs a command on the channel's worker, starting it when the channel is idle. It never blocks.
func (m *Manager) post(channelID string, command func(*worker)) {
	m.mu.Lock()
	w, ok := m.workers[channelID]
	if !ok {
		w = &worker{m: m, channel: channelID, wake: make(chan struct{}, 1)}
		m.workers[channelID] = w
		m.owned.Go(w.loop)
	}
	m.deliver(w, command)
	m.mu.Unlock()
}

// postIfActive is post for commands that mean nothing to an idle channel; false when it is idle.
func (m *Manager) postIfActive(channelID string, command func(*worker)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.workers[channelID]
	if ok {
		m.deliver(w, command)
	}
	return ok
}

func (m *Manager) deliver(w *worker, command func(*worker)) {
	w.commands = append(w.commands, command)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take empties a worker's mailbox.
func (m *Manager) take(w *worker) []func(*worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	commands := w.commands
	w.commands = nil
	return commands
}

// retire ends an idle worker, unless something arrived for it.
func (m *Manager) retire(w *worker) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(w.commands) > 0 {
		return false
	}
	delete(m.workers, w.channel)
	return true
}

func (m *Manager) draining() bool { return m.stopping.Load() }

// Drain stops the intake, lets running turns finish until ctx ends, then ends the rest as interrupted and waits for
// them. Waiting triggers stay stored for the next start. Nothing answers after it has returned.
func (m *Manager) Drain(ctx context.Context) {
	m.stopping.Store(true)
	m.everyWorker(func(w *worker) { w.queue = nil })
	idle := make(chan struct{})
	go func() { m.owned.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
		m.everyWorker(func(w *worker) {
			if w.running != nil {
				w.running.cancel(abort.Shutdown{})
			}
		})
		<-idle
	}
	m.cancel()
}

func (m *Manager) everyWorker(command func(*worker)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.workers {
		m.deliver(w, command)
	}
}

// newID returns an id that is unique and short enough to be read out: it is also the correlation id people are shown.
func newID() ID { return ID(strings.ToLower(rand.Text()[:12])) }
