package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
)

// TestUnboundedModels: with a limit on costs, every model whose price nobody knows is named at the start and by the doctor,
// and no other one.
func TestUnboundedModels(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(prices, []byte(`{"models": [{"name": "house-free", "price": {"input": 0, "output": 0}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const chain = "FALLBACK_MODELS=ollama:llama3.2:1b,openrouter:some/model,house-model,house-free,rehearsal,groq:none-such"
	for _, test := range []struct {
		name, limit string
		want        []string
	}{
		{"of the bot", "DAILY_COST_LIMIT_USD=5", []string{"house-model", "groq:none-such"}},
		{"of each guild", "DAILY_COST_LIMIT_GUILD_USD=0.5", []string{"house-model", "groq:none-such"}},
		{"none", "DAILY_COST_LIMIT_USD=0", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg, _, err := config.Load([]string{
				"DISCORD_TOKEN=x", "MODEL=openai:gpt-4o", chain, "MODELS_FILE=" + prices, "DATA_DIR=" + t.TempDir(), "OPENAI_API_KEY=k",
				"OPENROUTER_API_KEY=k", "GROQ_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", test.limit,
			})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			a, err := app.New(t.Context(), app.Options{Config: cfg, Log: zerolog.New(&log), DiscordAPI: "http://127.0.0.1:1"})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			var warned, told []string
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "spending.not_bounded") && strings.Contains(line, "MODELS_FILE") {
					_, rest, _ := strings.Cut(line, `"model":"`)
					label, _, _ := strings.Cut(rest, `"`)
					warned = append(warned, label)
				}
			}
			for _, c := range app.Examine(t.Context(), app.Options{Config: cfg, DiscordAPI: "http://127.0.0.1:1", Log: zerolog.Nop()}) {
				if strings.Contains(c.Found, "not counted against the cost limits") {
					label, _, _ := strings.Cut(c.Found, ";")
					label, _, _ = strings.Cut(label, " at ")
					told = append(told, label)
				}
			}
			want := strings.Join(test.want, " ")
			if strings.Join(warned, " ") != want || strings.Join(told, " ") != want {
				t.Errorf("the start warns of %q and the doctor tells of %q, want %q", warned, told, want)
			}
		})
	}
}
