package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/catalog"
)

// examineModels tells of each model of the chain what it can do and whether its key is there. Only when the options say
// so is it asked for a word: that may cost a little.
func examineModels(ctx context.Context, o Options) []Check {
	links, table, err := chain(o.Config)
	if err != nil {
		return []Check{{Name: "model", Err: err}}
	}
	checks := make([]Check, len(links))
	for i, l := range links {
		c := Check{Name: "model", Found: strings.Join(abilities(l, table), "; ")}
		if text := l.unbounded(o.Config.Limits); text != "" {
			c.Found += "; " + text
		}
		if i > 0 {
			c.Name = fmt.Sprintf("fallback %d", i)
		}
		if p := l.choice.Missing(); p != nil {
			c.Err = fmt.Errorf("%s: %w", l.model.Label, p)
		} else if o.AskModels {
			finish, err := askModel(ctx, l)
			if err != nil {
				c.Err = fmt.Errorf("%s: %w", l.model.Label, err)
			}
			c.Found += "; it answers (" + string(finish) + ")"
		}
		checks[i] = c
	}
	return checks
}

// abilities says in words what is known of a model.
func abilities(l link, table *catalog.Catalog) []string {
	c, m := l.choice, l.known
	out := []string{l.model.Label + at(c)}
	switch {
	case c.Vendor.Name == config.RehearsalModel:
		return append(out, "offline, without a key")
	case !c.Vendor.Key.IsZero():
		out = append(out, "its key is in "+c.Vendor.KeyVariable)
	default:
		out = append(out, "without a key")
	}
	if !m.Known {
		out = append(out, "not in the table of models, so careful defaults hold (MODELS_FILE tells more)")
	}
	if m.ContextTokens > 0 {
		size := fmt.Sprintf("reads %d tokens", m.ContextTokens)
		if m.MaxOutputTokens > 0 {
			size += fmt.Sprintf(" and writes %d at most", m.MaxOutputTokens)
		}
		out = append(out, size)
	}
	can := []string{"calls no tools"}
	if m.Tools {
		can[0] = "calls tools"
	}
	if m.Images {
		can = append(can, "sees images")
	}
	if m.Temperature {
		can = append(can, "takes a temperature")
	}
	if m.TakesLevel() {
		can = append(can, "takes a thinking level")
	}
	return append(out, strings.Join(can, ", "), worth(m, table))
}

// at says where a model is when that is not the vendor's own address.
func at(c config.Choice) string {
	if c.Vendor.BaseURL == "" {
		return ""
	}
	return " at " + c.Vendor.BaseURL
}

// worth says what a model costs and where that is from.
func worth(m catalog.Model, table *catalog.Catalog) string {
	switch {
	case m.Price == nil:
		return "its price is unknown"
	case m.Price.Free():
		return "free"
	}
	from := "by the table of " + table.Date()
	if m.Operator {
		from = "by MODELS_FILE"
	}
	return fmt.Sprintf("$%s in, $%s out a million tokens %s", dollars(m.Price.Input), dollars(m.Price.Output), from)
}

// dollars writes nanos per token as US dollars per million tokens.
func dollars(nanos int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", nanos/1000, nanos%1000), "0"), ".")
}

// askModel asks a model for one word.
func askModel(ctx context.Context, l link) (providers.FinishReason, error) {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	resp, err := providers.Collect(l.model.Provider.Stream(ctx, providers.Request{
		Model: l.model.Name, MaxOutputTokens: 64,
		Messages: []providers.Message{{Role: providers.RoleUser, Content: "Say hello in one word."}},
	}), nil)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", examineTimeout)
	}
	return resp.Finish, err
}
