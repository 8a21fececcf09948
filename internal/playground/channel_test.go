package playground

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

func TestThreadFromAMessage(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, ada, general := b.person("You"), b.person("Ada"), b.channel("general")
	said := b.act("say", map[string]any{"person": you.ID, "channel": general, "text": "let us talk"})
	next := b.stream(ada.ID, "")
	until(next, "snapshot")
	id := b.act("thread", map[string]any{"person": you.ID, "channel": general, "message": said["id"], "name": "a talk"})["id"]
	if id != said["id"] {
		t.Errorf("the thread of message %s is %s", said["id"], id)
	}
	told := decode[struct{ Channels []channel }](t, until(next, noteChannels)).Channels
	i := slices.IndexFunc(told, func(c channel) bool { return string(c.ID) == id })
	if i < 0 {
		t.Fatalf("the page was told of %+v", told)
	}
	c := told[i]
	if c.Kind != "thread" || c.Parent != general || c.Name != "a talk" || !c.CanSend || c.CanThread || c.Starter == nil || c.Starter.Content != "let us talk" {
		t.Errorf("thread: %+v", c)
	}
	b.act("say", map[string]any{"person": ada.ID, "channel": id, "text": "in here"})
	if m := decode[message](t, until(next, noteMessage)); string(m.Channel) != id || m.Content != "in here" {
		t.Errorf("the message in the thread: %+v", m)
	}
	status, _, text := b.do(http.MethodPost, "/api/thread", map[string]any{"person": ada.ID, "channel": general, "message": said["id"], "name": "again"})
	if status != http.StatusBadRequest || !strings.Contains(text, `"code":160004`) {
		t.Errorf("a second thread: %d %s", status, text)
	}
}

// Everybody is told of the channels that they themselves see.
func TestChannelsThatAppearAndGo(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, ada, general := b.person("You"), b.person("Ada"), b.channel("general")
	yours, adas := b.stream(you.ID, ""), b.stream(ada.ID, "")
	until(yours, "snapshot")
	until(adas, "snapshot")
	names := func(next func() sse) string {
		var out []string
		for _, c := range decode[struct{ Channels []channel }](t, until(next, noteChannels)).Channels {
			out = append(out, c.Name)
		}
		return strings.Join(out, " ")
	}
	err := b.p.town.world().SetOverwrites(general, discordsim.Overwrite{ID: you.ID, Member: true, Deny: discordsim.PermViewChannel})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(yours); strings.Contains(got, "general") || !strings.Contains(got, "random") {
		t.Errorf("You see %s", got)
	}
	if got := names(adas); !strings.HasPrefix(got, "general") {
		t.Errorf("Ada sees %s", got)
	}
	if err := b.p.town.world().DeleteChannel(b.channel("random")); err != nil {
		t.Fatal(err)
	}
	if got := names(adas); strings.Contains(got, "random") {
		t.Errorf("Ada sees %s after #random is gone", got)
	}
}

func TestHistoryInParts(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	you, general := b.person("You"), b.channel("general")
	ids := make([]discordsim.ID, 130)
	for i := range ids {
		id, err := you.Say(general, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	s := decode[snapshot](t, until(b.stream(you.ID, ""), "snapshot"))
	if got := s.Messages[general]; len(got) != historyShown || got[0].Content != "80" || !s.Channels[0].More {
		t.Errorf("the snapshot has %d messages from %s on", len(got), got[0].Content)
	}
	cases := map[string]struct {
		query        string
		first, last  string
		older, newer bool
	}{
		"before": {"before=" + string(ids[80]), "30", "79", true, true},
		"after":  {"after=" + string(ids[99]), "100", "129", true, false},
		"around": {"around=" + string(ids[50]), "25", "74", true, true},
		"newest": {"", "80", "129", true, false},
	}
	for name, c := range cases {
		status, _, text := b.do(http.MethodGet, "/api/history?person="+string(you.ID)+"&channel="+string(general)+"&"+c.query, nil)
		h := decode[history](t, sse{data: text})
		if status != http.StatusOK || len(h.Messages) == 0 {
			t.Errorf("%s: %d %s", name, status, text)
			continue
		}
		if first, last := h.Messages[0].Content, h.Messages[len(h.Messages)-1].Content; first != c.first || last != c.last || h.Older != c.older || h.Newer != c.newer {
			t.Errorf("%s: %s to %s, older %v, newer %v", name, first, last, h.Older, h.Newer)
		}
	}
}

func TestWhatAMessageShows(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	w, you, ada, general := b.p.town.world(), b.person("You"), b.person("Ada"), b.channel("general")
	next := b.stream(you.ID, "")
	s := decode[snapshot](t, until(next, "snapshot"))
	moderator := s.Users[ada.ID].Roles[0]
	if s.Roles[moderator].Name != "Moderator" || s.Users[ada.ID].Color != s.Roles[moderator].Color || s.GuildID != b.p.town.guild {
		t.Errorf("roles: %+v", s.Roles)
	}
	if err := w.SetRolePermissions(b.p.town.guild, b.p.town.guild, discordsim.PermDefault|discordsim.PermMentionEveryone); err != nil {
		t.Fatal(err)
	}
	b.act("say", map[string]any{"person": ada.ID, "channel": general, "text": "@everyone and <@&" + string(moderator) + ">"})
	if m := decode[message](t, until(next, noteMessage)); !m.PingAll || !slices.Equal(m.PingRoles, []discordsim.ID{moderator}) {
		t.Errorf("pings: %+v", m)
	}
	for flags, shown := range map[string]bool{"0": true, "4": false} { // 4 hides embeds
		bot := b.bot(http.MethodPost, "/channels/"+string(general)+"/messages", `{"content":"x","flags":`+flags+`,"embeds":[{"title":"t"}]}`)
		if m := decode[message](t, until(next, noteMessage)); bot != http.StatusOK || (len(m.Embeds) > 0) != shown {
			t.Errorf("flags %s: %d, embeds %s", flags, bot, m.Embeds)
		}
	}
	var sticker discordsim.ID
	w.Look(func(v discordsim.View) {
		for _, g := range v.Guilds() {
			sticker = g.Stickers[0].ID
		}
	})
	if _, err := ada.Send(general, discordsim.Draft{Stickers: []discordsim.ID{sticker}}); err != nil {
		t.Fatal(err)
	}
	if m := decode[message](t, until(next, noteMessage)); !slices.Equal(m.Stickers, []string{"wave"}) {
		t.Errorf("stickers: %+v", m)
	}
}

// bot sends a request as the bot would, to the simulated Discord.
func (b *browser) bot(method, path, body string) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.p.town.sim.URL()+"/api/v10"+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+b.p.town.world().Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
