package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/store"
)

// eraseWait is how long an erasure may take, with the wait for the member's turns to end.
const eraseWait = 45 * time.Second

// SetMemory decides whether anything about the actor may be kept in long-term or short-term memory from now on. What is
// known already stays until it is forgotten.
func (m *Manager) SetMemory(ctx context.Context, p Place, enabled bool) error {
	value := off
	if enabled {
		value = ""
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingMember, ID: p.Actor.ID, Name: SettingMemory, Value: value})
}

// SetCarryMemory decides whether what the actor told in one server is recalled for them in others too. What was told in
// private stays there in any case.
func (m *Manager) SetCarryMemory(ctx context.Context, p Place, enabled bool) error {
	value := ""
	if enabled {
		value = on
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingMember, ID: p.Actor.ID, Name: SettingCarryMemory, Value: value})
}

// Export returns all that is kept about the actor.
func (m *Manager) Export(ctx context.Context, p Place) (store.Export, error) {
	if p.Actor.ID == "" {
		return store.Export{}, nobodyAsked()
	}
	e, err := m.Store.ExportMember(ctx, p.Actor.ID)
	if err != nil {
		return e, memoryAway(err)
	}
	return e, nil
}

// keptSettings are the member's settings that an erasure leaves: without them the next message would be answered or
// remembered again. The store keeps the moment too: messages from before, which Discord keeps, are not shown to the model again.
func keptSettings() []string { return []string{SettingPrivacy, SettingMemory} }

// Erase removes all that is kept about the actor and says what it was. Their turns end, and what waits for them is
// dropped. With an error some of it may be left; asking again removes the rest.
func (m *Manager) Erase(ctx context.Context, p Place) (store.Erased, error) {
	id := p.Actor.ID
	if id == "" {
		return nil, nobodyAsked()
	}
	before := p.MessageID // by Discord's clock, as the messages that it is compared with
	if !isSnowflake(before) {
		before = snowflakeAt(time.Now())
	}
	bounded, cancel := context.WithTimeout(ctx, eraseWait)
	defer cancel()
	if err := m.endTurnsOf(bounded, id, ReasonErased); err != nil {
		return nil, err
	}
	e := store.Erasure{MemberID: id, Before: before, KeepSettings: keptSettings()}
	if p.GuildID == "" {
		e.ChannelIDs = []string{p.ChannelID}
	}
	erased, private, err := m.Store.EraseMember(bounded, e)
	if err != nil {
		return nil, notErased(err)
	}
	m.dialogues.forgetMember(id, everything)
	m.settings.forget(store.SettingMember, id)
	m.wishes.changed(store.Setting{Scope: store.SettingMember, ID: id, Name: SettingErasedBefore, Value: before})
	for _, c := range private {
		m.settings.forget(store.SettingChannel, c)
	}
	fleeting, err := m.Store.EraseFleeting(bounded, id, private)
	for kind, n := range fleeting {
		erased.Add(kind, n)
	}
	total := 0
	for _, n := range erased {
		total += n
	}
	m.Log.Info().Int("records", total).Msg("member.erased")
	m.audit(ctx, store.AuditEntry{GuildID: p.GuildID, Action: ActionErased, Detail: fmt.Sprintf("%d records", total)})
	if err != nil {
		return erased, &Refusal{
			Kind:    RefusedUnavailable,
			Problem: "What is kept for good is erased, but counters of the last minutes and the tools that stay offered to you can't be reached right now.",
			Remedy:  "They vanish by themselves within a day; asking again removes them at once.", Err: err,
		}
	}
	return erased, nil
}

// endTurnsOf ends what runs for a member and drops what waits for them, everywhere, and waits until all of it is recorded,
// so that it is there to be erased, as far as ctx allows. What runs in another process the store leaves out.
func (m *Manager) endTurnsOf(ctx context.Context, memberID string, why Reason) error {
	channels := m.covered(KillRequest{})
	told := make(chan struct{}, len(channels))
	asked := 0
	for _, c := range channels {
		if m.postIfActive(c, func(w *worker) { w.forget(memberID, why, everything); told <- struct{}{} }) {
			asked++
		}
	}
	for range asked {
		select {
		case <-told:
		case <-ctx.Done():
			return stillEnding(ctx)
		}
	}
	if err := m.writers.wait(ctx, memberID); err != nil {
		return stillEnding(ctx)
	}
	return nil
}

func stillEnding(ctx context.Context) error {
	return &Refusal{
		Kind: RefusedBusy, Problem: "A turn of yours has not ended yet, so nothing was erased.", Remedy: "Please try again in a minute.",
		Err: context.Cause(ctx),
	}
}

// notErased says why the store did not erase: it is away, or something that writes to it, a process or a person, did not end
// in time.
func notErased(err error) error {
	r := &Refusal{
		Kind: RefusedUnavailable, Problem: "What I keep can't be reached right now, so it is not erased yet.",
		Remedy: "Please try again in a minute.", Err: err,
	}
	if errors.Is(err, store.ErrBusy) {
		r.Kind, r.Problem = RefusedBusy, "Something is still being written and did not end in time, so not all that I keep about you is erased yet."
		r.Remedy = "Please try again in a minute: that removes the rest."
	}
	return r
}

// forget ends the member's running turn and drops their waiting triggers, as far as they are hidden.
func (w *worker) forget(memberID string, why Reason, hides func(messageID string) bool) {
	for _, q := range w.waitingLine() {
		if q.in.Author.ID == memberID && hides(q.in.MessageID) {
			w.discard(q, why)
		}
	}
	if r := w.running; r != nil && r.in.Author.ID == memberID && hides(r.in.MessageID) {
		r.end(abort.Stopped{By: memberID, Reason: string(why)})
	}
}

// withoutAuthors removes the messages that are hidden, oldest first: with the bot's answers to them, which reply to them
// or follow them, and with what others quote of them. It changes no message of the argument.
func withoutAuthors(messages []Message, hidden func(Message) bool) []Message {
	gone, answers := map[string]bool{}, false
	kept := make([]Message, 0, len(messages))
	for _, x := range messages {
		switch {
		case !x.Author.Self:
			answers = hidden(x)
			gone[x.ID] = answers
		case x.ReplyToID != "":
			answers = gone[x.ReplyToID]
		}
		if answers {
			continue
		}
		if gone[x.ReplyToID] {
			x.Quote = ""
		}
		kept = append(kept, x)
	}
	return kept
}

func everything(string) bool { return true }

// forgetMember removes those of a member's messages and turns that are hidden from all channels.
func (d *dialogues) forgetMember(memberID string, hides func(messageID string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.channels {
		c.messages = withoutAuthors(c.messages, func(x Message) bool { return x.Author.ID == memberID && hides(x.ID) })
		c.turns = slices.DeleteFunc(c.turns, func(t store.Turn) bool { return t.OwnerID == memberID && hides(t.TriggerID) })
	}
}

// forget drops what is cached of an owner.
func (c *settingCache) forget(scope store.SettingScope, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[settingKey{scope, id}]; ok {
		e.changes++
		e.known, e.values = false, nil
	}
}

func nobodyAsked() error {
	return &Refusal{Kind: RefusedForbidden, Problem: "I can't tell who you are, so I won't.", Err: errors.New("a request without an actor")}
}

// ErasedText says what was removed, in whole sentences for people.
func ErasedText(e store.Erased) string {
	var gone, unnamed []string
	for _, x := range []struct {
		kind store.Kind
		what string
	}{
		{store.KindMemories, "fact"},
		{store.KindTurns, "conversation turn"},
		{store.KindCalls, "tool call"},
		{store.KindShortTerm, "note"},
		{store.KindWaiting, "waiting message"},
		{store.KindApprovals, "approval card"},
		{store.KindSettings, "setting"},
		{store.KindWindows, "tool offer"},
		{store.KindRates, "counter"},
	} {
		if n := e[x.kind]; n > 0 {
			gone = append(gone, plural(n, x.what))
		}
	}
	for kind, what := range map[store.Kind][2]string{
		store.KindUsage: {"usage entry", "usage entries"}, store.KindAudit: {"audit entry", "audit entries"},
	} {
		switch n := e[kind]; {
		case n == 1:
			unnamed = append(unnamed, "1 "+what[0])
		case n > 1:
			unnamed = append(unnamed, grouped(n)+" "+what[1])
		}
	}
	slices.Sort(unnamed)
	var said []string
	if len(gone) > 0 {
		said = append(said, "Erased: "+strings.Join(gone, ", ")+".")
	}
	if len(unnamed) > 0 {
		said = append(said, "Kept without your name: "+strings.Join(unnamed, ", ")+".")
	}
	if len(said) == 0 {
		return "Done: there was nothing to erase."
	}
	return strings.Join(said, " ")
}
