// Package slow holds a tool that takes its time. It exists for trying out what happens around a running tool: the
// progress line, /kill, timeouts, and what becomes of a tool that ignores them. Only the playground registers it.
package slow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parleybot/parley/registry"
)

// MaxSeconds bounds the wait.
const MaxSeconds = 600

type arguments struct {
	Seconds    int   `json:"seconds" jsonschema:"how long to wait"`
	HonourStop *bool `json:"honour_stop,omitempty" jsonschema:"false makes the task ignore stops and timeouts; true if left out"`
}

type waited struct {
	Status  string  `json:"status"`
	Seconds float64 `json:"waited_seconds"`
}

// Tool returns slow_task.
func Tool() registry.Tool {
	return registry.Tool{
		Name:        "slow_task",
		Description: "Do nothing for a number of seconds. For trying out how long-running tools behave.",
		Schema:      registry.SchemaFor[arguments](registry.Range("seconds", 1, MaxSeconds)),
		Category:    registry.CategoryUtility,
		ReadOnly:    true,
		Triggers:    registry.Words("slow*", "slow_task"),
		Run:         run,
	}
}

func run(ctx context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
	var in arguments
	if err := json.Unmarshal(args, &in); err != nil || in.Seconds < 1 || in.Seconds > MaxSeconds {
		return registry.Fail(fmt.Sprintf("seconds must be a whole number from 1 to %d", MaxSeconds))
	}
	stop := ctx.Done()
	if in.HonourStop != nil && !*in.HonourStop {
		stop = nil // never ready: the caller has to give this call up
	}
	start := time.Now()
	timer := time.NewTimer(time.Duration(in.Seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return registry.OK(waited{Status: "completed", Seconds: seconds(start)})
	case <-stop:
		return registry.Fail(fmt.Sprintf("stopped after %g of %d seconds: %v", seconds(start), in.Seconds, context.Cause(ctx)))
	}
}

// seconds is the time since start to a tenth.
func seconds(start time.Time) float64 {
	return float64(time.Since(start).Round(100*time.Millisecond).Milliseconds()) / 1000
}
