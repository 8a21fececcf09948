package openai

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

func check(req providers.Request) error {
	if req.Model == "" {
		return errors.New("no model was chosen")
	}
	for _, t := range req.Tools {
		if !wire.ToolName.MatchString(t.Name) {
			return fmt.Errorf("tool name %q must match %s", t.Name, wire.ToolName)
		}
	}
	return nil
}

// params maps a request to the vendor's type. What the type doesn't know is set by the options.
func (p *Provider) params(req providers.Request, d dialect) (sdk.ChatCompletionNewParams, []option.RequestOption) {
	params := sdk.ChatCompletionNewParams{Model: req.Model, Messages: p.messages(req, d)}
	if !p.quirks.noStreamOptions && !d.noStreamOptions {
		params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	}
	if n := int64(req.MaxOutputTokens); n > 0 {
		if p.wantsCompletionLimit(req.Model) != d.swapLimit {
			params.MaxCompletionTokens = param.NewOpt(n)
		} else {
			params.MaxTokens = param.NewOpt(n)
		}
	}
	if t := req.Temperature; t != nil && !d.noTemperature && !reasoningFamily.MatchString(familyName(req.Model)) {
		params.Temperature = param.NewOpt(p.clampTemperature(*t))
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: plainSchema(t.Schema)}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	opts := []option.RequestOption{option.WithJSONSet("stream", true)}
	if name, value := p.reasoning(req.Thinking); name != "" && !d.noReasoning {
		opts = append(opts, option.WithJSONSet(name, value))
	}
	return params, opts
}

// reasoningFamily recognises the models of OpenAI that refuse max_tokens and a temperature, wherever they are offered.
var reasoningFamily = regexp.MustCompile(`^(o\d|gpt-[5-9])`)

// familyName is a model's name without a router's prefix.
func familyName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

func (p *Provider) wantsCompletionLimit(model string) bool {
	switch p.quirks.limit {
	case limitCompletion:
		return true
	case limitPlain:
	}
	return reasoningFamily.MatchString(familyName(model))
}

func (p *Provider) clampTemperature(t float64) float64 {
	highest := p.quirks.maxTemperature
	if highest == 0 {
		highest = 2
	}
	return max(0, min(t, highest))
}

// reasoning is the member that asks for a thinking level in this vendor's form; "" for none.
func (p *Provider) reasoning(level providers.ThinkingLevel) (name string, value any) {
	if level == providers.ThinkingDefault {
		return "", nil
	}
	off := level == providers.ThinkingOff
	switch p.quirks.reasoning {
	case reasoningEffort:
		word := string(level)
		if off {
			word = p.quirks.effortOff
		}
		return "reasoning_effort", word
	case reasoningObject:
		if off {
			return "reasoning", map[string]any{"enabled": false}
		}
		return "reasoning", map[string]any{"effort": string(level)}
	case reasoningSwitch:
		kind := "enabled"
		if off {
			kind = "disabled"
		}
		return "thinking", map[string]any{"type": kind}
	case reasoningTemplate:
		// Templates take what they know and leave the rest.
		kwargs := map[string]any{"enable_thinking": !off}
		if !off {
			kwargs["reasoning_effort"] = string(level)
		}
		return "chat_template_kwargs", kwargs
	case reasoningNone:
	}
	return "", nil
}
