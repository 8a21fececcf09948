package openai

import (
	"encoding/json"
	"testing"

	"github.com/parleybot/parley/providers"
)

// TestReportedCost: what a service says of its price arrives to the last billionth, and only from the services whose
// member means dollars.
func TestReportedCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vendor, usage string
		// want is -1 for none.
		want int64
	}{
		{"decimal", "openrouter", `"cost":0.00014`, 140_000},
		{"exponent", "openrouter", `"cost":8.725e-05`, 87_250},
		{"no float comes near it", "openrouter", `"cost":0.3`, 300_000_000},
		{"rounded half up", "openrouter", `"cost":0.0000000015`, 2},
		{"free", "openrouter", `"cost":0`, 0},
		{"a key of one's own", "openrouter", `"cost":0.00001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.0002}`, 210_000},
		{"the same without one", "openrouter", `"cost":0.0002,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0002}`, 200_000},
		{"ticks", "xai", `"cost_in_usd_ticks":3530500`, 353_050},
		{"another's member", "groq", `"cost":0.5`, -1},
		{"an unknown server", "", `"cost":0.5`, -1},
		{"nothing", "openrouter", `"x":1`, -1},
		{"null", "openrouter", `"cost":null`, -1},
		{"a string", "openrouter", `"cost":"0.5"`, -1},
		{"negative", "openrouter", `"cost":-0.5`, -1},
		{"absurd", "openrouter", `"cost":1e99`, -1},
		{"absurdly written", "openrouter", `"cost":1e999999999`, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, streamOf(sayChunk("a")+endChunk("stop")+event(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,`+c.usage+`}}`))).
				provider(t, func(cfg *Config) { cfg.Vendor = c.vendor })
			got := int64(-1)
			if _, err := providers.Collect(p.Stream(t.Context(), hello), func(f providers.Fragment) {
				if r, ok := f.(providers.UsageReport); ok && r.Reported != nil {
					got = *r.Reported
				}
			}); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%d nano-dollars, want %d", got, c.want)
			}
		})
	}
	if n := nanos(json.RawMessage("1234567.123456789"), 9); n == nil {
		t.Log("over a million dollars counts as a mistake")
	} else {
		t.Errorf("a price of %d nano-dollars was believed", *n)
	}
}
