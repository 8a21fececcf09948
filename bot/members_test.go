package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// fakeMembers keeps facts for everybody alike, and notes what is asked about members.
type fakeMembers struct {
	mu     sync.Mutex
	facts  []store.Memory
	calls  []string
	export store.Export
	audit  []store.AuditEntry
	err    error
	// hold, when set, is waited for before anything is done.
	hold chan struct{}
}

func (f *fakeMembers) note(ctx context.Context, call string) error {
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.calls = append(f.calls, call)
	}
	return f.err
}

func (f *fakeMembers) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func (f *fakeMembers) set(change func(*fakeMembers)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeMembers) Memories(_ context.Context, _ turn.Place) ([]store.Memory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.facts), f.err
}

func (f *fakeMembers) Remember(ctx context.Context, p turn.Place, scope store.MemoryScope, content string) (store.Memory, bool, error) {
	err := f.note(ctx, "remember "+string(scope)+" "+content)
	return store.Memory{ID: 7, Scope: scope, Content: content, Private: p.GuildID == ""}, content != "known", err
}

func (f *fakeMembers) EditMemory(ctx context.Context, _ turn.Place, id int64, content string) (store.Memory, error) {
	return store.Memory{ID: id, Content: content}, f.note(ctx, "edit "+string(rune('0'+id))+" "+content)
}

func (f *fakeMembers) ForgetMemory(ctx context.Context, _ turn.Place, id int64) (store.Memory, error) {
	return store.Memory{ID: id, Content: "what it was"}, f.note(ctx, "forget "+string(rune('0'+id)))
}

func (f *fakeMembers) ForgetMemories(ctx context.Context, _ turn.Place, scope store.MemoryScope) (int, error) {
	return 3, f.note(ctx, "forget all "+string(scope))
}

func (f *fakeMembers) Export(context.Context, turn.Place) (store.Export, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.export, f.err
}

func (f *fakeMembers) Erase(ctx context.Context, p turn.Place) (store.Erased, error) {
	if p.Actor.ID == "" {
		return nil, errors.New("nobody")
	}
	return store.Erased{store.KindMemories: 2, store.KindTurns: 1}, f.note(ctx, "erase "+p.Actor.ID)
}

func (f *fakeMembers) SetMemory(ctx context.Context, _ turn.Place, enabled bool) error {
	return f.note(ctx, "memory "+onOff(enabled))
}

func (f *fakeMembers) SetCarryMemory(ctx context.Context, _ turn.Place, enabled bool) error {
	return f.note(ctx, "carry "+onOff(enabled))
}

func (f *fakeMembers) SetFullPrivacy(ctx context.Context, _ turn.Place, enabled bool) error {
	return f.note(ctx, "ignore "+onOff(enabled))
}

func (f *fakeMembers) AuditLog(context.Context, turn.Place) ([]store.AuditEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.audit), f.err
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}
