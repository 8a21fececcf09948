package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parleybot/parley/store"
)

// PutSetting implements store.Settings.
func (db *DB) PutSetting(ctx context.Context, s store.Setting) error {
	const doing = "store setting"
	owner, err := settingOwner(s.Scope, s.ID)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	if s.Value == "" {
		_, err = db.write.one(ctx, `DELETE FROM settings WHERE guild_id = ? AND channel_id = ? AND member_id = ? AND name = ?`,
			append(owner, s.Name)...)
		return db.fail(ctx, doing, err)
	}
	_, err = db.write.one(ctx, `
		INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (guild_id, channel_id, member_id, name) DO UPDATE SET value = excluded.value`,
		append(owner, s.Name, s.Value)...)
	return db.fail(ctx, doing, err)
}

// SettingsOf implements store.Settings.
func (db *DB) SettingsOf(ctx context.Context, scope store.SettingScope, id string) (map[string]string, error) {
	const doing = "read settings"
	owner, err := settingOwner(scope, id)
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	values := make(map[string]string)
	err = db.read.query(ctx, `SELECT name, value FROM settings WHERE guild_id = ? AND channel_id = ? AND member_id = ?`,
		owner, func(r row) error {
			var name, value string
			err := r.Scan(&name, &value)
			values[name] = value
			return err
		})
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	return values, nil
}

// MemberSettings implements store.Settings.
func (db *DB) MemberSettings(ctx context.Context, names []string, after store.Setting, limit int) ([]store.Setting, error) {
	const doing = "read members' settings"
	list, err := json.Marshal(append([]string{}, names...))
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	var all []store.Setting
	err = db.read.query(ctx, `SELECT member_id, name, value FROM settings
		WHERE guild_id = '' AND channel_id = '' AND member_id <> '' AND (member_id, name) > (?, ?)
			AND name IN (SELECT value FROM json_each(?)) ORDER BY member_id, name LIMIT ?`,
		args{after.ID, after.Name, json.RawMessage(list), max(limit, 0)}, func(r row) error {
			s := store.Setting{Scope: store.SettingMember}
			err := r.Scan(&s.ID, &s.Name, &s.Value)
			all = append(all, s)
			return err
		})
	return all, db.fail(ctx, doing, err)
}

// settingOwner gives guild_id, channel_id and member_id, two of them empty.
func settingOwner(scope store.SettingScope, id string) (args, error) {
	if id == "" {
		return nil, fmt.Errorf("%w: a setting of no %s", store.ErrInvalid, scope)
	}
	switch scope {
	case store.SettingGuild:
		return args{id, "", ""}, nil
	case store.SettingChannel:
		return args{"", id, ""}, nil
	case store.SettingMember:
		return args{"", "", id}, nil
	}
	return nil, fmt.Errorf("%w: setting scope %q", store.ErrInvalid, scope)
}
