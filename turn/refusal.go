package turn

// RefusalKind says why something that was asked for is not done.
type RefusalKind string

// The refusal kinds.
const (
	// RefusedForbidden: the actor lacks the right.
	RefusedForbidden RefusalKind = "forbidden"
	// RefusedBusy: a turn runs or waits in the channel.
	RefusedBusy RefusalKind = "busy"
	// RefusedInvalid: the value cannot be set.
	RefusedInvalid RefusalKind = "invalid"
	// RefusedNotFound: there is no such thing, or not for the actor.
	RefusedNotFound RefusalKind = "not_found"
	// RefusedFull: there are as many as there may be.
	RefusedFull RefusalKind = "full"
	// RefusedOptedOut: somebody wants nothing about them to be remembered.
	RefusedOptedOut RefusalKind = "opted_out"
	// RefusedElsewhere: there is nothing of the kind in this place (say, no server in a direct message).
	RefusedElsewhere RefusalKind = "elsewhere"
	// RefusedUnavailable: the store is away; nothing was changed.
	RefusedUnavailable RefusalKind = "unavailable"
)

// Refusal is the answer to a request that is not carried out. Problem and Remedy are whole sentences for the person who
// asked; they hold nothing that is secret. Err, when set, is the cause for the log.
type Refusal struct {
	Kind    RefusalKind
	Problem string
	Remedy  string
	Err     error
}

// Error gives the problem and the remedy.
func (r *Refusal) Error() string {
	if r.Remedy == "" {
		return r.Problem
	}
	return r.Problem + " " + r.Remedy
}

// Unwrap gives the cause.
func (r *Refusal) Unwrap() error { return r.Err }

func invalid(problem, remedy string) error {
	return &Refusal{Kind: RefusedInvalid, Problem: problem, Remedy: remedy}
}

func forbidden(problem, remedy string) error {
	return &Refusal{Kind: RefusedForbidden, Problem: problem, Remedy: remedy}
}

func unavailable(err error) error {
	return &Refusal{
		Kind: RefusedUnavailable, Problem: "The settings can't be reached right now, so nothing was changed.",
		Remedy: "Please try again in a minute.", Err: err,
	}
}

// busyRefusal is the answer to what must not change under a running turn.
func busyRefusal(what string) error {
	return &Refusal{
		Kind: RefusedBusy, Problem: what + " can't be used while I'm answering here.",
		Remedy: "Stop me first with `/kill`, or wait until I'm done.",
	}
}

func notHere() error {
	return &Refusal{
		Kind: RefusedElsewhere, Problem: "This is a setting of a server, and here is none.", Remedy: "Use it in a channel of the server.",
	}
}
