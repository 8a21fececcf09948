package bot

import (
	"context"
	"strings"
	"time"
)

// formTime is how long a form may take to be made: opening one is an interaction's first answer and cannot be put off.
const formTime = time.Second

// form is a window with text fields.
type form struct {
	title  string
	fields []formField
}

type formField struct {
	id, label, placeholder, value string
	maxLength                     int
	required                      bool
}

func (f form) rows() []component {
	rows := make([]component, len(f.fields))
	for n, x := range f.fields {
		rows[n] = component{Type: componentRow, Components: []component{{
			Type: componentTextInput, CustomID: x.id, Style: inputParagraph, Label: x.label, Placeholder: x.placeholder,
			Value: x.value, MaxLength: x.maxLength, Required: &x.required,
		}}}
	}
	return rows
}

// formPrefix begins the id of a command's form; the rest names the command and action. It carries no rights: they are
// checked when the form comes back.
const formPrefix = "form:"

func formID(c *command, a *action) string { return formPrefix + c.name + " " + a.name }

// filled handles a command's form.
func (b *Bot) filled(ctx context.Context, i *interaction, id string) {
	name, sub, _ := strings.Cut(id, " ")
	c, a, ok := findAction(name, sub)
	if !ok || a.submit == nil {
		i.reply.say(ctx, privately("That form is not mine any more."))
		return
	}
	if b.mayUse(ctx, i, &c, a) {
		i.reply.soon(ctx, a.private, func(ctx context.Context) said { return a.submit(b, ctx, i) })
	}
}
