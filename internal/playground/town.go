package playground

import (
	"fmt"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// What the world keeps; pages show less.
const (
	journalKept  = 5000
	messagesKept = 10_000
)

// foundedAt is when the town was founded, each time anew: ids carry their time, so people, channels and the guild have
// the same ids in every run, and what a kept store remembers of them stays theirs.
var foundedAt = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// town is the world of the playground and who can be played in it.
type town struct {
	sim    *discordsim.Server
	guild  discordsim.ID
	people []resident
}

// resident is somebody that the person at the page can be.
type resident struct {
	*discordsim.Person
	role string
	dm   discordsim.ID
}

func (t *town) world() *discordsim.World { return t.sim.World() }

// resident finds somebody by id; whoever is unknown is the first.
func (t *town) resident(id discordsim.ID) resident {
	for _, r := range t.people {
		if r.ID == id {
			return r
		}
	}
	return t.people[0]
}

// buildTown makes and starts the world: a guild with two channels and a thread, You, a moderator and another member.
func buildTown(now func() time.Time) (*town, error) {
	// The bot is the one who is new in each run: it registers its commands once for each id of its application, and
	// this world does not know them yet. The remainder keeps its id older than the town's.
	start := now()
	at := foundedAt.Add(-time.Hour - time.Duration(start.UnixMilli()%(1<<37))*time.Millisecond)
	clock := func() time.Time {
		if at.IsZero() {
			return now()
		}
		return at
	}
	sim := discordsim.New(discordsim.Config{Clock: clock, JournalLimit: journalKept, HistoryLimit: messagesKept})
	at = foundedAt
	t := &town{sim: sim}
	if err := t.settle(); err != nil {
		return nil, fmt.Errorf("building the playground's world: %w", err)
	}
	at = time.Time{} // From here on it is now; nothing runs yet that could have read the clock.
	if err := sim.Start(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *town) settle() error {
	w := t.world()
	t.guild = w.AddGuild(discordsim.GuildSpec{Name: "Playground", Owner: "server owner"})
	moderator, err := w.AddRole(t.guild, discordsim.RoleSpec{
		Name: "Moderator", Permissions: discordsim.PermManageMessages, Color: 0xE8A33D,
	})
	if err != nil {
		return err
	}
	for _, p := range []struct {
		name, role string
		roles      []discordsim.ID
	}{
		{"You", "Member", nil},
		{"Ada", "Moderator", []discordsim.ID{moderator}},
		{"Bert", "Member", nil},
	} {
		person := w.Person(p.name)
		if err := w.Join(t.guild, person.ID, p.roles...); err != nil {
			return err
		}
		t.people = append(t.people, resident{Person: person, role: p.role, dm: person.DM()})
	}
	general, err := w.AddChannel(t.guild, discordsim.ChannelSpec{Name: "general", Topic: "Talk to the bot here"})
	if err != nil {
		return err
	}
	if _, err := w.AddSticker(t.guild, "wave", "A waving hand", "wave"); err != nil {
		return err
	}
	if _, err := w.AddChannel(t.guild, discordsim.ChannelSpec{Name: "random", Topic: "A second channel: turns of different channels never wait for each other"}); err != nil {
		return err
	}
	_, err = t.people[0].Thread(general, "side talk", "")
	return err
}
