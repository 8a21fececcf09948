package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
)

// queueSize is the number of events that may wait for the dispatcher.
const queueSize = 4096

// event is one gateway event, copied out of the library's hands.
type event struct {
	kind string
	data []byte
}

// handlers are the events we read; all others are dropped before they cost anything.
var handlers = map[string]func(*Bot, context.Context, event) error{
	"READY":               (*Bot).onReady,
	"RESUMED":             (*Bot).onResumed,
	"MESSAGE_CREATE":      (*Bot).onMessage,
	"MESSAGE_UPDATE":      (*Bot).onMessageUpdate,
	"MESSAGE_DELETE":      (*Bot).onMessageDelete,
	"MESSAGE_DELETE_BULK": (*Bot).onMessageDeleteBulk,
	"INTERACTION_CREATE":  (*Bot).onInteraction,
	"GUILD_CREATE":        (*Bot).onGuildCreate,
	"GUILD_UPDATE":        (*Bot).onGuildUpdate,
	"GUILD_DELETE":        (*Bot).onGuildDelete,
	"CHANNEL_CREATE":      (*Bot).onChannel,
	"CHANNEL_UPDATE":      (*Bot).onChannel,
	"CHANNEL_DELETE":      (*Bot).onChannelDelete,
	"THREAD_CREATE":       (*Bot).onChannel,
	"THREAD_UPDATE":       (*Bot).onChannel,
	"THREAD_DELETE":       (*Bot).onChannelDelete,
	"THREAD_LIST_SYNC":    (*Bot).onThreadList,
	"GUILD_ROLE_CREATE":   (*Bot).onRole,
	"GUILD_ROLE_UPDATE":   (*Bot).onRole,
	"GUILD_ROLE_DELETE":   (*Bot).onRoleDelete,
	"GUILD_MEMBER_UPDATE": (*Bot).onMember,
}

// push queues an event. It is called on the library's reading goroutine and must return at once: a slow handler would
// delay heartbeats and lose the connection.
func (b *Bot) push(kind string, data []byte) {
	if handlers[kind] == nil {
		return
	}
	select {
	case b.events <- event{kind: kind, data: bytes.Clone(data)}:
	default:
		// Every power of two, so that a flood of events is no flood of log lines.
		if n := b.dropped.Add(1); n&(n-1) == 0 {
			b.log.Error().Str("event", kind).Uint64("dropped", n).Msg("gateway.event_dropped")
		}
	}
}

// dispatch handles the queued events in order until ctx ends. What it calls never waits for the network.
func (b *Bot) dispatch(ctx context.Context) {
	for {
		select {
		case e := <-b.events:
			b.handle(ctx, e)
		case <-ctx.Done():
			return
		}
	}
}

// handle is a recover point: a message that breaks us must not break the others.
func (b *Bot) handle(ctx context.Context, e event) {
	defer b.recovered(e.kind)
	if err := handlers[e.kind](b, ctx, e); err != nil {
		b.log.Warn().Str("event", e.kind).Err(err).Msg("gateway.event_unreadable")
	}
}

// recovered, deferred, turns a panic into a log line.
func (b *Bot) recovered(doing string) {
	if p := recover(); p != nil {
		b.log.Error().Str("doing", doing).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("bot.panic")
	}
}

func read[T any](e event) (T, error) {
	var v T
	if err := json.Unmarshal(e.data, &v); err != nil {
		return v, fmt.Errorf("reading the event: %w", err)
	}
	return v, nil
}

func (b *Bot) onReady(ctx context.Context, e event) error {
	r, err := read[wireReady](e)
	if err != nil {
		return err
	}
	b.guilds.begin(r.User.ID, r.Guilds)
	b.identity.set(r)
	b.log.Info().Str("user", r.User.ID).Str("name", clean(r.User.Username)).Int("guilds", len(r.Guilds)).Msg("gateway.ready")
	b.backfill.begin()
	b.fillPrivate(ctx)
	b.registerCommands(ctx, b.identity.application(), idsOf(r.Guilds))
	b.readyOnce.Do(func() { close(b.ready) })
	return nil
}

// onResumed: Discord has sent again what was missed, in principle; the busiest channels are asked all the same.
func (b *Bot) onResumed(ctx context.Context, _ event) error {
	b.backfill.begin()
	b.fillRecent(ctx)
	return nil
}

func (b *Bot) onMessage(ctx context.Context, e event) error {
	m, err := read[wireMessage](e)
	if err != nil {
		return err
	}
	b.receive(ctx, &m)
	return nil
}

// receive hands one message on, from the gateway or from a backfill.
func (b *Bot) receive(ctx context.Context, m *wireMessage) {
	if !m.readable() {
		return
	}
	b.backfill.saw(m.ChannelID, m.ID, m.GuildID == "")
	t := b.translator()
	in := t.inbound(m, time.Now())
	if in.Author.Self {
		b.refusals.clear(in.ChannelID)
	}
	in.CanReply = in.CanReply && !b.refusals.recent(in.ChannelID, in.ReceivedAt)
	if !in.Author.Self && !b.mayTalk(in) {
		return
	}
	b.turns.Receive(ctx, in)
}

// onMessageUpdate tells turns of real edits only: the same event without an edit time means that a link was unfurled.
func (b *Bot) onMessageUpdate(_ context.Context, e event) error {
	m, err := read[struct {
		wireMessage
		Content *string `json:"content"`
	}](e)
	if err != nil {
		return err
	}
	if m.Edited == nil || m.Content == nil {
		return nil
	}
	b.turns.Edited(m.ChannelID, m.ID, clean(*m.Content))
	return nil
}

func (b *Bot) onMessageDelete(_ context.Context, e event) error {
	m, err := read[wireMessage](e)
	if err != nil {
		return err
	}
	b.turns.Deleted(m.ChannelID, m.ID)
	return nil
}

func (b *Bot) onMessageDeleteBulk(_ context.Context, e event) error {
	m, err := read[struct {
		ChannelID string   `json:"channel_id"`
		IDs       []string `json:"ids"`
	}](e)
	if err != nil {
		return err
	}
	b.turns.Deleted(m.ChannelID, m.IDs...)
	return nil
}

func (b *Bot) onGuildCreate(ctx context.Context, e event) error {
	g, err := read[wireGuild](e)
	if err != nil {
		return err
	}
	if g.Unavailable {
		return nil
	}
	b.guilds.putGuild(g)
	b.fillGuild(ctx, g)
	return nil
}

func (b *Bot) onGuildUpdate(_ context.Context, e event) error {
	g, err := read[wireGuild](e)
	if err == nil {
		b.guilds.updateGuild(g)
	}
	return err
}

// onGuildDelete: an outage comes as the same event; the guild is sent again when it is over.
func (b *Bot) onGuildDelete(_ context.Context, e event) error {
	g, err := read[wireGuild](e)
	if err == nil && !g.Unavailable {
		b.guilds.removeGuild(g.ID)
		b.turns.Gone(g.ID)
	}
	return err
}

func (b *Bot) onChannel(_ context.Context, e event) error {
	c, err := read[wireChannel](e)
	if err == nil {
		b.guilds.putChannel(c)
	}
	return err
}

// onChannelDelete stops what runs in a channel that is gone, and in the threads that went with it.
func (b *Bot) onChannelDelete(_ context.Context, e event) error {
	c, err := read[wireChannel](e)
	if err != nil {
		return err
	}
	gone := b.guilds.removeChannel(c.ID)
	if len(gone) == 0 {
		gone = []string{c.ID}
	}
	b.turns.Gone(c.GuildID, gone...)
	return nil
}

func (b *Bot) onThreadList(_ context.Context, e event) error {
	l, err := read[struct {
		GuildID string        `json:"guild_id"`
		Threads []wireChannel `json:"threads"`
	}](e)
	for _, t := range l.Threads {
		t.GuildID = l.GuildID
		b.guilds.putChannel(t)
	}
	return err
}

func (b *Bot) onRole(_ context.Context, e event) error {
	r, err := read[struct {
		GuildID string   `json:"guild_id"`
		Role    wireRole `json:"role"`
	}](e)
	if err == nil {
		b.guilds.putRole(r.GuildID, r.Role)
	}
	return err
}

func (b *Bot) onRoleDelete(_ context.Context, e event) error {
	r, err := read[struct {
		GuildID string `json:"guild_id"`
		RoleID  string `json:"role_id"`
	}](e)
	if err == nil {
		b.guilds.removeRole(r.GuildID, r.RoleID)
	}
	return err
}

func (b *Bot) onMember(_ context.Context, e event) error {
	m, err := read[struct {
		wireMember
		GuildID string `json:"guild_id"`
	}](e)
	if err == nil && m.User != nil && m.User.ID == b.identity.id() {
		b.guilds.setMe(m.GuildID, m.wireMember)
	}
	return err
}

func idsOf(guilds []wireGuild) []string {
	ids := make([]string, len(guilds))
	for n, g := range guilds {
		ids[n] = g.ID
	}
	return ids
}
