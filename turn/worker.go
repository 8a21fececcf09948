package turn

import (
	"slices"
	"time"

	"github.com/parleybot/parley/store"
)

// acknowledgeAfter is how long the first waiting message of a busy time waits without a word.
const acknowledgeAfter = 3 * time.Second

// worker owns one channel: its queue and its single running turn. Everything that changes them is a command that runs on
// the worker's goroutine, in order; the worker itself does no I/O, so a command is never kept waiting by a store or by
// Discord. It starts with the first command and ends when nothing runs or waits.
type worker struct {
	m       *Manager
	channel string
	// commands, wake and busy are the mailbox and what is told of it; commands and busy are guarded by the manager's lock.
	commands []func(*worker)
	wake     chan struct{}
	busy     bool

	guild    string
	queue    []*queued
	running  *running
	draining bool
	// interrupts counts follow-up interrupts in a row; inherit is what the turn that made way leaves to its follow-up.
	interrupts int
	inherit    *inheritance
	// fullTold and ackTold: the notice was given and the queue has not been empty since.
	fullTold bool
	ackTold  bool
	ack      *time.Timer
	// counted is how many waiting triggers the manager's total knows of.
	counted int
}

// queued is a trigger that waits for its turn.
type queued struct {
	in      Inbound
	verdict Verdict
	id      ID
	// ready: its message id was claimed, so it may run. stored: it is among the waiting triggers of the store.
	ready  bool
	stored bool
	// gone is why it was discarded while its id was still being claimed.
	gone     Reason
	followUp bool
	// free: the limits on members don't hold for it.
	free bool
	// waited: another turn ran when it came.
	waited bool
	// writing: its stored form is being replaced; dirty: it has changed since.
	writing bool
	dirty   bool
	inherit *inheritance
}

func (w *worker) loop() {
	for {
		for _, command := range w.m.take(w) {
			command(w)
		}
		w.next()
		w.sync()
		if w.running == nil && len(w.queue) == 0 && w.m.retire(w) {
			w.hush()
			return
		}
		<-w.wake
	}
}

// sync tells the manager what the worker holds.
func (w *worker) sync() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.busy = !w.free()
	w.m.waiting += len(w.queue) - w.counted
	w.counted = len(w.queue)
}

// free reports that nothing runs or waits.
func (w *worker) free() bool { return w.running == nil && len(w.queue) == 0 }

// state is what admission needs to know of the channel.
func (w *worker) state() AdmissionState {
	r := w.running
	if r == nil || r.settled() {
		return AdmissionState{}
	}
	return AdmissionState{
		OwnerID: r.in.Author.ID, Stopping: r.stopping(), FollowUps: r.in.Kind == KindMessage && w.interrupts < w.m.limits.FollowUpInterrupts,
	}
}

// receive decides about an inbound knowing what runs in the channel.
func (w *worker) receive(in Inbound, rules guildRules) {
	v := Admit(in, rules.AdmissionSettings, w.state())
	switch v.Disposition {
	case DispositionAdmit:
		exempt := rules.exemptModerators && in.Author.ManageMessages
		w.accept(in, v, newID(), exempt)
	case DispositionCommand:
		w.m.claimCommand(in, v)
	case DispositionStop:
		w.m.admitted(in, w.running.id, v)
		w.stop(KillRequest{ChannelID: in.ChannelID, GuildID: w.guild, Actor: Actor{ID: in.Author.ID, Name: in.Author.Name}}, "a stop phrase")
	case DispositionIgnore, DispositionRefuse, DispositionDiscard:
		w.m.admitted(in, "", v)
	}
}

// accept puts an admitted trigger in line, unless a limit is reached: then it says so and returns false. Its id is
// claimed beside the worker; until then it holds its place. free triggers pass the limits on members.
func (w *worker) accept(in Inbound, v Verdict, id ID, free bool) bool {
	if w.draining {
		w.m.admitted(in, "", Verdict{Disposition: DispositionRefuse, Reason: ReasonDraining})
		return false
	}
	ahead := len(w.queue)
	if w.running == nil && ahead > 0 {
		ahead-- // the first in line is about to run
	}
	if !w.free() && ahead >= w.m.limits.QueueLimit {
		w.refuseFull(in, v)
		return false
	}
	free = free || w.interrupting(in)
	if why := w.m.limiter.reserve(in, free, time.Now()); why != "" {
		w.m.refuse(in, v, why)
		return false
	}
	w.guild = in.GuildID
	q := &queued{in: in, verdict: v, id: id, free: free, waited: !w.free()}
	w.queue = append(w.queue, q)
	w.m.claim(w.channel, q)
	return true
}

func (w *worker) refuseFull(in Inbound, v Verdict) {
	w.m.admitted(in, "", Verdict{Disposition: DispositionRefuse, Reason: ReasonQueueFull})
	if !w.fullTold && v.Deliberate {
		w.fullTold = true
		w.m.notify(Notice{
			Kind: NoticeQueueFull, ChannelID: in.ChannelID, ReplyToID: in.MessageID, Text: queueFullText(w.m.limits.QueueLimit),
		})
	}
}

// declined takes a trigger out of the line before it was admitted. Of a limit its author is told; a duplicate leaves
// without a word.
func (w *worker) declined(q *queued, why Reason) {
	if q.gone == "" {
		w.drop(q)
		w.m.limiter.release(q.in)
	}
	switch why { //nolint:exhaustive // all others leave without a word
	case ReasonMemberRate, ReasonChannelRate, ReasonWishUnknown, ReasonGuildBudget, ReasonBotBudget:
		w.m.refuse(q.in, q.verdict, why)
		return
	}
	w.m.admitted(q.in, "", Verdict{Disposition: DispositionIgnore, Reason: why})
}

// claimed hears that the trigger's id is ours.
func (w *worker) claimed(q *queued, stored bool) {
	q.stored = stored
	switch {
	case q.gone != "":
		w.m.admitted(q.in, q.id, q.verdict)
		w.gone(q)
	default:
		q.ready = true
		w.m.admitted(q.in, q.id, q.verdict)
		w.restore(q)
		if w.draining {
			w.keep(q)
			return
		}
		w.followUp(q)
		w.acknowledgeLater()
	}
}

// interrupting reports whether a message may interrupt the running turn: its owner writes again.
func (w *worker) interrupting(in Inbound) bool {
	r := w.running
	return r != nil && !r.settled() && w.interrupts < w.m.limits.FollowUpInterrupts && in.Kind == KindMessage && r.in.Kind == KindMessage &&
		in.Author.ID == r.in.Author.ID && in.MessageID != r.in.MessageID && !in.Author.Bot && !in.Author.Webhook
}

// followUp lets the owner's newer message end the current stream, once it is known to be no duplicate. It never ends a
// tool chain, and the newest one wins over those that wait.
func (w *worker) followUp(q *queued) {
	if !w.interrupting(q.in) {
		return
	}
	for _, other := range w.waitingLine() {
		if other == q || !other.followUp || other.in.Author.ID != q.in.Author.ID {
			continue
		}
		if CompareIDs(other.in.MessageID, q.in.MessageID) > 0 { // claims may end out of order
			w.discard(q, ReasonSupersededFollowUp)
			return
		}
		w.discard(other, ReasonSupersededFollowUp)
	}
	q.followUp = true
	if !w.running.stopping() && w.running.turn.FollowUp() {
		w.drop(q)
		w.queue = slices.Insert(w.queue, 0, q)
	}
}

// next starts the trigger at the head of the line when the channel is free and the trigger is ready.
func (w *worker) next() {
	if w.running != nil || len(w.queue) == 0 || !w.queue[0].ready || w.draining {
		return
	}
	q := w.queue[0]
	if x, _ := w.m.wishes.of(q.in.Author.ID); x.hides(q.in.MessageID) { // they have changed their mind, or another process says so
		w.discard(q, ReasonErased)
		w.next()
		return
	}
	w.queue = w.queue[1:]
	if len(w.queue) == 0 {
		w.fullTold, w.ackTold = false, false
		w.hush()
	}
	if q.followUp {
		q.inherit = w.inherit
	}
	w.inherit = nil
	w.running = w.m.start(w, q, w.waitingIDs())
}

// finished frees the channel, and only then tells the end of the turn.
func (w *worker) finished(r *running, told func()) {
	w.running, w.inherit = nil, nil
	w.m.limiter.release(r.in)
	if r.final() == store.TurnFollowUpInterrupt {
		w.interrupts++
		w.inherit = r.leaves()
	} else {
		w.interrupts = 0
	}
	w.sync()
	told()
}

// edited updates a waiting trigger, deleted drops it.
func (w *worker) edited(messageID, content string) {
	for _, q := range w.queue {
		if q.in.MessageID == messageID {
			q.in.Content, q.dirty = content, true
			w.restore(q)
		}
	}
}

func (w *worker) deleted(ids []string) {
	for _, q := range w.waitingLine() {
		if slices.Contains(ids, q.in.MessageID) {
			w.discard(q, ReasonDeleted)
		}
	}
}

// restore replaces the stored form of an edited trigger. Two writes of one trigger never run at once, so the newest text
// is the one that stays.
func (w *worker) restore(q *queued) {
	if !q.stored || !q.dirty || q.writing {
		return
	}
	q.writing, q.dirty = true, false
	w.m.updateWaiting(w.channel, q, q.in)
}

func (w *worker) drop(q *queued) {
	w.queue = slices.DeleteFunc(w.queue, func(x *queued) bool { return x == q })
	if len(w.queue) == 0 {
		w.fullTold, w.ackTold = false, false
		w.hush()
	}
}

// discard removes a waiting trigger for good. Whether it was admitted at all is known when its id has been claimed.
func (w *worker) discard(q *queued, why Reason) {
	w.drop(q)
	w.m.limiter.release(q.in)
	if q.gone = why; q.ready {
		w.gone(q)
	}
}

// gone tells, with a reason that is logged and counted, that an admitted trigger will never run.
func (w *worker) gone(q *queued) {
	if q.stored {
		w.m.unstore(q.in)
	}
	w.m.discarded(q.in, q.id, q.gone)
}

// acknowledgeLater tells the first of those who wait that they were heard, if the wait is not short.
func (w *worker) acknowledgeLater() {
	if w.ackTold || w.ack != nil || w.running == nil {
		return
	}
	w.ack = time.AfterFunc(acknowledgeAfter, func() { w.m.postIfActive(w.channel, (*worker).acknowledge) })
}

func (w *worker) acknowledge() {
	w.ack = nil
	if w.running == nil || w.ackTold || w.draining {
		return
	}
	for _, q := range w.queue {
		if q.ready && q.verdict.Deliberate {
			w.ackTold = true
			w.m.notify(Notice{Kind: NoticeQueued, ChannelID: w.channel, ReplyToID: q.in.MessageID, Text: queuedText})
			return
		}
	}
}

// hush stops a pending acknowledgement: nobody waits any more.
func (w *worker) hush() {
	if w.ack != nil {
		w.ack.Stop()
		w.ack = nil
	}
}

// waitingLine is a copy of the line that stays as it is while triggers are taken out of it.
func (w *worker) waitingLine() []*queued { return slices.Clone(w.queue) }

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
