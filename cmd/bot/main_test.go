package main

import (
	"context"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this test binary as the command `bot`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bot": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		os.Exit(dispatch(ctx, process{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}, os.Args[1:]))
	}})
}

// TestScripts types what an operator would type and looks at what is printed.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", ContinueOnError: true})
}
