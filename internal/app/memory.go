package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/tools/memory"
)

// memoriesPerScope is how many facts a member in a guild, or a guild, may have.
const memoriesPerScope = 100

// memories lets the memory tools keep their facts in the store. Tools know no store and stores know no tools.
type memories struct{ store store.Memories }

// Add implements memory.Store.
func (m memories) Add(ctx context.Context, f memory.Fact) (memory.Fact, error) {
	now := time.Now().UTC()
	rec := store.Memory{
		Scope: store.ScopeMember, GuildID: f.GuildID, MemberID: f.MemberID, Content: f.Content, Private: f.Private,
		AuthorID: f.AuthorID, TurnID: f.TurnID, MessageID: f.MessageID, CreatedAt: now, UpdatedAt: now,
	}
	if f.ServerWide {
		rec.Scope, rec.MemberID = store.ScopeGuild, ""
	}
	rec, err := m.store.AddMemory(ctx, rec, memoriesPerScope)
	return factOf(rec), memoryError(err)
}

// Update implements memory.Store.
func (m memories) Update(ctx context.Context, who memory.Scope, id int64, content string) (memory.Fact, error) {
	rec, err := m.store.UpdateMemory(ctx, query(who), id, content, time.Now().UTC())
	return factOf(rec), memoryError(err)
}

// Delete implements memory.Store.
func (m memories) Delete(ctx context.Context, who memory.Scope, id int64) (memory.Fact, error) {
	rec, err := m.store.DeleteMemory(ctx, query(who), id)
	return factOf(rec), memoryError(err)
}

// Find implements memory.Store.
func (m memories) Find(ctx context.Context, who memory.Scope, text string, limit int) ([]memory.Fact, error) {
	q := query(who)
	q.Text, q.Limit = text, limit
	recs, err := m.store.FindMemories(ctx, q)
	if err != nil {
		return nil, memoryError(err)
	}
	facts := make([]memory.Fact, len(recs))
	for i, r := range recs {
		facts[i] = factOf(r)
	}
	return facts, nil
}

func query(who memory.Scope) store.MemoryQuery {
	return store.MemoryQuery{GuildID: who.GuildID, MemberID: who.MemberID, Private: who.Private}
}

func factOf(m store.Memory) memory.Fact {
	return memory.Fact{
		ID: m.ID, ServerWide: m.Scope == store.ScopeGuild, GuildID: m.GuildID, MemberID: m.MemberID, Content: m.Content,
		Private: m.Private, AuthorID: m.AuthorID, TurnID: m.TurnID, MessageID: m.MessageID,
	}
}

// memoryError gives the store's errors the tools' names; the store's own text stays inside for the log.
func memoryError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: %w", memory.ErrNotFound, err)
	case errors.Is(err, store.ErrLimit):
		return fmt.Errorf("%w: %w", memory.ErrLimit, err)
	case errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	default:
		return err
	}
}
