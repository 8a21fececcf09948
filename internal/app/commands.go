package app

import (
	"context"

	"github.com/parleybot/parley/store"
)

// commandHash keeps the hash of the registered slash commands among the settings. It belongs to the application, not to
// a guild: its owner is id 0, which Discord gives to nobody.
type commandHash struct{ settings store.Settings }

const (
	applicationID      = "0"
	commandHashSetting = "commands_hash"
)

// Load implements bot.CommandHash.
func (c commandHash) Load(ctx context.Context) (string, error) {
	s, err := c.settings.SettingsOf(ctx, store.SettingGuild, applicationID)
	return s[commandHashSetting], err
}

// Save implements bot.CommandHash.
func (c commandHash) Save(ctx context.Context, hash string) error {
	return c.settings.PutSetting(ctx, store.Setting{
		Scope: store.SettingGuild, ID: applicationID, Name: commandHashSetting, Value: hash,
	})
}
