package catalog

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/parleybot/parley/providers"
)

// Wishes are what an operator asks of every model; the zero value leaves all of it to them.
type Wishes struct {
	Thinking        providers.ThinkingLevel
	Temperature     *float64
	MaxOutputTokens int
}

// Fitted returns p with each request made into one that the model takes: what it is asked for beyond the request are the
// wishes, and what it is known not to take is left out. Images that a model can't see become words. A level of thinking
// is left out only for models that are known to take none: of the others the wire, which learns from refusals, knows more.
func Fitted(p providers.Provider, m Model, w Wishes) providers.Provider { return fitted{p, m, w} }

type fitted struct {
	providers.Provider
	model  Model
	wishes Wishes
}

// Stream implements providers.Provider.
func (f fitted) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	return f.Provider.Stream(ctx, f.fit(req))
}

func (f fitted) fit(req providers.Request) providers.Request {
	if req.Thinking == providers.ThinkingDefault {
		req.Thinking = f.wishes.Thinking
	}
	if req.Temperature == nil {
		req.Temperature = f.wishes.Temperature
	}
	req.MaxOutputTokens = f.limit(req.MaxOutputTokens)
	if f.model.Known && !f.model.TakesLevel() {
		req.Thinking = providers.ThinkingDefault
	}
	if !f.model.Temperature {
		req.Temperature = nil
	}
	if !f.model.Tools {
		req.Tools = nil
	}
	if !f.model.Images {
		req.Messages = inWords(req.Messages)
	}
	return req
}

// limit is the smallest of the bounds that are set; the model's own alone is the wire's matter.
func (f fitted) limit(asked int) int {
	if asked == 0 || f.wishes.MaxOutputTokens > 0 && f.wishes.MaxOutputTokens < asked {
		asked = f.wishes.MaxOutputTokens
	}
	if own := f.model.MaxOutputTokens; own > 0 && asked > own {
		asked = own
	}
	return asked
}

// inWords says of each message's images that they are there. The messages that were given stay as they are.
func inWords(messages []providers.Message) []providers.Message {
	said := false
	for i, m := range messages {
		if len(m.Images) == 0 {
			continue
		}
		if !said {
			messages, said = slices.Clone(messages), true
		}
		what := "an image that you can't see"
		if n := len(m.Images); n > 1 {
			what = fmt.Sprintf("%d images that you can't see", n)
		}
		messages[i].Images = nil
		messages[i].Content += "\n[with " + what + ": say so if it matters]"
	}
	return messages
}
