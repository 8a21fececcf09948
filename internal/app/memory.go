package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/tools/memory"
	"github.com/parleybot/parley/turn"
)

// memories lets the memory tools keep their facts where people keep theirs by command, under the same rules. Tools know
// nothing of turns and stores.
type memories struct{ facts func() *turn.Facts }

// Add implements memory.Store.
func (m memories) Add(ctx context.Context, who memory.Scope, f memory.Fact) (memory.Fact, error) {
	scope := store.ScopeMember
	if f.ServerWide {
		scope = store.ScopeGuild
	}
	kept, _, err := m.facts().Add(ctx, placeOf(who), turn.Fact{Content: f.Content, Scope: scope, TurnID: f.TurnID, MessageID: f.MessageID})
	return factOf(kept), memoryError(err)
}

// Update implements memory.Store.
func (m memories) Update(ctx context.Context, who memory.Scope, id int64, content string) (memory.Fact, error) {
	kept, err := m.facts().Edit(ctx, placeOf(who), id, content)
	return factOf(kept), memoryError(err)
}

// Delete implements memory.Store.
func (m memories) Delete(ctx context.Context, who memory.Scope, id int64) (memory.Fact, error) {
	gone, err := m.facts().Forget(ctx, placeOf(who), id)
	return factOf(gone), memoryError(err)
}

// Find implements memory.Store.
func (m memories) Find(ctx context.Context, who memory.Scope, text string, limit int) ([]memory.Fact, error) {
	found, err := m.facts().List(ctx, placeOf(who), text, limit)
	if err != nil {
		return nil, memoryError(err)
	}
	facts := make([]memory.Fact, len(found))
	for i, r := range found {
		facts[i] = factOf(r)
	}
	return facts, nil
}

func placeOf(who memory.Scope) turn.Place {
	return turn.Place{GuildID: who.GuildID, ChannelID: who.ChannelID, Actor: turn.Actor{ID: who.MemberID, ManageGuild: who.ManageGuild}}
}

func factOf(m store.Memory) memory.Fact {
	return memory.Fact{
		ID: m.ID, ServerWide: m.Scope == store.ScopeGuild, GuildID: m.GuildID, MemberID: m.MemberID, Content: m.Content,
		Private: m.Private, AuthorID: m.AuthorID, TurnID: m.TurnID, MessageID: m.MessageID,
	}
}

// memoryError gives refusals the tools' names; what is not for the model stays inside for the log.
func memoryError(err error) error {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok {
		return err
	}
	switch refusal.Kind {
	case turn.RefusedNotFound:
		return fmt.Errorf("%w: %w", memory.ErrNotFound, err)
	case turn.RefusedFull:
		return fmt.Errorf("%w: %w", memory.ErrLimit, err)
	case turn.RefusedUnavailable:
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	case turn.RefusedForbidden:
		return fmt.Errorf("%w: %w", memory.ErrForbidden, err)
	case turn.RefusedOptedOut:
		return fmt.Errorf("%w: %w", memory.ErrOptedOut, err)
	case turn.RefusedInvalid, turn.RefusedElsewhere:
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	case turn.RefusedBusy:
	}
	return err
}
