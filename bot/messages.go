package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/parleybot/parley/bot/delivery"
)

// Message flags.
const (
	flagSuppressEmbeds = 1 << 2
	flagEphemeral      = 1 << 6
	flagSilent         = 1 << 12
	flagVoiceMessage   = 1 << 13
)

// allowedMentions is part of everything that is ever sent. Without it Discord pings whatever the text names. The lists
// are never null: Discord reads a null list as "no restriction".
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

func mentionNobody() allowedMentions {
	return allowedMentions{Parse: []string{}, Users: []string{}, Roles: []string{}}
}

type messageReference struct {
	MessageID string `json:"message_id"`
	// FailIfNotExists is false always: an answer must arrive although its question was deleted.
	FailIfNotExists bool `json:"fail_if_not_exists"`
}

type attachmentRef struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
}

// messageBody is a message to create or to edit. Make it with newMessage only.
type messageBody struct {
	Content         *string           `json:"content,omitempty"`
	AllowedMentions allowedMentions   `json:"allowed_mentions"`
	Reference       *messageReference `json:"message_reference,omitempty"`
	Nonce           string            `json:"nonce,omitempty"`
	EnforceNonce    bool              `json:"enforce_nonce,omitempty"`
	Flags           int               `json:"flags,omitempty"`
	// Components is nil for "leave them as they are" and empty for "none".
	Components  *[]component    `json:"components,omitempty"`
	Attachments []attachmentRef `json:"attachments,omitempty"`
	StickerIDs  []string        `json:"sticker_ids,omitempty"`

	files []delivery.File
}

func newMessage(content string) messageBody {
	return messageBody{Content: &content, AllowedMentions: mentionNobody()}
}

func (m messageBody) with(files ...delivery.File) messageBody {
	m.files = files
	for i, f := range files {
		m.Attachments = append(m.Attachments, attachmentRef{ID: strconv.Itoa(i), Filename: f.Name})
	}
	return m
}

func (m messageBody) replyingTo(id string) messageBody {
	if id != "" {
		m.Reference = &messageReference{MessageID: id}
	}
	return m
}

// component is a message or modal component; only the fields that its type needs are set.
type component struct {
	Type        int         `json:"type"`
	Components  []component `json:"components,omitempty"`
	Style       int         `json:"style,omitempty"`
	Label       string      `json:"label,omitempty"`
	CustomID    string      `json:"custom_id,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	Value       string      `json:"value,omitempty"`
	MaxLength   int         `json:"max_length,omitempty"`
	Required    *bool       `json:"required,omitempty"`
}

// Component types and styles.
const (
	componentRow       = 1
	componentButton    = 2
	componentTextInput = 4

	buttonPrimary   = 1
	buttonSecondary = 2
	buttonSuccess   = 3
	buttonDanger    = 4

	inputParagraph = 2
)

func channelRoute(method, template, channelID string) route {
	return route{method: method, template: template, major: channelID}
}

// create sends a message and returns its id. A message without nonce is given one: a repeated request must not make a
// second message.
func (r *restClient) create(ctx context.Context, channelID string, m messageBody) (string, error) {
	if m.Nonce == "" {
		m.Nonce = newNonce()
	}
	m.EnforceNonce = true
	var made struct {
		ID string `json:"id"`
	}
	err := r.do(ctx, call{
		route: channelRoute(http.MethodPost, "/channels/{channel}/messages", channelID),
		path:  "/channels/" + url.PathEscape(channelID) + "/messages",
		body:  m, files: m.files, repeatable: true,
	}, &made)
	return made.ID, err
}

// edit changes a message of the bot.
func (r *restClient) edit(ctx context.Context, channelID, messageID string, m messageBody) error {
	m.Nonce, m.Reference = "", nil
	return r.do(ctx, call{
		route: channelRoute(http.MethodPatch, "/channels/{channel}/messages/{message}", channelID),
		path:  messagePath(channelID, messageID),
		body:  m, files: m.files, repeatable: true,
	}, nil)
}

// remove deletes a message.
func (r *restClient) remove(ctx context.Context, channelID, messageID string) error {
	return r.do(ctx, call{
		route: channelRoute(http.MethodDelete, "/channels/{channel}/messages/{message}", channelID),
		path:  messagePath(channelID, messageID), repeatable: true,
	}, nil)
}

// typing shows the typing indicator.
func (r *restClient) typing(ctx context.Context, channelID string) error {
	return r.do(ctx, call{
		route: channelRoute(http.MethodPost, "/channels/{channel}/typing", channelID),
		path:  "/channels/" + url.PathEscape(channelID) + "/typing", repeatable: true,
	}, nil)
}

// history reads messages of a channel, oldest first, at most limit (100): the newest, or the ones after a message. What
// cannot be read is left out rather than failing the rest.
func (r *restClient) history(ctx context.Context, channelID, after string, limit int) ([]wireMessage, error) {
	q := url.Values{"limit": {strconv.Itoa(min(max(limit, 1), maxHistory))}}
	if after != "" {
		q.Set("after", after)
	}
	var raw []json.RawMessage
	err := r.do(ctx, call{
		route: channelRoute(http.MethodGet, "/channels/{channel}/messages", channelID),
		path:  "/channels/" + url.PathEscape(channelID) + "/messages", query: q, repeatable: true,
	}, &raw)
	if err != nil {
		return nil, err
	}
	out := make([]wireMessage, 0, len(raw))
	for _, one := range slices.Backward(raw) {
		var m wireMessage
		if err := json.Unmarshal(one, &m); err != nil {
			r.log.Warn().Err(fmt.Errorf("reading a message of the history: %w", err)).Str("channel", channelID).Msg("history.message_skipped")
			continue
		}
		out = append(out, m)
	}
	return out, nil
}

// maxHistory is the most that Discord hands out in one request.
const maxHistory = 100

func messagePath(channelID, messageID string) string {
	return "/channels/" + url.PathEscape(channelID) + "/messages/" + url.PathEscape(messageID)
}
