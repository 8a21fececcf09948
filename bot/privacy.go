package bot

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"

	"github.com/parleybot/parley/bot/delivery"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// Privacy is what members decide and ask about what is kept of them. The methods may wait for a store and honour ctx; errors
// that people may read are *turn.Refusal.
type Privacy interface {
	Export(ctx context.Context, p turn.Place) (store.Export, error)
	Erase(ctx context.Context, p turn.Place) (store.Erased, error)
	SetMemory(ctx context.Context, p turn.Place, enabled bool) error
	SetCarryMemory(ctx context.Context, p turn.Place, enabled bool) error
	SetFullPrivacy(ctx context.Context, p turn.Place, enabled bool) error
}

const (
	exportFile = "parley-export.json"
	// maxExport is below the 10 MiB that Discord takes where nobody has paid for more.
	maxExport = 8 << 20
)

func privacyCommand() command {
	return command{name: "privacy", description: "See, take with you and erase what I keep about you, and decide what I may keep", actions: []action{
		{name: "show", description: "Show what I keep about you, and what you have decided", need: needNothing, private: true, run: (*Bot).showPrivacy},
		{name: "export", description: "Get everything that I keep about you as a file", need: needNothing, private: true, run: (*Bot).export},
		{name: "erase", description: "Erase everything that I keep about you, everywhere", need: needNothing, private: true, run: (*Bot).erase},
		{
			name: "memory", description: "Opt out of being remembered, or back in", need: needNothing, private: true, run: (*Bot).setMemory,
			options: []optionSpec{switchOption("Whether I may remember things about you")},
		},
		{
			name: "all-servers", description: "Let me use what you told me in one server in your other servers too", need: needNothing, private: true,
			run: (*Bot).setCarryMemory, options: []optionSpec{switchOption("Off unless you switch it on; what you tell me in private stays there in any case")},
		},
		{
			name: "ignore-me", description: "Have me ignore you altogether: no answers, and none of your messages shown to a model", need: needNothing,
			private: true, run: (*Bot).setFullPrivacy, options: []optionSpec{switchOption("Whether I ignore you; my commands work all the same")},
		},
	}}
}

func (b *Bot) showPrivacy(ctx context.Context, i *interaction) said {
	s, err := b.turns.MemberSettings(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	memory, carry, ignore := "I may remember things about you (`/privacy memory`).", "What you tell me in one server stays in it (`/privacy all-servers`).", ""
	if s.NoMemory {
		memory = "I remember nothing new about you (`/privacy memory`)."
	}
	if s.CarryMemory {
		carry = "What you tell me in one server I may use in your other servers (`/privacy all-servers`)."
	}
	if s.FullPrivacy {
		ignore = "\n• I ignore you: I answer none of your messages and show none to a model (`/privacy ignore-me`)."
	}
	if at, ok := turn.IDTime(s.ErasedBefore); ok {
		ignore += fmt.Sprintf("\n• You had everything erased <t:%d:f>: I show nothing to a model that you wrote before (`/privacy erase`).", at.Unix())
	}
	return privately("**What I keep about you**\n" +
		"• Facts that you told me, or wrote about a server: `/memory list` shows them.\n" +
		"• Our conversations: what you asked me, what I answered, and what my tools did for it. Other messages are never stored.\n" +
		"• What that cost, what you decided or switched, and your settings.\n" +
		"`/privacy export` gives you all of it as a file, `/privacy erase` erases it.\n" +
		"**What you have decided**\n• " + memory + "\n• " + carry + ignore)
}

func (b *Bot) setMemory(ctx context.Context, i *interaction) said {
	on := i.option(toOption) == valueOn
	if err := b.turns.SetMemory(ctx, i.place(), on); err != nil {
		return b.refused(i, err)
	}
	if on {
		return privately("Done: I may remember things about you again.")
	}
	return privately("Done: from now on I remember nothing about you, in no server and not in private. What I know already stays until you have me " +
		"forget it: `/memory forget-all` for this place, `/privacy erase` for everything. Our conversations are still recorded.")
}

func (b *Bot) setCarryMemory(ctx context.Context, i *interaction) said {
	on := i.option(toOption) == valueOn
	if err := b.turns.SetCarryMemory(ctx, i.place(), on); err != nil {
		return b.refused(i, err)
	}
	if on {
		return privately("Done: what you tell me in one server I may use when you talk to me in another one. What you tell me in private stays there.")
	}
	return privately("Done: what you tell me in one server stays in it.")
}

func (b *Bot) setFullPrivacy(ctx context.Context, i *interaction) said {
	on := i.option(toOption) == valueOn
	if err := b.turns.SetFullPrivacy(ctx, i.place(), on); err != nil {
		return b.refused(i, err)
	}
	if on {
		return privately("Done: I ignore you from now on. `/privacy ignore-me to:off` takes that back; `/privacy erase` erases what I keep about you.")
	}
	return privately("Done: I answer you again.")
}

func (b *Bot) export(ctx context.Context, i *interaction) said {
	e, err := b.turns.Export(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	file, err := exported(e, maxExport)
	if err != nil {
		return b.refused(i, err)
	}
	text := fmt.Sprintf("Everything that I keep about you is in the attached file: %s, %s, and what belongs to them.", counted(len(e.Memories), "fact"), counted(len(e.Turns), "conversation turn"))
	if e.Truncated || file.truncated {
		text += " It was too much for one file: the oldest is left out."
	}
	s := privately(text)
	s.message = s.message.with(file.File)
	return s
}

type exportedFile struct {
	delivery.File
	truncated bool
}

// exported makes a file of an export that Discord takes: compressed when it would be too long, and without the oldest turns
// when it still is.
func exported(e store.Export, most int) (exportedFile, error) {
	for truncated := false; ; truncated = true {
		data, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			return exportedFile{}, fmt.Errorf("encoding an export: %w", err)
		}
		if len(data) <= most {
			return exportedFile{delivery.File{Name: exportFile, Data: data}, truncated}, nil
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err = w.Write(data)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return exportedFile{}, fmt.Errorf("compressing an export: %w", err)
		}
		if packed.Len() <= most || len(e.Turns) == 0 {
			return exportedFile{delivery.File{Name: exportFile + ".gz", Data: packed.Bytes()}, truncated}, nil
		}
		e.Turns, e.Truncated = e.Turns[:len(e.Turns)/2], true
	}
}

func (b *Bot) erase(_ context.Context, i *interaction) said {
	return b.sure(i, "Shall I erase everything that I keep about you, in all servers and in private? What runs or waits for you ends, "+
		"facts that you wrote about servers go too, and I won't see what you wrote before. It can't be taken back; `/privacy export` gives you a copy first.\n"+
		"What stays: your wish to be ignored or not remembered, and what was spent and done, without your name.", "Erase it all",
		func(b *Bot, ctx context.Context, i *interaction) said {
			erased, err := b.turns.Erase(ctx, i.place())
			if err != nil {
				return b.refused(i, err)
			}
			return privately(turn.ErasedText(erased))
		})
}
