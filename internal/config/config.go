// Package config reads everything the process can be told from its environment into one typed struct. It is the only
// place that reads configuration: [Load] takes the environment as a value, reports every problem at once and by name,
// and never prints a secret. The struct's tags are also the source of the printed table, docs/configuration.md and
// .env.example, so a name, a default and its meaning are written once.
package config

import (
	"net/url"
	"time"
)

// Config is what the process was told. Load returns it checked; it is a value and safe to copy and share.
//
// Tags: env is the variable's name, envDefault what an unset one means, min the smallest value that is taken as given
// (in the variable's own unit), oneof the closed set of values, and help one sentence for the operator.
type Config struct {
	Discord  Discord
	Model    Model
	Services Services
	Store    Store
	Log      Log
	Limits   Limits
	Tools    Tools
}

// Discord is the account the bot speaks as.
type Discord struct {
	// Token is the bot token, without the "Bot " prefix.
	Token Secret `env:"DISCORD_TOKEN" help:"Bot token from Discord's developer portal. Needed by bot run, unused by the playground."`
	// APIBase replaces Discord's address; empty means Discord.
	APIBase string `env:"DISCORD_API_URL" help:"Address that stands in for Discord, such as a simulator or a proxy. Unset: Discord."`
}

// Store says where the bot keeps what it remembers.
type Store struct {
	// DataDir is the folder of the embedded store; it need not exist yet.
	DataDir string `env:"DATA_DIR" envDefault:"./data" help:"Folder of the embedded store, created when missing. Unused with DATABASE_URL."`
	// DatabaseURL and RedisURL are both set or both not.
	DatabaseURL Secret `env:"DATABASE_URL" help:"Postgres 13 or newer instead of the embedded store, as postgres://user:password@host:5432/database. Needs REDIS_URL too."`
	RedisURL    Secret `env:"REDIS_URL" help:"Redis 6.2 or newer, as redis://user:password@host:6379/0, or rediss:// for TLS. Needs DATABASE_URL too."`
	// RedisPrefix begins every key of this bot.
	RedisPrefix string `env:"REDIS_PREFIX" envDefault:"parley:" help:"What every key in Redis begins with. Bots that share a server need one each."`
}

// Tools says which tools models may call.
type Tools struct {
	// Practice registers the tools for trying things out.
	Practice bool `env:"PRACTICE_TOOLS" envDefault:"false" help:"Adds tools for trying things out: one is slow, one fails, one asks for approval. The playground always has them."`
}

// Log says how much is logged and in which form.
type Log struct {
	Level  LogLevel  `env:"LOG_LEVEL" envDefault:"info" oneof:"debug|info|warn|error" help:"Least severe level that is written. Message text and tool arguments appear only at debug."`
	Format LogFormat `env:"LOG_FORMAT" envDefault:"auto" oneof:"auto|json|console" help:"auto is console on a terminal and json elsewhere."`
}

// LogLevel is the least severe level that is written.
type LogLevel string

// The levels that can be asked for.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// LogFormat is the form of a log line.
type LogFormat string

// The forms that can be asked for.
const (
	FormatAuto    LogFormat = "auto"
	FormatJSON    LogFormat = "json"
	FormatConsole LogFormat = "console"
)

// Limits bound what one turn, channel, member and guild may use. Durations come from variables in milliseconds,
// amounts of money from US dollars.
type Limits struct {
	ToolExecutionTimeout    time.Duration `env:"TOOL_EXECUTION_TIMEOUT_MS" envDefault:"300000" min:"10000" help:"How long one tool call may run."`
	StreamIdleTimeout       time.Duration `env:"STREAM_IDLE_TIMEOUT_MS" envDefault:"120000" min:"10000" help:"How long a started model stream may stay silent."`
	StreamFirstTokenTimeout time.Duration `env:"STREAM_FIRST_TOKEN_TIMEOUT_MS" envDefault:"300000" min:"1000" help:"How long the model may take to begin its answer."`
	TurnTimeout             time.Duration `env:"TURN_TIMEOUT_MS" envDefault:"900000" min:"1000" help:"Wall clock of one turn. Waiting for an approval does not count."`
	ApprovalTimeout         time.Duration `env:"APPROVAL_TIMEOUT_MS" envDefault:"600000" min:"1000" help:"How long an approval card stays open; then the call is denied."`
	ShutdownGrace           time.Duration `env:"SHUTDOWN_GRACE_MS" envDefault:"20000" min:"0" help:"How long running turns may finish after SIGTERM. The playground always uses 0."`

	ToolLoopMaxIterations        int `env:"TOOL_LOOP_MAX_ITERATIONS" envDefault:"100" min:"1" help:"Model round trips in one turn."`
	ToolLoopSoftWarnIterations   int `env:"TOOL_LOOP_SOFT_WARN_ITERATIONS" envDefault:"20" min:"1" help:"Round trips after which the progress line mentions /kill."`
	ToolLoopMaxConsecutiveErrors int `env:"TOOL_LOOP_MAX_CONSECUTIVE_ERRORS" envDefault:"5" min:"1" help:"Failed tool calls in a row that end a turn."`
	ToolResultMaxBytes           int `env:"TOOL_RESULT_MAX_BYTES" envDefault:"12288" min:"256" help:"Longest tool result the model gets; the rest is cut."`
	HistoryMaxBytes              int `env:"HISTORY_MAX_BYTES" envDefault:"204800" min:"4096" help:"Serialized history kept per channel."`

	ChannelQueueLimit     int `env:"CHANNEL_QUEUE_LIMIT" envDefault:"5" min:"0" help:"Triggers that may wait in one channel. 0: none waits."`
	MaxFollowUpInterrupts int `env:"MAX_FOLLOW_UP_INTERRUPTS" envDefault:"3" min:"0" help:"Times in a row that the owner's follow-up may interrupt an answer."`
	ActiveTurnsPerMember  int `env:"MAX_ACTIVE_TURNS_PER_MEMBER" envDefault:"3" min:"1" help:"Turns of one member that may run or wait at once, in all channels together."`
	ActiveTurnsPerGuild   int `env:"MAX_ACTIVE_TURNS_PER_GUILD" envDefault:"10" min:"1" help:"Turns of one guild that may run at once."`
	TurnsPerMinuteMember  int `env:"MAX_TURNS_PER_MINUTE_MEMBER" envDefault:"20" min:"1" help:"Turns that one member may start in a minute."`
	TurnsPerMinuteChannel int `env:"MAX_TURNS_PER_MINUTE_CHANNEL" envDefault:"60" min:"1" help:"Turns that may start in one channel in a minute."`

	DailyCost      Dollars `env:"DAILY_COST_LIMIT_USD" envDefault:"0" min:"0" help:"What the whole bot may spend in a day (UTC), in US dollars such as 5 or 0.25. 0: no limit."`
	DailyCostGuild Dollars `env:"DAILY_COST_LIMIT_GUILD_USD" envDefault:"0" min:"0" help:"What each guild, and each member's private chat, may spend in a day (UTC), in US dollars. 0: no limit."`
}

// Servers reports whether Postgres and Redis keep what the bot remembers, instead of the embedded store.
func (s Store) Servers() bool { return !s.DatabaseURL.IsZero() }

// Secrets returns every secret that is set, for a redactor that must recognise their values. Of the servers' addresses
// that is the passwords too: a driver may quote one alone.
func (c Config) Secrets() []string {
	var out []string
	all := []Secret{c.Discord.Token, c.Store.DatabaseURL, c.Store.RedisURL}
	for _, v := range c.Services.Vendors() {
		all = append(all, v.Key)
	}
	for _, s := range all {
		if !s.IsZero() {
			out = append(out, s.Reveal())
		}
	}
	for _, s := range []Secret{c.Store.DatabaseURL, c.Store.RedisURL} {
		if u, err := url.Parse(s.Reveal()); err == nil {
			if password, ok := u.User.Password(); ok && password != "" {
				out = append(out, password)
			}
		}
	}
	return out
}

// ForPlayground returns the configuration the playground runs with: it ends at once when told to, since nobody waits
// for an answer there.
func (c Config) ForPlayground() Config {
	c.Limits.ShutdownGrace = 0
	return c
}
