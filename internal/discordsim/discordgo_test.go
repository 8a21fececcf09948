package discordsim_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// bot is a discordgo session pointed at the town.
func (tw *town) bot(t *testing.T) *discordgo.Session {
	t.Helper()
	address, err := url.Parse(tw.server.URL())
	must(t, err)
	bot, err := discordgo.New("Bot " + tw.world.Token())
	must(t, err)
	bot.Client = &http.Client{Transport: redirect{address.Host, tw.client.Transport}}
	return bot
}

func TestDiscordgoOpensReceivesSendsAndCloses(t *testing.T) {
	t.Parallel()
	town := newTown(t, discordsim.Config{})
	bot := town.bot(t)
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

// TestDiscordgoInteractions lets discordgo write and read what a bot with commands, cards and modals does.
func TestDiscordgoInteractions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	bot := tw.bot(t)
	bot.StateEnabled, bot.SyncEvents, bot.ShouldReconnectOnError = false, true, false
	bot.Identify.Intents = discordgo.IntentsGuilds
	received := make(chan *discordgo.InteractionCreate, 4)
	bot.AddHandler(func(_ *discordgo.Session, i *discordgo.InteractionCreate) { received <- i })
	must(t, bot.Open())
	app := string(tw.world.Bot())
	need := int64(discordgo.PermissionSendMessages)
	_, err := bot.ApplicationCommandBulkOverwrite(app, "", []*discordgo.ApplicationCommand{{
		Name: "ask", Description: "Ask something", DefaultMemberPermissions: &need,
		Options: []*discordgo.ApplicationCommandOption{
			{Type: discordgo.ApplicationCommandOptionString, Name: "what", Description: "The question", Required: true},
			{Type: discordgo.ApplicationCommandOptionUser, Name: "whom", Description: "Somebody"},
			{Type: discordgo.ApplicationCommandOptionAttachment, Name: "file", Description: "A file"},
		},
	}})
	must(t, err)

	slash, err := tw.ana.Slash(tw.general, "ask", discordsim.Option{Name: "what", Value: "why?"},
		discordsim.Option{Name: "whom", Value: tw.olga.ID},
		discordsim.Option{Name: "file", Value: discordsim.File{Name: "a.txt", Data: []byte("a")}})
	must(t, err)
	i := <-received
	data := i.ApplicationCommandData()
	if data.GetOption("what").StringValue() != "why?" || data.Resolved.Users[string(tw.olga.ID)].Username != "olga" ||
		len(data.Resolved.Attachments) != 1 || i.Member.Permissions&discordgo.PermissionSendMessages == 0 ||
		i.AppPermissions == 0 || i.Context != discordgo.InteractionContextGuild {
		t.Errorf("command: %+v", data)
	}
	must(t, bot.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}))
	content := "Shall I?"
	_, err = bot.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{
		Content: &content, AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Components: &[]discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "No, because", Style: discordgo.DangerButton, CustomID: "why"},
			discordgo.Button{Label: "Docs", Style: discordgo.LinkButton, URL: "https://example.com"},
		}}},
	})
	must(t, err)
	_, err = bot.FollowupMessageCreate(i.Interaction, true, &discordgo.WebhookParams{
		Content: "for you", Flags: discordgo.MessageFlagsEphemeral, Files: []*discordgo.File{{Name: "log.txt", Reader: strings.NewReader("log")}},
	})
	must(t, err)
	if replies := slash.Replies(); len(replies) != 2 || replies[0].Content != content || replies[1].VisibleTo != tw.ana.ID {
		t.Fatalf("replies: %+v", replies)
	}

	click, err := tw.ana.Click(slash.State().Original, "why")
	must(t, err)
	i = <-received
	if i.MessageComponentData().CustomID != "why" || i.Message == nil || len(i.Message.Components) != 1 {
		t.Errorf("click: %+v", i.Message)
	}
	must(t, bot.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseModal,
		Data: &discordgo.InteractionResponseData{CustomID: "reason", Title: "Why?", Components: []discordgo.MessageComponent{
			discordgo.ActionsRow{Components: []discordgo.MessageComponent{
				discordgo.TextInput{CustomID: "text", Label: "Reason", Style: discordgo.TextInputParagraph, Required: true, MaxLength: 100},
			}},
		}},
	}))
	_, err = tw.ana.Submit(click, map[string]string{"text": "too risky"})
	must(t, err)
	i = <-received
	row := i.ModalSubmitData().Components[0].(*discordgo.ActionsRow)
	if row.Components[0].(*discordgo.TextInput).Value != "too risky" {
		t.Errorf("modal: %+v", row)
	}
	must(t, bot.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseUpdateMessage,
		Data: &discordgo.InteractionResponseData{Content: "Denied: too risky"},
	}))
	if m, _ := tw.world.Message(slash.State().Original); m.Content != "Denied: too risky" || m.Components == nil {
		t.Errorf("card: %+v", m)
	}
	if _, err := bot.ChannelMessages(string(tw.general), 10, "", "", ""); err != nil {
		t.Error(err)
	}
	must(t, bot.Close())
}
