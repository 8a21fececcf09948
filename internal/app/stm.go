package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/tools/stm"
	"github.com/parleybot/parley/turn"
)

// shortTerm lets the short-term memory tool write what a channel has in mind.
type shortTerm struct {
	store store.ShortTerms
	facts func() *turn.Facts
}

// Notes implements stm.Store.
func (s shortTerm) Notes(ctx context.Context, channelID string) ([]stm.Note, error) {
	kept, err := s.store.ShortTermOf(ctx, channelID, time.Now())
	if err != nil {
		return nil, err
	}
	notes := make([]stm.Note, len(kept))
	for i, n := range kept {
		notes[i] = stm.Note{Category: n.Category, Text: n.Content}
	}
	return notes, nil
}

// Write implements stm.Store.
func (s shortTerm) Write(ctx context.Context, in stm.Origin, n stm.Note) error {
	if err := s.facts().MayRemember(ctx, in.MemberID, n.Text); err != nil {
		if r, ok := errors.AsType[*turn.Refusal](err); ok && r.Kind == turn.RefusedOptedOut {
			return fmt.Errorf("%w: %w", stm.ErrOptedOut, err)
		}
		return err
	}
	err := s.store.PutShortTerm(ctx, store.ShortTerm{
		ChannelID: in.ChannelID, GuildID: in.GuildID, AuthorID: in.MemberID, TurnID: in.TurnID, Category: n.Category, Content: n.Text,
		UpdatedAt: time.Now().UTC(),
	}, stm.MaxCategories)
	switch {
	case errors.Is(err, store.ErrLimit):
		return fmt.Errorf("%w: %w", stm.ErrLimit, err)
	case errors.Is(err, store.ErrErased):
		return fmt.Errorf("%w: %w", stm.ErrOptedOut, err)
	}
	return err
}
