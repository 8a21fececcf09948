package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/playground"
	"github.com/parleybot/parley/turn"
)

// runPlayground runs the bot in a simulated Discord and serves that as a web page.
func runPlayground(ctx context.Context, p process, args []string) (err error) {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	addr := flags.String("addr", playground.DefaultAddr, "loopback address of the page")
	data := flags.String("data", "", "folder that keeps what the bot remembers; a temporary one when empty")
	ollama := flags.String("ollama", ollamaAddr, "an Ollama on this machine whose models are offered; off for none")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprintf(p.stdout, "usage: bot playground [-addr %s] [-data DIR] [-ollama %s|off]\n", playground.DefaultAddr, ollamaAddr)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w; %s", errUsage, err, playgroundFlags)
	case flags.NArg() > 0:
		return fmt.Errorf("%w: %q is not expected; %s", errUsage, flags.Arg(0), playgroundFlags)
	}
	base, err := ollamaBase(*ollama)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	cfg, err := playgroundConfig(p)
	if err != nil {
		return err
	}
	kept, err := playgroundData(*data, cfg.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.release()) }()
	cfg.Store.DataDir = kept.dir
	choices := chooseModels(ctx, cfg, base)
	open := playground.Config{Addr: *addr, Models: choices.models, Boot: boot(p, cfg, choices)}
	open.Data = kept.page
	world, err := playground.Open(open)
	if err != nil {
		return err
	}
	return world.Run(ctx, func() { announce(p.stdout, world, kept, choices) })
}

// playgroundFlags says in an error which flags there are.
const playgroundFlags = "the flags are -addr HOST:PORT, -data DIR and -ollama URL|off"

// announce prints the page's address on a line of its own, and at most two lines beside it.
func announce(w io.Writer, world *playground.Playground, kept memory, c choices) {
	lines := []string{"Parley's playground: " + world.URL()}
	if taken := world.Taken(); taken != "" {
		lines = append(lines, taken+" is taken, so this is the next free port.")
	}
	model := "The model is " + c.models[0].Name
	switch offline := c.models[0].Offline; {
	case offline && c.remark != "":
		model = c.remark + " The model is the offline rehearsal one"
	case offline && len(c.models) > 1:
		model = "The model is the offline rehearsal one (the page offers others)"
	case offline:
		model = "The model is the offline rehearsal one (set MODEL for another)"
	}
	lines = append(lines, model+kept.line+". Ctrl-C ends it.")
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// playgroundConfig is the environment's configuration with the playground's own defaults, such as a log quiet enough to
// leave the address in sight.
func playgroundConfig(p process) (config.Config, error) {
	cfg, err := load(p)
	if err != nil {
		return config.Config{}, err
	}
	cfg = cfg.ForPlayground()
	if !isSet(p.environ, "LOG_LEVEL") {
		cfg.Log.Level = config.LogWarn
	}
	return cfg, nil
}

// isSet reports whether a variable has a value. The configuration does not tell a default from the same value given.
func isSet(environ []string, name string) bool {
	set := false
	for _, entry := range environ {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			set = strings.TrimSpace(value) != ""
		}
	}
	return set
}

// memory is where a playground keeps what it remembers.
type memory struct {
	// dir is the folder of the embedded store.
	dir string
	// page and line say it, on the page and where the playground is announced.
	page, line string
	// release lets go of it.
	release func() error
}

// playgroundData keeps it in a folder that is named, in the servers that the environment names, or for as long as the
// playground runs.
func playgroundData(dir string, at config.Store) (memory, error) {
	kept := memory{dir: dir, release: func() error { return nil }}
	switch {
	case at.Servers() && dir != "":
		return kept, fmt.Errorf("%w: -data names a folder, but DATABASE_URL is set and a server keeps the data; leave one of them out", errUsage)
	case at.Servers():
		kept.page = "what it remembers stays in the database of DATABASE_URL"
		kept.line = "; " + kept.page
	case dir != "":
		kept.page = "what it remembers stays in " + dir
	default:
		var err error
		if kept.dir, err = os.MkdirTemp("", "parley-playground-"); err != nil {
			return kept, fmt.Errorf("making a folder for the store: %w", err)
		}
		kept.page, kept.line = "what it remembers is gone when you end it", "; nothing is kept (-data DIR keeps it)"
		kept.release = func() error { return os.RemoveAll(kept.dir) }
	}
	return kept, nil
}

// boot makes the real bot for the simulated Discord, with the chosen model.
func boot(p process, cfg config.Config, c choices) func(context.Context, playground.Setup) (playground.Bot, error) {
	return func(ctx context.Context, setup playground.Setup) (playground.Bot, error) {
		cfg, chosen := cfg, c.setup[setup.Model]
		cfg.Discord.Token, cfg.Model, cfg.Services = config.NewSecret(setup.Token), chosen.Model, chosen.Services
		log, err := logger(cfg, p.stderr)
		if err != nil {
			return nil, err
		}
		bot.InstallLogger(log)
		return app.New(ctx, app.Options{
			Config: cfg, Log: log, DiscordAPI: setup.DiscordAPI, Practice: true, Observers: []turn.Observer{setup.Observer},
			Version: version,
		})
	}
}
