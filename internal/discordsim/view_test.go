package discordsim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

func TestSeenPart(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	ids := map[string]discordsim.ID{}
	for i := range 10 {
		ids[fmt.Sprint(i)] = tw.say(t, tw.ana, fmt.Sprint(i))
	}
	must(t, tw.ana.Delete(ids["4"]))
	cases := map[string]struct {
		part         discordsim.Stretch
		want         string
		older, newer bool
	}{
		"the newest":       {discordsim.Stretch{Limit: 3}, "7 8 9", true, false},
		"everything":       {discordsim.Stretch{Limit: 9}, "0 1 2 3 5 6 7 8 9", false, false},
		"before one":       {discordsim.Stretch{Before: ids["6"], Limit: 3}, "2 3 5", true, true},
		"before the first": {discordsim.Stretch{Before: ids["0"], Limit: 3}, "", false, true},
		"after one":        {discordsim.Stretch{After: ids["2"], Limit: 3}, "3 5 6", true, true},
		"after the last":   {discordsim.Stretch{After: ids["9"], Limit: 3}, "", true, false},
		"around one":       {discordsim.Stretch{Around: ids["6"], Limit: 4}, "3 5 6 7", true, true},
		"around one gone":  {discordsim.Stretch{Around: ids["4"], Limit: 4}, "2 3 5 6", true, true},
		"around the last":  {discordsim.Stretch{Around: ids["9"], Limit: 4}, "7 8 9", true, false},
		"unknown, old":     {discordsim.Stretch{After: "1", Limit: 2}, "0 1", false, true},
	}
	for name, c := range cases {
		tw.world.Look(func(v discordsim.View) {
			messages, older, newer := v.SeenPart(tw.general, tw.olga.ID, c.part)
			var got []string
			for _, m := range messages {
				got = append(got, m.Content)
			}
			if strings.Join(got, " ") != c.want || older != c.older || newer != c.newer {
				t.Errorf("%s: %v, older %v, newer %v", name, got, older, newer)
			}
			stranger, _, _ := v.SeenPart(tw.general, tw.world.Bot()+"1", c.part)
			if len(stranger) > 0 {
				t.Errorf("%s: a stranger sees %v", name, stranger)
			}
		})
	}
}

func TestChannelChangesAreRecorded(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	must(t, tw.world.SetOverwrites(tw.general, discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermSendMessages}))
	must(t, tw.world.DeleteChannel(tw.general))
	var got []string
	tw.world.Look(func(v discordsim.View) {
		for _, e := range v.Entries(0) {
			got = append(got, fmt.Sprintf("%T", e.Event))
		}
	})
	for _, want := range []string{"discordsim.ChannelUpdated", "discordsim.ChannelDeleted"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, got)
		}
	}
}

func TestWhatAClientShows(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, `[{"name":"set","description":"Set","options":[{"type":4,"name":"n","description":"N","min_value":1,"max_value":5},`+
		`{"type":3,"name":"s","description":"S","max_length":7},{"type":7,"name":"c","description":"C","channel_types":[0,11]}]}]`)
	sticker, err := tw.world.AddSticker(tw.guild, "wave", "a waving hand", "wave")
	must(t, err)
	from := tw.say(t, tw.ana, "let us talk")
	thread, err := tw.ana.Thread(tw.general, " talk ", from)
	must(t, err)
	_, err = tw.ana.Say(thread, "here")
	must(t, err)
	tw.world.Look(func(v discordsim.View) {
		if s, ok := v.Sticker(sticker); !ok || s.Name != "wave" || s.Description != "a waving hand" {
			t.Errorf("sticker: %+v", s)
		}
		if c, ok := v.Channel(from); !ok || c.ID != thread || c.Name != "talk" || c.Messages != 1 || c.Locked {
			t.Errorf("thread: %+v", c)
		}
		options := v.CommandsFor(tw.general, tw.ana.ID)[0].Options
		if *options[0].MinValue != 1 || *options[0].MaxValue != 5 || *options[1].MaxLength != 7 || options[1].MinLength != nil || len(options[2].ChannelTypes) != 2 {
			t.Errorf("options: %+v", options)
		}
	})
}
