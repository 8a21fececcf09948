package app

import (
	"errors"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/openai"
	"github.com/parleybot/parley/providers/rehearsal"
	"github.com/parleybot/parley/turn"
)

// ErrNoProvider is returned by New when the environment names no model.
var ErrNoProvider = errors.New("no chat provider configured: set MODEL, and OPENAI_API_KEY or OPENAI_BASE_URL; " +
	"or MODEL=rehearsal for the offline model")

// models builds the chain of models that the environment asks for.
func models(c config.Model) ([]turn.Model, error) {
	switch {
	case c.Name == config.RehearsalModel:
		return []turn.Model{{Provider: providers.Retrying(rehearsal.New(rehearsal.Config{}), providers.RetryPolicy{}), Name: c.Name}}, nil
	case c.Name == "" || (c.BaseURL == "" && c.APIKey.IsZero()):
		return nil, ErrNoProvider
	}
	p, err := openai.New(openai.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(),
		ThinkTags: true, // many servers leave a model's reasoning in its text, and people must not see it
	})
	if err != nil {
		return nil, err
	}
	return []turn.Model{{Provider: providers.Retrying(p, providers.RetryPolicy{}), Name: c.Name}}, nil
}
