package bot

import (
	"encoding/json"
	"time"
)

// The parts of Discord's objects that we read. The library's own types are not used: one component type it does not know
// makes it lose a whole message (discordgo #1562).

type wireUser struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Avatar     string `json:"avatar"`
	Bot        bool   `json:"bot"`
	// Member comes with mentions.
	Member *wireMember `json:"member"`
}

type wireMember struct {
	User        *wireUser  `json:"user"`
	Nick        string     `json:"nick"`
	Roles       []string   `json:"roles"`
	Permissions string     `json:"permissions"` // in interactions only
	Timeout     *time.Time `json:"communication_disabled_until"`
}

type wireMessage struct {
	ID           string           `json:"id"`
	ChannelID    string           `json:"channel_id"`
	GuildID      string           `json:"guild_id"`
	Type         int              `json:"type"`
	Flags        int              `json:"flags"`
	Author       *wireUser        `json:"author"`
	Member       *wireMember      `json:"member"`
	WebhookID    string           `json:"webhook_id"`
	Content      string           `json:"content"`
	Timestamp    time.Time        `json:"timestamp"`
	Edited       *time.Time       `json:"edited_timestamp"`
	Everyone     bool             `json:"mention_everyone"`
	Mentions     []wireUser       `json:"mentions"`
	MentionRoles []string         `json:"mention_roles"`
	Attachments  []wireAttachment `json:"attachments"`
	Embeds       []wireEmbed      `json:"embeds"`
	Stickers     []wireSticker    `json:"sticker_items"`
	Poll         *wirePoll        `json:"poll"`
	Reference    *wireReference   `json:"message_reference"`
	Referenced   *wireMessage     `json:"referenced_message"`
	Snapshots    []wireSnapshot   `json:"message_snapshots"`
}

type wireAttachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
}

type wireEmbed struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

type wireSticker struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type wirePoll struct {
	Question wirePollText `json:"question"`
	Answers  []struct {
		Media wirePollText `json:"poll_media"`
	} `json:"answers"`
}

type wirePollText struct {
	Text string `json:"text"`
}

type wireReference struct {
	Type      int    `json:"type"`
	MessageID string `json:"message_id"`
	ChannelID string `json:"channel_id"`
}

type wireSnapshot struct {
	Message wireMessage `json:"message"`
}

// referenceForward is the reference type of a forwarded message; 0 is a reply.
const referenceForward = 1

type wireChannel struct {
	ID            string          `json:"id"`
	Type          int             `json:"type"`
	GuildID       string          `json:"guild_id"`
	ParentID      string          `json:"parent_id"`
	Name          string          `json:"name"`
	Topic         string          `json:"topic"`
	OwnerID       string          `json:"owner_id"`
	LastMessageID string          `json:"last_message_id"`
	Overwrites    []wireOverwrite `json:"permission_overwrites"`
	Thread        *struct {
		Archived bool `json:"archived"`
		Locked   bool `json:"locked"`
	} `json:"thread_metadata"`
}

type wireOverwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"`
	Allow string `json:"allow"`
	Deny  string `json:"deny"`
}

type wireRole struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Permissions string `json:"permissions"`
	Tags        struct {
		BotID string `json:"bot_id"`
	} `json:"tags"`
}

type wireGuild struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	OwnerID     string        `json:"owner_id"`
	Locale      string        `json:"preferred_locale"`
	Unavailable bool          `json:"unavailable"`
	Roles       []wireRole    `json:"roles"`
	Channels    []wireChannel `json:"channels"`
	Threads     []wireChannel `json:"threads"`
	Members     []wireMember  `json:"members"`
}

type wireReady struct {
	User        wireUser `json:"user"`
	Application struct {
		ID string `json:"id"`
	} `json:"application"`
	Guilds []wireGuild `json:"guilds"`
}

type wireInteraction struct {
	ID            string          `json:"id"`
	ApplicationID string          `json:"application_id"`
	Type          int             `json:"type"`
	Token         string          `json:"token"`
	GuildID       string          `json:"guild_id"`
	ChannelID     string          `json:"channel_id"`
	Member        *wireMember     `json:"member"`
	User          *wireUser       `json:"user"`
	Locale        string          `json:"locale"`
	Data          json.RawMessage `json:"data"`
	Message       *struct {
		ID string `json:"id"`
	} `json:"message"`
}

// Interaction types.
const (
	interactionCommand      = 2
	interactionComponent    = 3
	interactionAutocomplete = 4
	interactionModal        = 5
)

// Message types that hold what somebody wrote; all others are the system's.
const (
	messageDefault        = 0
	messageReply          = 19
	messageCommand        = 20
	messageContextCommand = 23
)

// Channel types.
const (
	channelText           = 0
	channelDM             = 1
	channelGroupDM        = 3
	channelAnnouncement   = 5
	channelAnnounceThread = 10
	channelPublicThread   = 11
	channelPrivateThread  = 12
)
