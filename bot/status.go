package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/turn"
)

func statusCommand() command {
	const what = "Show what I am doing here"
	return command{name: "status", description: what, actions: []action{{
		description: what, need: needNothing, private: true,
		run: func(b *Bot, _ context.Context, i *interaction) said {
			s := b.turns.Status(i.channelID)
			if s.Running != nil {
				// A turn's own word for it holds until the tool has ended; the card knows when it was decided.
				r := *s.Running
				r.Approval = r.Approval && b.cards.waiting()[r.TurnID]
				s.Running = &r
			}
			return privately(statusText(s, b.turns.Totals(), time.Now(), b.started))
		},
	}}}
}

func statusText(s turn.ChannelStatus, all turn.Totals, now, started time.Time) string {
	var b strings.Builder
	if r := s.Running; r != nil {
		fmt.Fprintf(&b, "**Running** for %s: %s's turn, round %d", age(now.Sub(r.StartedAt)), inline(nameOr(r.OwnerName, r.OwnerID), 64), r.Iteration+1)
		switch {
		case r.Approval:
			b.WriteString(", waiting for an approval")
		case r.Tool != "":
			fmt.Fprintf(&b, ", tool %s", inline(r.Tool, 64))
		}
		if len(r.Calls) > 0 {
			fmt.Fprintf(&b, ", %d tool calls so far", len(r.Calls))
		}
		if r.Model != "" {
			fmt.Fprintf(&b, "\nModel: %s (%s)", inline(r.Model, 80), inline(r.Provider, 40))
		}
	} else {
		b.WriteString("**Idle** in this channel.")
		if l := s.Last; l != nil {
			fmt.Fprintf(&b, " The last turn ended as `%s`.", l.Status)
		}
	}
	if s.Waiting > 0 {
		fmt.Fprintf(&b, "\nWaiting here: %d", s.Waiting)
	}
	fmt.Fprintf(&b, "\nEverywhere: %d running, %d waiting", all.RunningTurns, all.Waiting)
	if all.Abandoned > 0 {
		fmt.Fprintf(&b, ", %d tools that don't end", all.Abandoned)
	}
	fmt.Fprintf(&b, "\nUp for %s", age(now.Sub(started)))
	return b.String()
}

// age is a duration as people say it: the two largest units.
func age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
}
