package playground

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// mishap is something that goes wrong on purpose, so that one sees what the bot makes of it.
type mishap struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Does says what happens and where to look.
	Does string `json:"does"`
	// Offline mishaps are the model's: only the built-in one can be told to have them.
	Offline bool `json:"offline,omitempty"`

	// arm readies the simulated Discord.
	arm func(w *discordsim.World, channel discordsim.ID) error
	// say is what the person then writes to the bot.
	say string
}

const retryAfterFault = 2 * time.Second

// mishaps are the entries of the fault menu.
func mishaps() []mishap {
	return []mishap{
		{
			Name: "rate_limit", Title: "429 from Discord",
			Does: "Discord refuses the bot's next message here with 429 and asks it to wait 2 s. The answer comes late, and once; the requests show both tries.",
			say:  "say Discord answered the first try of this message with 429, and this is the second.",
			arm: func(w *discordsim.World, channel discordsim.ID) error {
				return w.Inject(discordsim.Fault{
					Route: "POST /channels/{channel_id}/messages", Path: "/channels/" + string(channel) + "/messages",
					Kind: discordsim.FaultStatus, Status: http.StatusTooManyRequests, RetryAfter: retryAfterFault,
				})
			},
		},
		{
			Name: "gateway_drop", Title: "Gateway drop",
			Does: "The bot's connection to Discord breaks, and a message is written while it is away. It comes back by itself, finds what it missed and answers.",
			say:  "say You wrote this while I was cut off, and I found it when I was back.",
			arm: func(w *discordsim.World, _ discordsim.ID) error {
				if w.Drop() == 0 {
					return fmt.Errorf("the bot is not connected just now")
				}
				return nil
			},
		},
		{
			Name: "slow_tool", Title: "Slow tool", Offline: true,
			Does: "A tool takes 8 s. One quiet progress line says so meanwhile, and /kill ends it at once.",
			say:  `call slow_task {"seconds":8}; then; say The slow tool has finished.`,
		},
		{
			Name: "cut_arguments", Title: "Cut arguments", Offline: true,
			Does: "The model's output ends in the middle of a call's arguments. The call is refused, never run on half of them; the gates show where.",
			say: `cut create_long_term_memory {"memory_content":"half of this","memory_scope":"target_user"} at 30; then; ` +
				`say My call was cut off, so nothing was executed.`,
		},
		{
			Name: "provider_error", Title: "Provider error", Offline: true,
			Does: "The model's provider answers 503 each time. It is asked three times, then the turn ends as an error; people are told the kind, once a minute at most.",
			say:  "fail 503 overloaded",
		},
	}
}

// fault makes something go wrong in a channel and lets the person write what brings it about.
func fault(_ context.Context, p *Playground, who resident, r request) (any, error) {
	for _, m := range mishaps() {
		if m.Name != r.Name {
			continue
		}
		model := p.models.current()
		if m.Offline && !model.Offline {
			return nil, fmt.Errorf("%s can't be told to fail; the built-in model can", model.Name)
		}
		if m.arm != nil {
			if err := m.arm(p.town.world(), r.Channel); err != nil {
				return nil, err
			}
		}
		text := "<@" + string(p.town.world().Bot()) + "> " + m.say
		id, err := who.Say(r.Channel, text)
		return map[string]any{"id": id}, err
	}
	return nil, fmt.Errorf("nothing of the name %q can go wrong here", r.Name)
}
