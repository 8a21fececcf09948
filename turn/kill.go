package turn

import (
	"context"

	"github.com/parleybot/parley/internal/abort"
)

// Kill ends what runs and drops what waits, as far as the actor may. It returns when every channel it covers has
// answered, not when the turns have ended. It is also what a bus calls to carry a kill to this process.
func (m *Manager) Kill(ctx context.Context, req KillRequest) KillReport {
	if req.ChannelID == "" && req.GuildID == "" {
		return KillReport{Refused: true}
	}
	channels := m.covered(req)
	answers := make(chan KillReport, len(channels))
	asked := 0
	for _, c := range channels {
		if m.postIfActive(c, func(w *worker) { answers <- w.kill(req) }) {
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
	if len(total.Killed) > 0 || total.Discarded > 0 || total.Refused {
		m.Log.Info().Str("by", req.Actor.ID).Str("channel", req.ChannelID).Str("guild", req.GuildID).Int("killed", len(total.Killed)).
			Int("discarded", total.Discarded).Bool("refused", total.Refused).Msg("turn.kill")
		m.auditKill(req, total)
	}
	return total
}

// Stop is the owner's own wish to end a turn: it ends the running turn of the channel, and leaves what waits.
func (m *Manager) Stop(ctx context.Context, req KillRequest) KillReport {
	answer := make(chan KillReport, 1)
	if !m.postIfActive(req.ChannelID, func(w *worker) { answer <- w.stop(req, "asked to stop") }) {
		return KillReport{}
	}
	select {
	case rep := <-answer:
		return rep
	case <-ctx.Done():
		return KillReport{}
	}
}

// Gone ends what runs and drops what waits in channels that nobody can read any more; without channels, in the whole guild.
// It is nobody's kill: turns end as skipped, and nobody is told.
func (m *Manager) Gone(guildID string, channelIDs ...string) {
	for _, c := range channelIDs {
		m.dialogues.forget(c)
	}
	if len(channelIDs) == 0 {
		channelIDs = m.covered(KillRequest{GuildID: guildID})
	}
	for _, c := range channelIDs {
		m.postIfActive(c, func(w *worker) {
			if w.guild == guildID {
				w.gonePlace()
			}
		})
	}
}

func (w *worker) gonePlace() {
	if r := w.running; r != nil && r.endable() {
		if _, ok := r.end(abort.Gone{}); ok {
			w.m.Log.Info().Str("turn", string(r.id)).Str("channel", w.channel).Msg("turn.channel_gone")
		}
	}
	for _, q := range w.waitingLine() {
		w.discard(q, ReasonChannelGone)
	}
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

// kill ends the running turn and empties the line as far as the actor may, and says what it did. A turn that has ended
// already and is just saying its last words is not killed, and neither is the next one.
func (w *worker) kill(req KillRequest) KillReport {
	guildWide := req.ChannelID == ""
	if w.guild != req.GuildID {
		return KillReport{Refused: !guildWide && !w.free()}
	}
	var rep KillReport
	found := false
	if r := w.running; r != nil && req.means(r.id, r.in.MessageID) && r.endable() {
		found = true
		if MayStop(req.Actor, guildWide, r.in.Author.ID) {
			if k, ok := r.end(abort.Killed{By: req.Actor.ID, Guild: guildWide}); ok {
				rep.Killed = append(rep.Killed, k)
			}
		}
	}
	for _, q := range w.waitingLine() {
		if !req.means(q.id, q.in.MessageID) {
			continue
		}
		found = true
		if MayStop(req.Actor, guildWide, q.in.Author.ID) {
			w.discard(q, ReasonQueueCleared)
			rep.Discarded++
		}
	}
	rep.Refused = found && len(rep.Killed) == 0 && rep.Discarded == 0
	return rep
}

// stop ends the running turn only.
func (w *worker) stop(req KillRequest, why string) KillReport {
	r := w.running
	if r == nil || !r.endable() || req.TurnID != "" && req.TurnID != r.id {
		return KillReport{}
	}
	if w.guild != req.GuildID || !MayStop(req.Actor, false, r.in.Author.ID) {
		return KillReport{Refused: true}
	}
	k, ok := r.end(abort.Stopped{By: req.Actor.ID, Reason: why})
	if !ok {
		return KillReport{}
	}
	return KillReport{Killed: []KilledTurn{k}}
}
