package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/config"
)

func TestUnsetMeansDefault(t *testing.T) {
	t.Parallel()
	got, warnings, err := config.Load([]string{"PATH=/bin", "TURN_TIMEOUT_MS=", "MODEL=  ", "broken entry"})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings = %v, want none", warnings)
	}
	want := config.Config{
		Store: config.Store{DataDir: "./data", RedisPrefix: "parley:"},
		Log:   config.Log{Level: config.LogInfo, Format: config.FormatAuto},
		Limits: config.Limits{
			ToolExecutionTimeout:         5 * time.Minute,
			StreamIdleTimeout:            2 * time.Minute,
			StreamFirstTokenTimeout:      5 * time.Minute,
			TurnTimeout:                  15 * time.Minute,
			ApprovalTimeout:              10 * time.Minute,
			ShutdownGrace:                20 * time.Second,
			ToolLoopMaxIterations:        100,
			ToolLoopSoftWarnIterations:   20,
			ToolLoopMaxConsecutiveErrors: 5,
			ToolResultMaxBytes:           12 << 10,
			HistoryMaxBytes:              200 << 10,
			ChannelQueueLimit:            5,
			MaxFollowUpInterrupts:        3,
			ActiveTurnsPerMember:         3,
			ActiveTurnsPerGuild:          10,
			TurnsPerMinuteMember:         20,
			TurnsPerMinuteChannel:        60,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if grace := got.ForPlayground().Limits.ShutdownGrace; grace != 0 {
		t.Errorf("playground's shutdown grace = %v, want 0", grace)
	}
}

func TestSetValuesAreRead(t *testing.T) {
	t.Parallel()
	cfg, _, err := config.Load([]string{
		"DISCORD_TOKEN= Bot abc.def.ghi\n",
		"OPENAI_API_KEY=a$b", // a dollar sign inside a value is no placeholder
		"OPENAI_BASE_URL=http://127.0.0.1:11434/v1",
		"MODEL=qwen3:8b",
		"TURN_TIMEOUT_MS=61000",
		"CHANNEL_QUEUE_LIMIT=0",
		"LOG_LEVEL=debug",
		"LOG_FORMAT=console",
		"DATA_DIR=/var/lib/parley",
	})
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		Token, Key, Base, Model, Dir string
		Turn                         time.Duration
		Queue                        int
		Level                        config.LogLevel
		Format                       config.LogFormat
	}
	got := read{
		cfg.Discord.Token.Reveal(), cfg.Services.OpenAIKey.Reveal(), cfg.Services.OpenAIURL, cfg.Model.Name, cfg.Store.DataDir,
		cfg.Limits.TurnTimeout, cfg.Limits.ChannelQueueLimit, cfg.Log.Level, cfg.Log.Format,
	}
	want := read{"abc.def.ghi", "a$b", "http://127.0.0.1:11434/v1", "qwen3:8b", "/var/lib/parley", 61 * time.Second, 0, "debug", "console"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"abc.def.ghi", "a$b"}, cfg.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

func TestRefusedByName(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ entry, want string }{
		"words for a duration":        {"TURN_TIMEOUT_MS=15m", `TURN_TIMEOUT_MS: "15m" is not a whole number of milliseconds`},
		"duration that overflows":     {"TURN_TIMEOUT_MS=9223372036854775807", "TURN_TIMEOUT_MS: "},
		"fraction for a count":        {"TOOL_LOOP_MAX_ITERATIONS=1.5", `TOOL_LOOP_MAX_ITERATIONS: "1.5" is not a whole number`},
		"level outside the set":       {"LOG_LEVEL=verbose", `LOG_LEVEL: "verbose" is none of debug, info, warn, error`},
		"amount in words":             {"DAILY_COST_LIMIT_USD=five", `DAILY_COST_LIMIT_USD: "five" is not an amount of US dollars such as 5 or 0.25`},
		"amount with a sign":          {"DAILY_COST_LIMIT_GUILD_USD=$5", `DAILY_COST_LIMIT_GUILD_USD: "$5" is not an amount`},
		"amount as a power":           {"DAILY_COST_LIMIT_USD=1e3", `DAILY_COST_LIMIT_USD: "1e3" is not an amount`},
		"amount that is too fine":     {"DAILY_COST_LIMIT_USD=0.0000000001", `DAILY_COST_LIMIT_USD: "0.0000000001" is not an amount`},
		"amount that overflows":       {"DAILY_COST_LIMIT_USD=9999999999", `DAILY_COST_LIMIT_USD: "9999999999" is more than can be counted`},
		"switch in other words":       {"PRACTICE_TOOLS=maybe", `PRACTICE_TOOLS: "maybe" is neither true nor false`},
		"stand-in without a scheme":   {"DISCORD_API_URL=localhost", "DISCORD_API_URL: is not an absolute http or https URL"},
		"Postgres without Redis":      {"DATABASE_URL=postgres://u:hunter2@h/db", "DATABASE_URL: is set and REDIS_URL is not; set both, or neither"},
		"Redis without Postgres":      {"REDIS_URL=redis://u:hunter2@h", "REDIS_URL: is set and DATABASE_URL is not; set both, or neither"},
		"Postgres that is none":       {"DATABASE_URL=mysql://u:hunter2@h/db", "DATABASE_URL: is not a URL that begins with postgres://"},
		"Redis that is none":          {"REDIS_URL=u:hunter2@h", "REDIS_URL: is not a URL that begins with redis://"},
		"B106 plain placeholder":      {"DISCORD_TOKEN=$DISCORD_TOKEN", "DISCORD_TOKEN: holds an unexpanded placeholder"},
		"B106 braced placeholder":     {"OPENAI_API_KEY=${KEY}", "OPENAI_API_KEY: holds an unexpanded placeholder"},
		"B106 placeholder in a value": {"OPENAI_BASE_URL=http://${HOST:-x}/v1", "OPENAI_BASE_URL: holds an unexpanded placeholder"},
		"no such vendor":              {"MODEL=opnai:gpt-4.1", `MODEL: "opnai:gpt-4.1" begins with no vendor that is known; known are rehearsal, openai, anthropic,`},
		"vendor without a model":      {"MODEL=openai:", `MODEL: "openai:" names a vendor and no model`},
		"two models in one":           {"MODEL=openai:a, openai:b", `MODEL: "openai:a, openai:b" is not the name of one model`},
		"fallback of no vendor":       {"FALLBACK_MODELS=nobody:x", `FALLBACK_MODELS: "nobody:x" begins with no vendor`},
		"fallback without a model":    {"FALLBACK_MODELS=openai:x", "FALLBACK_MODELS: is set and MODEL is not"},
		"thinking level":              {"MODEL_THINKING=hard", `MODEL_THINKING: "hard" is none of off, low, medium, high`},
		"temperature":                 {"MODEL_TEMPERATURE=3", "MODEL_TEMPERATURE: must be from 0 to 2"},
		"temperature in words":        {"MODEL_TEMPERATURE=warm", `MODEL_TEMPERATURE: "warm" is not a number`},
		"temperature that is none":    {"MODEL_TEMPERATURE=NaN", `MODEL_TEMPERATURE: "NaN" is not a number`},
		"key with white space":        {"GROQ_API_KEY=hunter2 hunter2", "GROQ_API_KEY: has white space inside"},
		"base URL without a scheme":   {"OPENAI_BASE_URL=localhost:11434", "OPENAI_BASE_URL: is not an absolute http or https URL"},
		"base URL with a password":    {"OPENAI_BASE_URL=https://u:hunter2@h/v1", "OPENAI_BASE_URL: must hold no user"},
		"token with white space":      {"DISCORD_TOKEN=hunter2 hunter2", "DISCORD_TOKEN: has white space inside"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _, err := config.Load([]string{c.entry})
			if err == nil {
				t.Fatalf("Load(%q) = %+v, want it refused", c.entry, cfg)
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("Load(%q) error = %q, want it to begin with %q", c.entry, err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, _, err := config.Load([]string{
		"TURN_TIMEOUT_MS=soon", "LOG_LEVEL=loud", "CHANNEL_QUEUE_LIMIT=many", "DISCORD_TOKEN=$TOKEN", "OPENAI_BASE_URL=x", "DATABASE_URL=postgres://h/d",
	})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error = %v, want joined problems", err)
	}
	var names []string
	for _, e := range joined.Unwrap() {
		p, ok := errors.AsType[*config.Problem](e)
		if !ok {
			t.Fatalf("%v is no *Problem", e)
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	want := []string{"CHANNEL_QUEUE_LIMIT", "DATABASE_URL", "DISCORD_TOKEN", "LOG_LEVEL", "OPENAI_BASE_URL", "TURN_TIMEOUT_MS"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("refused variables (-want +got):\n%s", diff)
	}
}

func TestBelowMinimumIsRaised(t *testing.T) {
	t.Parallel()
	cfg, warnings, err := config.Load([]string{"TOOL_EXECUTION_TIMEOUT_MS=9999", "TOOL_LOOP_MAX_ITERATIONS=-4", "STREAM_IDLE_TIMEOUT_MS=10000"})
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Warning{
		{Name: "TOOL_EXECUTION_TIMEOUT_MS", Text: "9999 is below the minimum, using 10000"},
		{Name: "TOOL_LOOP_MAX_ITERATIONS", Text: "-4 is below the minimum, using 1"},
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if cfg.Limits.ToolExecutionTimeout != 10*time.Second || cfg.Limits.ToolLoopMaxIterations != 1 {
		t.Errorf("limits = %+v, want the minimums", cfg.Limits)
	}
}

func TestCheckRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		environ []string
		missing []string
	}{
		"nothing set":              {nil, []string{"DISCORD_TOKEN", "MODEL"}},
		"model without a provider": {[]string{"DISCORD_TOKEN=t", "MODEL=m"}, []string{"OPENAI_API_KEY"}},
		"key without a model":      {[]string{"DISCORD_TOKEN=t", "OPENAI_API_KEY=k"}, []string{"MODEL"}},
		"model and key":            {[]string{"DISCORD_TOKEN=t", "MODEL=m", "OPENAI_API_KEY=k"}, nil},
		"local server, no key":     {[]string{"DISCORD_TOKEN=t", "MODEL=m", "OPENAI_BASE_URL=http://localhost:1"}, nil},
		"offline model":            {[]string{"DISCORD_TOKEN=t", "MODEL=rehearsal"}, nil},
		"fallbacks without keys": {
			[]string{"DISCORD_TOKEN=t", "MODEL=openai:m", "FALLBACK_MODELS=groq:a,groq:b,ollama:c,anthropic:d"},
			[]string{"OPENAI_API_KEY", "GROQ_API_KEY", "ANTHROPIC_API_KEY"},
		},
		"a proxy that wants no key": {[]string{"DISCORD_TOKEN=t", "MODEL=anthropic:m", "ANTHROPIC_BASE_URL=http://localhost:1"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _, err := config.Load(c.environ)
			if err != nil {
				t.Fatal(err)
			}
			var missing []string
			if err := cfg.CheckRun(); err != nil {
				for line := range strings.Lines(err.Error()) {
					name, _, _ := strings.Cut(line, ":")
					missing = append(missing, name)
				}
			}
			if diff := cmp.Diff(c.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		environ []string
		want    []string // vendor, "own" for a server of one's own, and name
	}{
		"nothing":                      {nil, nil},
		"a vendor":                     {[]string{"MODEL=OpenAI:gpt-4.1"}, []string{"openai gpt-4.1"}},
		"no vendor":                    {[]string{"MODEL=gpt-4.1"}, []string{"openai gpt-4.1"}},
		"no vendor, and a base URL":    {[]string{"MODEL=house", "OPENAI_BASE_URL=http://localhost:1"}, []string{"own house"}},
		"a vendor, and a base URL":     {[]string{"MODEL=openai:gpt", "OPENAI_BASE_URL=http://localhost:1"}, []string{"openai gpt"}},
		"a tag":                        {[]string{"MODEL=ollama:llama3.2:1b"}, []string{"ollama llama3.2:1b"}},
		"a tag at a base URL":          {[]string{"MODEL=llama3.2:1b", "OPENAI_BASE_URL=http://localhost:1"}, []string{"own llama3.2:1b"}},
		"a router's vendor and suffix": {[]string{"MODEL=openrouter:deepseek/deepseek-r1:free"}, []string{"openrouter deepseek/deepseek-r1:free"}},
		"the offline model and others": {
			[]string{"MODEL=rehearsal", "FALLBACK_MODELS= anthropic:claude-x ,, xai:grok "}, []string{"rehearsal rehearsal", "anthropic claude-x", "xai grok"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _, err := config.Load(c.environ)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, choice := range cfg.Chain() {
				vendor := choice.Vendor.Name
				if choice.Own {
					vendor = "own"
				}
				got = append(got, vendor+" "+choice.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := config.Load([]string{"MODEL=xai:a", "FALLBACK_MODELS=groq:a,XAI:a"}); err == nil || !strings.Contains(err.Error(), "in the chain already") {
		t.Errorf("a model that is there twice: %v", err)
	}
}

// Whatever holds a key is known to the redactor, and every vendor's variables are ones that are read.
func TestVendors(t *testing.T) {
	t.Parallel()
	known := map[string]config.Variable{}
	for _, v := range config.Variables() {
		known[v.Name] = v
	}
	var environ, secrets []string
	for _, v := range (config.Services{}).Vendors() {
		if !known[v.KeyVariable].Secret {
			t.Errorf("%s: %s is no secret", v.Name, v.KeyVariable)
		}
		if base, ok := known[v.BaseVariable]; !ok || base.Secret {
			t.Errorf("%s: %s is not read", v.Name, v.BaseVariable)
		}
		environ = append(environ, v.KeyVariable+"=key-of-"+v.Name, v.BaseVariable+"=http://"+v.Name)
		secrets = append(secrets, "key-of-"+v.Name)
	}
	cfg, _, err := config.Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secrets, cfg.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
	for _, v := range cfg.Services.Vendors() {
		if v.Key.Reveal() != "key-of-"+v.Name || v.BaseURL != "http://"+v.Name {
			t.Errorf("%s has another's key or address", v.Name)
		}
	}
}

func TestDollarsAreExact(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]config.Dollars{
		"5": 5_000_000_000, "0.25": 250_000_000, ".5": 500_000_000, "1.": 1_000_000_000, "0.1": 100_000_000, "0.000000001": 1,
		"9223372036.854775807": 9_223_372_036_854_775_807, "0": 0, "": 0, "+2": 2_000_000_000,
	} {
		cfg, warnings, err := config.Load([]string{"DAILY_COST_LIMIT_USD=" + entry})
		if err != nil || len(warnings) > 0 || cfg.Limits.DailyCost != want {
			t.Errorf("%q: %d, %v, %v, want %d", entry, int64(cfg.Limits.DailyCost), warnings, err, int64(want))
		}
	}
	cfg, warnings, err := config.Load([]string{"DAILY_COST_LIMIT_GUILD_USD=-0.5"})
	if err != nil || cfg.Limits.DailyCostGuild != 0 {
		t.Errorf("below 0: %v, %v", cfg.Limits.DailyCostGuild, err)
	}
	want := "DAILY_COST_LIMIT_GUILD_USD: -0.5 is below the minimum, using 0"
	if len(warnings) != 1 || warnings[0].String() != want {
		t.Errorf("warnings %v, want %s", warnings, want)
	}
}
