package layout_test

// rule says what one package, or each of a family, may import in its product code. Everything else of ours is forbidden,
// and so is a package without a rule.
type rule struct {
	pkg  string   // below the module; a last element * stands for any one name
	ours []string // in the same notation
	// libs, when not nil, are the only modules besides the standard library. The neutral vocabulary is kept this way.
	libs []string
}

var none = []string{}

// table mirrors section 3 of the design; docs/architecture.md shows it to readers. The most specific rule counts.
var table = []rule{
	// Foundations: they know nothing of ours.
	{pkg: "internal/abort", libs: none},
	{pkg: "internal/config"},
	{pkg: "internal/netguard"},
	{pkg: "internal/observe"},

	// Neutral vocabulary.
	{pkg: "providers", libs: none},
	{pkg: "providers/sse", libs: none},
	{pkg: "store", libs: none},
	{pkg: "registry", libs: []string{
		"github.com/santhosh-tekuri/jsonschema", "github.com/google/jsonschema-go", "github.com/hbollon/go-edlib", "golang.org/x/text",
	}},

	// One package per wire format, engine and tool family.
	{pkg: "providers/*", ours: []string{"providers", "providers/sse", "providers/internal/wire", "internal/netguard"}},
	{pkg: "providers/catalog", ours: []string{"providers"}, libs: none},
	{pkg: "providers/internal/wire", ours: []string{"providers"}, libs: none},
	{pkg: "providers/internal/*", ours: []string{"internal/testreport", "providers"}},
	{pkg: "migrations"},
	{pkg: "store/*", ours: []string{"store", "migrations"}},
	{pkg: "store/storetest", ours: []string{"store", "migrations", "internal/testreport"}},
	{pkg: "store/postgres", ours: []string{"store", "migrations", "store/postgres/queries"}},
	{pkg: "store/postgres/queries", ours: []string{"store"}}, // written by sqlc
	{pkg: "tools/*", ours: []string{"registry", "internal/netguard"}},

	// The turn and what is under it.
	{pkg: "toolloop", ours: []string{"providers", "registry", "store", "internal/abort"}},
	{pkg: "turn", ours: []string{"toolloop", "providers", "registry", "store", "internal/abort"}},

	// The Discord edge.
	{pkg: "bot", ours: []string{"turn", "store", "internal/abort", "bot/delivery"}},
	{pkg: "bot/delivery", ours: []string{"turn", "store", "internal/abort"}},

	// Simulation. It never sees the bot, so it cannot share a mistake with it.
	{pkg: "internal/discordsim"},
	{pkg: "internal/discordspec", ours: []string{"internal/discordsim"}},
	{pkg: "internal/scene", ours: []string{"internal/discordsim", "turn", "store"}},
	{pkg: "internal/playground", ours: []string{"internal/discordsim", "turn", "store"}},

	// Wiring. Only cmd/bot and whole-bot tests import the composition root.
	{pkg: "internal/app", ours: []string{
		"bot", "bot/delivery", "turn", "toolloop", "registry", "tools/*", "providers", "providers/*", "store", "store/*", "migrations",
		"internal/abort", "internal/config", "internal/netguard", "internal/observe", "internal/discordsim", "internal/scene", "internal/playground",
	}},
	{pkg: "cmd/bot", ours: []string{
		"bot", "bot/delivery", "turn", "toolloop", "registry", "tools/*", "providers", "providers/*", "store", "store/*", "migrations",
		"internal/*",
	}},

	// Tests and tooling only.
	{pkg: "internal/layout"},
	{pkg: "internal/testreport"},
	{pkg: "internal/servicecheck"},
	{pkg: "internal/pgtest", ours: []string{"internal/testreport"}},
	{pkg: "scenes"},
}

// confined are libraries that only some packages know.
var confined = []struct {
	lib  string // module or package path; a major version suffix is part of what it covers
	only []string
}{
	{"github.com/bwmarrin/discordgo", []string{"bot"}},
	{"github.com/gorilla/websocket", []string{"bot", "internal/discordsim"}},
	{"github.com/jackc/pgx", []string{"store/postgres", "store/postgres/queries", "internal/pgtest"}},
	{"github.com/redis/go-redis", []string{"store/redis"}},
	{"modernc.org/sqlite", []string{"store/sqlite"}},
	{"database/sql", []string{"store/*", "migrations"}},
	{"github.com/pressly/goose", []string{"store/*", "migrations"}},
	{"github.com/openai/openai-go", []string{"providers/openai"}},
	{"github.com/anthropics/anthropic-sdk-go", []string{"providers/anthropic"}},
	{"google.golang.org/genai", []string{"providers/gemini"}},
	{"github.com/caarlos0/env", []string{"internal/config"}},
	{"code.dny.dev/ssrf", []string{"internal/netguard"}},
	{"github.com/santhosh-tekuri/jsonschema", []string{"registry", "internal/discordspec"}},
	{"github.com/rs/zerolog/log", nil}, // the global logger is nobody's
	{"testing", []string{"store/storetest", "internal/pgtest", "internal/testreport", "internal/discordspec", "providers/internal/*"}},
}

// testsOnly are packages that tests may import from these places alone.
var testsOnly = map[string][]string{
	"internal/app": {"internal/app", "cmd/bot", "scenes"},
}

// badNames say nothing about what a package provides.
var badNames = []string{"util", "utils", "common", "types", "helper", "helpers", "model", "models", "manager", "misc", "shared"}
