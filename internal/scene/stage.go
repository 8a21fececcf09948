package scene

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// Bounds of one run.
const (
	// stepTime is how long a step may wait for what it expects.
	stepTime = 5 * time.Second
	// bootTime and stopTime bound a start and an end of the bot.
	bootTime = 20 * time.Second
	stopTime = 20 * time.Second
)

// stage is one scene while it runs: its own Discord, its own model, its own bot and data. Its fields belong to the
// goroutine that runs the steps; what other goroutines tell it is in tape, turns, log and model, which lock themselves.
type stage struct {
	scene  *Scene
	booter Booter
	sim    *discordsim.Server
	world  *discordsim.World
	model  *modelServer
	tape   *tape
	turns  *turnLog
	log    *botLog
	woken  *signal
	dir    string
	env    map[string]string

	guild    discordsim.ID
	channels map[string]discordsim.ID
	people   map[string]*discordsim.Person
	names    *names
	labels   map[string]discordsim.ID
	// seen is the newest message that a step has seen, by place and audience: expectations go forward only.
	seen map[string]discordsim.ID
	// used are the events of turns that a step has seen.
	used map[int]bool
	// asked is the request to the model that the last expectation spoke of.
	asked int
	// clicked is what each person last clicked, for the form that it may open.
	clicked map[string]*discordsim.Interaction
	sent    []*discordsim.Interaction
	gateway int
	nevers  []*step

	boot    *boot
	boots   int
	watched sync.WaitGroup
	unwatch context.CancelFunc
}

// newStage opens the stage with an empty guild and one channel in it.
func newStage(ctx context.Context, sc *Scene, o Options) (*stage, error) {
	dir, err := os.MkdirTemp("", "scene-")
	if err != nil {
		return nil, fmt.Errorf("making a data folder: %w", err)
	}
	woken := &signal{}
	s := &stage{
		scene: sc, booter: o.Booter, tape: &tape{}, woken: woken, dir: dir, env: map[string]string{},
		sim:      discordsim.New(discordsim.Config{Validator: o.Validator}),
		channels: map[string]discordsim.ID{}, people: map[string]*discordsim.Person{}, labels: map[string]discordsim.ID{},
		seen: map[string]discordsim.ID{}, used: map[int]bool{}, clicked: map[string]*discordsim.Interaction{},
	}
	s.world = s.sim.World()
	s.names = newNames(s.world)
	s.turns = &turnLog{woken: woken, tape: s.tape, world: s.world}
	s.log = &botLog{woken: woken}
	s.model = newModelServer(woken, s.tape)
	if err := errors.Join(s.sim.Start(), s.model.start()); err != nil {
		s.close(ctx)
		return nil, err
	}
	s.guild = s.world.AddGuild(discordsim.GuildSpec{Name: "Tea House", Bot: discordsim.PermManageMessages})
	watch, unwatch := context.WithCancel(ctx)
	s.unwatch = unwatch
	s.watched.Go(func() { s.watch(watch) })
	if err := s.addChannel(firstChannel, false); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

// close ends everything that belongs to the stage and waits for it. The model goes first, so that nothing holds a turn.
func (s *stage) close(ctx context.Context) {
	s.model.close()
	if s.boot != nil {
		stop, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel() // no grace: the scene is over
		_ = s.boot.bot.Stop(stop)
		s.boot.over.Wait()
	}
	if s.unwatch != nil {
		s.unwatch()
	}
	s.watched.Wait()
	s.sim.Close()
	_ = os.RemoveAll(s.dir)
}

func (s *stage) addChannel(name string, closed bool) error {
	spec := discordsim.ChannelSpec{Name: strings.TrimPrefix(name, "#")}
	if closed {
		spec.Overwrites = []discordsim.Overwrite{{ID: s.world.Bot(), Member: true, Deny: discordsim.PermSendMessages}}
	}
	id, err := s.world.AddChannel(s.guild, spec)
	if err != nil {
		return err
	}
	s.channels[name] = id
	s.names.channel(name, id)
	return nil
}

// channel is the channel of a step's place.
func (s *stage) channel(place string) discordsim.ID {
	if person, ok := strings.CutPrefix(place, "@"); ok {
		id := s.people[person].DM()
		s.names.channel("DM with "+person, id)
		return id
	}
	return s.channels[place]
}

// message is what a label stands for.
func (s *stage) message(label string) (discordsim.ID, error) {
	id, ok := s.labels[label]
	if !ok {
		return "", fmt.Errorf("nothing has been seen yet that %q could mean", label)
	}
	return id, nil
}

// environment is what the bot is started with.
func (s *stage) environment() map[string]string {
	env := map[string]string{
		"DISCORD_TOKEN": s.world.Token(), "DATA_DIR": s.dir, "LOG_FORMAT": "json", "LOG_LEVEL": "debug",
		"PRACTICE_TOOLS": "true", "SHUTDOWN_GRACE_MS": "1000",
	}
	switch {
	case s.scene.rehearsal:
		env["MODEL"] = "rehearsal"
	case s.scene.anthropic:
		env["MODEL"] = "anthropic:scene-model"
	default:
		env["MODEL"] = "scene-model"
	}
	if !s.scene.rehearsal { // the scene's model speaks both formats, so a scene may set a chain of them
		env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"] = s.model.url()+"/v1", "scene-key-not-a-secret"
		env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = s.model.url(), "scene-key-not-a-secret"
	}
	maps.Copy(env, s.env)
	return env
}

// await waits until cond is done or fails, but no longer than the step may. seen says what there was instead.
func (s *stage) await(ctx context.Context, st *step, cond func() (bool, error), seen func() string) error {
	limit := st.within
	if limit == 0 {
		limit = stepTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		changed := s.woken.next()
		done, err := cond()
		if err != nil || done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &unmet{after: limit, saw: seen(), also: s.trouble()}
		}
	}
}

// trouble is what is wrong besides an expectation that was not met, and may be why.
func (s *stage) trouble() string {
	var out []string
	out = append(out, s.model.unanswered()...)
	if s.boot != nil && s.boot.ended() && !s.boot.asked {
		out = append(out, fmt.Sprintf("the bot has ended by itself with exit code %d", s.boot.bot.Exit()))
	}
	return strings.Join(out, "\n")
}

// unmet is an expectation that was not met.
type unmet struct {
	after time.Duration
	saw   string
	also  string
}

func (u *unmet) Error() string {
	text := "not met"
	if u.after > 0 {
		text += " within " + u.after.String()
	}
	if u.saw != "" {
		text += "\nseen instead: " + u.saw
	}
	if u.also != "" {
		text += "\n" + u.also
	}
	return text
}
