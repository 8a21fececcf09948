package bot

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Application flags that say that reading messages was granted: for verified and for small applications.
const flagsMessageContent = 1<<18 | 1<<19

// Probe is what Discord says about the bot, for `bot doctor`.
type Probe struct {
	ApplicationID string
	Name          string
	// MessageContent: the privileged intent is switched on; without it Discord closes the gateway with 4014.
	MessageContent bool
	// Guilds is Discord's own estimate.
	Guilds int
	// Shards is how many Discord recommends.
	Shards int
	// StartsLeft of StartsTotal session starts remain until StartsReset from now. Run refuses below a floor of 5.
	StartsLeft, StartsTotal int
	StartsReset             time.Duration
}

// Probe asks Discord about the token and the application. It costs no session start. A rejected token is a *FatalError.
func (b *Bot) Probe(ctx context.Context) (Probe, error) {
	gw, err := b.askGateway(ctx)
	if err == nil {
		var app struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			Flags  int    `json:"flags"`
			Guilds int    `json:"approximate_guild_count"`
		}
		err = b.rest.do(ctx, call{
			route: route{method: http.MethodGet, template: "/applications/@me"}, path: "/applications/@me", repeatable: true,
		}, &app)
		if err == nil {
			return Probe{
				ApplicationID: app.ID, Name: clean(app.Name), MessageContent: app.Flags&flagsMessageContent != 0, Guilds: app.Guilds,
				Shards: gw.Shards, StartsLeft: gw.Limit.Remaining, StartsTotal: gw.Limit.Total, StartsReset: gw.Limit.resetAfter(),
			}, nil
		}
	}
	if f := fatalIn(err); f != nil {
		return Probe{}, f
	}
	return Probe{}, fmt.Errorf("asking Discord about the bot: %w", err)
}
