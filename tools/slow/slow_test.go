package slow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/slow"
)

func TestWaitsAndSaysHowLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		res := slow.Tool().Run(t.Context(), registry.ToolContext{}, json.RawMessage(`{"seconds":30}`))
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("took %s", took)
		}
		got, err := json.Marshal(res.Data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(`{"status":"completed","waited_seconds":30}`, string(got)); diff != "" || !res.Success {
			t.Error(diff, res.Error)
		}
	})
}

func TestStops(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed by a moderator")
	for args, want := range map[string]struct {
		after time.Duration
		ok    bool
	}{
		`{"seconds":30}`:                      {1500 * time.Millisecond, false},
		`{"seconds":30,"honour_stop":true}`:   {1500 * time.Millisecond, false},
		`{"seconds":600,"honour_stop":false}`: {600 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := time.AfterFunc(1500*time.Millisecond, func() { cancel(killed) })
			defer stop.Stop()
			start := time.Now()
			res := slow.Tool().Run(ctx, registry.ToolContext{}, json.RawMessage(args))
			if took := time.Since(start); took != want.after || res.Success != want.ok {
				t.Errorf("%s: took %s, %+v", args, took, res)
			}
			if !want.ok && res.Error != "stopped after 1.5 of 30 seconds: killed by a moderator" {
				t.Errorf("%s: %s", args, res.Error)
			}
		})
	}
}

func TestSchemaBoundsTheWait(t *testing.T) {
	t.Parallel()
	r, err := registry.New(slow.Tool())
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := r.Lookup("slow_task")
	for args, want := range map[string]string{
		`{"seconds":0}`:                       `field "seconds": must be >= 1`,
		`{"seconds":601}`:                     `field "seconds": must be <= 600`,
		`{"seconds":1.5}`:                     `field "seconds": must be an integer`,
		`{}`:                                  `field "seconds": required but missing`,
		`{"seconds":1,"honour_stop":"no"}`:    `field "honour_stop": must be a boolean`,
		`{"seconds":600,"honour_stop":false}`: "",
	} {
		_, rejection := r.Check(tool, json.RawMessage(args), nil)
		if want == "" {
			if rejection != nil {
				t.Errorf("%s: %s", args, rejection.Reason)
			}
			continue
		}
		if rejection == nil || !strings.HasPrefix(rejection.Reason, want) {
			t.Errorf("%s: %+v, want %s", args, rejection, want)
		}
	}
	// A call that came around the schema does not wait for ever either.
	if res := tool.Run(t.Context(), registry.ToolContext{}, json.RawMessage(`{"seconds":100000}`)); res.Success {
		t.Error("an unbounded wait was accepted")
	}
}
