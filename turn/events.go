package turn

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// emit tells every observer; a panic in one is logged and swallowed.
func (m *Manager) emit(e Event) {
	if e.At.IsZero() {
		e.At = time.Now().UTC()
	}
	for _, o := range m.Observers {
		func() {
			defer func() {
				if p := recover(); p != nil {
					m.Log.Error().Interface("panic", p).Str("event", string(e.Kind)).Msg("turn.observer_panicked")
				}
			}()
			o.Observe(e)
		}()
	}
}

// admitted logs, counts and tells a verdict.
func (m *Manager) admitted(in Inbound, id ID, d Verdict) {
	level := zerolog.InfoLevel
	if d.Disposition == DispositionIgnore {
		level = zerolog.DebugLevel
	}
	m.Log.WithLevel(level).Str("message_id", in.MessageID).Str("channel", in.ChannelID).Str("guild", in.GuildID).Str("turn", string(id)).
		Str("disposition", string(d.Disposition)).Str("reason", string(d.Reason)).Msg("turn.admission")
	m.ruled(in, id, string(d.Disposition)+":"+string(d.Reason))
}

// discarded logs, counts and tells that an admitted trigger will never run.
func (m *Manager) discarded(in Inbound, id ID, why Reason) {
	m.Log.Info().Str("message_id", in.MessageID).Str("channel", in.ChannelID).Str("turn", string(id)).Str("reason", string(why)).Msg("turn.discarded")
	m.ruled(in, id, string(DispositionDiscard)+":"+string(why))
}

// ruled counts and tells what was decided about a message. The codes are a closed set.
func (m *Manager) ruled(in Inbound, id ID, code string) {
	m.mu.Lock()
	m.verdicts[code]++
	m.mu.Unlock()
	m.emit(Event{
		Kind: EventAdmission, ChannelID: in.ChannelID, GuildID: in.GuildID, MessageID: in.MessageID, OwnerID: in.Author.ID, TurnID: id, Text: code,
	})
}

// refuse logs, counts and tells that a limit was reached. People are told seldom: a notice each time would be what the
// limit is against.
func (m *Manager) refuse(in Inbound, v Verdict, why Reason) {
	d := DispositionRefuse
	if why == ReasonBotChain {
		d = DispositionIgnore
	}
	m.admitted(in, "", Verdict{Disposition: d, Reason: why})
	key := string(why) + ":" + in.Author.ID
	every := noticeEvery
	switch why { //nolint:exhaustive // all others are the member's
	case ReasonGuildLimit, ReasonChannelRate:
		key = string(why) + ":" + in.ChannelID
	case ReasonGuildBudget, ReasonBotBudget:
		key, every = budgetKey(in), budgetNotice
	}
	if text := m.refusalText(in, why); text != "" && v.Deliberate && m.told.allow(key, every, time.Now()) {
		m.notify(Notice{Kind: NoticeRefused, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: text})
	}
}

// count keeps the totals of a process.
func (m *Manager) count(s store.TurnStatus, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[s] += n
}

// errorCode names the kind of what went wrong, as far as observers are told; empty when nothing did.
func errorCode(res toolloop.Result) string {
	switch {
	case res.Status != store.TurnError && res.Status != store.TurnTimeout:
		return ""
	case res.Phase != toolloop.PhaseNone:
		return string(res.Phase)
	case errors.Is(res.Err, toolloop.ErrTooManyFailures):
		return "tool_failures"
	case errors.Is(res.Err, providers.ErrNotConfigured):
		return "not_configured"
	case spentUp(res.Err) != nil:
		return "budget"
	}
	return string(providers.KindOf(res.Err))
}

// doneReason maps a status to the chat driver's words; a denied turn ends like any other.
func doneReason(s store.TurnStatus) DoneReason {
	switch s {
	case store.TurnCompleted, store.TurnDenied, store.TurnEmptyResponse:
		return DoneEndTurn
	case store.TurnStoppedByUser, store.TurnFollowUpInterrupt, store.TurnInterrupted, store.TurnSkipped:
		return DoneStopped
	case store.TurnMaxIterations:
		return DoneMaxIterations
	case store.TurnError, store.TurnTimeout, store.TurnRunning:
		return DoneError
	}
	return DoneError
}
