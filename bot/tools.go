package bot

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleybot/parley/turn"
)

const toolOption = "tool"

func toolsCommand() command {
	which := []optionSpec{
		{Type: optionString, Name: toolOption, Description: "The tool; leave it out for all of them", Autocomplete: true, MaxLength: maxChoice},
		whereChoice(),
	}
	turned := func(on bool) func(*Bot, context.Context, *interaction) said {
		return func(b *Bot, ctx context.Context, i *interaction) said { return b.switchTool(ctx, i, on) }
	}
	return command{name: "tools", description: "See which tools I may use here, and switch them", actions: []action{
		{name: "list", description: "List the tools, and why each is offered here or not", need: needNothing, private: true, run: (*Bot).listTools},
		{
			name: "on", description: "Switch a tool, or all of them, on", options: which,
			need: needChannel, needOf: whereNeed, private: true, run: turned(true), complete: (*Bot).toolNames,
		},
		{
			name: "off", description: "Switch a tool, or all of them, off", options: which,
			need: needChannel, needOf: whereNeed, private: true, run: turned(false), complete: (*Bot).toolNames,
		},
	}}
}

func (b *Bot) toolNames(ctx context.Context, i *interaction) ([]string, error) {
	rep, err := b.turns.Tools(ctx, i.place())
	list := make([]string, len(rep.Tools))
	for n, t := range rep.Tools {
		list[n] = t.Name
	}
	return list, err
}

func (b *Bot) listTools(ctx context.Context, i *interaction) said {
	rep, err := b.turns.Tools(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	if len(rep.Tools) == 0 {
		return privately("I have no tools.")
	}
	head := "**Tools in this channel.** Those that are on are offered with every message."
	if rep.Deliberate {
		head = fmt.Sprintf("**Tools in this channel.** Deliberate mode is on for you: a tool is offered when your message asks for it%s.", windowText(rep.ContextTurns))
	}
	lines := make([]string, len(rep.Tools))
	for n, t := range rep.Tools {
		lines[n] = toolLine(t, rep.Deliberate)
	}
	return listing("tools.txt", head, lines)
}

func windowText(turns int) string {
	switch turns {
	case 0:
		return ""
	case 1:
		return ", and in the turn after it was used"
	}
	return fmt.Sprintf(", and in the %d turns after it was used", turns)
}

// toolLine tells of one tool why it is offered or not.
func toolLine(t turn.ToolInfo, deliberate bool) string {
	line := "🟢 **" + inline(t.Name, 64) + "** on"
	switch {
	case !t.On:
		line = "⚫ **" + inline(t.Name, 64) + "** off: " + offText(t.OffIn)
	case !deliberate:
	case t.Always:
		line += ", always offered"
	case len(t.Triggers) > 0:
		line += ", offered for: " + clip(names(t.Triggers), 200)
	default:
		line += ", but no word asks for it (`/deliberate triggers`)"
	}
	switch t.Approver {
	case turn.ApproverOwner:
		line += " · you approve each call"
	case turn.ApproverModerator:
		line += " · a moderator approves each call"
	case turn.ApproverNone:
	}
	return line
}

func offText(o turn.ToolOff) string {
	switch o {
	case turn.ToolOffGuildMaster:
		return "all tools are off in this server"
	case turn.ToolOffChannelMaster:
		return "all tools are off in this channel"
	case turn.ToolOffGuild:
		return "in this server"
	case turn.ToolOffChannel:
		return "in this channel"
	case turn.ToolOffNowhere:
	}
	return "switched off"
}

func (b *Bot) switchTool(ctx context.Context, i *interaction, on bool) said {
	s := turn.ToolSwitch{Tool: i.option(toolOption), Scope: turn.ScopeChannel, On: on}
	where := "in this channel"
	if i.option(whereOption) == whereServer {
		s.Scope, where = turn.ScopeGuild, "in this server"
	}
	name, err := b.turns.SwitchTool(ctx, i.place(), s)
	if err != nil {
		return b.refused(i, err)
	}
	what, verb, state := "**"+inline(name, 64)+"**", "is", valueOff
	if name == "" {
		what, verb = "All tools", "are"
	}
	if on {
		state = valueOn
	}
	text := fmt.Sprintf("%s %s switched %s %s.", what, verb, state, where)
	if on {
		text += b.stillOff(ctx, i, name)
	}
	return privately(text)
}

// stillOff says when a tool, or some of all, stays off because of another switch.
func (b *Bot) stillOff(ctx context.Context, i *interaction, name string) string {
	rep, err := b.turns.Tools(ctx, i.place())
	if err != nil {
		return "" // it is a remark beside what was done
	}
	var off []string
	for _, t := range rep.Tools {
		if !t.On && (name == "" || name == t.Name) {
			off = append(off, t.Name)
		}
	}
	if len(off) == 0 {
		return ""
	}
	if name == "" {
		return " Still off: " + clip(names(off), 1000) + ". `/tools list` says why."
	}
	at := slices.IndexFunc(rep.Tools, func(t turn.ToolInfo) bool { return t.Name == name })
	switch why := rep.Tools[at].OffIn; why {
	case turn.ToolOffGuild, turn.ToolOffChannel:
		return " It stays off here all the same: it is switched off " + offText(why) + "."
	default:
		return " It stays off here all the same: " + offText(why) + "."
	}
}
