package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// PutSetting implements store.Settings.
func (db *DB) PutSetting(ctx context.Context, s store.Setting) error {
	const doing = "store setting"
	values, err := settingOwner(s.Scope, s.ID)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	values["name"], values["value"] = s.Name, s.Value
	text := `INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES (@guild, @channel, @member, @name, @value)
		ON CONFLICT (guild_id, channel_id, member_id, name) DO UPDATE SET value = excluded.value`
	if s.Value == "" {
		text = `DELETE FROM settings WHERE guild_id = @guild AND channel_id = @channel AND member_id = @member AND name = @name`
	}
	_, err = exec(ctx, db.pool, text, values)
	return db.fail(ctx, doing, err)
}

// SettingsOf implements store.Settings.
func (db *DB) SettingsOf(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	const doing = "read settings"
	owner, err := settingOwner(scope, id)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	values, err := settingsOf(ctx, db.pool, owner)
	return values, db.fail(ctx, doing, err)
}

func settingsOf(ctx context.Context, on runner, owner args) (map[string]string, error) {
	type pair struct{ name, value string }
	found, err := query(ctx, on, `SELECT name, value FROM settings
		WHERE guild_id = @guild AND channel_id = @channel AND member_id = @member`, owner, func(row pgx.CollectableRow) (p pair, err error) {
		err = row.Scan(&p.name, &p.value)
		return p, err
	})
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(found))
	for _, p := range found {
		values[p.name] = p.value
	}
	return values, nil
}

// settingOwner gives the three ids of which two are empty.
func settingOwner(scope store.SettingScope, id string) (args, error) {
	if id == "" {
		return nil, fmt.Errorf("%w: a setting of no %s", store.ErrInvalid, scope)
	}
	values := args{"guild": "", "channel": "", "member": ""}
	switch scope {
	case store.SettingGuild, store.SettingChannel, store.SettingMember:
		values[string(scope)] = id
		return values, nil
	}
	return nil, fmt.Errorf("%w: setting scope %q", store.ErrInvalid, scope)
}
