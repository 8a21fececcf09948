package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// CommandHash remembers which set of slash commands was registered last, across restarts: Discord limits how often
// commands may be written.
type CommandHash interface {
	// Load returns what was saved last, empty when nothing was.
	Load(ctx context.Context) (string, error)
	Save(ctx context.Context, hash string) error
}

const (
	// registerTimeout bounds the registration, which runs beside everything else.
	registerTimeout = 2 * time.Minute
	// clearTimeout bounds the look for commands that other builds left in servers; many servers take a while.
	clearTimeout = 10 * time.Minute
)

// registerCommands tells Discord the commands when they changed since the last time, and then clears what is left in
// the servers. A failure is logged and tried again at the next start of a session; the bot works without.
func (b *Bot) registerCommands(ctx context.Context, application string, servers []string) {
	if !b.registering.TryLock() {
		return
	}
	b.work.Go(func() {
		defer b.registering.Unlock()
		defer b.recovered("the registration of commands")
		changed, err := b.writeCommands(ctx, application)
		if err != nil && ctx.Err() == nil {
			b.log.Error().Err(err).Msg("commands.register_failed")
		}
		if changed {
			b.clearServers(ctx, application, servers)
		}
	})
}

// writeCommands replaces the global commands when they changed, and reports whether it did.
func (b *Bot) writeCommands(ctx context.Context, application string) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	list := commands()
	specs := make([]commandSpec, len(list))
	for i := range list {
		specs[i] = list[i].spec()
	}
	payload, err := json.Marshal(specs)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(append([]byte(application+"\n"), payload...))
	hash := hex.EncodeToString(sum[:])
	saved := b.registered
	if b.deps.Commands != nil && saved == "" {
		if saved, err = b.deps.Commands.Load(ctx); err != nil {
			b.log.Warn().Err(err).Msg("commands.hash_unreadable")
			saved = ""
		}
	}
	if saved == hash {
		b.registered = hash
		return false, nil
	}
	err = b.rest.do(ctx, call{
		route: route{method: http.MethodPut, template: "/applications/{application}/commands", major: application},
		path:  "/applications/" + url.PathEscape(application) + "/commands",
		body:  specs, repeatable: true,
	}, nil)
	if err != nil {
		return false, err
	}
	b.registered = hash
	b.log.Info().Int("commands", len(specs)).Msg("commands.registered")
	if b.deps.Commands == nil {
		return true, nil
	}
	return true, b.deps.Commands.Save(ctx, hash)
}

// clearServers removes commands that another build of this bot has registered in single servers: they would show beside
// the global ones. It only reads where there are none. What fails is left until the commands change again.
func (b *Bot) clearServers(ctx context.Context, application string, servers []string) {
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	for _, server := range servers {
		if ctx.Err() != nil {
			return
		}
		if err := b.clearServer(ctx, application, server); err != nil {
			b.log.Warn().Err(err).Str("guild", server).Msg("commands.stale_left")
		}
	}
}

func (b *Bot) clearServer(ctx context.Context, application, server string) error {
	c := call{
		route: route{method: http.MethodGet, template: "/applications/{application}/guilds/{guild}/commands", major: server},
		path:  "/applications/" + url.PathEscape(application) + "/guilds/" + url.PathEscape(server) + "/commands", repeatable: true,
	}
	var found []struct{}
	if err := b.rest.do(ctx, c, &found); err != nil || len(found) == 0 {
		return err
	}
	c.route.method, c.body = http.MethodPut, []commandSpec{}
	if err := b.rest.do(ctx, c, nil); err != nil {
		return err
	}
	b.log.Info().Str("guild", server).Int("commands", len(found)).Msg("commands.stale_cleared")
	return nil
}
