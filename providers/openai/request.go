package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// dialect is what a service was found not to understand.
type dialect struct {
	noStreamOptions bool
	// swapLimit sends the token limit under the name we would not have chosen.
	swapLimit bool
}

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

// params maps a request to the vendor's type.
func (p *Provider) params(req providers.Request, d dialect) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{Model: req.Model, Messages: p.messages(req)}
	if !d.noStreamOptions {
		params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	}
	if n := int64(req.MaxOutputTokens); n > 0 {
		if wantsCompletionLimit(req.Model) != d.swapLimit {
			params.MaxCompletionTokens = param.NewOpt(n)
		} else {
			params.MaxTokens = param.NewOpt(n)
		}
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: plainSchema(t.Schema)}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return params
}

// reasoningFamily recognises the models that refuse max_tokens.
var reasoningFamily = regexp.MustCompile(`^(o\d|gpt-[5-9])`)

func wantsCompletionLimit(model string) bool {
	return reasoningFamily.MatchString(model[strings.LastIndexByte(model, '/')+1:])
}

// learn looks in a refusal for a parameter that can be left out or renamed. It reports whether another try makes sense.
func (p *Provider) learn(d dialect, req providers.Request, body []byte) bool {
	text := string(body)
	switch {
	case !d.noStreamOptions && strings.Contains(text, "stream_options"):
		p.noStreamOptions.Store(true)
		return true
	case !d.swapLimit && req.MaxOutputTokens > 0 && (strings.Contains(text, "max_tokens") || strings.Contains(text, "max_completion_tokens")):
		p.swapLimit.Store(true)
		return true
	}
	return false
}

// messages maps the repaired conversation. Only a system text at the very start is sent: strict prompt templates refuse
// a later one. Neighbouring user messages become one, for the same reason.
func (p *Provider) messages(req providers.Request) []sdk.ChatCompletionMessageParamUnion {
	repaired := providers.Repair(req.Messages)
	system := req.System
	if system == "" && len(repaired) > 0 && repaired[0].Role == providers.RoleSystem {
		system = repaired[0].Content
	}
	var out []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(system) != "" {
		out = append(out, sdk.SystemMessage(system))
	}
	ids := wire.IDs{Valid: func(id string) bool { return len(id) <= maxIDLength }}
	// The results of an assistant message follow it directly, in call order.
	var pending []string
	var users []string
	flush := func() {
		if len(users) > 0 {
			out = append(out, sdk.UserMessage(strings.Join(users, "\n\n")))
			users = nil
		}
	}
	for _, m := range repaired {
		switch m.Role {
		case providers.RoleUser:
			users = append(users, m.Content)
		case providers.RoleAssistant:
			flush()
			var message sdk.ChatCompletionMessageParamUnion
			message, pending = p.assistant(m, &ids, req.Model)
			out = append(out, message)
		case providers.RoleTool:
			content := m.Content
			if content == "" {
				content = "(empty)"
			}
			out = append(out, sdk.ToolMessage(content, pending[0]))
			pending = pending[1:]
		case providers.RoleSystem, providers.RoleNote:
		}
	}
	flush()
	return out
}

func (p *Provider) assistant(m providers.Message, ids *wire.IDs, model string) (sdk.ChatCompletionMessageParamUnion, []string) {
	var a sdk.ChatCompletionAssistantMessageParam
	// An empty text is sent as "", not left out: several servers refuse null beside calls.
	a.Content.OfString = param.NewOpt(m.Content)
	var sent []string
	for _, c := range m.Calls {
		call := sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: ids.Assign(c),
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
				Name: wire.SentName(c.Name), Arguments: c.Arguments,
			},
		}
		if extra := p.sentOpaque(c.Opaque, model); len(extra) > 0 {
			call.SetExtraFields(extra)
		}
		sent = append(sent, call.ID)
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &call})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}, sent
}

// opaque is how we keep vendor data on a call: with its origin, because another service refuses it.
type opaque struct {
	Provider string                     `json:"provider"`
	Model    string                     `json:"model"`
	Members  map[string]json.RawMessage `json:"members"`
}

func (p *Provider) sentOpaque(raw json.RawMessage, model string) map[string]any {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o.Provider != p.service.Name || o.Model != model {
		return nil
	}
	extra := make(map[string]any, len(o.Members))
	for name, value := range o.Members {
		extra[name] = value
	}
	return extra
}

// maxIDLength is OpenAI's limit.
const maxIDLength = 40
