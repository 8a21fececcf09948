package discordsim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// A town with one channel, in which somebody asks the bot; a bot would be pointed at server.URL.
func Example() {
	server := discordsim.New(discordsim.Config{})
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	world := server.World()
	guild := world.AddGuild(discordsim.GuildSpec{Name: "Town"})
	general, _ := world.AddChannel(guild, discordsim.ChannelSpec{Name: "general"})
	ana := world.Person("ana")
	_ = world.Join(guild, ana.ID)
	question, _ := ana.Say(general, fmt.Sprintf("<@%s> are you there?", world.Bot()))
	_ = ana.React(question, "👀")

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := world.Wait(ctx, func(v discordsim.View) bool {
		m, ok := v.Message(question)
		return ok && len(m.Reactions) > 0
	})
	m, _ := world.Message(question)
	fmt.Println(err, m.AuthorName, m.Pings.Users[0] == world.Bot(), m.Reactions[0].Emoji)
	// Output: <nil> ana true 👀
}
