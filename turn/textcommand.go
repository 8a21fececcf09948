package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// CommandName is a command that also exists as text.
type CommandName string

// The text commands.
const (
	CommandClear  CommandName = "clear"
	CommandModel  CommandName = "model"
	CommandSystem CommandName = "system"
	CommandCost   CommandName = "cost"
)

// TextCommand is a command written as a message.
type TextCommand struct {
	Name CommandName
	// Argument is the rest of the text, trimmed. Without one, model and system show what is set.
	Argument string
}

// ParseTextCommand reads a text command: a slash, the name in any case, and the rest as its argument. Anything else is no
// command, also a slash later in the text.
func ParseTextCommand(text string) (TextCommand, bool) {
	text = strings.TrimSpace(text)
	name, argument := text, ""
	if i := strings.IndexFunc(text, isSpace); i >= 0 {
		name, argument = text[:i], strings.TrimSpace(text[i:])
	}
	switch c := CommandName(strings.ToLower(strings.TrimPrefix(name, "/"))); {
	case !strings.HasPrefix(name, "/"):
	case c == CommandClear, c == CommandCost:
		return TextCommand{Name: c}, true
	case c == CommandModel, c == CommandSystem:
		return TextCommand{Name: c, Argument: argument}, true
	}
	return TextCommand{}, false
}

// textCommandOf finds the command in a message that mentions the bot or reaches it directly.
func textCommandOf(in Inbound, reason Reason) (TextCommand, bool) {
	if in.Kind != KindMessage || reason != ReasonMention && reason != ReasonDirect {
		return TextCommand{}, false
	}
	text := strings.TrimSpace(in.Content)
	if at := mention.FindStringIndex(text); at != nil && at[0] == 0 {
		text = text[at[1]:]
	}
	return ParseTextCommand(text)
}

// readsAsCommand reports whether a message of the past was a text command, perhaps after a mention of the bot.
func readsAsCommand(content, self string) bool {
	_, ok := ParseTextCommand(strings.TrimPrefix(strings.TrimSpace(content), "@"+oneLine(self, nameRunes)))
	return ok
}

// place is where and by whom an inbound was written.
func (in Inbound) place() Place {
	return Place{
		GuildID: in.GuildID, ChannelID: in.ChannelID, MessageID: in.MessageID,
		Actor: Actor{ID: in.Author.ID, Name: in.Author.Name, ManageMessages: in.Author.ManageMessages, ManageGuild: in.Author.ManageGuild},
	}
}

// obey carries out a text command and gives the answer to it.
func (m *Manager) obey(ctx context.Context, p Place, c TextCommand) string {
	text, err := m.command(ctx, p, c)
	if err == nil {
		return text
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		if r.Err != nil {
			m.Log.Warn().Err(r.Err).Str("command", string(c.Name)).Msg("command.failed")
		}
		return r.Error()
	}
	m.Log.Error().Err(err).Str("command", string(c.Name)).Msg("command.failed")
	return "Something went wrong on my side."
}

func (m *Manager) command(ctx context.Context, p Place, c TextCommand) (string, error) {
	switch c.Name {
	case CommandClear:
		return "Cleared: I no longer see what was written here before.", m.Clear(ctx, p)
	case CommandCost:
		rep, err := m.Cost(ctx, p, CostHere)
		return rep.String(), err
	case CommandModel:
		if c.Argument == "" {
			now, err := m.Model(ctx, p)
			return fmt.Sprintf("Model here: %s. Possible: %s.", now.Current, strings.Join(now.Choices, ", ")), err
		}
		return "Done: the model here is changed.", m.SetModel(ctx, p, c.Argument)
	case CommandSystem:
		if c.Argument == "" {
			now, err := m.ChannelSettings(ctx, p)
			if now.System == "" {
				return "No system text is set here.", err
			}
			return "System text here:\n" + now.System, err
		}
		return "Done: the system text here is changed.", m.SetSystem(ctx, p, c.Argument)
	}
	return "", fmt.Errorf("unknown text command %q", c.Name)
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u00a0' || r == '\u3000'
}
