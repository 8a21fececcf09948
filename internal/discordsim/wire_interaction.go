package discordsim

// Interaction contexts.
const (
	contextGuild = 0
	contextBotDM = 1
)

// wireInteraction is the INTERACTION_CREATE payload.
type wireInteraction struct {
	ID             ID                `json:"id"`
	ApplicationID  ID                `json:"application_id"`
	Type           InteractionKind   `json:"type"`
	Data           any               `json:"data"`
	Token          string            `json:"token"`
	Version        int               `json:"version"`
	ChannelID      ID                `json:"channel_id"`
	Channel        wireChannel       `json:"channel"`
	GuildID        ID                `json:"guild_id,omitempty"`
	Guild          map[string]any    `json:"guild,omitempty"`
	Member         *wireMember       `json:"member,omitempty"`
	User           *wireUser         `json:"user,omitempty"`
	Message        *wireMessage      `json:"message,omitempty"`
	Locale         string            `json:"locale"`
	GuildLocale    string            `json:"guild_locale,omitempty"`
	AppPermissions string            `json:"app_permissions"`
	Entitlements   []struct{}        `json:"entitlements"`
	Owners         map[string]string `json:"authorizing_integration_owners"`
	Context        int               `json:"context"`
	SizeLimit      int               `json:"attachment_size_limit"`
}

// wireCommandData is the data of a command or an autocomplete.
type wireCommandData struct {
	ID       ID            `json:"id"`
	Name     string        `json:"name"`
	Type     int           `json:"type"`
	Options  []wireOption  `json:"options,omitempty"`
	Resolved *wireResolved `json:"resolved,omitempty"`
	GuildID  ID            `json:"guild_id,omitempty"`
}

type wireOption struct {
	Name    string       `json:"name"`
	Type    int          `json:"type"`
	Value   any          `json:"value,omitempty"`
	Options []wireOption `json:"options,omitempty"`
	Focused bool         `json:"focused,omitempty"`
}

type wireResolved struct {
	Users       map[ID]wireUser       `json:"users,omitempty"`
	Members     map[ID]wireMember     `json:"members,omitempty"`
	Channels    map[ID]wireChannel    `json:"channels,omitempty"`
	Roles       map[ID]wireRole       `json:"roles,omitempty"`
	Attachments map[ID]wireAttachment `json:"attachments,omitempty"`
}

// wireComponentData is the data of a click or a selection.
type wireComponentData struct {
	CustomID      string        `json:"custom_id"`
	ComponentType int           `json:"component_type"`
	ID            int           `json:"id,omitempty"`
	Values        []string      `json:"values,omitempty"`
	Resolved      *wireResolved `json:"resolved,omitempty"`
}

// wireModalData is the data of a submitted modal.
type wireModalData struct {
	CustomID   string         `json:"custom_id"`
	Components []wireModalRow `json:"components"`
}

type wireModalRow struct {
	Type       int              `json:"type"`
	ID         int              `json:"id"`
	Components []wireModalInput `json:"components"`
}

type wireModalInput struct {
	Type     int    `json:"type"`
	ID       int    `json:"id"`
	CustomID string `json:"custom_id"`
	Value    string `json:"value"`
}

// wireInteractionOrigin is a message's interaction_metadata.
type wireInteractionOrigin struct {
	ID         ID                `json:"id"`
	Type       InteractionKind   `json:"type"`
	User       wireUser          `json:"user"`
	Owners     map[string]string `json:"authorizing_integration_owners"`
	OriginalID ID                `json:"original_response_message_id,omitempty"`
	// Interacted is the message whose component was used.
	Interacted ID                     `json:"interacted_message_id,omitempty"`
	Triggering *wireInteractionOrigin `json:"triggering_interaction_metadata,omitempty"`
}

// wireCallbackResult is the answer to a callback with with_response=true.
type wireCallbackResult struct {
	Interaction wireCallbackInteraction `json:"interaction"`
	Resource    *wireCallbackResource   `json:"resource,omitempty"`
}

type wireCallbackInteraction struct {
	ID        ID              `json:"id"`
	Type      InteractionKind `json:"type"`
	MessageID ID              `json:"response_message_id,omitempty"`
	Loading   bool            `json:"response_message_loading"`
	Ephemeral bool            `json:"response_message_ephemeral"`
	ChannelID ID              `json:"channel_id,omitempty"`
	GuildID   ID              `json:"guild_id,omitempty"`
}

type wireCallbackResource struct {
	Type    AnswerKind  `json:"type"`
	Message wireMessage `json:"message"`
}

// owners says who installed the application there: a guild, or for DMs nobody in particular.
func (i *interaction) owners() map[string]string {
	if i.guild == "" {
		return map[string]string{"0": "0"}
	}
	return map[string]string{"0": string(i.guild)}
}

func (w *World) wireInteraction(i *interaction, data any) wireInteraction {
	c := w.channels[i.channel]
	perms := w.permissionsIn(c, i.user)
	out := wireInteraction{
		ID: i.id, ApplicationID: w.app.id, Type: i.kind, Data: data, Token: i.token, Version: 1, ChannelID: c.id,
		Channel: w.wireChannel(c), GuildID: i.guild, Locale: "en-US", AppPermissions: w.permissionsIn(c, w.app.bot).wire(),
		Entitlements: []struct{}{}, Owners: i.owners(), Context: contextBotDM, SizeLimit: maxFileSize,
	}
	out.Channel.Permissions = perms.wire()
	if m := w.messages[i.message]; m != nil {
		out.Message = new(w.wireMessage(m, true))
	}
	g := w.guilds[i.guild]
	if g == nil {
		out.User = new(w.wireUser(i.user))
		return out
	}
	out.Context, out.GuildLocale = contextGuild, "en-US"
	out.Guild = map[string]any{"id": g.id, "locale": "en-US", "features": []string{}}
	out.Member = new(w.wireMemberWithUser(g, i.user))
	out.Member.Permissions = perms.wire()
	return out
}

func (w *World) wireOrigin(i *interaction, message ID) *wireInteractionOrigin {
	out := &wireInteractionOrigin{ID: i.id, Type: i.kind, User: w.wireUser(i.user), Owners: i.owners()}
	if i.original != message {
		out.OriginalID = i.original
	}
	if i.kind == InteractionComponent {
		out.Interacted = i.message
	}
	if i.kind == InteractionModal && i.parent != nil {
		out.Triggering = w.wireOrigin(i.parent, "")
	}
	return out
}
