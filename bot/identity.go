package bot

import (
	"sync"

	"github.com/parleybot/parley/turn"
)

// identity is who the bot is, as READY tells. Safe for concurrent use.
type identity struct {
	mu     sync.RWMutex
	userID string
	appID  string
	name   string
	avatar string
}

func (i *identity) set(r wireReady) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.userID, i.appID, i.name, i.avatar = r.User.ID, r.Application.ID, clean(r.User.Username), ""
	if i.appID == "" {
		i.appID = r.User.ID
	}
	if r.User.Avatar != "" {
		i.avatar = "https://cdn.discordapp.com/avatars/" + r.User.ID + "/" + r.User.Avatar + ".png"
	}
}

func (i *identity) id() string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.userID
}

func (i *identity) application() string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.appID
}

func (i *identity) persona() turn.Persona {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return turn.Persona{Name: i.name, AvatarURL: i.avatar}
}
