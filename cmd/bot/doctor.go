package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleybot/parley/internal/app"
)

// runDoctor checks everything that can be checked without connecting the bot and says what to mend.
func runDoctor(ctx context.Context, p process, args []string) error {
	if err := noArguments(args); err != nil {
		return err
	}
	cfg, err := load(p)
	if err != nil {
		return err
	}
	sick := 0
	for _, check := range app.Examine(ctx, app.Options{Config: cfg, DiscordAPI: cfg.Discord.APIBase, Version: version}) {
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
