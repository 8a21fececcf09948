package app

import (
	"context"
	"maps"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// EraseMember removes everything that is kept about a member, in every store, and says what it was. That the member wants
// to be left alone stays: without it the next message would be answered again. The caller ends the member's turns first.
func (a *App) EraseMember(ctx context.Context, memberID string) (store.Erased, error) {
	erased, channels, err := a.store.EraseMember(ctx, memberID, turn.SettingPrivacy)
	if err != nil {
		return nil, err
	}
	fleeting, err := a.store.EraseFleeting(ctx, memberID, channels)
	maps.Copy(erased, fleeting)
	return erased, err
}

// ExportMember returns what is kept about a member.
func (a *App) ExportMember(ctx context.Context, memberID string) (store.Export, error) {
	return a.store.ExportMember(ctx, memberID)
}
