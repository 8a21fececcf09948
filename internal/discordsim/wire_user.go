package discordsim

// wireUser is a user as Discord sends it.
type wireUser struct {
	ID            ID        `json:"id"`
	Username      string    `json:"username"`
	Avatar        *string   `json:"avatar"`
	Discriminator string    `json:"discriminator"`
	PublicFlags   int       `json:"public_flags"`
	Flags         int       `json:"flags"`
	Bot           bool      `json:"bot,omitempty"`
	GlobalName    *string   `json:"global_name"`
	PrimaryGuild  *struct{} `json:"primary_guild"`
}

// wireSelf is what a user sees of itself.
type wireSelf struct {
	wireUser
	MFAEnabled bool   `json:"mfa_enabled"`
	Locale     string `json:"locale"`
	Verified   bool   `json:"verified"`
}

// wireMember is a guild member; User is absent where the user stands beside it.
type wireMember struct {
	Avatar        *string   `json:"avatar"`
	Banner        *string   `json:"banner"`
	DisabledUntil *string   `json:"communication_disabled_until"`
	Flags         int       `json:"flags"`
	JoinedAt      string    `json:"joined_at"`
	Nick          *string   `json:"nick"`
	Pending       bool      `json:"pending"`
	PremiumSince  *string   `json:"premium_since"`
	Roles         []ID      `json:"roles"`
	User          *wireUser `json:"user,omitempty"`
	Mute          bool      `json:"mute"`
	Deaf          bool      `json:"deaf"`
	// Permissions are the member's in the channel of an interaction.
	Permissions string `json:"permissions,omitempty"`
	// GuildID stands in member events only.
	GuildID ID `json:"guild_id,omitempty"`
}

// wireMentioned is a user in a message event's mentions.
type wireMentioned struct {
	wireUser
	Member *wireMember `json:"member,omitempty"`
}

type wireApplication struct {
	ID                  ID       `json:"id"`
	Name                string   `json:"name"`
	Icon                *string  `json:"icon"`
	Description         string   `json:"description"`
	Type                *int     `json:"type"`
	Bot                 wireUser `json:"bot"`
	BotPublic           bool     `json:"bot_public"`
	BotRequireCodeGrant bool     `json:"bot_require_code_grant"`
	VerifyKey           string   `json:"verify_key"`
	Flags               int      `json:"flags"`
	FlagsNew            string   `json:"flags_new"`
	RedirectURIs        []string `json:"redirect_uris"`
	InteractionsURL     *string  `json:"interactions_endpoint_url"`
	RoleConnectionsURL  *string  `json:"role_connections_verification_url"`
	Owner               wireUser `json:"owner"`
	GuildCount          int      `json:"approximate_guild_count"`
	UserInstallCount    int      `json:"approximate_user_install_count"`
	AuthorizationCount  int      `json:"approximate_user_authorization_count"`
	ContentFilter       int      `json:"explicit_content_filter"`
	Team                *string  `json:"team"`
	EligibleScopes      []string `json:"eligible_oauth2_scopes"`
}

func (w *World) wireUser(id ID) wireUser {
	u := w.users[id]
	out := wireUser{ID: u.id, Username: u.name, Discriminator: "0", Bot: u.bot}
	if u.global != "" {
		out.GlobalName = &u.global
	}
	if u.bot {
		out.Discriminator = "0001"
	}
	return out
}

func (w *World) wireMember(g *guild, id ID) wireMember {
	m := g.members[id]
	out := wireMember{JoinedAt: stamp(m.joined), Roles: append([]ID{}, m.roles...), DisabledUntil: stampOrNull(m.timeout)}
	if m.nick != "" {
		out.Nick = &m.nick
	}
	return out
}

func (w *World) wireMemberWithUser(g *guild, id ID) wireMember {
	m := w.wireMember(g, id)
	m.User = new(w.wireUser(id))
	return m
}

// Application flags that tell which privileged intents are on, in the form for apps in less than 100 guilds.
const (
	appFlagPresence = 1 << 13
	appFlagMembers  = 1 << 15
	appFlagContent  = 1 << 19
)

func (a *application) flags() int {
	flags := 0
	for intent, flag := range map[Intents]int{
		IntentGuildPresences: appFlagPresence, IntentGuildMembers: appFlagMembers, IntentMessageContent: appFlagContent,
	} {
		if a.privileged&intent != 0 {
			flags |= flag
		}
	}
	return flags
}
