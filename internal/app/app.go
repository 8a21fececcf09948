// Package app puts the real bot together: store, tools, models, turns and the Discord edge. It is the composition root,
// importable so that the commands, the playground, the scenes and the benchmarks all run the very same bot.
package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/toolloop"
	"github.com/parleybot/parley/turn"
)

// Options are what an App is made of.
type Options struct {
	Config config.Config
	Log    zerolog.Logger
	// DiscordAPI replaces Discord's address; empty means Discord.
	DiscordAPI string
	// Practice registers the tools for trying things out.
	Practice bool
	// AskModels lets Examine ask each model for a word, which may cost a little.
	AskModels bool
	// Observers are told every event of every turn; they must not block.
	Observers []turn.Observer
	Version   string
}

// App is one bot. Run it once.
type App struct {
	opts    Options
	log     zerolog.Logger
	store   stores
	loop    *toolloop.Loop
	manager *turn.Manager
	bot     *bot.Bot
	// publishing are the kills on their way to other processes.
	publishing sync.WaitGroup
	closing    chan struct{}
	beginClose func()
	// hurry ends when nobody wants to wait out the grace.
	hurry   context.Context //nolint:containedctx // the App's own
	hurryUp context.CancelFunc
}

// New opens the store and assembles the bot; it connects nowhere. The caller runs the App or closes it.
func New(ctx context.Context, o Options) (*App, error) {
	links, _, err := chain(o.Config)
	if err != nil {
		return nil, err
	}
	models, err := usable(links)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if text := l.unbounded(o.Config.Limits); text != "" {
			o.Log.Warn().Str("model", l.model.Label).Msg("spending.not_bounded: " + text)
		}
	}
	db, err := openStores(ctx, o.Config.Store, 0, o.Log)
	if err != nil {
		return nil, err
	}
	a := &App{opts: o, log: o.Log, store: db, closing: make(chan struct{})}
	a.beginClose = sync.OnceFunc(func() { close(a.closing) })
	a.hurry, a.hurryUp = context.WithCancel(context.WithoutCancel(ctx))
	if err := a.assemble(models); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *App) assemble(models []turn.Model) error {
	tools, err := tools(a.store, func() *turn.Facts { return a.manager.Facts() }, a.opts.Practice)
	if err != nil {
		return fmt.Errorf("registering tools: %w", err)
	}
	a.bot, err = bot.New(bot.Config{
		Token: a.opts.Config.Discord.Token.Reveal(), APIBase: a.opts.DiscordAPI, Version: a.opts.Version, Log: a.log,
		LogChannel: func(guildID string) string { return a.manager.LogChannel(guildID) },
	}, bot.Deps{Commands: commandHash{a.store}, Budget: a.store.budget()})
	if err != nil {
		return err
	}
	broker := toolloop.NewBroker()
	a.loop = toolloop.New(toolloop.Deps{
		Registry: tools, Journal: a.store, Windows: a.store, Broker: broker, Limits: loopLimits(a.opts.Config.Limits), Log: a.log,
	})
	a.manager = turn.NewManager(turn.Deps{
		Edge: a.bot, Store: a.store, Loop: a.loop, Broker: broker, Registry: tools, Models: models, Pictures: pictures(a.opts.DiscordAPI),
		Limits: turnLimits(a.opts.Config.Limits), SharedRates: a.store.shared(), Observers: a.opts.Observers, Log: a.log,
	})
	a.bot.Attach(everywhere{a.manager, a})
	return nil
}

// Ready is closed when Discord has greeted the bot and it answers.
func (a *App) Ready() <-chan struct{} { return a.bot.Ready() }

// Run serves until ctx ends, then lets running turns finish within the grace, ends the rest as interrupted, says so in
// their channels and lets go of everything. It returns nil after such an end, and an error when Discord or the store
// refuses the bot for good.
func (a *App) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	left, err := a.manager.Sweep(ctx)
	if err != nil {
		return err
	}
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	hearing := make(chan struct{})
	go func() { defer close(hearing); a.hearKills(connected) }()
	defer func() { disconnect(); <-hearing }()
	pruning := make(chan struct{})
	go func() { defer close(pruning); prune(connected, a.store, a.log) }()
	defer func() { disconnect(); <-pruning }()
	ended := make(chan error, 1)
	go func() { ended <- a.bot.Run(connected) }()
	select {
	case <-a.bot.Ready():
		a.log.Info().Msg("app.ready")
		a.manager.Resume(left)
	case <-ctx.Done():
	case err = <-ended:
		a.drain(ctx)
		return err
	}
	select {
	case <-ctx.Done():
		a.log.Info().Dur("grace", a.opts.Config.Limits.ShutdownGrace).Msg("app.draining")
		a.drain(ctx)
		disconnect()
		err = <-ended
	case err = <-ended:
		a.drain(ctx)
	}
	return err
}

// drain ends the turns while the edge can still write.
func (a *App) drain(ctx context.Context) {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.opts.Config.Limits.ShutdownGrace)
	defer cancel()
	stop := context.AfterFunc(a.hurry, cancel)
	defer stop()
	a.manager.Drain(grace)
}

// Abandon ends the grace of a Run that is ending.
func (a *App) Abandon() { a.hurryUp() }

// Close lets go of an App that was never run.
func (a *App) Close() error { return a.close() }

func (a *App) close() error {
	defer a.hurryUp()
	a.beginClose()
	a.bot.Close()
	a.publishing.Wait()
	return a.store.Close()
}

func loopLimits(l config.Limits) toolloop.Limits {
	return toolloop.Limits{
		ToolTimeout: l.ToolExecutionTimeout, FirstToken: l.StreamFirstTokenTimeout, StreamIdle: l.StreamIdleTimeout,
		ApprovalTimeout: l.ApprovalTimeout, MaxIterations: l.ToolLoopMaxIterations,
		SoftWarnIterations: l.ToolLoopSoftWarnIterations, MaxConsecutiveErrors: l.ToolLoopMaxConsecutiveErrors,
		ResultMaxBytes: l.ToolResultMaxBytes,
	}
}

func turnLimits(l config.Limits) turn.Limits {
	t := turn.DefaultLimits()
	t.TurnTimeout, t.QueueLimit, t.FollowUpInterrupts = l.TurnTimeout, l.ChannelQueueLimit, l.MaxFollowUpInterrupts
	t.HistoryMaxBytes = l.HistoryMaxBytes
	t.ActivePerMember, t.ActivePerGuild = l.ActiveTurnsPerMember, l.ActiveTurnsPerGuild
	t.TurnsPerMinuteMember, t.TurnsPerMinuteChannel = l.TurnsPerMinuteMember, l.TurnsPerMinuteChannel
	t.DailyCost, t.DailyCostGuild = int64(l.DailyCost), int64(l.DailyCostGuild)
	return t
}
