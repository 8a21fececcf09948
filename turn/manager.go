package turn

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// ErrBusy is returned by Submit with Reject while a turn runs in the channel.
var ErrBusy = errors.New("chat already running for this channel")

// ErrDraining is returned by Submit once the process is ending.
var ErrDraining = errors.New("shutting down: no new turns are taken")

// ErrUnreachable is wrapped by an edge's delivery errors when the channel is gone or may not be seen: nothing that is
// tried there can succeed.
var ErrUnreachable = errors.New("the channel cannot be reached")

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
	store.ShortTerms
	store.Ledger
	// Calls returns a turn's journal; see store.Journal.
	Calls(ctx context.Context, turnID string) ([]store.Call, error)
	store.Memories
	store.Members
	store.FleetingMembers
	store.Audit
	store.Approvals
	// Sweep closes what a process that is gone left running; see store.Journal.
	Sweep(ctx context.Context, at time.Time) ([]store.Turn, []store.Call, error)
}

// Model is one way to get an answer; the chain of them is tried in order.
type Model struct {
	Provider providers.Provider
	// Name is what the provider is asked for; Label is how people see and choose the model, empty when that is the same.
	Name  string
	Label string
	// Images: the model sees images.
	Images bool
	// ContextTokens is how much the model can read and write together, 0 when it is not known.
	ContextTokens int
	// MaxOutputTokens bounds an answer; 0 leaves it to the wire.
	MaxOutputTokens int
}

// label is the name by which people know the model.
func (m Model) label() string {
	if m.Label != "" {
		return m.Label
	}
	return m.Name
}

// named reports whether a channel's choice means the model. The bare name counts too: channels chose so before several
// vendors could be in one chain.
func (m Model) named(choice string) bool { return m.label() == choice || m.Name == choice }

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
	// ActivePerMember bounds what a member has running and waiting, everywhere; ActivePerGuild what runs at once in a
	// guild.
	ActivePerMember int
	ActivePerGuild  int
	// TurnsPerMinuteMember and TurnsPerMinuteChannel bound how often turns start.
	TurnsPerMinuteMember  int
	TurnsPerMinuteChannel int
	// DailyCost bounds what all turns of a day (UTC) may cost, and DailyCostGuild those of each guild and of each private chat,
	// in billionths of a US dollar; 0 is no limit.
	DailyCost      int64
	DailyCostGuild int64
	// BotTurnsInARow bounds the turns of other bots in a channel in which no person writes, where bots are answered.
	BotTurnsInARow int
}

// DefaultLimits are the limits of DESIGN section 12.
func DefaultLimits() Limits {
	return Limits{
		TurnTimeout: 900 * time.Second, QueueLimit: 5, FollowUpInterrupts: 3, ResumeWithin: 10 * time.Minute,
		ClaimTTL: 24 * time.Hour, HistoryMaxBytes: 200 * 1024,
		ActivePerMember: 3, ActivePerGuild: 10, TurnsPerMinuteMember: 20, TurnsPerMinuteChannel: 60, BotTurnsInARow: 3,
	}
}

// Deps are what a manager needs.
type Deps struct {
	Edge     Edge
	Store    Store
	Loop     *toolloop.Loop
	Broker   *toolloop.Broker
	Registry *registry.Registry
	// Models is the chain of models; empty means that no provider is configured. A channel may choose another first one.
	Models []Model
	// Pictures fetches attached images for models that see; nil where none can be fetched.
	Pictures Pictures
	// Persona is added to the system text of every turn.
	Persona string
	Limits  Limits
	// SharedRates lets claims count the turns per minute for all processes of the bot; false where there is only this one.
	SharedRates bool
	// Observers are told every event; they must not block.
	Observers []Observer
	Log       zerolog.Logger
}

// Manager takes inbounds and runs turns, one at a time in each channel. It is safe for concurrent use.
type Manager struct {
	Deps
	limits    Limits
	limiter   *limiter
	spending  *spending
	settings  *settingCache
	wishes    *wishes
	writers   writers
	memory    *Facts
	dialogues *dialogues
	estimates *estimates
	fallback  localClaims
	told      rare
	owed      debts
	// refs: some tool takes ids of messages, so the model is given opaque ones.
	refs bool
	// altering lets one change of a guild's settings run at a time.
	altering chan struct{}

	mu       sync.Mutex
	workers  map[string]*worker
	counts   map[store.TurnStatus]int
	verdicts map[string]int
	waiting  int
	stopping bool

	// owned are the goroutines that must have ended before Drain returns.
	owned sync.WaitGroup
	// ctx ends when Drain gives up waiting for stores and surfaces.
	ctx    context.Context //nolint:containedctx // the manager's own life, ended by Drain
	cancel context.CancelFunc
}

// NewManager returns a manager without turns. Drain must be called at the end.
func NewManager(d Deps) *Manager {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{
		Deps: d, limits: d.Limits, limiter: newLimiter(d.Limits), dialogues: newDialogues(), estimates: newEstimates(),
		workers: map[string]*worker{}, counts: map[store.TurnStatus]int{}, verdicts: map[string]int{}, altering: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
	}
	m.wishes = newWishes(d.Store)
	m.settings = newSettingCache(d.Store, m.spawn, m.wishes)
	m.spending = newSpending(d, m.spawn)
	m.memory = &Facts{store: d.Store, settings: m.settings}
	for _, t := range d.Registry.All() {
		m.refs = m.refs || len(t.IDArguments) > 0
	}
	return m
}

// Receive takes a message that appeared in a channel, whoever wrote it. It never blocks: the message is remembered for
// context, and when it addresses the bot it is put in line.
func (m *Manager) Receive(_ context.Context, in Inbound) {
	m.dialogues.record(in.ChannelID, messageOf(in))
	if !in.Author.Bot && !in.Author.Webhook && !in.Author.Self {
		m.limiter.person(in.ChannelID)
	}
	m.settings.judge(in.GuildID, func(rules guildRules) { m.judge(in, rules) })
}

// judge decides about a message by itself, and lets the channel's worker decide where it depends on what runs there.
func (m *Manager) judge(in Inbound, rules guildRules) {
	v := Admit(in, rules.AdmissionSettings, AdmissionState{})
	decide := func(w *worker) { w.receive(in, rules) }
	switch {
	case v.Disposition == DispositionAdmit || v.Disposition == DispositionCommand:
		if !m.offer(in.ChannelID, decide) {
			m.admitted(in, "", Verdict{Disposition: DispositionRefuse, Reason: ReasonDraining})
		}
		return
	case v.Reason == ReasonNotAddressed || v.Reason == ReasonReplyToOther:
		if m.postIfActive(in.ChannelID, decide) {
			return
		}
	case v.Reason == ReasonLogChannel:
		m.explainLogChannel(in)
	}
	m.admitted(in, "", v)
}

// explainLogChannel tells somebody who addresses the bot in its log channel why it stays silent, seldom.
func (m *Manager) explainLogChannel(in Inbound) {
	addressed := in.MentionsBot || in.ReplyTo != nil && in.ReplyTo.Author.Self
	if !addressed || in.Author.Bot || in.Author.Webhook || !in.CanReply || !m.told.allow("log:"+in.ChannelID, logChannelNotice, time.Now()) {
		return
	}
	m.spawn(func() {
		m.io("telling log_channel", func(ctx context.Context) error {
			return m.Edge.Notify(ctx, Notice{
				Kind: NoticeLogChannel, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: logChannelText,
			})
		})
	})
}

// Submit starts a turn for an inbound that needs no admission. With Reject it returns ErrBusy unless the channel is
// free. The limits on members don't hold for it.
func (m *Manager) Submit(ctx context.Context, in Inbound, mode Mode) (ID, error) {
	id := newID()
	taken := make(chan bool, 1)
	ok := m.offer(in.ChannelID, func(w *worker) {
		if mode == Reject && !w.free() {
			taken <- false
			return
		}
		v := Verdict{Disposition: DispositionAdmit, Reason: ReasonCommand, Deliberate: !in.Quiet}
		taken <- w.accept(in, v, id, true)
	})
	if !ok {
		return "", ErrDraining
	}
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

// Edited applies an edit: to the context, and to a trigger that still waits. An edit starts no turn.
func (m *Manager) Edited(channelID, messageID, content string) {
	m.dialogues.edit(channelID, messageID, content)
	m.postIfActive(channelID, func(w *worker) { w.edited(messageID, content) })
}

// Deleted applies deletions: to the context, and to triggers that still wait.
func (m *Manager) Deleted(channelID string, messageIDs ...string) {
	m.dialogues.remove(channelID, messageIDs)
	m.postIfActive(channelID, func(w *worker) { w.deleted(messageIDs) })
}

// Card returns an open approval card, so that rights can be checked before deciding.
func (m *Manager) Card(token string) (Card, bool) { return m.Broker.Card(token) }

// Approve decides an open card. An unknown token is a silent no-op and gives false.
func (m *Manager) Approve(token string, d Decision) bool {
	c, open := m.Card(token)
	d.Reason = strings.TrimSpace(d.Reason)
	ok := m.Broker.Decide(token, d)
	if ok && open {
		m.auditDecision(c, d)
	}
	return ok
}

// IsBusy reports whether a turn runs or waits in the channel.
func (m *Manager) IsBusy(channelID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.workers[channelID]
	return ok && w.busy
}

// Status says what is known of a channel. It must not be called by an Observer.
func (m *Manager) Status(channelID string) ChannelStatus {
	answer := make(chan ChannelStatus, 1)
	s := ChannelStatus{}
	if m.postIfActive(channelID, func(w *worker) { answer <- w.status() }) {
		s = <-answer
	}
	s.Last = m.dialogues.last(channelID)
	return s
}

// Totals counts over the whole process.
func (m *Manager) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := Totals{
		ActiveChannels: len(m.workers), Waiting: m.waiting, Abandoned: m.Loop.Abandoned(), Writing: m.writers.members(), Statuses: map[store.TurnStatus]int{},
		Verdicts: maps.Clone(m.verdicts),
	}
	for s, n := range m.counts {
		if s == store.TurnRunning {
			t.RunningTurns = n
			continue
		}
		t.Statuses[s] = n
	}
	return t
}

// newID returns an id that is unique and short enough to be read out: it is also the correlation id people are shown.
func newID() ID { return ID(strings.ToLower(rand.Text()[:12])) }
