package bot

import (
	"context"
	"strings"

	"github.com/parleybot/parley/bot/delivery"
)

const (
	textOption = "text"
	// maxOptionText and maxFieldText are Discord's limits.
	maxOptionText = 6000
	maxFieldText  = 4000
	// noSystem is how the turns are told to remove the text.
	noSystem = "-"
)

// systemFields are the form's fields, as many as a form may have: together they hold a text of the greatest length.
var systemFields = [...]string{"text1", "text2", "text3", "text4", "text5"}

func systemCommand() command {
	return command{name: "system", description: "Show or change what I am told at the beginning of each conversation here", actions: []action{
		{name: "show", description: "Show the text that I am told in this channel", need: needNothing, private: true, run: (*Bot).showSystem},
		{
			name: "set", description: "Set the text that I am told in this channel", need: needChannel, private: true,
			options: []optionSpec{{
				Type: optionString, Name: textOption, Description: "The text; leave it out to write a long one in a form", MaxLength: maxOptionText,
			}},
			run: func(b *Bot, ctx context.Context, i *interaction) said {
				return b.setSystem(ctx, i, i.option(textOption))
			},
			form: func(b *Bot, ctx context.Context, i *interaction) (form, bool) {
				if i.option(textOption) != "" {
					return form{}, false
				}
				return b.systemForm(ctx, i), true
			},
			submit: func(b *Bot, ctx context.Context, i *interaction) said { return b.setSystem(ctx, i, i.systemText()) },
		},
		{
			name: "remove", description: "Remove the text that I am told in this channel", need: needChannel, private: true,
			run: func(b *Bot, ctx context.Context, i *interaction) said { return b.setSystem(ctx, i, noSystem) },
		},
	}}
}

func (b *Bot) showSystem(ctx context.Context, i *interaction) said {
	s, err := b.turns.ChannelSettings(ctx, i.place())
	switch {
	case err != nil:
		return b.refused(i, err)
	case s.System == "":
		return privately("No system text is set in this channel. `/system set` sets one.")
	}
	const head = "System text of this channel:\n"
	shown := visible(s.System)
	if units(head)+units(shown)+len("```\n\n```") <= maxMessage {
		return privately(head + "```\n" + shown + "\n```")
	}
	a := privately("The system text of this channel is in the attached file.")
	a.message = a.message.with(delivery.File{Name: "system.txt", Data: []byte(s.System)})
	return a
}

func (b *Bot) setSystem(ctx context.Context, i *interaction, text string) said {
	text = strings.TrimSpace(text)
	if err := b.turns.SetSystem(ctx, i.place(), text); err != nil {
		return b.refused(i, err)
	}
	if text == noSystem {
		return privately("Removed: this channel has no system text any more.")
	}
	return privately("Done: from the next turn on I am told this text in this channel. `/system show` shows it.")
}

// systemForm begins with what is set, unless that cannot be read at once.
func (b *Bot) systemForm(ctx context.Context, i *interaction) form {
	text := b.prefilled(ctx, i, func(ctx context.Context) string {
		s, _ := b.turns.ChannelSettings(ctx, i.place()) // without it the form is empty
		return s.System
	})
	parts, rest := make([]string, len(systemFields)), text
	for n := range parts {
		parts[n], rest = cutText(rest, maxFieldText)
	}
	placeholder := "It replaces what is set now."
	if rest != "" {
		// A form that showed a part of the text would lose the rest when it is sent.
		parts, placeholder = make([]string, len(systemFields)), "What is set now is too long for this form. /system show shows it; this replaces it."
	}
	f := form{title: "What I am told in this channel"}
	for n, id := range systemFields {
		field := formField{id: id, label: "Text, continued (optional)", value: parts[n], maxLength: maxFieldText}
		if n == 0 {
			field.label, field.placeholder, field.required = "Text", placeholder, true
		}
		f.fields = append(f.fields, field)
	}
	return f
}

// cutText takes as many whole lines as fit n units off a text, or as much of its first line; the break between the two
// parts is dropped, since systemText puts it back.
func cutText(text string, n int) (part, rest string) {
	if units(text) <= n {
		return text, ""
	}
	part = clip(text, n)
	if at := strings.LastIndexAny(part, "\n"); at > 0 {
		return part[:at], text[at+1:]
	}
	if at := strings.LastIndexByte(part, ' '); at > 0 {
		return part[:at], text[at+1:]
	}
	return part, text[len(part):]
}

// systemText joins the form's fields.
func (i *interaction) systemText() string {
	var parts []string
	for _, id := range systemFields {
		if p := i.field(id); strings.TrimSpace(p) != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}
