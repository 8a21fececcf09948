package scene

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
)

// settingVerbs set the stage.
func settingVerbs() []verb {
	return []verb{
		{form: form("own process"), setting: true, mark: func(s *Scene) error { s.ownProcess = true; return nil }},
		{form: form("model rehearsal"), setting: true, mark: func(s *Scene) error { s.rehearsal = true; return nil }},
		{form: form("model anthropic"), setting: true, mark: func(s *Scene) error { s.anthropic = true; return nil }},
		{form: form("set NAME WORD"), setting: true, check: checkVariable, do: (*stage).setVariable},
		{
			form: form("channel CHANNEL"), clauses: with("closed to the bot"), setting: true, newChannel: true,
			check: learnChannel, do: (*stage).makeChannel,
		},
		{form: form("role NAME"), setting: true, do: (*stage).makeRole},
		{
			form: form("person NAME"), clauses: with("may manage messages", "may manage the server", "is a bot"), setting: true,
			check: learnPerson, do: (*stage).makePerson,
		},
		{form: form("setting NAME WORD"), clauses: with("for PERSON", placeClauses), do: (*stage).storeSetting},
	}
}

var variable = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func checkVariable(_ *cast, s *step) error {
	if name := s.head.text("NAME"); !variable.MatchString(name) {
		return fmt.Errorf("%s is no environment variable; a setting in the store is changed with: setting %s …", name, name)
	}
	return nil
}

func (s *stage) setVariable(_ context.Context, st *step) error {
	s.env[st.head.text("NAME")] = st.head.text("WORD")
	return nil
}

func learnChannel(c *cast, s *step) error {
	name := s.head.text("CHANNEL")
	if c.channels[name] && name != firstChannel {
		return fmt.Errorf("there is a channel %s already", name)
	}
	c.channels[name] = true
	return nil
}

func (s *stage) makeChannel(_ context.Context, st *step) error {
	name := st.head.text("CHANNEL")
	if name == firstChannel && !st.has("closed to the bot") {
		return nil // it is there
	}
	return s.addChannel(name, st.has("closed to the bot"))
}

func (s *stage) makeRole(_ context.Context, st *step) error {
	name := st.head.text("NAME")
	id, err := s.world.AddRole(s.guild, discordsim.RoleSpec{Name: name, Mentionable: true})
	if err != nil {
		return err
	}
	s.names.role(name, id)
	return nil
}

func learnPerson(c *cast, s *step) error {
	name := s.head.text("NAME")
	if reserved[name] || name == "Parley" || c.people[name] {
		return fmt.Errorf("nobody can be called %s: the name is taken", name)
	}
	c.people[name] = true
	return nil
}

func (s *stage) makePerson(_ context.Context, st *step) error {
	name := st.head.text("NAME")
	p := s.world.AddPerson(discordsim.PersonSpec{Name: name, Bot: st.has("is a bot")})
	s.people[name] = p
	s.names.person(name, p.ID)
	var rights discordsim.Permissions
	if st.has("may manage messages") {
		rights |= discordsim.PermManageMessages
	}
	if st.has("may manage the server") {
		rights |= discordsim.PermManageGuild
	}
	var roles []discordsim.ID
	if rights != 0 {
		id, err := s.world.AddRole(s.guild, discordsim.RoleSpec{Name: "rights of " + name, Permissions: rights})
		if err != nil {
			return err
		}
		roles = append(roles, id)
	}
	return s.world.Join(s.guild, p.ID, roles...)
}

// storeSetting writes into the bot's own store: for the guild, or for a person or a channel.
func (s *stage) storeSetting(ctx context.Context, st *step) error {
	set := store.Setting{Scope: store.SettingGuild, ID: string(s.guild), Name: st.head.text("NAME"), Value: st.head.text("WORD")}
	if b, ok := st.clause("for PERSON"); ok {
		set.Scope, set.ID = store.SettingMember, string(s.people[b.text("PERSON")].ID)
	} else if st.has("in CHANNEL") {
		set.Scope, set.ID = store.SettingChannel, string(s.channel(st.place))
	}
	return s.inStore(ctx, func(ctx context.Context, v StoreView) error { return v.PutSetting(ctx, set) })
}

// inStore opens the bot's store for one look.
func (s *stage) inStore(ctx context.Context, look func(context.Context, StoreView) error) (err error) {
	if s.boot == nil {
		return errors.New("no bot has run yet, so there is no store")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	v, err := s.boot.bot.Store(ctx)
	if err != nil {
		return fmt.Errorf("opening the bot's store: %w", err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return look(ctx, v)
}
