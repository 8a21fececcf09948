package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// Memory is what members do with long-term memory by command. The methods may wait for a store, honour ctx and check the
// actor's rights; errors that people may read are *turn.Refusal.
type Memory interface {
	Memories(ctx context.Context, p turn.Place) ([]store.Memory, error)
	Remember(ctx context.Context, p turn.Place, scope store.MemoryScope, content string) (fact store.Memory, added bool, err error)
	EditMemory(ctx context.Context, p turn.Place, id int64, content string) (store.Memory, error)
	ForgetMemory(ctx context.Context, p turn.Place, id int64) (store.Memory, error)
	ForgetMemories(ctx context.Context, p turn.Place, scope store.MemoryScope) (int, error)
}

const (
	factOption  = "fact"
	aboutOption = "about"
	aboutMe     = "me"
	aboutServer = "server"
	// memoryPrefix begins the id of a button that turns a page; the rest is the page's number. It carries no rights: whoever
	// presses it sees their own.
	memoryPrefix = "memory:"
	// maxShownFact is how much of a fact a list shows.
	maxShownFact = 500
	// maxFormFact is what the form takes, in UTF-16 units: a fact of the greatest length, whatever its characters are.
	maxFormFact = 2 * turn.MaxFactLength
)

func aboutChoice(description string) optionSpec {
	return optionSpec{
		Type: optionString, Name: aboutOption, Description: description,
		Choices: []choiceSpec{{Name: "me", Value: aboutMe}, {Name: "this server, for everybody here", Value: aboutServer}},
	}
}

// aboutNeed is the right to write about what the option names.
func aboutNeed(i *interaction) need {
	if i.about() == store.ScopeGuild {
		return needServer
	}
	return needNothing
}

// about is whom the fact is about: the actor unless the server was chosen, in the option or in the form's key.
func (i *interaction) about() store.MemoryScope {
	if i.option(aboutOption) == aboutServer || i.key == aboutServer {
		return store.ScopeGuild
	}
	return store.ScopeMember
}

func memoryCommand() command {
	factChoice := func(description string) optionSpec {
		return optionSpec{Type: optionString, Name: factOption, Description: description, Required: true, Autocomplete: true, MaxLength: maxChoice}
	}
	return command{name: "memory", description: "See and change what I remember about you, and about this server", actions: []action{
		{name: "list", description: "Show what I remember, with where it comes from", need: needNothing, private: true, run: func(b *Bot, ctx context.Context, i *interaction) said {
			return b.memoryPage(ctx, i, 0)
		}},
		{
			name: "add", description: "Have me remember a fact about you, or about this server", need: needNothing, needOf: aboutNeed, private: true,
			options: []optionSpec{
				{Type: optionString, Name: textOption, Description: "The fact, in one sentence; leave it out to write it in a form", MaxLength: maxFormFact},
				aboutChoice("Whom it is about: you (default), or this server"),
			},
			run: func(b *Bot, ctx context.Context, i *interaction) said {
				return b.addMemory(ctx, i, i.option(textOption))
			},
			form: func(_ *Bot, _ context.Context, i *interaction) (form, bool) {
				return factForm("A fact to remember", "", i.option(aboutOption)), i.option(textOption) == ""
			},
			submit: func(b *Bot, ctx context.Context, i *interaction) said {
				return b.addMemory(ctx, i, i.field(textOption))
			},
		},
		{
			name: "edit", description: "Correct a fact", need: needNothing, private: true, complete: (*Bot).factNames,
			options: []optionSpec{
				factChoice("The fact: choose one, or write its number"),
				{Type: optionString, Name: textOption, Description: "Its new words; leave it out to change them in a form", MaxLength: maxFormFact},
			},
			run: func(b *Bot, ctx context.Context, i *interaction) said {
				return b.editMemory(ctx, i, i.option(factOption), i.option(textOption))
			},
			form: (*Bot).editForm,
			submit: func(b *Bot, ctx context.Context, i *interaction) said {
				return b.editMemory(ctx, i, i.key, i.field(textOption))
			},
		},
		{
			name: "forget", description: "Have me forget a fact", need: needNothing, private: true, complete: (*Bot).factNames, run: (*Bot).forgetMemory,
			options: []optionSpec{factChoice("The fact: choose one, or write its number")},
		},
		{
			name: "forget-all", description: "Have me forget everything that was told here about you, or about this server", need: needNothing,
			needOf: aboutNeed, private: true, run: (*Bot).forgetMemories,
			options: []optionSpec{aboutChoice("Whom it is about: you (default), or this server")},
		},
	}}
}

// memoryPage is one page of what the actor may see here, with buttons when there are more.
func (b *Bot) memoryPage(ctx context.Context, i *interaction, page int) said {
	facts, err := b.turns.Memories(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	if len(facts) == 0 {
		return privately("I remember nothing here: neither about you nor about this place. `/memory add` changes that, and so does asking me to remember something." + elsewhereNote(i))
	}
	pages := memoryPages(i, facts)
	page = min(max(page, 0), len(pages)-1)
	head := "**What I remember**"
	if len(pages) > 1 {
		head += fmt.Sprintf(" (page %d of %d)", page+1, len(pages))
	}
	s := privately(head + pages[page] + "\n-# `/memory edit` and `/memory forget` change it." + elsewhereNote(i))
	buttons := []component{}
	if page > 0 {
		buttons = append(buttons, component{Type: componentButton, Style: buttonSecondary, Label: "Back", CustomID: memoryPrefix + strconv.Itoa(page-1)})
	}
	if page < len(pages)-1 {
		buttons = append(buttons, component{Type: componentButton, Style: buttonSecondary, Label: "Next", CustomID: memoryPrefix + strconv.Itoa(page+1)})
	}
	if len(buttons) > 0 {
		s.message.Components = &[]component{{Type: componentRow, Components: buttons}}
	}
	return s
}

func elsewhereNote(i *interaction) string {
	if i.guildID == "" {
		return " What you told me in servers is shown there; `/privacy export` gives you everything."
	}
	return " What you told me in private or in other servers is shown there; `/privacy export` gives you everything."
}

// memoryPages puts facts into texts that fit a message: those about the actor first, those about the server last.
func memoryPages(i *interaction, facts []store.Memory) []string {
	const room = maxMessage - 400 // for the head and the foot
	sections := []struct {
		head string
		in   func(store.Memory) bool
	}{
		{"About you, told in private: it stays there", func(m store.Memory) bool { return m.Scope == store.ScopeMember && m.Private }},
		{"About you, told in this server", func(m store.Memory) bool {
			return m.Scope == store.ScopeMember && m.GuildID != "" && m.GuildID == i.guildID
		}},
		{"About you, told in other servers", func(m store.Memory) bool {
			return m.Scope == store.ScopeMember && m.GuildID != "" && m.GuildID != i.guildID
		}},
		{"About this server, for everybody here", func(m store.Memory) bool { return m.Scope == store.ScopeGuild }},
	}
	var pages []string
	text := ""
	for _, s := range sections {
		of := slices.DeleteFunc(slices.Clone(facts), func(m store.Memory) bool { return !s.in(m) })
		head := fmt.Sprintf("\n**%s** (%d)", s.head, len(of))
		for n, m := range of {
			line := "\n" + factLine(m)
			if n == 0 || text == "" {
				line = head + line
			}
			if text != "" && units(text)+units(line) > room {
				pages, text = append(pages, text), ""
				if n > 0 {
					line = head + line
				}
			}
			text += line
		}
	}
	return append(pages, text)
}

// factLine is one fact with its number and where it comes from.
func factLine(m store.Memory) string {
	shown := inline(m.Content, maxShownFact)
	if units(m.Content) > maxShownFact {
		shown += "… (`/memory edit` shows all)"
	}
	by, how := "", "in a conversation"
	if m.Scope == store.ScopeGuild && m.AuthorID != "" {
		by = fmt.Sprintf(" by <@%s>", m.AuthorID)
	}
	if m.TurnID == "" {
		how = "by command"
	}
	line := fmt.Sprintf("`#%d` %s\n-# told%s %s, <t:%d:d>", m.ID, shown, by, how, m.CreatedAt.Unix())
	if m.UpdatedAt.Sub(m.CreatedAt) >= time.Second {
		line += fmt.Sprintf(", changed <t:%d:d>", m.UpdatedAt.Unix())
	}
	return line
}

// turned handles a button that turns a page.
func (b *Bot) turned(ctx context.Context, i *interaction, id string) {
	page, err := strconv.Atoi(id)
	if err != nil {
		i.reply.say(ctx, privately(noLongerActive))
		return
	}
	i.reply.change(ctx, func(ctx context.Context) said { return b.memoryPage(ctx, i, page) })
}

func (b *Bot) addMemory(ctx context.Context, i *interaction, text string) said {
	fact, added, err := b.turns.Remember(ctx, i.place(), i.about(), text)
	switch {
	case err != nil:
		return b.refused(i, err)
	case !added:
		return privately(fmt.Sprintf("I knew that already: it is fact `#%d`.", fact.ID))
	case fact.Scope == store.ScopeGuild:
		return privately(fmt.Sprintf("Done: I remember it about this server, for everybody here, as fact `#%d`.", fact.ID))
	case fact.Private:
		return privately(fmt.Sprintf("Done: I remember it about you, in private only, as fact `#%d`.", fact.ID))
	}
	return privately(fmt.Sprintf("Done: I remember it about you in this server, as fact `#%d`.", fact.ID))
}

// factNumber reads the number of a fact: what a completion begins with, or what somebody has written.
func factNumber(text string) (int64, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "#")
	if n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); n >= 0 {
		text = text[:n]
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

const noNumber = "Choose a fact from the list, or write its number. `/memory list` shows the numbers."

func (b *Bot) editMemory(ctx context.Context, i *interaction, fact, text string) said {
	id, ok := factNumber(fact)
	if !ok {
		return privately(noNumber)
	}
	kept, err := b.turns.EditMemory(ctx, i.place(), id, text)
	if err != nil {
		return b.refused(i, err)
	}
	return privately(fmt.Sprintf("Done: fact `#%d` is now: %s", kept.ID, inline(kept.Content, maxMessage-100)))
}

func (b *Bot) forgetMemory(ctx context.Context, i *interaction) said {
	id, ok := factNumber(i.option(factOption))
	if !ok {
		return privately(noNumber)
	}
	gone, err := b.turns.ForgetMemory(ctx, i.place(), id)
	if err != nil {
		return b.refused(i, err)
	}
	return privately(fmt.Sprintf("Forgotten: %s", inline(gone.Content, maxMessage-100)))
}

func (b *Bot) forgetMemories(_ context.Context, i *interaction) said {
	about := i.about()
	what := "everything that you told me about yourself in this server"
	switch {
	case about == store.ScopeGuild:
		what = "everything I remember about this server, for everybody here"
	case i.guildID == "":
		what = "everything that you told me about yourself in private"
	}
	return b.sure(i, "Shall I forget "+what+"? That can't be taken back.", "Forget it all", func(b *Bot, ctx context.Context, i *interaction) said {
		n, err := b.turns.ForgetMemories(ctx, i.place(), about)
		if err != nil {
			return b.refused(i, err)
		}
		return privately(fmt.Sprintf("Forgotten: %s.", counted(n, "fact")))
	})
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// factNames completes the number of a fact that the actor may see here.
func (b *Bot) factNames(ctx context.Context, i *interaction) ([]string, error) {
	facts, err := b.turns.Memories(ctx, i.place())
	names := make([]string, len(facts))
	for n, m := range facts {
		names[n] = clip(fmt.Sprintf("#%d %s", m.ID, strings.Join(strings.Fields(clean(m.Content)), " ")), maxChoice)
	}
	return names, err
}

func factForm(title, text, key string) form {
	return form{title: title, key: key, fields: []formField{{
		id: textOption, label: "The fact, in one sentence", placeholder: "A sentence that makes sense on its own.", value: text,
		maxLength: maxFormFact, required: true,
	}}}
}

// editForm begins with the fact's words, unless they cannot be read at once.
func (b *Bot) editForm(ctx context.Context, i *interaction) (form, bool) {
	id, ok := factNumber(i.option(factOption))
	if !ok || i.option(textOption) != "" {
		return form{}, false
	}
	text := b.prefilled(ctx, i, func(ctx context.Context) string {
		facts, _ := b.turns.Memories(ctx, i.place()) // without it the form is empty
		n := slices.IndexFunc(facts, func(m store.Memory) bool { return m.ID == id })
		if n < 0 {
			return ""
		}
		return facts[n].Content
	})
	return factForm("Correct fact #"+strconv.FormatInt(id, 10), text, strconv.FormatInt(id, 10)), true
}
