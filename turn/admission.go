package turn

import (
	"slices"
	"strings"
)

// Disposition is what admission decides about an inbound.
type Disposition string

// The dispositions.
const (
	// DispositionAdmit: run now if the channel is free, else wait for it.
	DispositionAdmit Disposition = "admit"
	// DispositionCommand: a text command, which is carried out at once and starts no turn.
	DispositionCommand Disposition = "command"
	// DispositionStop: the owner wants the running turn to end.
	DispositionStop Disposition = "stop"
	// DispositionIgnore: not meant for the bot; nobody is told.
	DispositionIgnore Disposition = "ignore"
	// DispositionRefuse: meant for the bot, and not possible now.
	DispositionRefuse Disposition = "refuse"
	// DispositionDiscard: admitted earlier, and will never run here. It is no verdict of Admit.
	DispositionDiscard Disposition = "discard"
)

// Verdict is the outcome of admission.
type Verdict struct {
	Disposition Disposition
	Reason      Reason
	// Deliberate: the person clearly addressed the bot, so errors are shown to them.
	Deliberate bool
	// Command is set for DispositionCommand.
	Command TextCommand
}

// AdmissionSettings are the settings that admission depends on. The zero value holds the defaults.
type AdmissionSettings struct {
	// AnswerBang: texts that begin with "!" are answered too; they mostly belong to other bots' commands.
	AnswerBang bool
	// AnswerBots: other bots and webhooks are answered when they mention the bot or reply to it.
	AnswerBots bool
	// TriggerWords address the bot like a mention. They are folded; see foldWord.
	TriggerWords []string
	// AlwaysOn are the channels in which every person's message addresses the bot; their threads belong to them.
	AlwaysOn []string
	// LogChannel is where hidden notices go. The bot does not talk there.
	LogChannel string
}

// AdmissionState is what runs in the channel of an inbound.
type AdmissionState struct {
	// OwnerID is the owner of the running turn, empty when the channel is free.
	OwnerID string
	// Stopping: the turn has been told to stop and has not ended yet.
	Stopping bool
	// FollowUps: a newer message of the owner may still interrupt the turn, as far as their number goes.
	FollowUps bool
}

// guildRules are the parts of a guild's settings that decide about inbounds.
type guildRules struct {
	AdmissionSettings
	exemptModerators bool
}

func rulesOf(values map[string]string) guildRules {
	g := readGuild(values)
	return guildRules{
		AdmissionSettings: AdmissionSettings{
			AnswerBang: g.AnswerBang, AnswerBots: g.AnswerBots, TriggerWords: g.TriggerWords, AlwaysOn: g.AlwaysOn, LogChannel: g.LogChannel,
		},
		exemptModerators: g.ExemptModerators,
	}
}

// Admit decides what an inbound starts. It is pure: the same inbound, settings and state give the same verdict.
func Admit(in Inbound, s AdmissionSettings, state AdmissionState) Verdict {
	if r, never := neverAnswered(in, s); never {
		return Verdict{Disposition: DispositionIgnore, Reason: r}
	}
	human := !in.Author.Bot && !in.Author.Webhook
	owner := human && state.OwnerID != "" && in.Author.ID == state.OwnerID && in.Kind == KindMessage
	if owner && isStopPhrase(in.Content) {
		if state.Stopping {
			return Verdict{Disposition: DispositionIgnore, Reason: ReasonStopPending}
		}
		return Verdict{Disposition: DispositionStop, Reason: ReasonNaturalStop, Deliberate: true}
	}
	reason, deliberate := addressedBy(in, s)
	if reason == "" && owner && state.FollowUps && !turnsToOthers(in) {
		reason, deliberate = ReasonFollowUp, true
	}
	switch {
	case reason == "" && in.ReplyTo != nil && in.ReplyTo.Author.Bot:
		return Verdict{Disposition: DispositionIgnore, Reason: ReasonReplyToOther}
	case reason == "":
		return Verdict{Disposition: DispositionIgnore, Reason: ReasonNotAddressed}
	case in.Kind == KindMessage && !s.AnswerBang && strings.HasPrefix(strings.TrimSpace(in.Content), "!"):
		return Verdict{Disposition: DispositionIgnore, Reason: ReasonBang}
	case !in.CanReply:
		return Verdict{Disposition: DispositionRefuse, Reason: ReasonCannotReply}
	}
	if c, ok := textCommandOf(in, reason); ok && human {
		return Verdict{Disposition: DispositionCommand, Reason: ReasonTextCommand, Deliberate: true, Command: c}
	}
	if owner && state.Stopping {
		// Nothing may fill a line again that a kill has just emptied.
		return Verdict{Disposition: DispositionIgnore, Reason: ReasonStopPending}
	}
	return Verdict{Disposition: DispositionAdmit, Reason: reason, Deliberate: deliberate && human && !in.Quiet}
}

// neverAnswered names the inbounds that start nothing whatever they say.
func neverAnswered(in Inbound, s AdmissionSettings) (Reason, bool) {
	addressed := in.MentionsBot || in.ReplyTo != nil && in.ReplyTo.Author.Self
	switch {
	case in.Author.Self:
		return ReasonSelf, true
	case in.Author.Webhook && !(s.AnswerBots && addressed):
		return ReasonWebhook, true
	case in.Author.Bot && !(s.AnswerBots && addressed):
		return ReasonOtherBot, true
	case in.Kind == KindMessage && s.LogChannel != "" && (in.ChannelID == s.LogChannel || in.ParentID == s.LogChannel):
		return ReasonLogChannel, true
	}
	return "", false
}

// addressedBy says how an inbound addresses the bot, empty when it does not, and whether its author clearly meant it.
// @everyone addresses nobody in particular.
func addressedBy(in Inbound, s AdmissionSettings) (reason Reason, deliberate bool) {
	switch {
	case in.Kind == KindCommand:
		return ReasonCommand, true
	case in.Kind == KindReminder:
		return ReasonReminder, true
	case in.Private:
		return ReasonDirect, true
	case in.MentionsBot:
		return ReasonMention, true
	case in.ReplyTo != nil && in.ReplyTo.Author.Self:
		return ReasonReply, true
	case in.ReplyTo != nil && in.ReplyTo.Author.Bot && !mentionsWord(foldWord(in.Content), s.TriggerWords):
		return "", false // it talks to the other bot, also where every message is answered
	case len(s.TriggerWords) > 0 && mentionsWord(foldWord(in.Content), s.TriggerWords):
		return ReasonTriggerWord, true
	case slices.Contains(s.AlwaysOn, in.ChannelID) || in.ParentID != "" && slices.Contains(s.AlwaysOn, in.ParentID):
		return ReasonAlwaysOn, false
	}
	return "", false
}

// turnsToOthers: the owner of a running turn speaks to somebody else meanwhile.
func turnsToOthers(in Inbound) bool {
	return in.ReplyTo != nil && !in.ReplyTo.Author.Self || in.MentionsEveryone || mention.MatchString(in.Content)
}
