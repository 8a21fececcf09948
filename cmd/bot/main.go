// Command bot is Parley: a Discord bot whose conversations can use tools under rules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/parleybot/parley/internal/config"
)

// version is set by the build.
var version = "dev"

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks errors of the command line; the program then exits with exitUsage.
var errUsage = errors.New("usage")

// command is one subcommand.
type command struct {
	name, summary string
	run           func(ctx context.Context, p process, args []string) error
}

// process is what a subcommand may use of the process it runs in.
type process struct {
	environ        []string
	stdout, stderr io.Writer
}

func commands() []command {
	return []command{
		{"run", "run the bot on Discord (the default)", runBot},
		{"playground", "try the bot here: a small Discord in your browser, no account needed", runPlayground},
		{"scene", "play scene files against the whole bot: bot scene FILE|DIR...", runScenes},
		{"doctor", "check the configuration, the store, the model and the token, and say what to mend", runDoctor},
		{"migrate", "bring the store's schema up to date", runMigrate},
		{"version", "print the version", func(_ context.Context, p process, _ []string) error {
			_, err := fmt.Fprintln(p.stdout, "parley", version)
			return err
		}},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := dispatch(ctx, process{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// dispatch runs the subcommand that args name and returns the exit code. Errors are one clear line each.
func dispatch(ctx context.Context, p process, args []string) int {
	name := "run"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if name == "help" || name == "-h" || name == "--help" {
		usage(p.stdout)
		return exitOK
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		err := c.run(ctx, p, args)
		if err == nil {
			return exitOK
		}
		if code, ok := errors.AsType[exitError](err); ok {
			return int(code)
		}
		_, _ = fmt.Fprintf(p.stderr, "bot %s: %v\n", name, err)
		if errors.Is(err, errUsage) {
			return exitUsage
		}
		return exitFailed
	}
	_, _ = fmt.Fprintf(p.stderr, "bot: unknown subcommand %q; there are: %s (see bot help)\n", name, strings.Join(names(), ", "))
	return exitUsage
}

// exitError is an exit code whose reason has been printed already.
type exitError int

// Error gives the code.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func names() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return out
}

func usage(w io.Writer) {
	_, _ = fmt.Fprintln(w, "usage: bot [SUBCOMMAND]")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(w, "  %-11s %s\n", c.name, c.summary)
	}
	_, _ = fmt.Fprintln(w, "\nEverything else is set by environment variables; docs/configuration.md lists them.")
}

// noArguments refuses arguments that a subcommand does not take.
func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %q is not expected: this subcommand takes no arguments", errUsage, args[0])
	}
	return nil
}

// load reads the configuration and prints its warnings.
func load(p process) (config.Config, error) {
	cfg, warnings, err := config.Load(p.environ)
	if err != nil {
		return config.Config{}, err
	}
	for _, w := range warnings {
		_, _ = fmt.Fprintf(p.stderr, "warning: %v\n", w)
	}
	return cfg, nil
}
