package bot

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gorilla/websocket"
)

// FatalError is a refusal by Discord that no new attempt will change; each attempt would only cost a session start.
type FatalError struct {
	// Reason says what Discord refused, Remedy what the operator can do.
	Reason string
	Remedy string
	// Code is the gateway close code or the HTTP status, 0 when there is none.
	Code int
}

// Error gives reason and remedy.
func (e *FatalError) Error() string {
	if e.Code == 0 {
		return e.Reason + "; " + e.Remedy
	}
	return fmt.Sprintf("%s (%d); %s", e.Reason, e.Code, e.Remedy)
}

const remedyToken = "put the bot token of the application's page in the Discord developer portal into the environment"

// fatalClose is the meaning of the close codes after which a new attempt is useless, nil for all others.
func fatalClose(code int) *FatalError {
	e := &FatalError{Code: code}
	switch code {
	case 4004:
		e.Reason, e.Remedy = "discord rejected the bot token", remedyToken
	case 4010:
		e.Reason, e.Remedy = "discord rejected the shard numbers", "check the configured shard and shard count"
	case 4011:
		e.Reason, e.Remedy = "the bot is in too many servers for one shard", "run more processes, each with its own shard number"
	case 4012:
		e.Reason, e.Remedy = "discord no longer serves this gateway version", "update the bot"
	case 4013:
		e.Reason, e.Remedy = "discord does not know the intents asked for", "update the bot"
	case 4014:
		e.Reason, e.Remedy = "the application may not read message content", "switch on the Message Content Intent on the Bot page of the Discord developer portal"
	default:
		return nil
	}
	return e
}

// fatalIn finds what is final in an error of opening or asking.
func fatalIn(err error) *FatalError {
	if f, ok := errors.AsType[*FatalError](err); ok {
		return f
	}
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok {
		return fatalClose(ce.Code)
	}
	if ae, ok := errors.AsType[*APIError](err); ok && ae.Status == http.StatusUnauthorized {
		return rejectedToken()
	}
	return nil
}

func rejectedToken() *FatalError {
	return &FatalError{Code: http.StatusUnauthorized, Reason: "discord rejected the bot token", Remedy: remedyToken}
}
