package turn

import "strings"

// Disposition is what admission decides about an inbound.
type Disposition string

// The dispositions. DispositionAdmit means: run now if the channel is free, else wait for it.
const (
	DispositionAdmit  Disposition = "admit"
	DispositionIgnore Disposition = "ignore"
	DispositionRefuse Disposition = "refuse"
)

// Reason is the code of a decision; every one is logged and counted.
type Reason string

// The reasons for admitting.
const (
	ReasonMention Reason = "mention"
	ReasonReply   Reason = "reply_to_bot"
	ReasonDirect  Reason = "direct_message"
	ReasonCommand Reason = "command"
)

// The reasons for ignoring.
const (
	ReasonSelf         Reason = "self"
	ReasonOtherBot     Reason = "other_bot"
	ReasonWebhook      Reason = "webhook"
	ReasonBang         Reason = "bang_prefix"
	ReasonReplyToOther Reason = "reply_to_other_bot"
	ReasonNotAddressed Reason = "not_addressed"
	ReasonDuplicate    Reason = "duplicate"
)

// The reasons for refusing.
const (
	ReasonCannotReply Reason = "cannot_reply"
	ReasonQueueFull   Reason = "queue_full"
	ReasonDraining    Reason = "draining"
	ReasonBusy        Reason = "busy"
)

// The reasons for which a waiting trigger is discarded.
const (
	ReasonQueueCleared       Reason = "channel_queue_cleared"
	ReasonDeleted            Reason = "trigger_deleted"
	ReasonSupersededFollowUp Reason = "superseded_follow_up"
	ReasonExpired            Reason = "expired_over_restart"
)

// Verdict is the outcome of admission.
type Verdict struct {
	Disposition Disposition
	Reason      Reason
	// Deliberate: the person clearly addressed the bot, so errors are shown to them.
	Deliberate bool
}

// AdmissionSettings are the settings that admission depends on.
type AdmissionSettings struct {
	// AnswerBang: texts that begin with "!" are answered too; they mostly belong to other bots' commands.
	AnswerBang bool
}

// Admit decides whether an inbound starts a turn. It is pure: the same inbound and settings give the same decision.
func Admit(in Inbound, s AdmissionSettings) Verdict {
	ignore := func(r Reason) Verdict { return Verdict{Disposition: DispositionIgnore, Reason: r} }
	switch {
	case in.Author.Self:
		return ignore(ReasonSelf)
	case in.Author.Webhook:
		return ignore(ReasonWebhook)
	case in.Author.Bot:
		return ignore(ReasonOtherBot)
	}
	reason, addressed := addressedBy(in)
	switch {
	case !addressed && in.ReplyTo != nil && in.ReplyTo.Author.Bot:
		return ignore(ReasonReplyToOther)
	case !addressed:
		return ignore(ReasonNotAddressed)
	case in.Kind == KindMessage && !s.AnswerBang && strings.HasPrefix(in.Content, "!"):
		return ignore(ReasonBang)
	case !in.CanReply:
		return Verdict{Disposition: DispositionRefuse, Reason: ReasonCannotReply}
	}
	return Verdict{Disposition: DispositionAdmit, Reason: reason, Deliberate: true}
}

// addressedBy says how an inbound addresses the bot. @everyone addresses nobody in particular.
func addressedBy(in Inbound) (Reason, bool) {
	switch {
	case in.Kind == KindCommand || in.Kind == KindReminder:
		return ReasonCommand, true
	case in.Private:
		return ReasonDirect, true
	case in.MentionsBot:
		return ReasonMention, true
	case in.ReplyTo != nil && in.ReplyTo.Author.Self:
		return ReasonReply, true
	default:
		return "", false
	}
}
