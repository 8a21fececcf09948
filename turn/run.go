package turn

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// finishTimeout bounds what happens after a turn has ended: the last messages and the record.
const finishTimeout = 30 * time.Second

// recordPatience is how long a turn that has ended holds its channel for its record.
const recordPatience = time.Second

// start begins a turn in its own goroutine, which tells the worker when it has ended.
func (m *Manager) start(w *worker, q *queued, waiting map[string]bool) *running {
	ctx, cancel := context.WithCancelCause(context.Background())
	in := q.in
	r := &running{
		id: q.id, in: in, verdict: q.verdict, ctx: ctx, cancel: cancel, started: time.Now(), status: store.TurnRunning,
		inherited: q.inherit, waited: q.waited, recorded: m.writers.begin(in.Author.ID),
	}
	r.turn = &toolloop.Turn{
		ID: string(q.id), ChannelID: in.ChannelID, GuildID: in.GuildID, UserID: in.Author.ID, UserName: in.Author.Name,
		Message: registry.MessageRef{ID: in.MessageID, Content: in.Content, SentAt: in.SentAt}, Locale: in.Locale,
		Private: in.Private, Deliberate: q.verdict.Deliberate,
		OutsideContent: len(in.Forwarded) > 0 || len(in.Attachments) > 0,
		Flags: map[string]bool{
			registry.FlagLTMIntent: registry.ExplicitLTMIntent(in.Content), registry.FlagManageGuild: in.Author.ManageGuild,
		},
	}
	stored := q.stored
	m.count(store.TurnRunning, 1)
	m.owned.Go(func() {
		defer cancel(nil)
		told := m.run(ctx, r, waiting, stored)
		m.post(w.channel, func(w *worker) { w.finished(r, told) })
	})
	return r
}

// run takes one turn from its plan to its record. It returns what is to be told once the channel is free. Whatever a
// port does, a turn that was begun is ended.
func (m *Manager) run(ctx context.Context, r *running, waiting map[string]bool, stored bool) (told func()) {
	log := m.Log.With().Str("turn", string(r.id)).Str("channel", r.in.ChannelID).Str("guild", r.in.GuildID).Logger()
	log.Info().Str("owner", r.in.Author.ID).Str("reason", string(r.verdict.Reason)).Msg("turn.start")
	m.tell(r, Event{Kind: EventStarted, MessageID: r.in.MessageID, Text: string(r.verdict.Reason)})

	surface, err := m.open(r) // first of all: whoever wrote sees that they were heard
	record, begun := m.begin(ctx, r, stored)
	result := toolloop.Result{Status: store.TurnError, Err: err}
	if err == nil {
		result = m.guarded(ctx, r, surface, waiting, begun)
	}
	result, cause := judged(result, r.settle())
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	delivered, err := safely(func() (Delivered, error) {
		return surface.Finish(finish, Ending{
			Status: result.Status, Cause: cause, Public: m.publicText(r, result, cause), StickerID: result.StickerID,
		}), nil
	})
	if err != nil {
		delivered.Err = err
	}
	if errors.Is(delivered.Err, ErrUnreachable) && len(delivered.MessageIDs) == 0 && !abort.IsStop(cause) {
		result.Status = store.TurnSkipped
	}
	record = m.outcome(r, record, result, delivered)
	m.dialogues.finished(record)
	m.record(finish, begun, func(ctx context.Context) {
		defer r.recorded()
		if !begun.elsewhere() {
			m.effects(ctx, r, record)
		}
	})
	r.close(result.Status)
	m.ended(r, result, delivered)
	return func() {
		m.tell(r, Event{
			Kind: EventDone, Status: result.Status, Done: doneReason(result.Status), Text: result.Text, Error: errorCode(result),
		})
	}
}

// beginning is how the record of a turn begins.
type beginning struct {
	// done is closed when the turn is written as running, or cannot be.
	done  chan struct{}
	taken bool
}

// elsewhere says whether another process has taken over the trigger, and answers it. Only then the turn must not go on.
func (b *beginning) elsewhere() bool {
	select {
	case <-b.done:
		return b.taken
	default:
		return false
	}
}

// begin writes the turn as running, beside what else must happen before the model is asked. One whose trigger was stored
// takes it out of the line in the same step, so that of two processes which have it one answers.
func (m *Manager) begin(ctx context.Context, r *running, stored bool) (record store.Turn, begun *beginning) {
	record = store.Turn{
		ID: string(r.id), ChannelID: r.in.ChannelID, GuildID: r.in.GuildID, OwnerID: r.in.Author.ID, TriggerID: r.in.MessageID,
		Status: store.TurnRunning, Prompt: r.in.Content, StartedAt: r.started.UTC(),
	}
	write := m.Store.BeginTurn
	if stored {
		write = m.Store.BeginWaited
	}
	begun = &beginning{done: make(chan struct{})}
	m.owned.Go(func() {
		defer close(begun.done)
		ctx, cancel := context.WithTimeout(ctx, ioTimeout)
		defer cancel()
		_, err := safely(func() (struct{}, error) { return struct{}{}, write(ctx, record) })
		switch {
		case err == nil:
			return
		case errors.Is(err, store.ErrTaken): // what is in the line of another must stay there
			begun.taken = true
			m.Log.Warn().Str("turn", string(r.id)).Str("message_id", r.in.MessageID).Msg("turn.taken_over")
			return
		case errors.Is(err, store.ErrErased): // by another process, and this one hears of it soon
			m.Log.Info().Str("turn", string(r.id)).Msg("turn.erased")
		default:
			m.Log.Error().Err(err).Str("turn", string(r.id)).Msg("turn.not_recorded")
		}
		if stored {
			m.unstore(r.in)
		}
	})
	return record, begun
}

// open shows the turn. Where that fails nothing is shown, and the turn ends at once.
func (m *Manager) open(r *running) (Surface, error) {
	s, err := safely(func() (Surface, error) {
		r.turn.Persona = m.Edge.Self()
		return m.Edge.Open(Opening{
			TurnID: r.id, ChannelID: r.in.ChannelID, GuildID: r.in.GuildID, ReplyToID: r.in.MessageID, Owner: r.in.Author,
			Deliberate: r.verdict.Deliberate,
		}), nil
	})
	if err != nil {
		m.Log.Error().Err(err).Str("turn", string(r.id)).Msg("surface.not_opened")
		return deafSurface{}, err
	}
	return s, nil
}

// judged makes the status and the cause agree. A person's stop that came before the end was decided is how the turn
// ended, since they were told so; the clock and the shutdown only count when the loop really ended for them.
func judged(res toolloop.Result, cause abort.Cause) (toolloop.Result, abort.Cause) {
	switch cause.(type) {
	case abort.Killed, abort.Stopped:
		res.Status, res.StickerID = store.TurnStoppedByUser, ""
	case abort.TurnTimeout:
		if res.Status != store.TurnTimeout {
			return res, nil
		}
	case abort.Shutdown:
		if res.Status != store.TurnInterrupted {
			return res, nil
		}
	case abort.Gone: // nobody can read it, however it ended
		res.Status, res.StickerID = store.TurnSkipped, ""
	case nil:
	}
	return res, cause
}

// guarded answers, and turns a panic into an error with its stack in the log.
func (m *Manager) guarded(ctx context.Context, r *running, s Surface, waiting map[string]bool, begun *beginning) toolloop.Result {
	clock := startClock(m.limits.TurnTimeout, r.cancel)
	defer clock.stop()
	res, err := safely(func() (toolloop.Result, error) {
		r.turn.Clock = clock
		r.turn.Observer = &surfaceObserver{m: m, r: r, s: s}
		r.turn.Notices = notices{m: m, r: r}
		r.turn.Cards = cards{m: m, r: r, s: s}
		p := m.planFor(ctx, r)
		r.planned(p)
		r.turn.Allow, r.turn.WindowTurns, r.turn.Switches, r.turn.Settings = p.allow, p.windowTurns, p.switches, p.settings
		c := m.buildContext(ctx, r, p, waiting)
		r.turn.Shared = registry.NewShared(nil, c.ids, nil)
		select {
		case <-begun.done: // no call is journalled for a turn that is not there
		case <-ctx.Done():
		}
		if begun.elsewhere() {
			return toolloop.Result{Status: store.TurnSkipped}, nil
		}
		return m.attempts(ctx, r, s, c, m.chain(p.channel.Model)), nil
	})
	if p, ok := errors.AsType[panicked](err); ok {
		m.Log.Error().Str("turn", string(r.id)).Str("panic", p.Error()).Bytes("stack", p.stack).Msg("turn.panicked")
		res = toolloop.Result{Status: store.TurnError, Err: err}
	}
	return res
}

// record runs a turn's effects, once its beginning is written. It waits for them only for a moment: they go on beside the
// channel, which must be free whatever the store does. What the next turn must know of this one is in the dialogue.
func (m *Manager) record(ctx context.Context, begun *beginning, effects func(ctx context.Context)) {
	recorded := make(chan struct{})
	m.owned.Go(func() {
		defer close(recorded)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
		defer cancel()
		<-begun.done
		effects(ctx)
	})
	patience := time.NewTimer(recordPatience)
	defer patience.Stop()
	select {
	case <-recorded:
	case <-patience.C:
	}
}

// outcome is the record of a turn that has ended, as it is stored.
func (m *Manager) outcome(r *running, record store.Turn, res toolloop.Result, d Delivered) store.Turn {
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
	return record
}

// effects stores how a turn ended and what it cost. Nothing here can fail it any more.
func (m *Manager) effects(ctx context.Context, r *running, record store.Turn) {
	_, err := safely(func() (struct{}, error) { return struct{}{}, m.Store.FinishTurn(ctx, record, r.bill()...) })
	if err != nil {
		m.Log.Error().Err(err).Str("turn", string(r.id)).Msg("turn.not_closed")
		return
	}
	m.spending.written(r)
}

// ended counts and logs how the turn ended.
func (m *Manager) ended(r *running, res toolloop.Result, d Delivered) {
	m.count(store.TurnRunning, -1)
	m.count(res.Status, 1)
	level := zerolog.InfoLevel
	if res.Status == store.TurnError {
		level = zerolog.ErrorLevel
	}
	m.Log.WithLevel(level).Err(res.Err).AnErr("delivery", d.Err).Str("turn", string(r.id)).Str("channel", r.in.ChannelID).Str("guild", r.in.GuildID).
		Str("status", string(res.Status)).Int("iterations", r.turn.Iteration()).Dur("took", time.Since(r.started)).Msg("turn.end")
}

// tell emits an event of a turn with its number.
func (m *Manager) tell(r *running, e Event) {
	r.mu.Lock()
	r.seq++
	e.Seq, e.TurnID, e.ChannelID, e.GuildID, e.OwnerID = r.seq, r.id, r.in.ChannelID, r.in.GuildID, r.in.Author.ID
	if r.model.Provider != nil && (e.Kind == EventAttempt || e.Kind == EventUsage) {
		e.Provider, e.Model = r.model.Provider.Name(), r.model.Name
	}
	r.mu.Unlock()
	m.emit(e)
}

func usageOf(u providers.Usage) store.Usage {
	return store.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		CostNanos: u.CostNanos, Unpriced: u.Unpriced,
	}
}
