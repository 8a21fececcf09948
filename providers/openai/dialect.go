package openai

import (
	"net/http"
	"strings"

	"github.com/parleybot/parley/providers"
)

// dialect is what a service was found not to understand of a model's requests, beyond what the table knows.
type dialect struct {
	noStreamOptions bool
	// swapLimit sends the token limit under the name we would not have chosen.
	swapLimit     bool
	noReasoning   bool
	noTemperature bool
	// noImages tells of pictures in words.
	noImages bool
	// noEmptyContent leaves an empty text beside calls out; services disagree on which of the two they take.
	noEmptyContent bool
}

// maxLearned bounds for how many models anything is kept.
const maxLearned = 256

func (p *Provider) dialectOf(model string) dialect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialects[model]
}

// remember keeps a dialect that was understood.
func (p *Provider) remember(model string, d dialect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.dialects[model]; known || len(p.dialects) < maxLearned {
		p.dialects[model] = d
	}
}

// learn looks in a refusal for something of the request that can be left out or renamed. It reports whether another try
// makes sense; each thing is tried once.
func (d *dialect) learn(p *Provider, req providers.Request, status int, body string) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotFound:
	default:
		return false
	}
	text := strings.ToLower(body)
	names := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	before := *d
	asked, _ := p.reasoning(req.Thinking)
	switch {
	case !p.quirks.noStreamOptions && !d.noStreamOptions && names("stream_options"):
		d.noStreamOptions = true
	case req.MaxOutputTokens > 0 && !d.swapLimit && names("max_tokens", "max_completion_tokens"):
		d.swapLimit = true
	case asked != "" && !d.noReasoning && names("reasoning", "thinking", "effort", "chat_template_kwargs"):
		d.noReasoning = true
	case req.Temperature != nil && !d.noTemperature && names("temperature"):
		d.noTemperature = true
	case !d.noImages && names("image", "vision", "multimodal") && p.showsImages(req, *d):
		d.noImages = true
	case !d.noEmptyContent && names("content") && hasCallsWithoutText(req.Messages):
		d.noEmptyContent = true
	}
	return *d != before
}

func hasCallsWithoutText(messages []providers.Message) bool {
	for _, m := range messages {
		if len(m.Calls) > 0 && m.Content == "" {
			return true
		}
	}
	return false
}
