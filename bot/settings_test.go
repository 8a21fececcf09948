package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// fakeSettings records what is changed and answers what the test says. It changes nothing when err is set, and every call
// waits for hold, when that is set, or for the end of its context.
type fakeSettings struct {
	mu     sync.Mutex
	calls  []string
	places []turn.Place
	err    error
	hold   chan struct{}

	tools   turn.ToolsReport
	guild   turn.GuildSettings
	channel turn.ChannelSettings
	member  turn.MemberSettings
	model   turn.ChannelModel
	cost    turn.CostReport
}

func (f *fakeSettings) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// done returns the changes so far and forgets them.
func (f *fakeSettings) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func (f *fakeSettings) ask(ctx context.Context, p turn.Place, call string, args ...any) error {
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places = append(f.places, p)
	if f.err == nil && call != "" {
		f.calls = append(f.calls, strings.TrimSpace(call+" "+spaced(args)))
	}
	return f.err
}

func (f *fakeSettings) Tools(ctx context.Context, p turn.Place) (turn.ToolsReport, error) {
	return f.tools, f.ask(ctx, p, "")
}

func (f *fakeSettings) SwitchTool(ctx context.Context, p turn.Place, s turn.ToolSwitch) (string, error) {
	return s.Tool, f.ask(ctx, p, "tool", s.Tool, s.Scope, s.On)
}

func (f *fakeSettings) Clear(ctx context.Context, p turn.Place) error { return f.ask(ctx, p, "clear") }

func (f *fakeSettings) Model(ctx context.Context, p turn.Place) (turn.ChannelModel, error) {
	return f.model, f.ask(ctx, p, "")
}

func (f *fakeSettings) SetModel(ctx context.Context, p turn.Place, name string) error {
	return f.ask(ctx, p, "model", name)
}

func (f *fakeSettings) SetSystem(ctx context.Context, p turn.Place, text string) error {
	return f.ask(ctx, p, "system", text)
}

func (f *fakeSettings) Cost(ctx context.Context, p turn.Place, of turn.CostScope) (turn.CostReport, error) {
	return f.cost, f.ask(ctx, p, "cost", string(of))
}

func (f *fakeSettings) GuildSettings(ctx context.Context, p turn.Place) (turn.GuildSettings, error) {
	return f.guild, f.ask(ctx, p, "")
}

func (f *fakeSettings) ChannelSettings(ctx context.Context, p turn.Place) (turn.ChannelSettings, error) {
	return f.channel, f.ask(ctx, p, "")
}

func (f *fakeSettings) MemberSettings(ctx context.Context, p turn.Place) (turn.MemberSettings, error) {
	return f.member, f.ask(ctx, p, "")
}

func (f *fakeSettings) SetMemberDeliberate(ctx context.Context, p turn.Place, mode turn.DeliberateMode) error {
	return f.ask(ctx, p, "my mode", mode)
}

func (f *fakeSettings) SetGuildDeliberate(ctx context.Context, p turn.Place, mode turn.DeliberateMode) error {
	return f.ask(ctx, p, "server mode", mode)
}

func (f *fakeSettings) SetContextTurns(ctx context.Context, p turn.Place, n int) error {
	return f.ask(ctx, p, "turns", n)
}

func (f *fakeSettings) Targets() []string { return []string{"memory", "remember", "web_search"} }

func (f *fakeSettings) SetToolTriggers(ctx context.Context, p turn.Place, target string, triggers []string) error {
	return f.ask(ctx, p, "triggers", target, strings.Join(triggers, "|"))
}

func (f *fakeSettings) SetTriggerWords(ctx context.Context, p turn.Place, words []string) ([]string, error) {
	var kept []string
	for _, w := range words {
		kept = append(kept, strings.ToLower(strings.TrimSpace(w)))
	}
	return kept, f.ask(ctx, p, "words", strings.Join(kept, "|"))
}

func (f *fakeSettings) SetAlwaysOn(ctx context.Context, p turn.Place, channelID string, enabled bool) error {
	return f.ask(ctx, p, "always on", channelID, enabled)
}

func (f *fakeSettings) SetLogChannel(ctx context.Context, p turn.Place, channelID string) error {
	return f.ask(ctx, p, "log channel", channelID)
}

func (f *fakeSettings) SetGuildSwitch(ctx context.Context, p turn.Place, s turn.GuildSwitch, enabled bool) error {
	return f.ask(ctx, p, "switch", s, enabled)
}

// opt is one option of a command.
func opt(name string, value any) discordsim.Option {
	return discordsim.Option{Name: name, Value: value}
}

// use sends a command and returns the answer's text and whether only the actor sees it.
func (tw *town) use(t *testing.T, p *discordsim.Person, channel discordsim.ID, name string, options ...discordsim.Option) (text string, private bool) {
	t.Helper()
	s := tw.answered(t, try(p.Slash(channel, name, options...)).ID)
	m, ok := tw.world.Message(s.Original)
	if !ok || !m.Pings.None() {
		t.Errorf("/%s: answer %+v pings %+v", name, s, m.Pings)
	}
	return m.Content, s.Ephemeral
}

// What the commands change, and what they say about it.
func TestSettingsCommands(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	log := tw.channel(t, "log")
	secret := tw.channel(t, "secret", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermViewChannel})
	tw.start(t)
	cases := []struct {
		name    string
		by      *discordsim.Person
		in      discordsim.ID
		command string
		options []discordsim.Option
		want    string
		says    string
		public  bool
	}{
		{"tool off here", tw.mod, tw.general, "tools off", []discordsim.Option{opt("tool", "web_search")}, "tool web_search channel false", "**web\\_search** is switched off in this channel", false},
		{"tool on in the server", tw.olga, tw.general, "tools on", []discordsim.Option{opt("tool", "web_search"), opt("where", "server")}, "tool web_search guild true", "switched on in this server", false},
		{"all tools off", tw.mod, tw.general, "tools off", nil, "tool  channel false", "All tools are switched off in this channel", false},
		{"own mode", tw.ana, tw.general, "deliberate me", []discordsim.Option{opt("mode", "follow")}, "my mode follow", "as each server has it", false},
		{"own mode in private", tw.ana, tw.ana.DM(), "deliberate me", []discordsim.Option{opt("mode", "on")}, "my mode on", "only when you ask", false},
		{"server mode", tw.olga, tw.general, "deliberate server", []discordsim.Option{opt("mode", "on")}, "server mode on", "on in this server", false},
		{"context turns", tw.olga, tw.general, "deliberate server", []discordsim.Option{opt("turns", 0)}, "turns 0", "for 0 turns", false},
		{"triggers", tw.olga, tw.general, "deliberate triggers", []discordsim.Option{opt("target", "memory"), opt("words", "note, remind*, /a{1,2}b/ ,^")}, "triggers memory note|remind*|/a{1,2}b/|^", "is offered for note, remind\\*", false},
		{"triggers removed", tw.olga, tw.general, "deliberate triggers", []discordsim.Option{opt("target", "memory"), opt("words", "-")}, "triggers memory", "Removed", false},
		{"clear", tw.mod, tw.general, "clear", nil, "clear", "Cleared by <@" + string(tw.mod.ID) + ">", true},
		{"clear in private", tw.ana, tw.ana.DM(), "clear", nil, "clear", "Cleared by", true},
		{"model", tw.mod, tw.general, "model set", []discordsim.Option{opt("name", "m-2")}, "model m-2", "**m-2** answers", false},
		{"model back", tw.mod, tw.general, "model reset", nil, "model -", "My own model", false},
		{"system", tw.mod, tw.general, "system set", []discordsim.Option{opt("text", " Speak @everyone Latin ")}, "system Speak @everyone Latin", "from the next turn on", false},
		{"system removed", tw.mod, tw.general, "system remove", nil, "system -", "no system text", false},
		{"words", tw.olga, tw.general, "config words", []discordsim.Option{opt("words", "Parley, もり、bot")}, "words parley|もり|bot", "parley, もり, bot", false},
		{"no words", tw.olga, tw.general, "config words", []discordsim.Option{opt("words", "-")}, "words", "no words address me", false},
		{"always on", tw.olga, tw.general, "config always-on", []discordsim.Option{opt("channel", tw.general), opt("to", "on")}, "always on " + string(tw.general) + " true", "every message", false},
		{"log channel", tw.olga, tw.general, "config log-channel", []discordsim.Option{opt("channel", log)}, "log channel " + string(log), "Everybody in this server can read", false},
		{"no log channel", tw.olga, tw.general, "config log-channel", nil, "log channel", "no log channel", false},
		{"switch", tw.olga, tw.general, "config switch", []discordsim.Option{opt("setting", "answer_bots"), opt("to", "on")}, "switch answer_bots true", "on now", false},
		{"log channel that is closed to me", tw.olga, tw.general, "config log-channel", []discordsim.Option{opt("channel", secret)}, "", "may not write in <#" + string(secret) + ">. Give me", false},
		{"nothing given", tw.olga, tw.general, "deliberate server", nil, "", "Nothing was changed", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, private := tw.use(t, c.by, c.in, c.command, c.options...)
			if got := strings.Join(tw.turns.done(), "; "); got != c.want {
				t.Errorf("did %q, want %q", got, c.want)
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("said %q, want %q", text, c.says)
			}
			if private == c.public {
				t.Errorf("private: %v (X15)", private)
			}
		})
	}
	p := tw.turns.places[0]
	if p.GuildID != string(tw.guild) || p.ChannelID != string(tw.general) || p.MessageID == "" || p.Actor.ID != string(tw.mod.ID) || !p.Actor.ManageMessages {
		t.Errorf("place %+v", p)
	}
}

// Who may not do it changes nothing, and is told in private what right it needs (B79).
func TestSettingsNeedRights(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.start(t)
	tool, server, name := opt("tool", "web_search"), opt("where", "server"), opt("name", "m")
	cases := []struct {
		by      *discordsim.Person
		command string
		options []discordsim.Option
		want    verdict
	}{
		{tw.ana, "tools off", []discordsim.Option{tool}, refusedChannel},
		{tw.mod, "tools off", []discordsim.Option{tool, server}, refusedServer},
		{tw.ana, "clear", nil, refusedChannel},
		{tw.ana, "model set", []discordsim.Option{name}, refusedChannel},
		{tw.ana, "model reset", nil, refusedChannel},
		{tw.ana, "system set", nil, refusedChannel},
		{tw.ana, "system remove", nil, refusedChannel},
		{tw.mod, "deliberate server", []discordsim.Option{opt("mode", "on")}, refusedServer},
		{tw.mod, "deliberate triggers", []discordsim.Option{opt("target", "memory")}, refusedServer},
		{tw.mod, "config show", nil, refusedServer},
		{tw.mod, "config words", []discordsim.Option{opt("words", "x")}, refusedServer},
	}
	for _, c := range cases {
		if text, private := tw.use(t, c.by, tw.general, c.command, c.options...); text != string(c.want) || !private {
			t.Errorf("/%s by %s: %q, private %v", c.command, c.by.Name, text, private)
		}
	}
	if text, _ := tw.use(t, tw.ana, tw.ana.DM(), "tools off", server); text != string(refusedNoServer) {
		t.Errorf("in private: %q", text)
	}
	if got := tw.turns.done(); len(got) != 0 {
		t.Errorf("got through: %q", got)
	}
}

// What is shown.
func TestSettingsAreShown(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	f := &tw.turns.fakeSettings
	f.tools = turn.ToolsReport{Deliberate: true, ContextTurns: 4, Tools: []turn.ToolInfo{
		{Name: "remember", On: true, Always: true},
		{Name: "web_search", On: true, Triggers: []string{"search", "look*"}, Approver: turn.ApproverModerator},
		{Name: "draw", OffIn: turn.ToolOffGuild},
		{Name: "mute_me", On: true},
	}}
	f.guild = turn.GuildSettings{
		Deliberate: true, ContextTurns: 4, TriggerWords: []string{"mori"}, AlwaysOn: []string{"42"}, LogChannel: "43",
		ToolTriggers: map[string][]string{"memory": {"note"}},
	}
	f.member.Deliberate = turn.DeliberateFollow
	f.channel.System = "Be ```kind``` to @everyone."
	f.model = turn.ChannelModel{Current: "m-1", Chosen: true, Choices: []string{"m-1", "m-2"}}
	tw.start(t)
	for command, want := range map[string][]string{
		"tools list": {
			"in the 4 turns after it was used", "🟢 **remember** on, always offered", "offered for: search, look\\* · a moderator approves",
			"⚫ **draw** off: in this server", "no word asks for it",
		},
		"deliberate show": {"For you: follow. In this server: on", "• **memory**: note"},
		"model show":      {"**m-1** answers here, chosen for this channel", "• m-2"},
		"system show":     {"Be \\u0060\\u0060\\u0060kind"},
		"config show":     {"address me: mori", "<#42>", "Log channel: <#43>", "other bots that mention me: off"},
		"cost":            {"Nothing has been used"},
	} {
		got, private := tw.use(t, tw.olga, tw.general, command)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("/%s: no %q in %q", command, w, got)
			}
		}
		if !private {
			t.Errorf("/%s is public", command)
		}
	}
	f.set(func() {
		f.tools.Tools = nil
		for n := range 80 {
			f.tools.Tools = append(f.tools.Tools, turn.ToolInfo{Name: fmt.Sprintf("tool_%02d", n), On: true, Triggers: []string{"some word that asks for it"}})
		}
		f.channel.System = strings.Repeat("long ", 1000)
	})
	for _, command := range []string{"tools list", "system show"} {
		s := tw.answered(t, try(tw.olga.Slash(tw.general, command)).ID)
		m, _ := tw.world.Message(s.Original)
		if len(m.Attachments) != 1 || !strings.Contains(m.Content, "attached file") {
			t.Fatalf("/%s: %d files, %q", command, len(m.Attachments), m.Content)
		}
	}
}

// What goes wrong is told with the problem and the remedy, in private, also of commands that answer in public.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	f := &tw.turns.fakeSettings
	tw.start(t)
	f.set(func() {
		f.err = &turn.Refusal{Kind: turn.RefusedBusy, Problem: "I'm answering here.", Remedy: "Stop me first."}
	})
	for _, command := range []string{"clear", "model reset", "tools off", "cost", "system show", "tools list"} {
		if text, private := tw.use(t, tw.mod, tw.general, command); text != "I'm answering here. Stop me first." || !private {
			t.Errorf("/%s: %q, private %v", command, text, private)
		}
	}
	f.set(func() { f.err = fmt.Errorf("secret dsn") })
	text, private := tw.use(t, tw.mod, tw.general, "clear")
	if strings.Contains(text, "dsn") || !strings.Contains(text, "(id ") || !private {
		t.Errorf("%q, private %v", text, private)
	}
}

// B102: the store stalls: the command is acknowledged in time, in private, and answered when the store is back.
func TestSlowStoreIsAcknowledged(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, nil)
	f := &tw.turns.fakeSettings
	tw.start(t)
	hold := make(chan struct{})
	f.set(func() { f.hold = hold })
	quiet := try(tw.mod.Slash(tw.general, "tools off", opt("tool", "draw")))
	public := try(tw.mod.Slash(tw.general, "clear"))
	for _, i := range []*discordsim.Interaction{quiet, public} {
		if s := tw.answered(t, i.ID); s.Answer != discordsim.AnswerDeferred || s.Ephemeral != (i == quiet) || s.Answered.Sub(s.Sent) > 2*time.Second {
			t.Errorf("%+v", s)
		}
	}
	close(hold)
	tw.wait(t, "the answers", func(v discordsim.View) bool {
		a, _ := v.Interaction(quiet.ID)
		b, _ := v.Interaction(public.ID)
		m, _ := v.Message(a.Original)
		n, _ := v.Message(b.Original)
		return strings.Contains(m.Content, "switched off") && m.VisibleTo == tw.mod.ID && strings.Contains(n.Content, "Cleared by") && n.VisibleTo == ""
	})
}

// B79, B102: completions are for who may use the command, and come in time or not at all.
func TestCompletions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{StrictInteractions: true}, func(c *Config, _ *Deps) {
		c.Blocked = func(_, channel, _ string) bool { return channel == "blocked" }
	})
	f := &tw.turns.fakeSettings
	f.tools.Tools = []turn.ToolInfo{{Name: "web_search"}, {Name: "search"}, {Name: "draw"}}
	f.model.Choices = []string{"m-1", "m-2", strings.Repeat("x", 101)}
	tw.start(t)
	offered := func(p *discordsim.Person, command, focused string, options ...discordsim.Option) []string {
		s := tw.answered(t, try(p.Autocomplete(tw.general, command, focused, options...)).ID)
		list := []string{}
		for _, c := range s.Choices {
			list = append(list, fmt.Sprint(c.Value))
		}
		return list
	}
	for _, c := range []struct {
		by               *discordsim.Person
		command, focused string
		options          []discordsim.Option
		want             []string
	}{
		{tw.mod, "tools off", "tool", []discordsim.Option{opt("tool", "Sear")}, []string{"search", "web_search"}},
		{tw.mod, "tools off", "tool", []discordsim.Option{opt("tool", "")}, []string{"web_search", "search", "draw"}},
		{tw.ana, "tools off", "tool", []discordsim.Option{opt("tool", "")}, []string{}},
		{tw.mod, "tools off", "tool", []discordsim.Option{opt("tool", ""), opt("where", "server")}, []string{}},
		{tw.mod, "model set", "name", []discordsim.Option{opt("name", "")}, []string{"m-1", "m-2"}},
		{tw.olga, "deliberate triggers", "target", []discordsim.Option{opt("target", "mem")}, []string{"memory", "remember"}},
		{tw.mod, "deliberate triggers", "target", []discordsim.Option{opt("target", "mem")}, []string{}},
	} {
		if got := offered(c.by, c.command, c.focused, c.options...); !slices.Equal(got, c.want) {
			t.Errorf("/%s for %s: %q, want %q", c.command, c.by.Name, got, c.want)
		}
	}
	hold := make(chan struct{})
	f.set(func() { f.hold = hold })
	defer close(hold)
	if got := offered(tw.mod, "tools off", "tool", opt("tool", "")); len(got) != 0 {
		t.Errorf("from a stalled store: %q", got)
	}
}

// A long system text is written in a form that begins with what is set; rights are checked again when it comes back.
func TestSystemForm(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	f := &tw.turns.fakeSettings
	line := strings.Repeat("a", 2500)
	f.channel.System = line + "\n" + line
	tw.start(t)
	i := try(tw.mod.Slash(tw.general, "system set"))
	s := tw.answered(t, i.ID)
	if s.Answer != discordsim.AnswerModal || s.Modal == nil || s.Modal.Inputs[0].Value != line || s.Modal.Inputs[1].Value != line {
		t.Fatalf("%+v", s)
	}
	tw.answered(t, try(tw.mod.Submit(i, nil)).ID)
	if got := tw.turns.done(); len(got) != 1 || got[0] != "system "+line+"\n"+line {
		t.Errorf("sent unchanged: %q", got)
	}
	i = try(tw.mod.Slash(tw.general, "system set"))
	tw.answered(t, i.ID)
	must(t, tw.world.SetRoles(tw.guild, tw.mod.ID))
	got := tw.answered(t, try(tw.mod.Submit(i, map[string]string{"text1": "mine"})).ID)
	if tw.text(got.Original) != string(refusedChannel) || !got.Ephemeral || len(tw.turns.done()) != 0 {
		t.Errorf("without the right: %q", tw.text(got.Original))
	}
}

// A form that can't hold all of what is set shows nothing of it: sending it would lose the rest.
func TestSystemFormNeverLosesText(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{}, nil)
	tw.turns.channel.System = strings.Repeat(strings.Repeat("b", 2100)+"\n", 7)
	tw.start(t)
	s := tw.answered(t, try(tw.mod.Slash(tw.general, "system set")).ID)
	if s.Modal == nil || len(s.Modal.Inputs) != 5 {
		t.Fatalf("%+v", s)
	}
	for _, in := range s.Modal.Inputs {
		if in.Value != "" {
			t.Errorf("%s begins with %d characters", in.CustomID, len(in.Value))
		}
	}
}

// spaced puts a blank between all of them, which Sprint does not between texts.
func spaced(args []any) string {
	parts := make([]string, len(args))
	for n, a := range args {
		parts[n] = fmt.Sprint(a)
	}
	return strings.Join(parts, " ")
}
