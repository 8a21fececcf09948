package turn

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// What people are told. Texts name a kind and, where something broke, a correlation id; the details are in the log.
const (
	interruptedText = "I was restarted while answering this. What tools had already done stays done; please ask again."
	expiredText     = "I was away for too long to answer this. Please ask again if it still matters."
	stillBusyText   = "Still working on it. `/kill` stops me."
	queuedText      = "I've seen this and answer it as soon as I'm done here."
	logChannelText  = "I don't talk in this channel: it holds notices about my work. Please write to me in another one."
)

// How often people are told the same thing.
const (
	noticeEvery      = time.Minute
	logChannelNotice = 10 * time.Minute
	budgetNotice     = 10 * time.Minute
)

// refusalText says which limit was reached and, of a rate, in what time there is room again; empty when nobody is told.
func (m *Manager) refusalText(in Inbound, why Reason) string {
	again := m.limiter.again(in, why, time.Now())
	shortly := fmt.Sprintf("Please try again in %d seconds.", max(int(math.Ceil(again.Seconds())), 1))
	switch why {
	case ReasonMemberLimit:
		return fmt.Sprintf("You already have %d messages with me that I haven't finished. Please wait for one of them.", m.limits.ActivePerMember)
	case ReasonGuildLimit:
		return fmt.Sprintf("I'm answering in %d channels of this server already. Please try again in a moment.", m.limits.ActivePerGuild)
	case ReasonMemberRate:
		return fmt.Sprintf("That was more than %d messages in a minute. ", m.limits.TurnsPerMinuteMember) + shortly
	case ReasonChannelRate:
		return fmt.Sprintf("That was more than %d messages in a minute here. ", m.limits.TurnsPerMinuteChannel) + shortly
	case ReasonWishUnknown:
		return "I can't reach my settings right now, so I can't tell whether you want me to ignore you. Please try again in a minute."
	case ReasonGuildBudget, ReasonBotBudget:
		return budgetText(in, why, today().AddDate(0, 0, 1))
	default:
		return ""
	}
}

// budgetText says whose budget is used up and when there is a new one.
func budgetText(in Inbound, why Reason, again time.Time) string {
	whose := "This server's budget"
	switch {
	case why == ReasonBotBudget:
		whose = "My budget"
	case in.GuildID == "":
		whose = "The budget of our private chat"
	}
	return fmt.Sprintf("%s for today is used up. I can answer again from 00:00 UTC, <t:%d:R>.", whose, again.Unix())
}

// budgetKey is under what it is noted that a channel was told of a used up budget.
func budgetKey(in Inbound) string { return "budget:" + in.ChannelID }

func queueFullText(limit int) string {
	return fmt.Sprintf("I'm still answering, and %d messages are waiting already. Please try again in a moment.", limit)
}

// publicText is what the channel is told about how a turn ended; empty when nothing is to be said. Passive turns are
// silent about what went wrong, and a channel is told of an error at most once a minute.
func (m *Manager) publicText(r *running, res toolloop.Result, cause abort.Cause) string {
	switch res.Status {
	case store.TurnStoppedByUser:
		return stoppedText(cause)
	case store.TurnInterrupted:
		return "Interrupted: I'm being restarted. Please ask again in a moment."
	case store.TurnDenied:
		return "The tool call was not approved, so I stopped here."
	case store.TurnMaxIterations:
		return "I stopped: this took too many steps."
	case store.TurnCompleted:
		switch {
		case res.CutAtLimit:
			return "The answer was cut at the model's output limit."
		case r.fallback():
			return "-# My usual model didn't answer, so another one did."
		}
		return ""
	case store.TurnEmptyResponse:
		return m.failureText(r, "The model gave no answer.")
	case store.TurnTimeout:
		return m.failureText(r, timeoutText(res.Phase, cause))
	case store.TurnError:
		if e := spentUp(res.Err); e != nil {
			return m.spentText(r, e)
		}
		return m.failureText(r, errorText(res.Err))
	case store.TurnFollowUpInterrupt, store.TurnSkipped, store.TurnRunning:
		return ""
	}
	return ""
}

func (m *Manager) failureText(r *running, kind string) string {
	if !r.verdict.Deliberate || !m.told.allow("error:"+r.in.ChannelID, noticeEvery, time.Now()) {
		return ""
	}
	return kind + " (id " + string(r.id) + ")"
}

// spentText is for a turn whose budget was used up before its answer was complete. It says more than a refusal where
// something has happened already, and nothing is said again to those who only waited in line.
func (m *Manager) spentText(r *running, e *overspent) string {
	first := m.told.allow(budgetKey(r.in), budgetNotice, time.Now())
	text := budgetText(r.in, e.why, e.again)
	switch {
	case !r.verdict.Deliberate, !first && r.turn.Iteration() <= 1:
		return ""
	case r.turn.Iteration() > 1:
		return "I stopped before I was done. " + text
	}
	return text
}

func stoppedText(cause abort.Cause) string {
	switch c := cause.(type) {
	case abort.Killed:
		return "Stopped by <@" + c.By + ">."
	case abort.Stopped:
		if c.By != "" {
			return "Stopped by <@" + c.By + ">."
		}
		return "Stopped."
	case abort.TurnTimeout, abort.Shutdown, abort.Gone, nil:
		return "Stopped."
	}
	return "Stopped."
}

func timeoutText(p toolloop.Phase, cause abort.Cause) string {
	if _, ok := cause.(abort.TurnTimeout); ok {
		return "I stopped: this took too long."
	}
	switch p {
	case toolloop.PhaseFirstToken:
		return "The model did not begin to answer in time."
	case toolloop.PhaseIdle, toolloop.PhaseNone:
		return "The model fell silent before it had finished."
	}
	return "This took too long."
}

// errorText names the kind of an error and nothing more: provider texts may hold keys.
func errorText(err error) string {
	if errors.Is(err, providers.ErrNotConfigured) {
		return "No chat provider configured. The operator must set one (see `bot doctor`)."
	}
	switch providers.KindOf(err) {
	case providers.KindAuth:
		return "The bot's provider key was rejected."
	case providers.KindQuota:
		return "The provider's quota is used up."
	case providers.KindRateLimit:
		return "The provider is limiting requests; try again in a minute."
	case providers.KindOverloaded, providers.KindUnavailable:
		return "The provider is overloaded; try again in a minute."
	case providers.KindNetwork, providers.KindTimeout:
		return "The provider could not be reached."
	case providers.KindFiltered:
		return "The answer was stopped by the provider's filter."
	case providers.KindTruncated:
		return "The connection to the provider was cut off."
	case providers.KindTooLarge:
		return "The conversation is too long for the model."
	case providers.KindBadRequest, providers.KindProtocol:
		return "The provider and I did not understand each other."
	}
	if errors.Is(err, toolloop.ErrTooManyFailures) {
		return "The tools kept failing, so I stopped."
	}
	return "Something went wrong on my side."
}
