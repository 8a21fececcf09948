package discordsim_test

import (
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

// town is a small world with one guild, two people and a running server.
type town struct {
	server  *discordsim.Server
	world   *discordsim.World
	guild   discordsim.ID
	general discordsim.ID
	// ana is an ordinary member, olga owns the guild.
	ana, olga *discordsim.Person
}

func newTown(t *testing.T, cfg discordsim.Config) *town {
	t.Helper()
	s := discordsim.New(cfg)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := s.World()
	tw := &town{server: s, world: w, ana: w.Person("ana"), olga: w.Person("olga")}
	tw.guild = w.AddGuild(discordsim.GuildSpec{Name: "Town", Owner: "olga"})
	general, err := w.AddChannel(tw.guild, discordsim.ChannelSpec{Name: "general"})
	must(t, err)
	must(t, w.Join(tw.guild, tw.ana.ID))
	tw.general = general
	return tw
}

func (tw *town) say(t *testing.T, p *discordsim.Person, text string) discordsim.ID {
	t.Helper()
	id, err := p.Say(tw.general, text)
	must(t, err)
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
