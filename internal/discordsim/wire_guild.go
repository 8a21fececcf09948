package discordsim

import "strconv"

type wireRole struct {
	ID           ID             `json:"id"`
	Name         string         `json:"name"`
	Permissions  string         `json:"permissions"`
	Position     int            `json:"position"`
	Color        int            `json:"color"`
	Colors       wireRoleColors `json:"colors"`
	Hoist        bool           `json:"hoist"`
	Managed      bool           `json:"managed"`
	Mentionable  bool           `json:"mentionable"`
	Icon         *string        `json:"icon"`
	UnicodeEmoji *string        `json:"unicode_emoji"`
	Flags        int            `json:"flags"`
}

type wireRoleColors struct {
	Primary   int  `json:"primary_color"`
	Secondary *int `json:"secondary_color"`
	Tertiary  *int `json:"tertiary_color"`
}

type wireEmoji struct {
	ID            ID     `json:"id"`
	Name          string `json:"name"`
	Roles         []ID   `json:"roles"`
	RequireColons bool   `json:"require_colons"`
	Managed       bool   `json:"managed"`
	Animated      bool   `json:"animated"`
	Available     bool   `json:"available"`
}

type wireSticker struct {
	ID          ID      `json:"id"`
	Name        string  `json:"name"`
	Tags        string  `json:"tags"`
	Type        int     `json:"type"`
	FormatType  int     `json:"format_type"`
	Description *string `json:"description"`
	Available   bool    `json:"available"`
	GuildID     ID      `json:"guild_id"`
}

// wireGuild is a guild as the REST API sends it.
type wireGuild struct {
	ID                    ID            `json:"id"`
	Name                  string        `json:"name"`
	Icon                  *string       `json:"icon"`
	Description           *string       `json:"description"`
	HomeHeader            *string       `json:"home_header"`
	Splash                *string       `json:"splash"`
	DiscoverySplash       *string       `json:"discovery_splash"`
	Features              []string      `json:"features"`
	Banner                *string       `json:"banner"`
	OwnerID               ID            `json:"owner_id"`
	ApplicationID         *ID           `json:"application_id"`
	Region                string        `json:"region"`
	AFKChannelID          *ID           `json:"afk_channel_id"`
	AFKTimeout            int           `json:"afk_timeout"`
	SystemChannelID       *ID           `json:"system_channel_id"`
	SystemChannelFlags    int           `json:"system_channel_flags"`
	WidgetEnabled         bool          `json:"widget_enabled"`
	WidgetChannelID       *ID           `json:"widget_channel_id"`
	VerificationLevel     int           `json:"verification_level"`
	Roles                 []wireRole    `json:"roles"`
	Notifications         int           `json:"default_message_notifications"`
	MFALevel              int           `json:"mfa_level"`
	ContentFilter         int           `json:"explicit_content_filter"`
	MaxPresences          *int          `json:"max_presences"`
	MaxMembers            int           `json:"max_members"`
	MaxStageUsers         int           `json:"max_stage_video_channel_users"`
	MaxVideoUsers         int           `json:"max_video_channel_users"`
	VanityURLCode         *string       `json:"vanity_url_code"`
	PremiumTier           int           `json:"premium_tier"`
	PremiumCount          int           `json:"premium_subscription_count"`
	PreferredLocale       string        `json:"preferred_locale"`
	RulesChannelID        *ID           `json:"rules_channel_id"`
	SafetyChannelID       *ID           `json:"safety_alerts_channel_id"`
	PublicUpdatesID       *ID           `json:"public_updates_channel_id"`
	PremiumProgressBar    bool          `json:"premium_progress_bar_enabled"`
	NSFW                  bool          `json:"nsfw"`
	NSFWLevel             int           `json:"nsfw_level"`
	Emojis                []wireEmoji   `json:"emojis"`
	Stickers              []wireSticker `json:"stickers"`
	IncidentsData         *struct{}     `json:"incidents_data"`
	ApproximateMembers    *int          `json:"approximate_member_count,omitempty"`
	ApproximatePresenters *int          `json:"approximate_presence_count,omitempty"`
}

// wireGuildCreate is the GUILD_CREATE payload.
type wireGuildCreate struct {
	wireGuild
	JoinedAt        string        `json:"joined_at"`
	Large           bool          `json:"large"`
	Unavailable     bool          `json:"unavailable"`
	MemberCount     int           `json:"member_count"`
	Members         []wireMember  `json:"members"`
	Channels        []wireChannel `json:"channels"`
	Threads         []wireChannel `json:"threads"`
	VoiceStates     []struct{}    `json:"voice_states"`
	Presences       []struct{}    `json:"presences"`
	StageInstances  []struct{}    `json:"stage_instances"`
	ScheduledEvents []struct{}    `json:"guild_scheduled_events"`
}

type wireUnavailable struct {
	ID          ID   `json:"id"`
	Unavailable bool `json:"unavailable"`
}

type wireRoleEvent struct {
	GuildID ID        `json:"guild_id"`
	Role    *wireRole `json:"role,omitempty"`
	RoleID  ID        `json:"role_id,omitempty"`
}

func (p Permissions) wire() string { return strconv.FormatUint(uint64(p), 10) }

func (r *role) wire() wireRole {
	return wireRole{
		ID: r.id, Name: r.name, Permissions: r.permissions.wire(), Position: r.position, Color: r.color,
		Colors: wireRoleColors{Primary: r.color}, Managed: r.managed, Mentionable: r.mentionable,
	}
}

func (g *guild) wireRoles() []wireRole {
	out := []wireRole{}
	for _, id := range g.roleOrder {
		out = append(out, g.roles[id].wire())
	}
	return out
}

func (g *guild) wireEmojis() []wireEmoji {
	out := []wireEmoji{}
	for _, e := range g.emojis {
		out = append(out, wireEmoji{ID: e.id, Name: e.name, Roles: []ID{}, RequireColons: true, Animated: e.animated, Available: true})
	}
	return out
}

func (g *guild) wireStickers() []wireSticker {
	out := []wireSticker{}
	for _, s := range g.stickers {
		out = append(out, wireSticker{
			ID: s.id, Name: s.name, Tags: s.tags, Type: 2, FormatType: 1, Description: &s.description, Available: true, GuildID: g.id,
		})
	}
	return out
}

func (g *guild) wire() wireGuild {
	return wireGuild{
		ID: g.id, Name: g.name, Features: []string{}, OwnerID: g.owner, Region: "us-east", AFKTimeout: 300,
		Roles: g.wireRoles(), MaxMembers: 500000, MaxStageUsers: 50, MaxVideoUsers: 25, PreferredLocale: "en-US",
		Emojis: g.wireEmojis(), Stickers: g.wireStickers(),
	}
}

// maxListedMembers is how many members a GUILD_CREATE lists at most.
const maxListedMembers = 250

// wireGuildCreate lists the members only for a session with the members intent, as Discord does; the bot itself always.
func (w *World) wireGuildCreate(g *guild, intents Intents) wireGuildCreate {
	out := wireGuildCreate{
		wireGuild: g.wire(), JoinedAt: stamp(g.members[w.app.bot].joined), MemberCount: len(g.members),
		Large:   len(g.members) > maxListedMembers,
		Members: []wireMember{}, Channels: []wireChannel{}, Threads: []wireChannel{}, VoiceStates: []struct{}{},
		Presences: []struct{}{}, StageInstances: []struct{}{}, ScheduledEvents: []struct{}{},
	}
	for _, id := range g.memberOrder {
		all := intents&IntentGuildMembers != 0 && len(out.Members) < maxListedMembers
		if all || id == w.app.bot {
			out.Members = append(out.Members, w.wireMemberWithUser(g, id))
		}
	}
	for _, id := range g.channels {
		if c := w.channels[id]; c != nil && !c.isThread() {
			out.Channels = append(out.Channels, w.wireChannel(c))
		}
	}
	for _, c := range w.threadsOf(g) {
		if w.permissionsIn(c, w.app.bot).Has(PermViewChannel) {
			out.Threads = append(out.Threads, w.wireChannel(c))
		}
	}
	return out
}
