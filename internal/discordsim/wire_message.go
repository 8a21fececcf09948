package discordsim

import (
	"encoding/json"
	"slices"
	"strings"
)

// wireMessage is a message as Discord sends it. Events carry the author's membership beside it.
type wireMessage struct {
	ID              ID               `json:"id"`
	ChannelID       ID               `json:"channel_id"`
	Type            int              `json:"type"`
	Content         string           `json:"content"`
	Author          wireUser         `json:"author"`
	Mentions        []wireMentioned  `json:"mentions"`
	MentionRoles    []ID             `json:"mention_roles"`
	MentionEveryone bool             `json:"mention_everyone"`
	Attachments     []wireAttachment `json:"attachments"`
	Embeds          json.RawMessage  `json:"embeds"`
	Components      json.RawMessage  `json:"components"`
	Timestamp       string           `json:"timestamp"`
	EditedTimestamp *string          `json:"edited_timestamp"`
	Flags           int              `json:"flags"`
	Pinned          bool             `json:"pinned"`
	TTS             bool             `json:"tts"`
	Nonce           string           `json:"nonce,omitempty"`
	ApplicationID   ID               `json:"application_id,omitempty"`
	WebhookID       ID               `json:"webhook_id,omitempty"`
	Reference       *wireReference   `json:"message_reference,omitempty"`
	// Referenced is absent for no reply and null for a reply to a deleted message.
	Referenced  *nullable[*wireMessage] `json:"referenced_message,omitempty"`
	Stickers    []wireStickerItem       `json:"sticker_items,omitempty"`
	Reactions   []wireReactionCount     `json:"reactions,omitempty"`
	Thread      *wireChannel            `json:"thread,omitempty"`
	Interaction *wireInteractionOrigin  `json:"interaction_metadata,omitempty"`

	// The rest stands in gateway events only.
	GuildID ID          `json:"guild_id,omitempty"`
	Member  *wireMember `json:"member,omitempty"`
}

// nullable tells null from absent.
type nullable[T any] struct{ value T }

func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

type wireReference struct {
	Type      int `json:"type"`
	MessageID ID  `json:"message_id,omitempty"`
	ChannelID ID  `json:"channel_id"`
	GuildID   ID  `json:"guild_id,omitempty"`
}

type wireAttachment struct {
	ID          ID     `json:"id"`
	Filename    string `json:"filename"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
	ContentType string `json:"content_type,omitempty"`
	Description string `json:"description,omitempty"`
	Ephemeral   bool   `json:"ephemeral,omitempty"`
	Width       int    `json:"width,omitempty"`
	Height      int    `json:"height,omitempty"`
}

type wireStickerItem struct {
	ID         ID     `json:"id"`
	Name       string `json:"name"`
	FormatType int    `json:"format_type"`
}

type wireEmojiRef struct {
	ID   *ID    `json:"id"`
	Name string `json:"name"`
}

type wireReactionCount struct {
	Emoji        wireEmojiRef     `json:"emoji"`
	Count        int              `json:"count"`
	CountDetails wireCountDetails `json:"count_details"`
	BurstColors  []string         `json:"burst_colors"`
	MeBurst      bool             `json:"me_burst"`
	Me           bool             `json:"me"`
}

type wireCountDetails struct {
	Burst  int `json:"burst"`
	Normal int `json:"normal"`
}

type wireReactionEvent struct {
	UserID    ID           `json:"user_id"`
	ChannelID ID           `json:"channel_id"`
	MessageID ID           `json:"message_id"`
	GuildID   ID           `json:"guild_id,omitempty"`
	Emoji     wireEmojiRef `json:"emoji"`
	Burst     bool         `json:"burst"`
	Type      int          `json:"type"`
	Member    *wireMember  `json:"member,omitempty"`
	AuthorID  ID           `json:"message_author_id,omitempty"`
}

type wireMessageDelete struct {
	ID        ID `json:"id"`
	ChannelID ID `json:"channel_id"`
	GuildID   ID `json:"guild_id,omitempty"`
}

var emptyList = json.RawMessage("[]")

// wireMessage renders a message for the REST API. Without the message content intent its content is withheld, unless the
// bot may read it anyway.
func (w *World) wireMessage(m *message, contentIntent bool) wireMessage {
	out := wireMessage{
		ID: m.ID, ChannelID: m.Channel, Type: m.kind, Author: w.wireUser(m.Author),
		Mentions: []wireMentioned{}, MentionRoles: append([]ID{}, m.mentions.roles...),
		MentionEveryone: m.mentions.everyone || m.mentions.here,
		Attachments:     []wireAttachment{}, Embeds: emptyList, Components: emptyList,
		Timestamp: stamp(m.Created), EditedTimestamp: stampOrNull(m.Edited),
		Flags: m.Flags, TTS: m.tts, Nonce: m.Nonce,
	}
	for _, id := range m.mentions.users {
		out.Mentions = append(out.Mentions, wireMentioned{wireUser: w.wireUser(id)})
	}
	for _, r := range m.Reactions {
		n := len(r.Users)
		out.Reactions = append(out.Reactions, wireReactionCount{
			Emoji: emojiRef(r.Emoji), Count: n, CountDetails: wireCountDetails{Normal: n}, BurstColors: []string{},
			Me: slices.Contains(r.Users, w.app.bot),
		})
	}
	for _, id := range m.Stickers {
		out.Stickers = append(out.Stickers, wireStickerItem{ID: id, Name: w.stickerName(id), FormatType: 1})
	}
	if m.thread != "" && w.channels[m.thread] != nil {
		out.Thread = new(w.wireChannel(w.channels[m.thread]))
	}
	if m.Author == w.app.bot {
		out.ApplicationID = w.app.id
	}
	if i := w.interactions[m.Interaction]; i != nil {
		out.WebhookID = w.app.id
		out.Interaction = w.wireOrigin(i, m.ID)
	}
	if contentIntent || !w.withholdable(m) {
		out.Content = m.Content
		out.Attachments = w.wireAttachments(m)
		if m.Embeds != nil {
			out.Embeds = m.Embeds
		}
		if m.Components != nil {
			out.Components = m.Components
		}
	}
	if m.ReplyTo != "" {
		w.wireReply(m, &out, contentIntent)
	}
	return out
}

// wireReply adds the message replied to, which is withheld or not by its own rule.
func (w *World) wireReply(m *message, out *wireMessage, contentIntent bool) {
	out.Reference = &wireReference{MessageID: m.ReplyTo, ChannelID: m.refChannel, GuildID: m.Guild}
	out.Referenced = &nullable[*wireMessage]{}
	if target := w.messages[m.ReplyTo]; target != nil && target.Deleted.IsZero() {
		referenced := w.wireMessage(target, contentIntent)
		// Discord does not nest further than one reply.
		referenced.Referenced = nil
		out.Referenced.value = &referenced
	}
}

func (w *World) wireAttachments(m *message) []wireAttachment {
	out := []wireAttachment{}
	for _, a := range m.Attachments {
		out = append(out, a.wire(m.VisibleTo != ""))
	}
	return out
}

func (a Attachment) wire(ephemeral bool) wireAttachment {
	return wireAttachment{
		ID: a.ID, Filename: a.Name, Size: a.Size, URL: a.URL, ProxyURL: a.URL, ContentType: a.ContentType,
		Description: a.Description, Ephemeral: ephemeral, Width: a.Width, Height: a.Height,
	}
}

// wireMessageEvent renders a message for MESSAGE_CREATE and MESSAGE_UPDATE.
func (w *World) wireMessageEvent(m *message, contentIntent bool) wireMessage {
	out := w.wireMessage(m, contentIntent)
	out.GuildID = m.Guild
	g := w.guilds[m.Guild]
	if g == nil {
		return out
	}
	if g.members[m.Author] != nil {
		out.Member = new(w.wireMember(g, m.Author))
	}
	for i, u := range m.mentions.users {
		if g.members[u] != nil {
			out.Mentions[i].Member = new(w.wireMember(g, u))
		}
	}
	return out
}

func (w *World) wireReaction(m *message, who ID, emoji string, add bool) wireReactionEvent {
	out := wireReactionEvent{UserID: who, ChannelID: m.Channel, MessageID: m.ID, GuildID: m.Guild, Emoji: emojiRef(emoji)}
	if g := w.guilds[m.Guild]; add && g != nil && g.members[who] != nil {
		out.Member = new(w.wireMemberWithUser(g, who))
	}
	if add {
		out.AuthorID = m.Author
	}
	return out
}

// emojiRef reads "👍" or "name:id".
func emojiRef(emoji string) wireEmojiRef {
	if name, id, ok := strings.Cut(emoji, ":"); ok {
		return wireEmojiRef{ID: new(ID(id)), Name: name}
	}
	return wireEmojiRef{Name: emoji}
}

func (w *World) stickerName(id ID) string {
	for _, g := range w.guilds {
		for _, s := range g.stickers {
			if s.id == id {
				return s.name
			}
		}
	}
	return ""
}
