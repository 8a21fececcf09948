package scene

import (
	"context"
	"io"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// Booter starts the bot that scenes talk to. It is safe for concurrent use: scenes run beside each other.
type Booter interface {
	// Boot starts the whole bot. It returns once the bot has begun to start; [Bot.Ready] waits for the rest. The bot lives
	// until Stop or Crash; ctx bounds the start only.
	Boot(ctx context.Context, s Setup) (Bot, error)
}

// Setup is what a bot is started with.
type Setup struct {
	// Env is the whole environment, as an operator would set it: DISCORD_TOKEN, DATA_DIR, MODEL, OPENAI_BASE_URL, limits,
	// PRACTICE_TOOLS. Nothing of this process's own environment belongs to the bot.
	Env map[string]string
	// DiscordAPI is the address at which the bot finds Discord, http://host:port; REST is under /api/vN.
	DiscordAPI string
	// Observer is told what the turns do; nil when the bot is a process of its own.
	Observer turn.Observer
	// Log takes the bot's log, one JSON object a line. The bot writes nothing to it after it has ended.
	Log io.Writer
	// OwnProcess asks for a child process, which can be killed without a warning.
	OwnProcess bool
}

// Bot is a bot that runs.
type Bot interface {
	// Ready waits until the bot is connected to Discord and hears messages, or returns why it never will be.
	Ready(ctx context.Context) error
	// Stop ends the bot as SIGTERM does, with its own grace for turns that run, and returns once it has ended. When ctx
	// ends first the bot is ended without grace. It may be called again, also while the first call waits; a bot that has
	// ended already is no error.
	Stop(ctx context.Context) error
	// Crash ends the bot as kill -9 does and returns when it is gone. It is asked only of a bot in its own process.
	Crash() error
	// Done is closed when the bot has ended for whatever reason.
	Done() <-chan struct{}
	// Exit is the exit code of a bot that has ended.
	Exit() int
	// Store opens a view of what the bot has stored. It works while a bot of this process runs, and after any bot has ended.
	Store(ctx context.Context) (StoreView, error)
}

// StoreView is what scenes read and set in a bot's store.
type StoreView interface {
	FindMemories(ctx context.Context, q store.MemoryQuery) ([]store.Memory, error)
	RecentTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error)
	Calls(ctx context.Context, turnID string) ([]store.Call, error)
	PutSetting(ctx context.Context, s store.Setting) error
	Close() error
}
