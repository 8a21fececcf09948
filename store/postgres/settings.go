package postgres

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// owner is whose setting it is: three ids of which two are empty.
type owner struct{ guild, channel, member string }

func ownerOf(scope store.SettingScope, id string) (owner, error) {
	if id == "" {
		return owner{}, fmt.Errorf("%w: a setting of no %s", store.ErrInvalid, scope)
	}
	switch scope {
	case store.SettingGuild:
		return owner{guild: id}, nil
	case store.SettingChannel:
		return owner{channel: id}, nil
	case store.SettingMember:
		return owner{member: id}, nil
	}
	return owner{}, fmt.Errorf("%w: setting scope %q", store.ErrInvalid, scope)
}

// PutSetting implements store.Settings.
func (db *DB) PutSetting(ctx context.Context, s store.Setting) error {
	const doing = "store setting"
	of, err := ownerOf(s.Scope, s.ID)
	switch {
	case err != nil:
	case s.Value == "":
		err = db.ask.DeleteSetting(ctx, queries.DeleteSettingParams{
			GuildID: of.guild, ChannelID: of.channel, MemberID: of.member, Name: s.Name,
		})
	default:
		err = db.ask.PutSetting(ctx, queries.PutSettingParams{
			GuildID: of.guild, ChannelID: of.channel, MemberID: of.member, Name: s.Name, Value: s.Value,
		})
	}
	return db.fail(ctx, doing, err)
}

// SettingsOf implements store.Settings.
func (db *DB) SettingsOf(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	const doing = "read settings"
	of, err := ownerOf(scope, id)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	values, err := settingsOf(ctx, db.ask, of)
	return values, db.fail(ctx, doing, err)
}

// MemberSettings implements store.Settings.
func (db *DB) MemberSettings(ctx context.Context, names []string, after store.Setting, limit int) ([]store.Setting, error) {
	found, err := db.ask.MemberSettings(ctx, queries.MemberSettingsParams{
		Names: append([]string{}, names...), AfterID: after.ID, AfterName: after.Name, Count: most(limit),
	})
	return each(found, func(s queries.MemberSettingsRow) store.Setting {
		return store.Setting{Scope: store.SettingMember, ID: s.MemberID, Name: s.Name, Value: s.Value}
	}), db.fail(ctx, "read members' settings", err)
}

func settingsOf(ctx context.Context, ask *queries.Queries, of owner) (map[string]string, error) {
	found, err := ask.SettingsOf(ctx, queries.SettingsOfParams{GuildID: of.guild, ChannelID: of.channel, MemberID: of.member})
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(found))
	for _, s := range found {
		values[s.Name] = s.Value
	}
	return values, nil
}
