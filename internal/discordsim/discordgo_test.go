package discordsim_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/parleybot/parley/internal/discordsim"
)

// redirect sends every request to the simulator, which is all that points a discordgo session at it.
type redirect struct {
	host string
	next http.RoundTripper
}

func (t redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = "http", t.host, t.host
	return t.next.RoundTrip(r)
}

func TestDiscordgoOpensReceivesSendsAndCloses(t *testing.T) {
	t.Parallel()
	town := newTown(t, discordsim.Config{})
	address, err := url.Parse(town.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	bot, err := discordgo.New("Bot " + town.world.Token())
	if err != nil {
		t.Fatal(err)
	}
	bot.Client = &http.Client{Transport: redirect{address.Host, transport}}
	bot.StateEnabled, bot.SyncEvents, bot.ShouldReconnectOnError = false, true, false
	bot.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentMessageContent
	received := make(chan *discordgo.MessageCreate, 4)
	bot.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { received <- m })
	guilds := make(chan *discordgo.GuildCreate, 4)
	bot.AddHandler(func(_ *discordgo.Session, g *discordgo.GuildCreate) { guilds <- g })
	if err := bot.Open(); err != nil {
		t.Fatal(err)
	}

	if g := <-guilds; g.Name != "Town" || len(g.Channels) != 1 || len(g.Roles) < 2 {
		t.Errorf("GUILD_CREATE: %q with %d channels and %d roles", g.Name, len(g.Channels), len(g.Roles))
	}
	question := town.say(t, town.ana, "hello <@"+string(town.world.Bot())+">")
	in := <-received
	if in.ID != string(question) || in.Author.Username != "ana" || in.Member == nil || len(in.Mentions) != 1 {
		t.Errorf("MESSAGE_CREATE: %+v", in.Message)
	}
	sent, err := bot.ChannelMessageSendReply(in.ChannelID, "hi there", in.Reference())
	if err != nil {
		t.Fatal(err)
	}
	got := town.world.Messages(town.general)
	if len(got) != 2 || string(got[1].ID) != sent.ID || got[1].Content != "hi there" || got[1].ReplyTo != question ||
		!slices.Equal(got[1].Pings.Users, []discordsim.ID{town.ana.ID}) {
		t.Errorf("messages after the reply: %+v", got)
	}
	if err := bot.Close(); err != nil {
		t.Fatal(err)
	}
	closed := func(v discordsim.View) bool {
		return slices.ContainsFunc(v.Entries(0), func(e discordsim.Entry) bool {
			c, ok := e.Event.(discordsim.GatewayClosed)
			return ok && c.Code == 1000
		})
	}
	if err := town.world.Wait(t.Context(), closed); err != nil {
		t.Errorf("no close with 1000: %v", err)
	}
}
