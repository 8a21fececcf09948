package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parleybot/parley/turn"
)

const (
	modeOption    = "mode"
	turnsOption   = "turns"
	targetOption  = "target"
	triggerOption = "words"
	// nothing, as a list, removes what is set.
	nothing = "-"
)

func deliberateCommand() command {
	zero, ten := 0, turn.MaxContextTurns
	return command{name: "deliberate", description: "Deliberate mode: tools are offered only when a message asks for them", actions: []action{
		{name: "show", description: "Show how deliberate mode is set, for you and for the server", need: needNothing, private: true, run: (*Bot).showDeliberate},
		{
			name: "me", description: "Set it for yourself, everywhere", need: needNothing, private: true, run: (*Bot).setMyDeliberate,
			options: []optionSpec{{
				Type: optionString, Name: modeOption, Description: "How you want it", Required: true,
				Choices: []choiceSpec{{Name: "off", Value: valueOff}, {Name: "follow the server", Value: string(turn.DeliberateFollow)}, {Name: "on", Value: valueOn}},
			}},
		},
		{
			name: "server", description: "Set it for the server", need: needServer, private: true, run: (*Bot).setServerDeliberate,
			options: []optionSpec{
				{
					Type: optionString, Name: modeOption, Description: "On or off",
					Choices: []choiceSpec{{Name: "on", Value: valueOn}, {Name: "off", Value: valueOff}},
				},
				{Type: optionInteger, Name: turnsOption, Description: "For how many turns a tool stays offered after it was used", MinValue: &zero, MaxValue: &ten},
			},
		},
		{
			name: "triggers", description: "Set which words ask for a tool in this server", need: needServer, private: true, run: (*Bot).setTriggers,
			options: []optionSpec{
				{Type: optionString, Name: targetOption, Description: "A tool, or a group of tools", Required: true, Autocomplete: true, MaxLength: maxChoice},
				{
					Type: optionString, Name: triggerOption, MaxLength: maxOptionText,
					Description: "With commas: word, start*, ^ (always), /regexp/; - removes all; leave it out to see them",
				},
			},
			complete: func(b *Bot, _ context.Context, _ *interaction) ([]string, error) { return b.turns.Targets(), nil },
		},
	}}
}

func (b *Bot) showDeliberate(ctx context.Context, i *interaction) said {
	mine, err := b.turns.MemberSettings(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	head := fmt.Sprintf("**Deliberate mode.** For you: %s.", mine.Deliberate)
	if i.guildID == "" {
		return privately(head)
	}
	g, err := b.turns.GuildSettings(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	server := valueOff
	if g.Deliberate {
		server = valueOn
	}
	head += fmt.Sprintf(" In this server: %s; a tool stays offered for %d turns after it was used.", server, g.ContextTurns)
	if len(g.ToolTriggers) == 0 {
		return privately(head)
	}
	return listing("triggers.txt", head+"\nThis server's own words for tools:", triggerLines(g.ToolTriggers))
}

func triggerLines(all map[string][]string) []string {
	var lines []string
	for _, target := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, "• **"+inline(target, 64)+"**: "+clip(names(all[target]), 600))
	}
	return lines
}

func (b *Bot) setMyDeliberate(ctx context.Context, i *interaction) said {
	mode := turn.DeliberateMode(i.option(modeOption))
	if err := b.turns.SetMemberDeliberate(ctx, i.place(), mode); err != nil {
		return b.refused(i, err)
	}
	switch mode {
	case turn.DeliberateOn:
		return privately("Done: with your messages, a tool is offered only when you ask for it.")
	case turn.DeliberateOff:
		return privately("Done: with your messages, all tools that are on are offered.")
	case turn.DeliberateFollow:
	}
	return privately("Done: with your messages it is as each server has it.")
}

func (b *Bot) setServerDeliberate(ctx context.Context, i *interaction) said {
	mode := i.option(modeOption)
	turns, given := i.number(turnsOption)
	if mode == "" && !given {
		return privately("Nothing was changed. Give the mode, the turns, or both.")
	}
	var done []string
	if mode != "" {
		if err := b.turns.SetGuildDeliberate(ctx, i.place(), turn.DeliberateMode(mode)); err != nil {
			return b.refused(i, err)
		}
		done = append(done, "deliberate mode is "+mode+" in this server")
	}
	if given {
		if err := b.turns.SetContextTurns(ctx, i.place(), turns); err != nil {
			a := b.refused(i, err)
			if len(done) > 0 {
				*a.message.Content += " What was done: " + done[0] + "."
			}
			return a
		}
		done = append(done, fmt.Sprintf("a tool stays offered for %d turns after it was used", turns))
	}
	return privately("Done: " + strings.Join(done, ", and ") + ".")
}

func (b *Bot) setTriggers(ctx context.Context, i *interaction) said {
	target, words := i.option(targetOption), strings.TrimSpace(i.option(triggerOption))
	if words == "" {
		g, err := b.turns.GuildSettings(ctx, i.place())
		if err != nil {
			return b.refused(i, err)
		}
		if len(g.ToolTriggers[target]) == 0 {
			return privately("This server has no words of its own for **" + inline(target, 64) + "**.")
		}
		return listing("triggers.txt", "This server's own words:", triggerLines(map[string][]string{target: g.ToolTriggers[target]}))
	}
	list := splitTriggers(words)
	if words == nothing {
		list = nil
	}
	if err := b.turns.SetToolTriggers(ctx, i.place(), target, list); err != nil {
		return b.refused(i, err)
	}
	if len(list) == 0 {
		return privately("Removed: this server has no words of its own for **" + inline(target, 64) + "** any more.")
	}
	return privately("Done: in deliberate mode, **" + inline(target, 64) + "** is offered for " + clip(names(list), 1200) + ".")
}

// splitTriggers cuts a list at its commas, but not at those inside a /regular expression/.
func splitTriggers(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := strings.IndexByte(s, ',')
		if s[0] == '/' {
			if e := expressionEnd(s); e > 0 {
				end = e
			}
		}
		if end < 0 {
			return append(out, s)
		}
		if t := strings.TrimSpace(s[:end]); t != "" {
			out = append(out, t)
		}
		s = strings.TrimPrefix(strings.TrimSpace(s[end:]), ",")
	}
	return out
}

// expressionEnd is where the /expression/ at the beginning of s ends: behind a slash that is followed by a comma or by
// nothing.
func expressionEnd(s string) int {
	for n := 1; n < len(s); n++ {
		if s[n] != '/' || s[n-1] == '\\' {
			continue
		}
		if rest := strings.TrimSpace(s[n+1:]); rest == "" || rest[0] == ',' {
			return n + 1
		}
	}
	return -1
}
