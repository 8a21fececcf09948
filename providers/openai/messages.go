package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// goOn ends a conversation whose last word is the model's: services refuse one that a person doesn't end.
const goOn = "(continue)"

// messages maps the repaired conversation. Only a system text at the very start is sent: strict prompt templates refuse
// a later one. Neighbouring user messages become one, for the same reason.
func (p *Provider) messages(req providers.Request, d dialect) []sdk.ChatCompletionMessageParamUnion {
	repaired := providers.Repair(req.Messages)
	system := req.System
	if system == "" && len(repaired) > 0 && repaired[0].Role == providers.RoleSystem {
		system = repaired[0].Content
	}
	h := history{provider: p, model: req.Model, dialect: d, sees: p.sees(req.Model) && !d.noImages, ids: wire.IDs{Valid: p.validID}}
	if strings.TrimSpace(system) != "" {
		h.out = append(h.out, sdk.SystemMessage(system))
	}
	asked := lastQuestion(repaired)
	for i, m := range repaired {
		switch m.Role {
		case providers.RoleUser:
			h.user(m)
		case providers.RoleAssistant:
			h.flush()
			h.assistant(m, i > asked)
		case providers.RoleTool:
			h.result(m)
		case providers.RoleSystem, providers.RoleNote:
		}
	}
	h.flush()
	if n := len(h.out); n == 0 || h.out[n-1].OfUser == nil && h.out[n-1].OfTool == nil {
		h.out = append(h.out, sdk.UserMessage(goOn))
	}
	return h.out
}

// lastQuestion is where the last user message stands; behind it is the exchange that is still going on.
func lastQuestion(messages []providers.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == providers.RoleUser {
			return i
		}
	}
	return -1
}

// history is a conversation on its way into the vendor's form.
type history struct {
	provider *Provider
	model    string
	dialect  dialect
	sees     bool
	ids      wire.IDs
	out      []sdk.ChatCompletionMessageParamUnion
	// pending are the ids whose results follow: in call order, directly behind their assistant message.
	pending []string
	texts   []string
	images  []providers.Image
}

func (h *history) user(m providers.Message) {
	if strings.TrimSpace(m.Content) != "" {
		h.texts = append(h.texts, m.Content)
	}
	for _, image := range m.Images {
		if h.sees && sendableImage(image) {
			h.images = append(h.images, image)
		} else {
			h.texts = append(h.texts, unseen(image))
		}
	}
}

// flush writes the user messages met so far as one.
func (h *history) flush() {
	text := strings.Join(h.texts, "\n\n")
	switch {
	case len(h.images) > 0:
		var parts []sdk.ChatCompletionContentPartUnionParam
		if text != "" {
			parts = append(parts, sdk.TextContentPart(text))
		}
		for _, image := range h.images {
			url := "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: url}))
		}
		h.out = append(h.out, sdk.UserMessage(parts))
	case text != "":
		h.out = append(h.out, sdk.UserMessage(text))
	}
	h.texts, h.images = nil, nil
}

func (h *history) result(m providers.Message) {
	content := m.Content
	if content == "" {
		content = "(empty)"
	}
	h.out = append(h.out, sdk.ToolMessage(content, h.pending[0]))
	h.pending = h.pending[1:]
}

// assistant writes what a model said. Its reasoning goes along only in the exchange that is still going on.
func (h *history) assistant(m providers.Message, current bool) {
	var a sdk.ChatCompletionAssistantMessageParam
	if m.Content != "" || !h.dialect.noEmptyContent {
		// An empty text is sent as "", not left out: several servers refuse null beside calls.
		a.Content.OfString = param.NewOpt(m.Content)
	}
	if current {
		if extra := h.reasoning(m.ThinkingBlocks); len(extra) > 0 {
			a.SetExtraFields(extra)
		}
	}
	h.pending = nil
	for _, c := range m.Calls {
		call := sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: h.ids.Assign(c),
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
				Name: wire.SentName(c.Name), Arguments: c.Arguments,
			},
		}
		if extra := h.provider.sentOpaque(c.Opaque, h.model); len(extra) > 0 {
			call.SetExtraFields(extra)
		}
		h.pending = append(h.pending, call.ID)
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &call})
	}
	h.out = append(h.out, sdk.ChatCompletionMessageParamUnion{OfAssistant: &a})
}

// reasoning is the member that hands a model its own reasoning back, in the form that this service wants. It goes to the
// service and model it came from.
func (h *history) reasoning(blocks []providers.ThinkingBlock) map[string]any {
	name := h.provider.quirks.replay.member()
	extra := map[string]any{}
	for _, b := range blocks {
		var members map[string]json.RawMessage
		if name == "" || b.Provider != h.provider.service.Name || b.Model != h.model || json.Unmarshal(b.Raw, &members) != nil {
			continue
		}
		if value, there := members[name]; there {
			extra[name] = value
		}
	}
	return extra
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

var shortID = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)

// validID says whether this vendor takes an id as it is.
func (p *Provider) validID(id string) bool {
	if p.quirks.shortIDs {
		return shortID.MatchString(id)
	}
	return len(id) <= maxIDLength
}

// maxImage bounds a picture in bytes; services refuse larger ones.
const maxImage = 15 << 20

func sendableImage(image providers.Image) bool {
	switch image.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return len(image.Data) > 0 && len(image.Data) <= maxImage
	}
	return false
}

// unseen says in words that there is a picture.
func unseen(image providers.Image) string {
	kind := "unknown kind"
	if known := imageKind.FindStringSubmatch(image.MIME); known != nil {
		kind = known[1]
	}
	return fmt.Sprintf("(a picture was attached here, %s, %d KiB, which you can't see)", kind, (len(image.Data)+1023)>>10)
}

var imageKind = regexp.MustCompile(`^image/([a-z0-9.+-]{1,20})$`)

// sees reports whether pictures may be sent to a model.
func (p *Provider) sees(model string) bool {
	return !p.quirks.blind && (p.seeing == nil || p.seeing(model))
}

// showsImages reports whether a request has pictures in it as they are.
func (p *Provider) showsImages(req providers.Request, d dialect) bool {
	if d.noImages || !p.sees(req.Model) {
		return false
	}
	for _, m := range req.Messages {
		for _, image := range m.Images {
			if m.Role == providers.RoleUser && sendableImage(image) {
				return true
			}
		}
	}
	return false
}
