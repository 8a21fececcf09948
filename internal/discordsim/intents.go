package discordsim

// Intents are the groups of events a gateway session asks for.
type Intents int

// The gateway intents that the simulator filters by.
const (
	IntentGuilds                 Intents = 1 << 0
	IntentGuildMembers           Intents = 1 << 1
	IntentGuildExpressions       Intents = 1 << 3
	IntentGuildPresences         Intents = 1 << 8
	IntentGuildMessages          Intents = 1 << 9
	IntentGuildMessageReactions  Intents = 1 << 10
	IntentGuildMessageTyping     Intents = 1 << 11
	IntentDirectMessages         Intents = 1 << 12
	IntentDirectMessageReactions Intents = 1 << 13
	IntentDirectMessageTyping    Intents = 1 << 14
	IntentMessageContent         Intents = 1 << 15
)

const (
	privilegedIntents = IntentGuildMembers | IntentGuildPresences | IntentMessageContent
	// knownIntents are all that Discord defines: 0 to 16, 20 and 21 (auto moderation), 24 and 25 (polls).
	knownIntents Intents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// Has reports whether any of want is set.
func (i Intents) Has(want Intents) bool { return i&want != 0 }
