package scene

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// The exit codes of Main.
const (
	exitMet    = 0
	exitUnmet  = 1
	exitBroken = 2
)

// Main is the command "bot scene FILE|DIR…". It prints each scene's transcript and a summary, and returns 0 when all was
// as the scenes say, 1 when something was not, and 2 when a file or the command line is broken: then nothing is run.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, b Booter) int {
	flags := flag.NewFlagSet("scene", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quiet := flags.Bool("q", false, "print the transcripts of failed scenes only")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: bot scene [-q] FILE|DIR...\nRuns scenes (docs/scenes.md) against the whole bot and a simulated Discord.")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return exitBroken
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return exitBroken
	}
	scenes, err := Load(flags.Args()...)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitBroken
	}
	failed, began := 0, time.Now()
	RunAll(ctx, scenes, Options{Booter: b}, func(r Result) {
		if r.Err != nil {
			failed++
		}
		fmt.Fprint(stdout, r.report(*quiet))
	})
	fmt.Fprintf(stdout, "%d scenes, %d failed, %s\n", len(scenes), failed, time.Since(began).Round(10*time.Millisecond))
	if failed > 0 {
		return exitUnmet
	}
	return exitMet
}

// report is a result as people read it.
func (r Result) report(quiet bool) string {
	var b strings.Builder
	word := "ok  "
	if r.Err != nil {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%s  %s  %s\n", word, r.Scene.Path, r.Took.Round(10*time.Millisecond))
	if !quiet || r.Err != nil {
		b.WriteString(r.Transcript + "\n")
	}
	if r.Err != nil {
		b.WriteString("\n" + r.Err.Error() + "\n")
	}
	if !quiet || r.Err != nil {
		b.WriteString("\n")
	}
	return b.String()
}
