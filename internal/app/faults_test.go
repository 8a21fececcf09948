package app_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store/storetest"
	"github.com/parleybot/parley/turn"
)

// post is a channel whose messages come more than once.
type post struct {
	*home
	verdicts chan turn.Event // what admission said, in order
}

// say says something to the bot and returns the message.
func (p *post) say(t *testing.T, text string) discordsim.ID {
	t.Helper()
	id, err := p.ada.Say(p.channel, "<@"+string(p.world.Bot())+"> "+text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// again delivers a message once more.
func (p *post) again(t *testing.T, id discordsim.ID) {
	t.Helper()
	if !p.world.Redeliver(id) {
		t.Fatal("no such message")
	}
}

// expect waits for what admission says of as many deliveries of a message, in any order.
func (p *post) expect(t *testing.T, id discordsim.ID, want ...turn.Reason) {
	t.Helper()
	got, wanted := map[turn.Reason]int{}, map[turn.Reason]int{}
	for _, reason := range want {
		wanted[reason]++
		_, why, _ := strings.Cut(p.verdict(t, id).Text, ":")
		got[turn.Reason(why)]++
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("the deliveries of %s were taken as %v, want %v", id, got, wanted)
	}
}

func (p *post) verdict(t *testing.T, id discordsim.ID) turn.Event {
	t.Helper()
	for patience := time.After(time.Minute); ; {
		select {
		case e := <-p.verdicts:
			if e.MessageID == string(id) { // the bot's own messages are judged too
				return e
			}
		case <-patience:
			t.Fatalf("no verdict about %s", id)
		}
	}
}

// once fails the test unless the bot says the text, in one message.
func (p *post) once(t *testing.T, text string) {
	t.Helper()
	p.says(t, text, time.Minute) // each step of a turn may wait for a silent store in vain
	count := 0
	for _, line := range p.said() {
		if strings.HasPrefix(line, "Parley: ") && strings.Contains(line, text) {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%q was said %d times; said: %q", text, count, p.said())
	}
}

// TestClaimsAway: a message that comes while neither store answers is answered all the same, and once, however often Discord
// sends it: at once, after the answer, and when the stores are back. So is one that was answered before they went away.
func TestClaimsAway(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(*storetest.Proxy) }{
		"gone":   {(*storetest.Proxy).Cut, func(p *storetest.Proxy) { p.Restore(t) }},
		"silent": {(*storetest.Proxy).Silence, (*storetest.Proxy).Speak},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ, database, cache := behind(t)
			p := &post{home: newHome(t), verdicts: make(chan turn.Event, 100)}
			a := p.openWatched(t, func(e turn.Event) {
				if e.Kind == turn.EventAdmission {
					p.verdicts <- e
				}
			}, environ...)
			run(t, a)
			before := p.say(t, "say well before")
			p.expect(t, before, turn.ReasonMention)
			p.once(t, "well before")
			app.Idle(t, a)

			fault.begin(database)
			fault.begin(cache)
			p.again(t, before)
			p.expect(t, before, turn.ReasonDuplicate)
			away := p.say(t, "say while away")
			p.again(t, away) // while the first is being claimed
			p.expect(t, away, turn.ReasonMention, turn.ReasonDuplicate)
			p.once(t, "while away")
			p.again(t, away)
			p.expect(t, away, turn.ReasonDuplicate)

			fault.end(database)
			fault.end(cache)
			after := p.say(t, "say back again")
			p.expect(t, after, turn.ReasonMention)
			p.once(t, "back again")
			for _, id := range []discordsim.ID{before, away, after} {
				p.again(t, id)
				p.expect(t, id, turn.ReasonDuplicate)
			}
			app.Idle(t, a)
			for _, text := range []string{"well before", "while away", "back again"} {
				p.once(t, text)
			}
		})
	}
}
