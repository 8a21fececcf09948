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
	// key comes back with the form, as its interaction's key. It is one word and carries no rights.
	key string
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

// prefillTime is how long a form waits for the text it begins with.
const prefillTime = formTime / 2

// prefilled is what a form begins with, empty when it cannot be read at once.
func (b *Bot) prefilled(ctx context.Context, i *interaction, read func(context.Context) string) string {
	ctx, cancel := context.WithTimeout(ctx, prefillTime)
	defer cancel()
	found := make(chan string, 1)
	if !b.asking.try(func() {
		defer b.recovered("the text for a form")
		found <- read(ctx)
	}) {
		return ""
	}
	select {
	case text := <-found:
		return text
	case <-ctx.Done():
		b.log.Warn().Dur("waited", time.Since(i.reply.began)).Str("command", i.data.Name).Msg("form.empty")
		return ""
	}
}

// formPrefix begins the id of a command's form; the rest names the command and action. It carries no rights: they are
// checked when the form comes back.
const formPrefix = "form:"

func formID(c *command, a *action, key string) string {
	return strings.TrimSpace(formPrefix + c.name + " " + a.name + " " + key)
}

// filled handles a command's form.
func (b *Bot) filled(ctx context.Context, i *interaction, id string) {
	name, rest, _ := strings.Cut(id, " ")
	sub, key, _ := strings.Cut(rest, " ")
	i.key = key
	c, a, ok := findAction(name, sub)
	if !ok || a.submit == nil {
		i.reply.say(ctx, privately("That form is not mine any more."))
		return
	}
	if b.mayUse(ctx, i, &c, a) {
		i.reply.soon(ctx, a.private, func(ctx context.Context) said { return a.submit(b, ctx, i) })
	}
}
