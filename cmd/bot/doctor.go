package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/parleybot/parley/internal/app"
)

// runDoctor checks everything that can be checked without connecting the bot and says what to mend.
func runDoctor(ctx context.Context, p process, args []string) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ask := flags.Bool("ask", false, "")
	switch err := flags.Parse(args); {
	case err != nil:
		return fmt.Errorf("%w: %w; the only flag is -ask, which asks each model for a word", errUsage, err)
	case flags.NArg() > 0:
		return fmt.Errorf("%w: %q is not expected; the only flag is -ask, which asks each model for a word", errUsage, flags.Arg(0))
	}
	cfg, err := load(p)
	if err != nil {
		return err
	}
	sick := 0
	for _, check := range app.Examine(ctx, app.Options{
		Config: cfg, DiscordAPI: cfg.Discord.APIBase, Version: version, AskModels: *ask,
	}) {
		mark := "ok  "
		if check.Err != nil {
			mark = "FAIL"
			sick++
		}
		if _, err := fmt.Fprintf(p.stdout, "%s %s: %s\n", mark, check.Name, check.Text()); err != nil {
			return err
		}
	}
	if sick > 0 {
		return errors.New("something needs mending, see above")
	}
	return nil
}
