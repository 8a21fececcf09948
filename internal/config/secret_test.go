package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/config"
)

// holder keeps a Secret where fmt cannot call its methods.
type holder struct{ hidden config.Secret }

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	const value = "hunter2-hunter2"
	s := config.NewSecret(value)
	cfg := config.Config{Discord: config.Discord{Token: s}}
	var rendered []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T %[1]v"} {
		rendered = append(rendered, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, cfg), fmt.Sprintf(verb, holder{s}), fmt.Sprintf(verb, []config.Secret{s}))
	}
	encoded, err := json.Marshal(map[string]any{"secret": s, "config": cfg})
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "secret", s, "config", cfg)
	rendered = append(rendered, string(encoded), logged.String(), fmt.Sprint(fmt.Errorf("wrapped: %v", s)))
	for _, r := range rendered {
		if strings.Contains(r, "hunter2") || strings.Contains(r, fmt.Sprintf("%x", value)) {
			t.Errorf("a rendering shows the value: %s", r)
		}
	}
	if got := fmt.Sprint(s); got != config.Redacted {
		t.Errorf("Sprint = %q, want %q", got, config.Redacted)
	}
	if s.Reveal() != value {
		t.Errorf("Reveal = %q, want the value", s.Reveal())
	}
}

func TestZeroSecret(t *testing.T) {
	t.Parallel()
	var zero config.Secret
	if !zero.IsZero() || zero.Reveal() != "" || fmt.Sprint(zero) != "" || !zero.Equal(config.NewSecret("")) {
		t.Errorf("the zero Secret is not empty: %v", zero)
	}
	if zero.Equal(config.NewSecret("x")) {
		t.Error("the zero Secret equals a set one")
	}
}
