package turn

import (
	"slices"

	"github.com/parleybot/parley/internal/abort"
)

// worker owns one channel: its queue and its single running turn. Everything that changes them is a command that runs on
// the worker's goroutine, in order; the worker itself does no I/O, so a command is never kept waiting by a store or by
// Discord. It starts with the first command and ends when nothing runs or waits.
type worker struct {
	m       *Manager
	channel string
	// commands and wake are the mailbox; commands is guarded by the manager's lock.
	commands []func(*worker)
	wake     chan struct{}

	queue   []*queued
	running *running
	// interrupts counts follow-up interrupts in a row.
	interrupts int
	// fullTold: the queue-full notice was given and the queue has not been empty since.
	fullTold bool
}

// queued is a trigger that waits for its turn.
type queued struct {
	in      Inbound
	verdict Verdict
	id      ID
	// ready: its message id was claimed, so it may run. stored: it is among the waiting triggers of the store.
	ready    bool
	stored   bool
	followUp bool
	// edited: its text changed while it was being stored.
	edited bool
}

func (w *worker) loop() {
	for {
		for _, command := range w.m.take(w) {
			command(w)
		}
		w.next()
		if w.running == nil && len(w.queue) == 0 && w.m.retire(w) {
			return
		}
		<-w.wake
	}
}

// accept puts an admitted trigger in line. Its id is claimed beside the worker; until then it holds its place.
func (w *worker) accept(in Inbound, d Verdict, id ID) {
	if len(w.queue) >= w.m.limits.QueueLimit && (w.running != nil || len(w.queue) > 0) {
		w.refuseFull(in)
		return
	}
	q := &queued{in: in, verdict: d, id: id}
	w.queue = append(w.queue, q)
	waits := w.running != nil || len(w.queue) > 1
	w.m.claim(w.channel, q, waits)
}

func (w *worker) refuseFull(in Inbound) {
	w.m.admitted(in, "", Verdict{Disposition: DispositionRefuse, Reason: ReasonQueueFull})
	if !w.fullTold {
		w.fullTold = true
		w.m.notify(Notice{
			Kind: NoticeQueueFull, ChannelID: in.ChannelID, ReplyToID: in.MessageID,
			Text: queueFullText(w.m.limits.QueueLimit),
		})
	}
}

// claimed hears whether the trigger's id is ours. A duplicate leaves without a word.
func (w *worker) claimed(q *queued, ours, stored bool) {
	if !slices.Contains(w.queue, q) { // discarded meanwhile
		if stored {
			w.m.unstore(q.in.MessageID)
		}
		return
	}
	if !ours {
		w.drop(q)
		w.m.admitted(q.in, "", Verdict{Disposition: DispositionIgnore, Reason: ReasonDuplicate})
		return
	}
	q.ready, q.stored = true, stored
	if stored && q.edited {
		w.m.restore(q.in)
	}
	w.m.admitted(q.in, q.id, q.verdict)
	w.followUp(q)
}

// followUp lets the owner's newer message end the current stream, once it is known to be no duplicate. It never ends a
// tool chain, and the newest one wins over those that wait.
func (w *worker) followUp(q *queued) {
	r := w.running
	if r == nil || q.in.Kind != KindMessage || r.in.Kind != KindMessage || q.in.Author.ID != r.in.Author.ID || r.in.MessageID == q.in.MessageID {
		return
	}
	if w.interrupts >= w.m.limits.FollowUpInterrupts {
		return
	}
	for _, other := range slices.Clone(w.queue) {
		if other != q && other.followUp && other.in.Author.ID == q.in.Author.ID {
			w.discard(other, ReasonSupersededFollowUp)
		}
	}
	q.followUp = true
	if r.turn.FollowUp() {
		w.drop(q)
		w.queue = slices.Insert(w.queue, 0, q)
	}
}

// next starts the trigger at the head of the line when the channel is free and the trigger is ready.
func (w *worker) next() {
	if w.running != nil || len(w.queue) == 0 || !w.queue[0].ready || w.m.draining() {
		return
	}
	q := w.queue[0]
	w.queue = w.queue[1:]
	if len(w.queue) == 0 {
		w.fullTold = false
	}
	w.running = w.m.start(w, q, w.waitingIDs())
}

// finished frees the channel, and only then tells the end of the turn.
func (w *worker) finished(r *running, told func()) {
	w.running = nil
	if r.interrupted() {
		w.interrupts++
	} else {
		w.interrupts = 0
	}
	told()
}

// kill ends the running turn and empties the line as far as the actor may, and says what it did.
func (w *worker) kill(req KillRequest) KillReport {
	guildWide := req.ChannelID == ""
	var rep KillReport
	found := false
	if w.running != nil {
		found = true
		if MayStop(req.Actor, guildWide, w.running.in.Author.ID) {
			rep.Killed = append(rep.Killed, w.running.killed())
			w.running.cancel(abort.Killed{By: req.Actor.ID, Guild: guildWide})
		}
	}
	for _, q := range slices.Clone(w.queue) {
		found = true
		if MayStop(req.Actor, guildWide, q.in.Author.ID) {
			w.discard(q, ReasonQueueCleared)
			rep.Discarded++
		}
	}
	rep.Refused = found && len(rep.Killed) == 0 && rep.Discarded == 0
	return rep
}

// edited updates a waiting trigger, deleted drops it.
func (w *worker) edited(messageID, content string) {
	for _, q := range w.queue {
		if q.in.MessageID == messageID {
			q.in.Content, q.edited = content, true
			if q.stored {
				w.m.restore(q.in)
			}
		}
	}
}

func (w *worker) deleted(ids []string) {
	for _, q := range slices.Clone(w.queue) {
		if slices.Contains(ids, q.in.MessageID) {
			w.discard(q, ReasonDeleted)
		}
	}
}

func (w *worker) drop(q *queued) {
	w.queue = slices.DeleteFunc(w.queue, func(x *queued) bool { return x == q })
}

// discard removes a waiting trigger for good, with a reason that is logged and counted.
func (w *worker) discard(q *queued, why Reason) {
	w.drop(q)
	if q.stored {
		w.m.unstore(q.in.MessageID)
	}
	w.m.discarded(q.in, why)
}

func (w *worker) waitingIDs() map[string]bool {
	ids := make(map[string]bool, len(w.queue))
	for _, q := range w.queue {
		ids[q.in.MessageID] = true
	}
	return ids
}

func (w *worker) status() ChannelStatus {
	s := ChannelStatus{Waiting: len(w.queue)}
	if w.running != nil {
		s.Running = w.running.describe()
	}
	return s
}

// guild is the guild of whatever runs or waits here.
func (w *worker) guild() string {
	if w.running != nil {
		return w.running.in.GuildID
	}
	if len(w.queue) > 0 {
		return w.queue[0].in.GuildID
	}
	return ""
}
