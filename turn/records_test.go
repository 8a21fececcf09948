package turn_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleybot/parley/store"
)

// records are what a world's store keeps about members, beside turns and settings. They are guarded by memory's lock.
type records struct {
	facts     []store.Memory
	lastFact  int64
	audits    []store.AuditEntry
	approvals []store.Approval
	erasures  []store.Erasure
}

func (s *memory) sees(q store.MemoryQuery, m store.Memory) bool {
	switch {
	case m.Scope == store.ScopeGuild:
		return m.GuildID == q.GuildID && !q.Private
	case m.MemberID != q.MemberID:
		return false
	}
	return m.GuildID == q.GuildID && m.Private == q.Private || q.OtherGuilds && m.GuildID != ""
}

func (s *memory) AddMemory(ctx context.Context, m store.Memory, limit int) (store.Memory, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Memory{}, err
	}
	defer unlock()
	n := 0
	for _, x := range s.facts {
		if x.Scope != m.Scope || x.GuildID != m.GuildID || x.MemberID != m.MemberID {
			continue
		}
		if n++; x.Content == m.Content {
			return x, nil
		}
	}
	if n >= limit {
		return store.Memory{}, store.ErrLimit
	}
	s.lastFact++
	m.ID = s.lastFact
	s.facts = append(s.facts, m)
	return m, nil
}

func (s *memory) findFact(q store.MemoryQuery, id int64) (int, error) {
	i := slices.IndexFunc(s.facts, func(m store.Memory) bool { return m.ID == id && s.sees(q, m) })
	if i < 0 {
		return i, store.ErrNotFound
	}
	return i, nil
}

func (s *memory) UpdateMemory(ctx context.Context, q store.MemoryQuery, id int64, content string, at time.Time) (store.Memory, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Memory{}, err
	}
	defer unlock()
	i, err := s.findFact(q, id)
	if err != nil {
		return store.Memory{}, err
	}
	s.facts[i].Content, s.facts[i].UpdatedAt = content, at
	return s.facts[i], nil
}

func (s *memory) DeleteMemory(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Memory{}, err
	}
	defer unlock()
	i, err := s.findFact(q, id)
	if err != nil {
		return store.Memory{}, err
	}
	gone := s.facts[i]
	s.facts = slices.Delete(s.facts, i, i+1)
	return gone, nil
}

func (s *memory) DeleteMemories(ctx context.Context, of store.Memory) (int, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	before := len(s.facts)
	s.facts = slices.DeleteFunc(s.facts, func(m store.Memory) bool {
		return m.Scope == of.Scope && m.GuildID == of.GuildID && m.MemberID == of.MemberID && m.Private == of.Private
	})
	return before - len(s.facts), nil
}

func (s *memory) MemoryByID(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Memory{}, err
	}
	defer unlock()
	i, err := s.findFact(q, id)
	if err != nil {
		return store.Memory{}, err
	}
	return s.facts[i], nil
}

func (s *memory) EraseMember(ctx context.Context, e store.Erasure) (store.Erased, []string, error) {
	if err := s.dragged(ctx, "EraseMember"); err != nil {
		return nil, nil, err
	}
	if err := s.dragged(ctx, "fence"); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", store.ErrBusy, err)
	}
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	s.erasures = append(s.erasures, e)
	erased := store.Erased{}
	turns := len(s.turns)
	s.turns = slices.DeleteFunc(s.turns, func(t store.Turn) bool { return t.OwnerID == e.MemberID })
	erased.Add(store.KindTurns, turns-len(s.turns))
	waiting := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, func(w store.Waiting) bool { return w.OwnerID == e.MemberID })
	erased.Add(store.KindWaiting, waiting-len(s.waiting))
	facts := len(s.facts)
	s.facts = slices.DeleteFunc(s.facts, func(m store.Memory) bool { return m.MemberID == e.MemberID || m.AuthorID == e.MemberID })
	erased.Add(store.KindMemories, facts-len(s.facts))
	if s.settings[store.SettingMember] == nil {
		s.settings[store.SettingMember] = map[string]map[string]string{}
	}
	if s.settings[store.SettingMember][e.MemberID] == nil {
		s.settings[store.SettingMember][e.MemberID] = map[string]string{}
	}
	s.settings[store.SettingMember][e.MemberID][store.SettingErasedBefore] = e.Before
	for name := range s.settings[store.SettingMember][e.MemberID] {
		if !slices.Contains(e.Keeps(), name) {
			delete(s.settings[store.SettingMember][e.MemberID], name)
			erased.Add(store.KindSettings, 1)
		}
	}
	return erased, slices.Clone(e.ChannelIDs), nil
}

func (s *memory) ExportMember(ctx context.Context, memberID string) (store.Export, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return store.Export{}, err
	}
	defer unlock()
	e := store.Export{Version: store.ExportVersion, MemberID: memberID}
	var r store.ExportRecords
	for _, m := range s.facts {
		if m.MemberID == memberID || m.AuthorID == memberID {
			r.Memories = append(r.Memories, m)
		}
	}
	e.Fill(r)
	return e, nil
}

func (s *memory) EraseFleeting(ctx context.Context, _ string, channelIDs []string) (store.Erased, error) {
	if err := s.dragged(ctx, "EraseFleeting"); err != nil {
		return nil, err
	}
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	erased := store.Erased{}
	for _, c := range channelIDs {
		erased.Add(store.KindWindows, len(s.windows[c]))
		delete(s.windows, c)
	}
	return erased, nil
}

func (s *memory) AddAudit(ctx context.Context, a store.AuditEntry) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.audits = append(s.audits, a)
	return nil
}

func (s *memory) AuditOf(ctx context.Context, guildID string, limit int) ([]store.AuditEntry, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var found []store.AuditEntry
	for _, a := range slices.Backward(s.audits) {
		if a.GuildID == guildID && len(found) < limit {
			found = append(found, a)
		}
	}
	return found, nil
}

func (s *memory) OpenApproval(ctx context.Context, a store.Approval) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	a.Status = store.ApprovalOpen
	s.approvals = append(s.approvals, a)
	return nil
}

func (s *memory) ShowApproval(ctx context.Context, token, messageID string) error {
	unlock, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i := range s.approvals {
		if s.approvals[i].Token == token {
			s.approvals[i].MessageID = messageID
		}
	}
	return nil
}

func (s *memory) DecideApproval(ctx context.Context, a store.Approval) (bool, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	for i := range s.approvals {
		if x := &s.approvals[i]; x.Token == a.Token && x.Status == store.ApprovalOpen {
			x.Status, x.DecidedBy, x.Reason, x.DecidedAt = a.Status, a.DecidedBy, a.Reason, a.DecidedAt
			return true, nil
		}
	}
	return false, nil
}

func (s *memory) OpenApprovals(ctx context.Context) ([]store.Approval, error) {
	unlock, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var open []store.Approval
	for _, a := range s.approvals {
		i := s.find(a.TurnID)
		if a.Status == store.ApprovalOpen && (i < 0 || s.turns[i].Status != store.TurnRunning) {
			open = append(open, a)
		}
	}
	return open, nil
}
