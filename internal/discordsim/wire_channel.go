package discordsim

// wireChannel is a channel of any kind; what a kind does not have is absent.
type wireChannel struct {
	ID            ID              `json:"id"`
	Type          ChannelKind     `json:"type"`
	LastMessageID *ID             `json:"last_message_id"`
	Flags         int             `json:"flags"`
	GuildID       ID              `json:"guild_id,omitempty"`
	Name          string          `json:"name,omitempty"`
	ParentID      *ID             `json:"parent_id,omitempty"`
	Topic         *string         `json:"topic,omitempty"`
	NSFW          *bool           `json:"nsfw,omitempty"`
	Position      *int            `json:"position,omitempty"`
	Slowmode      *int            `json:"rate_limit_per_user,omitempty"`
	Overwrites    []wireOverwrite `json:"permission_overwrites,omitzero"`
	Recipients    []wireUser      `json:"recipients,omitempty"`

	OwnerID          ID                `json:"owner_id,omitempty"`
	ThreadMetadata   *wireThreadState  `json:"thread_metadata,omitempty"`
	MessageCount     *int              `json:"message_count,omitempty"`
	MemberCount      *int              `json:"member_count,omitempty"`
	TotalMessageSent *int              `json:"total_message_sent,omitempty"`
	Member           *wireThreadMember `json:"member,omitempty"`
	NewlyCreated     bool              `json:"newly_created,omitempty"`
	// Permissions are the invoking person's, in an interaction's payload.
	Permissions string `json:"permissions,omitempty"`
}

type wireOverwrite struct {
	ID    ID     `json:"id"`
	Type  int    `json:"type"`
	Allow string `json:"allow"`
	Deny  string `json:"deny"`
}

type wireThreadState struct {
	Archived         bool    `json:"archived"`
	ArchiveTimestamp *string `json:"archive_timestamp"`
	AutoArchive      int     `json:"auto_archive_duration"`
	Locked           bool    `json:"locked"`
	CreateTimestamp  string  `json:"create_timestamp"`
}

type wireThreadMember struct {
	ID            ID     `json:"id"`
	UserID        ID     `json:"user_id"`
	JoinTimestamp string `json:"join_timestamp"`
	Flags         int    `json:"flags"`
}

type wireTyping struct {
	ChannelID ID          `json:"channel_id"`
	GuildID   ID          `json:"guild_id,omitempty"`
	UserID    ID          `json:"user_id"`
	Timestamp int64       `json:"timestamp"`
	Member    *wireMember `json:"member,omitempty"`
}

func (w *World) wireChannel(c *channel) wireChannel {
	out := wireChannel{ID: c.id, Type: c.kind, LastMessageID: idOrNull(c.last), GuildID: c.guild, Name: c.name}
	if c.kind == ChannelDM {
		out.Recipients = []wireUser{w.wireUser(c.recipient)}
		return out
	}
	out.ParentID, out.Slowmode = idOrNull(c.parent), &c.slowmode
	if c.isThread() {
		count := len(c.messages)
		out.OwnerID, out.MessageCount, out.TotalMessageSent, out.MemberCount = c.owner, &count, &count, new(len(c.members))
		out.ThreadMetadata = &wireThreadState{
			Archived: c.archived, Locked: c.locked, AutoArchive: 1440,
			ArchiveTimestamp: new(stamp(c.created)), CreateTimestamp: stamp(c.created),
		}
		return out
	}
	out.Topic, out.NSFW, out.Position = &c.topic, &c.nsfw, &c.position
	out.Overwrites = []wireOverwrite{}
	for _, o := range c.overwrites {
		kind := 0
		if o.Member {
			kind = 1
		}
		out.Overwrites = append(out.Overwrites, wireOverwrite{ID: o.ID, Type: kind, Allow: o.Allow.wire(), Deny: o.Deny.wire()})
	}
	return out
}
