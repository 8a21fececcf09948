package turn

// Reason is the code of a decision about an inbound. The set is closed; each is logged, counted and told to observers.
type Reason string

// The reasons for admitting.
const (
	ReasonMention     Reason = "mention"
	ReasonReply       Reason = "reply_to_bot"
	ReasonDirect      Reason = "direct_message"
	ReasonTriggerWord Reason = "trigger_word"
	ReasonAlwaysOn    Reason = "always_on_channel"
	ReasonFollowUp    Reason = "follow_up"
	ReasonCommand     Reason = "command"
	ReasonReminder    Reason = "reminder"
)

// The reasons for doing something at once instead of starting a turn.
const (
	ReasonTextCommand Reason = "text_command"
	ReasonNaturalStop Reason = "natural_stop"
)

// The reasons for ignoring.
const (
	ReasonSelf         Reason = "self"
	ReasonOtherBot     Reason = "other_bot"
	ReasonWebhook      Reason = "webhook"
	ReasonBang         Reason = "bang_prefix"
	ReasonReplyToOther Reason = "reply_to_other_bot"
	ReasonNotAddressed Reason = "not_addressed"
	ReasonLogChannel   Reason = "log_channel"
	ReasonStopPending  Reason = "stop_pending"
	ReasonDuplicate    Reason = "duplicate"
	ReasonBotChain     Reason = "bot_chain"
	ReasonFullPrivacy  Reason = "full_privacy"
)

// The reasons for refusing.
const (
	ReasonCannotReply Reason = "cannot_reply"
	ReasonQueueFull   Reason = "queue_full"
	ReasonMemberLimit Reason = "member_limit"
	ReasonGuildLimit  Reason = "guild_limit"
	ReasonMemberRate  Reason = "member_rate"
	ReasonChannelRate Reason = "channel_rate"
	ReasonDraining    Reason = "draining"
	ReasonWishUnknown Reason = "wish_unknown"
	ReasonGuildBudget Reason = "guild_budget"
	ReasonBotBudget   Reason = "bot_budget"
)

// The reasons for which a waiting trigger is discarded.
const (
	ReasonQueueCleared       Reason = "channel_queue_cleared"
	ReasonDeleted            Reason = "trigger_deleted"
	ReasonSupersededFollowUp Reason = "superseded_follow_up"
	ReasonExpired            Reason = "expired_over_restart"
	ReasonKept               Reason = "kept_for_restart"
	ReasonChannelGone        Reason = "channel_gone"
	ReasonErased             Reason = "member_erased"
)

// Explanation is one line of the table of reasons.
type Explanation struct {
	Reason      Reason
	Disposition Disposition
	Text        string
}

// Explanations lists every reason with what it leads to, in the order of docs/admission.md.
func Explanations() []Explanation {
	return []Explanation{
		{ReasonMention, DispositionAdmit, "The message mentions the bot or its managed role."},
		{ReasonReply, DispositionAdmit, "It replies to a message of the bot."},
		{ReasonDirect, DispositionAdmit, "It is a direct message."},
		{ReasonTriggerWord, DispositionAdmit, "It contains one of the server's trigger words as a whole word, or anywhere in scripts without spaces."},
		{ReasonAlwaysOn, DispositionAdmit, "The channel, or the thread's channel, is always on. Such a turn is passive: its errors are not shown."},
		{ReasonFollowUp, DispositionAdmit, "The owner of the running turn writes again, to nobody else."},
		{ReasonCommand, DispositionAdmit, "A command asked for a turn."},
		{ReasonReminder, DispositionAdmit, "A reminder is due."},
		{ReasonTextCommand, DispositionCommand, "`/clear`, `/model`, `/system` or `/cost` as text, after a mention or in a direct message."},
		{ReasonNaturalStop, DispositionStop, "The owner of the running turn says stop."},
		{ReasonSelf, DispositionIgnore, "The bot wrote it."},
		{ReasonOtherBot, DispositionIgnore, "Another bot wrote it (`answer_bots` is off, or it does not mention the bot)."},
		{ReasonWebhook, DispositionIgnore, "A webhook wrote it, under the same setting."},
		{ReasonBang, DispositionIgnore, "It begins with `!`, as other bots' commands do."},
		{ReasonReplyToOther, DispositionIgnore, "It replies to another bot and does not address this one."},
		{ReasonNotAddressed, DispositionIgnore, "It does not address the bot; @everyone and @here address nobody in particular."},
		{ReasonLogChannel, DispositionIgnore, "The bot does not talk in its log channel. A mention there gets one notice in ten minutes."},
		{ReasonStopPending, DispositionIgnore, "The owner's turn is just being stopped; nothing fills the line again."},
		{ReasonDuplicate, DispositionIgnore, "This message has been answered, or is being answered, already."},
		{ReasonBotChain, DispositionIgnore, "Bots have talked to each other long enough; a person's message ends the pause."},
		{ReasonFullPrivacy, DispositionIgnore, "The member wants nothing to do with the bot (`/privacy`)."},
		{ReasonCannotReply, DispositionRefuse, "The bot may not write in the channel."},
		{ReasonQueueFull, DispositionRefuse, "As many messages wait in the channel as may. One notice says so."},
		{ReasonMemberLimit, DispositionRefuse, "The member has as many turns running and waiting as one may have."},
		{ReasonGuildLimit, DispositionRefuse, "As many turns run in the server as may run at once."},
		{ReasonMemberRate, DispositionRefuse, "The member has started as many turns in the last minute as one may."},
		{ReasonChannelRate, DispositionRefuse, "As many turns were started in the channel in the last minute as may be."},
		{ReasonDraining, DispositionRefuse, "The process is ending."},
		{ReasonWishUnknown, DispositionRefuse, "The store is away, and it is not known whether the member wants to be ignored."},
		{ReasonGuildBudget, DispositionRefuse, "The server, or the private chat, has spent what it may in a day. One notice in ten minutes says so."},
		{ReasonBotBudget, DispositionRefuse, "The bot has spent what it may in a day, in all servers together. A notice says so likewise."},
		{ReasonQueueCleared, DispositionDiscard, "A kill emptied the line."},
		{ReasonDeleted, DispositionDiscard, "The message was deleted while it waited."},
		{ReasonSupersededFollowUp, DispositionDiscard, "The owner wrote once more; the newest message counts."},
		{ReasonExpired, DispositionDiscard, "The bot was away for too long. One notice says so."},
		{ReasonChannelGone, DispositionDiscard, "The channel was deleted, or the bot has left the server."},
		{ReasonErased, DispositionDiscard, "Its author had all that is kept about them erased (`/privacy erase`), or wants nothing to do with the bot any more."},
		{ReasonKept, DispositionDiscard, "The process is ending; the message is stored and runs at the next start."},
	}
}
