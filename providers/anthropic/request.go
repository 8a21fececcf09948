package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// prepared is a request in the vendor's types, and what of it could be left out if need be.
type prepared struct {
	params sdk.MessageNewParams
	// extra sends what the SDK's types don't know.
	extra []option.RequestOption
	// limit is the bound on the answer in tokens.
	limit                                        int
	thinking, effort, temperature, marks, blocks bool
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

// prepare maps a request to the vendor's types, without what the service was found not to take.
func (p *Provider) prepare(req providers.Request, without refused) (prepared, error) {
	c := capabilityOf(req.Model)
	sent := prepared{limit: req.MaxOutputTokens}
	if sent.limit == 0 {
		sent.limit = c.output
	}
	if without.output > 0 {
		sent.limit = min(sent.limit, without.output)
	}
	conv := conversation{provider: p.service.Name, name: req.Model, dropBlocks: without.blocks}
	system, err := conv.add(req)
	if err != nil {
		return sent, err
	}
	sent.blocks = conv.blocks
	sent.params = sdk.MessageNewParams{
		Model: req.Model, MaxTokens: int64(sent.limit), Messages: conv.out, Tools: tools(req.Tools),
	}
	if strings.TrimSpace(system) != "" {
		sent.params.System = []sdk.TextBlockParam{{Text: system}}
	}
	sent.think(c, req.Thinking, without, conv.bare)
	if req.Temperature != nil && c.cool && !sent.reasons() && !without.temperature {
		sent.extra = append(sent.extra, option.WithJSONSet("temperature", *req.Temperature))
		sent.temperature = true
	}
	if !without.marks {
		sent.mark()
	}
	return sent, nil
}

// reasons reports whether the request asks for reasoning; a temperature is refused beside it.
func (s *prepared) reasons() bool {
	return s.params.Thinking.OfEnabled != nil || s.params.Thinking.OfAdaptive != nil
}

// think asks for as much reasoning as the level says, in the way the model takes. bare says that the open tool exchange
// holds calls without the blocks of reasoning that led to them: then models of the older kind refuse to reason.
func (s *prepared) think(c capability, level providers.ThinkingLevel, without refused, bare bool) {
	if level == providers.ThinkingDefault || c.reasoning == reasonNot {
		return
	}
	effort := sdk.OutputConfigEffort("")
	if level == providers.ThinkingOff {
		switch c.quiet {
		case quietOmit:
		case quietDisabled:
			off := sdk.NewThinkingConfigDisabledParam()
			s.params.Thinking.OfDisabled = &off
		case quietBetween:
			s.params.Thinking.OfBetweenTools = &sdk.ThinkingConfigBetweenToolsParam{Type: "between_tools"}
		case quietLow:
			effort = sdk.OutputConfigEffortLow
		}
	} else if c.reasoning == reasonAdaptive {
		adaptive := sdk.ThinkingConfigAdaptiveParam{}
		if c.display {
			adaptive.Display = sdk.ThinkingConfigAdaptiveDisplaySummarized
		}
		s.params.Thinking.OfAdaptive = &adaptive
		effort = sdk.OutputConfigEffort(level)
	} else if budget := min(budgets[level], s.limit/2); budget >= minBudget && !bare {
		// Half the limit stays for the answer: reasoning counts towards it.
		s.params.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{BudgetTokens: int64(budget)}
	}
	if without.thinking || without.thinkingHere {
		s.params.Thinking = sdk.ThinkingConfigParamUnion{}
	}
	if effort != "" && !without.effort {
		s.params.OutputConfig.Effort = effort
		s.effort = true
	}
	s.thinking = s.reasons() || s.params.Thinking.OfDisabled != nil || s.params.Thinking.OfBetweenTools != nil
}

// mark puts the cache marks on what the next request will send again: the tools, the system text, the end of the
// conversation, and where it ended one request before, since the vendor looks back a few blocks only.
func (s *prepared) mark() {
	cache := sdk.CacheControlEphemeralParam{Type: "ephemeral"}
	if n := len(s.params.Tools); n > 0 {
		s.params.Tools[n-1].OfTool.CacheControl = cache
	}
	if n := len(s.params.System); n > 0 {
		s.params.System[n-1].CacheControl = cache
	}
	for _, m := range lastUsers(s.params.Messages, 2) {
		if block := m.Content[len(m.Content)-1].GetCacheControl(); block != nil {
			*block = cache
		}
	}
	s.marks = true
}

func lastUsers(messages []sdk.MessageParam, n int) []*sdk.UserMessageParam {
	var out []*sdk.UserMessageParam
	for _, m := range slices.Backward(messages) {
		if m.OfUser != nil && len(out) < n {
			out = append(out, m.OfUser)
		}
	}
	return out
}

func tools(specs []providers.ToolSpec) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, t := range specs {
		tool := sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](objectSchema(t.Schema))}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		out = append(out, sdk.ToolUnionParam{OfTool: &tool})
	}
	return out
}

// objectSchema is the schema as it was given; the format demands that of an object.
func objectSchema(raw json.RawMessage) json.RawMessage {
	var schema map[string]json.RawMessage
	if json.Unmarshal(raw, &schema) != nil || schema == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if string(schema["type"]) == `"object"` {
		return raw
	}
	schema["type"] = json.RawMessage(`"object"`)
	object, err := json.Marshal(schema)
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return object
}

// conversation maps messages to turns that take each other's place: neighbours of one role become one.
type conversation struct {
	// provider and name are the service and model that are asked.
	provider, name string
	dropBlocks     bool

	out []sdk.MessageParam
	ids wire.IDs
	// pending are the ids of the calls whose results come next, in call order.
	pending []string
	// blocks: reasoning is sent back. exchange: tools were asked for since the last word of a person; bare: without any
	// reasoning at their beginning.
	blocks, exchange, bare bool
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

const (
	// earlier stands at the beginning of a conversation that would begin with the model, which the format refuses.
	earlier = "(earlier messages are left out)"
	// emptyResult stands in for a result, or a last word, without text: the format has no empty blocks.
	emptyResult = "(empty)"
)

// add maps the whole conversation and returns the system text. Only one at the very start is sent.
func (c *conversation) add(req providers.Request) (system string, err error) {
	c.ids = wire.IDs{Valid: validID.MatchString}
	repaired := providers.Repair(req.Messages)
	system = req.System
	if system == "" && len(repaired) > 0 && repaired[0].Role == providers.RoleSystem {
		system = repaired[0].Content
	}
	for i, m := range repaired {
		switch m.Role {
		case providers.RoleUser:
			c.exchange, c.bare = false, false
			blocks := userBlocks(m)
			if len(blocks) == 0 && i == len(repaired)-1 {
				blocks = append(blocks, sdk.NewTextBlock(emptyResult))
			}
			c.user(blocks...)
		case providers.RoleAssistant:
			c.assistant(m)
		case providers.RoleTool:
			c.user(c.result(m))
		case providers.RoleSystem, providers.RoleNote:
		}
	}
	if len(c.out) == 0 || c.out[len(c.out)-1].OfUser == nil {
		return "", errors.New("the conversation must end with a word of a person or the result of a tool")
	}
	return system, nil
}

func (c *conversation) user(blocks ...sdk.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if n := len(c.out); n > 0 && c.out[n-1].OfUser != nil {
		c.out[n-1].OfUser.Content = append(c.out[n-1].OfUser.Content, blocks...)
		return
	}
	c.out = append(c.out, sdk.NewUserMessage(blocks...))
}

// userBlocks shows the pictures before the text that speaks of them.
func userBlocks(m providers.Message) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, image := range m.Images {
		out = append(out, imageBlock(image))
	}
	if strings.TrimSpace(m.Content) != "" {
		out = append(out, sdk.NewTextBlock(m.Content))
	}
	return out
}

// maxImage is the vendor's limit on a picture, encoded.
const maxImage = 5 << 20

func imageBlock(image providers.Image) sdk.ContentBlockParamUnion {
	switch image.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return sdk.NewTextBlock("[a picture that can't be shown: its format is not one of JPEG, PNG, GIF and WebP]")
	}
	if len(image.Data) == 0 || base64.StdEncoding.EncodedLen(len(image.Data)) > maxImage {
		return sdk.NewTextBlock("[a picture that can't be shown: it is empty or too large]")
	}
	return sdk.NewImageBlockBase64(image.MIME, base64.StdEncoding.EncodeToString(image.Data))
}

// assistant adds a turn of the model: its reasoning where it came, what it said, what it asked for.
func (c *conversation) assistant(m providers.Message) {
	thoughts := c.replayed(m)
	if len(m.Calls) > 0 && !c.exchange {
		c.exchange, c.bare = true, len(thoughts) == 0
	}
	c.blocks = c.blocks || len(thoughts) > 0
	c.pending = c.pending[:0]
	var blocks []sdk.ContentBlockParamUnion
	said, asked := 0, 0
	upTo := func(text, calls int) {
		if text = min(text, len(m.Content)); text > said {
			if strings.TrimSpace(m.Content[said:text]) != "" {
				blocks = append(blocks, sdk.NewTextBlock(m.Content[said:text]))
			}
			said = text
		}
		for ; asked < min(calls, len(m.Calls)); asked++ {
			id := c.ids.Assign(m.Calls[asked])
			c.pending = append(c.pending, id)
			blocks = append(blocks, sdk.ContentBlockParamUnion{OfToolUse: &sdk.ToolUseBlockParam{
				ID: id, Name: wire.SentName(m.Calls[asked].Name), Input: m.Calls[asked].Object,
			}})
		}
	}
	for _, t := range thoughts {
		upTo(t.AfterText, t.AfterCalls)
		block := param.Override[sdk.ThinkingBlockParam](t.Raw)
		blocks = append(blocks, sdk.ContentBlockParamUnion{OfThinking: &block})
	}
	upTo(len(m.Content), len(m.Calls))
	if len(blocks) > 0 {
		c.model(blocks)
	}
}

func (c *conversation) model(blocks []sdk.ContentBlockParamUnion) {
	switch n := len(c.out); {
	case n == 0:
		c.user(sdk.NewTextBlock(earlier))
	case c.out[n-1].OfAssistant != nil:
		c.out[n-1].OfAssistant.Content = append(c.out[n-1].OfAssistant.Content, blocks...)
		return
	}
	c.out = append(c.out, sdk.NewAssistantMessage(blocks...))
}

// replayed are the blocks of reasoning that go back with a message: only to the service and model they came from, and
// only with calls, since outside of a tool exchange nobody asks for them. All of them or none: the vendor refuses a part.
func (c *conversation) replayed(m providers.Message) []providers.ThinkingBlock {
	foreign := func(b providers.ThinkingBlock) bool {
		return b.Provider != c.provider || b.Model != c.name || !json.Valid(b.Raw)
	}
	if c.dropBlocks || len(m.Calls) == 0 || slices.ContainsFunc(m.ThinkingBlocks, foreign) {
		return nil
	}
	return m.ThinkingBlocks
}

func (c *conversation) result(m providers.Message) sdk.ContentBlockParamUnion {
	content := m.Content
	if strings.TrimSpace(content) == "" {
		content = emptyResult
	}
	id := c.pending[0]
	c.pending = c.pending[1:]
	block := sdk.ToolResultBlockParam{
		ToolUseID: id, Content: []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: content}}},
	}
	if m.Failed {
		block.IsError = param.NewOpt(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &block}
}
