package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/store"
)

// The acts in the audit log.
const (
	ActionSetting       store.AuditAction = "setting_changed"
	ActionTool          store.AuditAction = "tool_switched"
	ActionCleared       store.AuditAction = "conversation_cleared"
	ActionKilled        store.AuditAction = "killed"
	ActionApproved      store.AuditAction = "approved"
	ActionDenied        store.AuditAction = "denied"
	ActionFactAdded     store.AuditAction = "fact_added"
	ActionFactChanged   store.AuditAction = "fact_changed"
	ActionFactForgotten store.AuditAction = "fact_forgotten"
	// ActionErased is told without a name: whoever had all about them erased is not to be found here either.
	ActionErased store.AuditAction = "member_erased"
)

// AuditActions lists all acts.
func AuditActions() []store.AuditAction {
	return []store.AuditAction{
		ActionSetting, ActionTool, ActionCleared, ActionKilled, ActionApproved, ActionDenied, ActionFactAdded, ActionFactChanged,
		ActionFactForgotten, ActionErased,
	}
}

const (
	// auditDetail bounds what an entry quotes, in runes.
	auditDetail = 200
	// auditRead is how many entries are looked through for those of one channel, auditShown how many are told.
	auditRead  = 1000
	auditShown = 50
)

// AuditLog returns who did what in the place's guild, newest first: all of it to those who may manage the server, and what
// was done in this channel to those who may manage its messages.
func (m *Manager) AuditLog(ctx context.Context, p Place) ([]store.AuditEntry, error) {
	switch {
	case p.GuildID == "":
		return nil, notHere()
	case !p.Actor.ManageGuild && !p.Actor.ManageMessages:
		return nil, forbidden("That needs the permission to manage messages here.", "Ask a moderator.")
	}
	limit := auditShown
	if !p.Actor.ManageGuild {
		limit = auditRead
	}
	all, err := m.Store.AuditOf(ctx, p.GuildID, limit)
	if err != nil {
		return nil, &Refusal{
			Kind: RefusedUnavailable, Problem: "The audit log can't be reached right now.", Remedy: "Please try again in a minute.", Err: err,
		}
	}
	if !p.Actor.ManageGuild {
		all = slices.DeleteFunc(all, func(e store.AuditEntry) bool { return e.ChannelID != p.ChannelID })
	}
	return all[:min(len(all), auditShown)], nil
}

// audit writes who did what. It fails nothing: the act is done.
func (m *Manager) audit(ctx context.Context, e store.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ioTimeout)
	defer cancel()
	if e.At.IsZero() {
		e.At = time.Now().UTC()
	}
	_, err := safely(func() (struct{}, error) { return struct{}{}, m.Store.AddAudit(ctx, e) })
	if err != nil {
		m.Log.Error().Err(err).Str("action", string(e.Action)).Str("guild", e.GuildID).Msg("audit.not_written")
	}
}

// auditLater is audit for what must not wait for a store, such as a kill. Private chats have no moderators to ask.
func (m *Manager) auditLater(entries ...store.AuditEntry) {
	now := time.Now().UTC()
	m.spawn(func() {
		for _, e := range entries {
			if e.GuildID == "" {
				continue
			}
			e.At = now
			m.audit(context.Background(), e)
		}
	})
}

// auditSetting notes a change of a guild's or a channel's settings. What members set for themselves is theirs alone, and
// private chats have no moderators to ask.
func (m *Manager) auditSetting(ctx context.Context, p Place, s store.Setting) {
	if p.GuildID == "" || s.Scope == store.SettingMember {
		return
	}
	e := store.AuditEntry{GuildID: p.GuildID, ChannelID: p.ChannelID, ActorID: p.Actor.ID, Action: ActionSetting}
	where := "in this server"
	if s.Scope == store.SettingChannel {
		where = "in this channel"
	}
	value := s.Value
	tool, isTool := strings.CutPrefix(s.Name, SettingToolPrefix)
	switch {
	case isTool, s.Name == SettingTools:
		if e.Action = ActionTool; !isTool {
			tool = "all tools"
		}
		if value == "" {
			value = on
		}
		e.Detail = fmt.Sprintf("%s %s %s", tool, value, where)
	case s.Name == SettingEpoch:
		e.Action = ActionCleared
	case value == "":
		e.Detail = fmt.Sprintf("%s removed %s", s.Name, where)
	default:
		e.Detail = fmt.Sprintf("%s %s: %s", s.Name, where, oneLine(value, auditDetail))
	}
	m.audit(ctx, e)
}

// auditKill notes whose turns were ended, and what was dropped.
func (m *Manager) auditKill(req KillRequest, rep KillReport) {
	if req.GuildID == "" {
		return
	}
	var entries []store.AuditEntry
	for _, k := range rep.Killed {
		entries = append(entries, store.AuditEntry{
			GuildID: req.GuildID, ChannelID: k.ChannelID, ActorID: req.Actor.ID, SubjectID: k.OwnerID, Action: ActionKilled,
			Detail: "turn " + string(k.TurnID),
		})
	}
	if rep.Discarded > 0 {
		entries = append(entries, store.AuditEntry{
			GuildID: req.GuildID, ChannelID: req.ChannelID, ActorID: req.Actor.ID, Action: ActionKilled,
			Detail: fmt.Sprintf("waiting messages dropped: %d", rep.Discarded),
		})
	}
	if len(entries) > 0 {
		m.auditLater(entries...)
	}
}

// auditDecision notes who decided about a tool call.
func (m *Manager) auditDecision(c Card, d Decision) {
	e := store.AuditEntry{
		GuildID: c.GuildID, ChannelID: c.ChannelID, ActorID: d.By, SubjectID: c.OwnerID, Action: ActionDenied,
		Detail: fmt.Sprintf("%s, turn %s", c.Tool, c.TurnID),
	}
	if d.Approve {
		e.Action = ActionApproved
	}
	m.auditLater(e)
}
