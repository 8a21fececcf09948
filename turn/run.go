package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// running is the turn that holds a channel. The worker and /status read it while the turn's goroutine runs.
type running struct {
	id      ID
	in      Inbound
	verdict Verdict
	turn    *toolloop.Turn
	cancel  context.CancelCauseFunc
	started time.Time

	mu       sync.Mutex
	calls    []CallInfo
	approval bool
	model    Model
	status   store.TurnStatus
	seq      int
}

// start begins a turn in its own goroutine, which tells the worker when it has ended.
func (m *Manager) start(w *worker, q *queued, waiting map[string]bool) *running {
	ctx, cancel := context.WithCancelCause(context.Background())
	in := q.in
	r := &running{id: q.id, in: in, verdict: q.verdict, cancel: cancel, started: time.Now(), status: store.TurnRunning}
	r.turn = &toolloop.Turn{
		ID: string(q.id), ChannelID: in.ChannelID, GuildID: in.GuildID, UserID: in.Author.ID, UserName: in.Author.Name,
		Message: registry.MessageRef{ID: in.MessageID, Content: in.Content, SentAt: in.SentAt}, Locale: in.Locale,
		Persona: m.Edge.Self(), Private: in.Private, Deliberate: q.verdict.Deliberate,
		OutsideContent: len(in.Forwarded) > 0 || len(in.Attachments) > 0,
	}
	stored := q.stored
	m.count(store.TurnRunning, 1)
	m.owned.Go(func() {
		defer cancel(nil)
		done := m.run(ctx, r, waiting, stored)
		m.post(w.channel, func(w *worker) { w.finished(r, done) })
	})
	return r
}

// run takes one turn from its plan to its record. It returns what is to be told once the channel is free.
func (m *Manager) run(ctx context.Context, r *running, waiting map[string]bool, stored bool) (told func()) {
	log := m.Log.With().Str("turn", string(r.id)).Str("channel", r.in.ChannelID).Str("guild", r.in.GuildID).Logger()
	surface := m.Edge.Open(Opening{
		TurnID: r.id, ChannelID: r.in.ChannelID, GuildID: r.in.GuildID, ReplyToID: r.in.MessageID, Owner: r.in.Author,
		Deliberate: r.verdict.Deliberate,
	})
	record := store.Turn{
		ID: string(r.id), ChannelID: r.in.ChannelID, GuildID: r.in.GuildID, OwnerID: r.in.Author.ID, TriggerID: r.in.MessageID,
		Status: store.TurnRunning, Prompt: r.in.Content, StartedAt: r.started.UTC(),
	}
	if err := m.Store.BeginTurn(ctx, record); err != nil {
		log.Error().Err(err).Msg("turn.not_recorded")
	}
	if stored {
		m.unstore(r.in.MessageID)
	}
	log.Info().Str("owner", r.in.Author.ID).Str("reason", string(r.verdict.Reason)).Msg("turn.start")
	m.tell(r, Event{Kind: EventStarted, MessageID: r.in.MessageID, Text: string(r.verdict.Reason)})

	result := m.guarded(ctx, r, surface, waiting)
	cause := abort.Of(ctx)
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	delivered := surface.Finish(finish, Ending{
		Status: result.Status, Cause: cause, Public: publicText(r.id, result, cause, r.verdict.Deliberate), StickerID: result.StickerID,
	})
	m.effects(finish, r, record, result, delivered)
	r.end(result.Status)
	m.count(store.TurnRunning, -1)
	m.count(result.Status, 1)
	ev := log.Info()
	if result.Status == store.TurnError {
		ev = log.Error()
	}
	ev.Err(result.Err).AnErr("delivery", delivered.Err).Str("status", string(result.Status)).
		Int("iterations", r.turn.Iteration()).Dur("took", time.Since(r.started)).Msg("turn.end")
	return func() {
		m.tell(r, Event{Kind: EventDone, Status: result.Status, Done: doneReason(result.Status), Text: result.Text})
	}
}

// finishTimeout bounds what happens after a turn has ended: the last messages and the record.
const finishTimeout = 30 * time.Second

// guarded answers, and turns a panic into an error with its stack in the log.
func (m *Manager) guarded(ctx context.Context, r *running, s Surface, waiting map[string]bool) (res toolloop.Result) {
	defer func() {
		if p := recover(); p != nil {
			m.Log.Error().Str("turn", string(r.id)).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("turn.panicked")
			res = toolloop.Result{Status: store.TurnError, Err: fmt.Errorf("panic in the turn: %v", p)}
		}
	}()
	clock := startClock(m.limits.TurnTimeout, r.cancel)
	defer clock.stop()
	r.turn.Clock = clock
	r.turn.Observer = &surfaceObserver{m: m, r: r, s: s}
	r.turn.Notices = notices{m: m, r: r}
	r.turn.Cards = cards{s: s}
	p := m.plan(ctx, r)
	r.turn.Allow, r.turn.WindowTurns, r.turn.Switches, r.turn.Settings = p.allow, p.windowTurns, p.switches, p.settings
	c := m.buildContext(ctx, r.in, waiting)
	r.turn.Shared = registry.NewShared(nil, c.ids, nil)
	return m.attempts(ctx, r, s, c)
}

// attempts tries the models in order. Only an error or a timeout of the model passes on to the next; what tools did is
// carried along, and the failed iteration's text is taken back.
func (m *Manager) attempts(ctx context.Context, r *running, s Surface, c conversation) toolloop.Result {
	if len(m.Models) == 0 {
		return toolloop.Result{Status: store.TurnError, Err: providers.ErrNotConfigured}
	}
	var res toolloop.Result
	for i, model := range m.Models {
		r.use(model)
		res = m.Loop.Run(ctx, r.turn, toolloop.Attempt{
			Provider: model.Provider, Model: model.Name, System: c.system, Messages: c.messages,
		})
		res.Model = model.Name
		failed := res.Status == store.TurnError || res.Status == store.TurnTimeout
		if !failed || ctx.Err() != nil || errors.Is(res.Err, toolloop.ErrTooManyFailures) || i == len(m.Models)-1 {
			break
		}
		m.Log.Warn().Err(res.Err).Str("turn", string(r.id)).Str("model", model.Name).Str("next", m.Models[i+1].Name).
			Msg("turn.fallback")
		s.Retract(ctx)
	}
	return res
}

// effects records the turn. Nothing here can fail it any more.
func (m *Manager) effects(ctx context.Context, r *running, record store.Turn, res toolloop.Result, d Delivered) {
	transcript, err := encodeTranscript(res.Messages, m.limits.HistoryMaxBytes)
	if err != nil {
		m.Log.Error().Err(err).Str("turn", string(r.id)).Msg("turn.transcript_failed")
	}
	record.Status, record.Answer, record.AnswerIDs, record.Thinking = res.Status, d.Text, d.MessageIDs, res.Thinking
	record.Model, record.Transcript, record.FinishedAt = res.Model, transcript, time.Now().UTC()
	record.Usage = usageOf(res.Usage)
	if res.Err != nil {
		record.Error = res.Err.Error()
	}
	if err := m.Store.FinishTurn(ctx, record); err != nil {
		m.Log.Error().Err(err).Str("turn", string(r.id)).Msg("turn.not_closed")
	}
}

// tell emits an event of a turn with its number.
func (m *Manager) tell(r *running, e Event) {
	r.mu.Lock()
	r.seq++
	e.Seq, e.TurnID, e.ChannelID, e.GuildID, e.OwnerID = r.seq, r.id, r.in.ChannelID, r.in.GuildID, r.in.Author.ID
	if r.model.Provider != nil && (e.Kind == EventStarted || e.Kind == EventUsage) {
		e.Provider, e.Model = r.model.Provider.Name(), r.model.Name
	}
	r.mu.Unlock()
	m.emit(e)
}

func usageOf(u providers.Usage) store.Usage {
	return store.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}
