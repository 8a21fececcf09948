package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/anthropic"
	"github.com/parleybot/parley/providers/catalog"
	"github.com/parleybot/parley/providers/openai"
	"github.com/parleybot/parley/providers/rehearsal"
	"github.com/parleybot/parley/turn"
)

// ErrNoProvider is returned by New when the environment names no model.
var ErrNoProvider = errors.New("no chat provider configured: set MODEL, such as openai:gpt-4.1-mini with OPENAI_API_KEY, " +
	"or a name at OPENAI_BASE_URL, or rehearsal for the offline model")

// anthropicVendor speaks a format of its own; all other vendors speak OpenAI's.
const anthropicVendor = "anthropic"

// link is one model of the chain: what the operator chose, what is known of it, and the way to it.
type link struct {
	choice config.Choice
	known  catalog.Model
	model  turn.Model
}

// models builds the chain of models that the environment asks for.
func models(cfg config.Config) ([]turn.Model, error) {
	links, _, err := chain(cfg)
	if err != nil {
		return nil, err
	}
	return usable(links)
}

// usable gives the models of a chain, or every variable that is missing for one of them.
func usable(links []link) ([]turn.Model, error) {
	var (
		out      []turn.Model
		problems []error
	)
	for _, l := range links {
		if p := l.choice.Missing(); p != nil {
			problems = append(problems, p)
		}
		out = append(out, l.model)
	}
	return out, errors.Join(problems...)
}

// chain builds every link whose key is there; of the others only what is known.
func chain(cfg config.Config) ([]link, *catalog.Catalog, error) {
	choices := cfg.Chain()
	if len(choices) == 0 {
		return nil, nil, ErrNoProvider
	}
	table, err := readCatalog(cfg.Model.File)
	if err != nil {
		return nil, nil, err
	}
	wishes := catalog.Wishes{
		Thinking: providers.ThinkingLevel(cfg.Model.Thinking), Temperature: cfg.Model.Temperature, MaxOutputTokens: cfg.Model.MaxOutputTokens,
	}
	// Models of one service share its connections, and what was learned of it.
	wires := map[string]providers.Provider{}
	var links []link
	for _, c := range choices {
		vendor := pricedAs(c)
		l := link{choice: c, known: table.Model(vendor, c.Name)}
		l.model = turn.Model{Name: c.Name, Label: label(c), ContextTokens: l.known.ContextTokens, Images: l.known.Images}
		if most := cfg.Model.MaxOutputTokens; most > 0 {
			l.model.MaxOutputTokens = most
			if own := l.known.MaxOutputTokens; own > 0 {
				l.model.MaxOutputTokens = min(most, own)
			}
		}
		if c.Missing() == nil {
			key := fmt.Sprint(c.Vendor.Name, c.Own)
			if wires[key] == nil {
				if wires[key], err = wire(c, func(name string) bool { return table.Model(vendor, name).Images }); err != nil {
					return nil, nil, err
				}
			}
			l.model.Provider = providers.Retrying(
				catalog.Fitted(catalog.Priced(wires[key], table, vendor), l.known, wishes), providers.RetryPolicy{})
		}
		links = append(links, l)
	}
	return links, table, nil
}

// wire makes the way to a service; sees tells which of its models take images.
func wire(c config.Choice, sees func(string) bool) (providers.Provider, error) {
	key := c.Vendor.Key.Reveal()
	switch {
	case c.Vendor.Name == config.RehearsalModel:
		return rehearsal.New(rehearsal.Config{}), nil
	case c.Vendor.Name == anthropicVendor:
		return anthropic.New(anthropic.Config{BaseURL: c.Vendor.BaseURL, APIKey: key})
	case c.Own: // whose quirks it has is told by its address
		return openai.New(openai.Config{BaseURL: c.Vendor.BaseURL, APIKey: key, Sees: sees})
	}
	return openai.New(openai.Config{Vendor: c.Vendor.Name, BaseURL: c.Vendor.BaseURL, APIKey: key, Sees: sees})
}

// pricedAs is whose prices hold for a model: nobody's on a server of the operator's own.
func pricedAs(c config.Choice) string {
	if !c.Own {
		return c.Vendor.Name
	}
	if v, known := openai.VendorAt(c.Vendor.BaseURL); known {
		return v.Name
	}
	return ""
}

// unbounded says why the limits on costs don't hold for a model, and what would help; "" where they do, or where there are
// none. A service that tells its prices itself needs no table.
func (l link) unbounded(limits config.Limits) string {
	if limits.DailyCost == 0 && limits.DailyCostGuild == 0 || l.known.Price != nil {
		return ""
	}
	if v, known := openai.VendorNamed(pricedAs(l.choice)); known && v.TellsPrice() {
		return ""
	}
	return "its price is unknown, so it is not counted against the cost limits of a day; tell it in MODELS_FILE (docs/models.md), where 0 stands for free"
}

// label is how people see and choose a model.
func label(c config.Choice) string {
	if c.Own || c.Vendor.Name == config.RehearsalModel {
		return c.Name
	}
	return c.Vendor.Name + ":" + c.Name
}

// maxModelsFile bounds the operator's table.
const maxModelsFile = 1 << 20

// readCatalog reads the table of models, with the operator's file above it when there is one.
func readCatalog(path string) (*catalog.Catalog, error) {
	if path == "" {
		return catalog.New(nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("MODELS_FILE: %w", err)
	}
	defer func() { _ = f.Close() }()
	own, err := io.ReadAll(io.LimitReader(f, maxModelsFile+1))
	if err != nil {
		return nil, fmt.Errorf("MODELS_FILE: %w", err)
	}
	c, err := catalog.New(own)
	if err != nil {
		return nil, fmt.Errorf("MODELS_FILE: %s:\n  %s", path, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return c, nil
}
