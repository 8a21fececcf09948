package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/turn"
)

const (
	wordsOption   = "words"
	channelOption = "channel"
	settingOption = "setting"
)

// textChannels are the kinds of channels in which one can write.
func textChannels() []int {
	return []int{channelText, channelAnnouncement, channelAnnounceThread, channelPublicThread, channelPrivateThread}
}

func configCommand() command {
	return command{name: "config", description: "Show or change how I work in this server", serverOnly: true, actions: []action{
		{name: "show", description: "Show how I am set up in this server", need: needServer, private: true, run: (*Bot).showConfig},
		{name: "audit", description: "Show who changed, stopped, decided or erased what", need: needChannel, private: true, run: (*Bot).showAudit},
		{
			name: "words", description: "Set the words that address me like a mention", need: needServer, private: true, run: (*Bot).setWords,
			options: []optionSpec{{
				Type: optionString, Name: wordsOption, Description: "The words, with commas between them; - for none", Required: true, MaxLength: maxOptionText,
			}},
		},
		{
			name: "always-on", description: "Let me answer every message in a channel, or no longer", need: needServer, private: true, run: (*Bot).setAlwaysOn,
			options: []optionSpec{
				{Type: optionChannel, Name: channelOption, Description: "The channel", Required: true, ChannelTypes: textChannels()},
				switchOption("Answer every message there, or only those to me"),
			},
		},
		{
			name: "log-channel", description: "Choose the channel that receives notices about my work", need: needServer, private: true, run: (*Bot).setLogChannel,
			options: []optionSpec{{
				Type: optionChannel, Name: channelOption, Description: "The channel; leave it out for none", ChannelTypes: textChannels(),
			}},
		},
		{
			name: "switch", description: "Switch one of my other settings on or off", need: needServer, private: true, run: (*Bot).setSwitch,
			options: []optionSpec{
				{
					Type: optionString, Name: settingOption, Description: "The setting", Required: true,
					Choices: []choiceSpec{
						{Name: "answer messages that begin with !", Value: string(turn.SwitchAnswerBang)},
						{Name: "answer other bots that mention me", Value: string(turn.SwitchAnswerBots)},
						{Name: "no limits for moderators", Value: string(turn.SwitchExemptModerators)},
					},
				},
				switchOption("On or off"),
			},
		},
	}}
}

func (b *Bot) showConfig(ctx context.Context, i *interaction) said {
	g, err := b.turns.GuildSettings(ctx, i.place())
	if err != nil {
		return b.refused(i, err)
	}
	or := func(s, none string) string {
		if s == "" {
			return none
		}
		return s
	}
	state := func(on bool) string {
		if on {
			return valueOn
		}
		return valueOff
	}
	always := make([]string, len(g.AlwaysOn))
	for n, id := range g.AlwaysOn {
		always[n] = "<#" + id + ">"
	}
	log := ""
	if g.LogChannel != "" {
		log = "<#" + g.LogChannel + ">"
	}
	off := "all"
	if !g.ToolsOff {
		off = or(names(g.ToolSwitches), "none")
	}
	return listing("config.txt", "**How I am set up in this server**", []string{
		"Words that address me: " + or(names(g.TriggerWords), "none"),
		"Channels where I answer everything: " + or(strings.Join(always, ", "), "none"),
		"Log channel: " + or(log, "none"),
		"Deliberate mode: " + state(g.Deliberate) + fmt.Sprintf(", a tool stays offered for %d turns", g.ContextTurns),
		"Tools that are off in the whole server: " + off,
		"Answer messages that begin with !: " + state(g.AnswerBang),
		"Answer other bots that mention me: " + state(g.AnswerBots),
		"No limits for moderators: " + state(g.ExemptModerators),
	})
}

func (b *Bot) setWords(ctx context.Context, i *interaction) said {
	var words []string
	if text := strings.TrimSpace(i.option(wordsOption)); text != nothing {
		words = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '、' || r == '，' || r == '\n' })
	}
	kept, err := b.turns.SetTriggerWords(ctx, i.place(), words)
	switch {
	case err != nil:
		return b.refused(i, err)
	case len(kept) == 0:
		return privately("Done: no words address me in this server any more.")
	}
	return privately("Done: these words address me in this server: " + clip(names(kept), 1700) + ".")
}

// chosenChannel is the channel an option names, when it is one of this server's in which the bot may write.
func (b *Bot) chosenChannel(i *interaction) (id string, at place, refusal said, ok bool) {
	id = i.option(channelOption)
	at = b.guilds.place(id, time.Now())
	switch {
	case !at.known || at.guildID != i.guildID:
		return id, at, privately("I can't see that channel. Choose one of this server's channels that I may read, or give me the permission to."), false
	case !at.canSend:
		return id, at, privately(fmt.Sprintf("I may not write in <#%s>. Give me the permissions to view it and to send messages there, then try again.", id)), false
	}
	return id, at, said{}, true
}

func (b *Bot) setAlwaysOn(ctx context.Context, i *interaction) said {
	on := i.option(toOption) == valueOn
	id := i.option(channelOption)
	if on {
		_, _, no, ok := b.chosenChannel(i)
		if !ok {
			return no
		}
	}
	if err := b.turns.SetAlwaysOn(ctx, i.place(), id, on); err != nil {
		return b.refused(i, err)
	}
	if !on {
		return privately(fmt.Sprintf("Done: in <#%s> I answer only what is said to me.", id))
	}
	return privately(fmt.Sprintf("Done: in <#%s> I answer every message of a person.", id))
}

func (b *Bot) setLogChannel(ctx context.Context, i *interaction) said {
	if i.option(channelOption) == "" {
		if err := b.turns.SetLogChannel(ctx, i.place(), ""); err != nil {
			return b.refused(i, err)
		}
		return privately("Done: there is no log channel any more.")
	}
	id, at, no, ok := b.chosenChannel(i)
	if !ok {
		return no
	}
	if err := b.turns.SetLogChannel(ctx, i.place(), id); err != nil {
		return b.refused(i, err)
	}
	text := fmt.Sprintf("Done: notices about my work go to <#%s>, and I don't talk there.", id)
	if !at.hidden {
		text += " Everybody in this server can read that channel."
	}
	return privately(text)
}

func (b *Bot) setSwitch(ctx context.Context, i *interaction) said {
	to := i.option(toOption)
	if err := b.turns.SetGuildSwitch(ctx, i.place(), turn.GuildSwitch(i.option(settingOption)), to == valueOn); err != nil {
		return b.refused(i, err)
	}
	return privately("Done: it is " + to + " now. `/config show` shows all settings.")
}
