package bot

import (
	"context"
	"runtime/debug"
	"strings"
	"time"
)

const (
	// completeWithin is when a list of completions is given up: an empty one in time is better than a spinner.
	completeWithin = 1500 * time.Millisecond
	// maxChoices and maxChoice are Discord's limits.
	maxChoices = 25
	maxChoice  = 100
)

// completions answers while somebody types an option. Whoever may not use the command gets an empty list, as does
// everybody when the list is not there in time.
func (b *Bot) completions(ctx context.Context, i *interaction, v verdict) {
	_, a, ok := findAction(i.data.Name, i.sub)
	if v != allowed || !ok || a.complete == nil || authorise(i.attempt(a.needs(i), ""), b.cfg.Blocked) != allowed {
		i.reply.choices(ctx, nil)
		return
	}
	i.reply.choices(ctx, matching(b.list(ctx, i, a), i.typed()))
}

func (b *Bot) list(ctx context.Context, i *interaction, a *action) []string {
	ctx, cancel := context.WithDeadline(ctx, i.reply.began.Add(completeWithin))
	defer cancel()
	listed := make(chan []string, 1)
	if !b.asking.try(func() {
		var all []string
		defer func() {
			if p := recover(); p != nil {
				b.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("completion.panic")
			}
			listed <- all
		}()
		list, err := a.complete(b, ctx, i)
		if err != nil {
			b.log.Debug().Err(err).Str("command", i.data.Name).Msg("completion.failed")
			return
		}
		all = list
	}) {
		return nil
	}
	select {
	case all := <-listed:
		return all
	case <-ctx.Done():
		return nil
	}
}

// matching keeps what holds the typed text, those that begin with it first.
func matching(all []string, typed string) []choiceSpec {
	typed = strings.ToLower(typed)
	out := []choiceSpec{}
	for _, first := range []bool{true, false} {
		for _, s := range all {
			low := strings.ToLower(s)
			if s == "" || units(s) > maxChoice || !strings.Contains(low, typed) || strings.HasPrefix(low, typed) != first {
				continue
			}
			if len(out) == maxChoices {
				return out
			}
			out = append(out, choiceSpec{Name: s, Value: s})
		}
	}
	return out
}
