// Package delivery turns the text of an answer into physical Discord messages
// and keeps them up to date while the answer is still being written.
//
// It has two halves. [Plan] is pure: text in, final list of messages out, and
// nothing downstream splits again. [Streamer] owns the visible messages of one
// turn and drives them through a small [Port], so that what stands in the
// channel at the end is exactly what Plan says.
//
// The package knows no Discord library: the edge implements Port.
package delivery

import (
	"context"
	"errors"
)

// Port is what a [Streamer] needs from Discord. Every call must carry
// allowed_mentions with nothing allowed, except the replied user where
// [Outgoing.PingReplied] says so. Every method must return soon after its
// context ends; retries, rate limits and their waits belong to the
// implementation. Calls come from one goroutine at a time, except Typing, which
// may run beside any other.
type Port interface {
	// Create sends a message and returns its id.
	Create(ctx context.Context, m Outgoing) (id string, err error)
	// Edit replaces the content of a message, and adds the files if there are any.
	Edit(ctx context.Context, id string, m Outgoing) error
	// Delete removes a message.
	Delete(ctx context.Context, id string) error
	// Typing shows the typing indicator for about ten seconds.
	Typing(ctx context.Context) error
}

// Errors a [Port] reports by wrapping them; every other error means that the
// call failed for good after the port's own retries.
var (
	// ErrUnknownMessage says that the message, or the one replied to, is gone (10008).
	ErrUnknownMessage = errors.New("unknown message")
	// ErrUnknownChannel says that the channel is gone (10003).
	ErrUnknownChannel = errors.New("unknown channel")
	// ErrForbidden says that the bot may not write here (50001, 50013).
	ErrForbidden = errors.New("forbidden")
)

// Outgoing is one message as it is to be sent or edited.
type Outgoing struct {
	// Content is at most 2,000 UTF-16 units and never blank.
	Content string
	// ReplyTo is the id of the message answered, empty for none. The port sends
	// it with fail_if_not_exists false. Only the first message of an answer has it.
	ReplyTo string
	// PingReplied allows the mention of the author of ReplyTo, and nothing else.
	PingReplied bool
	// Files are attached.
	Files []File
	// Nonce is at most 25 characters, the same for every attempt to create the
	// same message; with enforce_nonce a retry cannot create it twice. Empty on edits.
	Nonce string
	// Silent asks for no notification.
	Silent bool
}

// File is one attachment.
type File struct {
	Name string
	Data []byte
}

// fatal reports whether nothing more can be sent to the channel after err.
func fatal(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrUnknownChannel)
}
