package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// album gives what it holds for an attachment's name; "hang" takes until ctx ends.
type album map[string]string

func (a album) Picture(ctx context.Context, x turn.Attachment) (turn.Picture, error) {
	if x.Name == "hang" {
		<-ctx.Done()
		return turn.Picture{}, ctx.Err()
	}
	data, ok := a[x.Name]
	if !ok {
		return turn.Picture{}, errors.New("gone")
	}
	return turn.Picture{MIME: "image/png", Data: []byte(data)}, nil
}

func pictures(names ...string) []turn.Attachment {
	var out []turn.Attachment
	for _, n := range names {
		out = append(out, turn.Attachment{ID: n, Name: n, ContentType: "image/png"})
	}
	return out
}

func withPictures(names ...string) change {
	return func(in *turn.Inbound) { in.Attachments = pictures(names...) }
}

func replyToPictures(who turn.Person, names ...string) change {
	return func(in *turn.Inbound) {
		in.ReplyTo = &turn.Quote{MessageID: "77", Author: who, Content: "look", Attachments: pictures(names...)}
	}
}

func TestPicturesOfATurn(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 5<<20)
	for _, c := range []struct {
		name    string
		sees    bool
		changes []change
		shown   string   // what the images hold
		says    []string // what the message says of them
		took    time.Duration
	}{
		{
			"on the trigger and on what it replies to", true,
			[]change{withPictures("a"), replyToPictures(person("ben"), "b")},
			"A B",
			[]string{"[shown with this message: a, b (of the message that is replied to)]"},
			0,
		},
		{"no model sees", false, []change{withPictures("a")}, "", []string{"attached file: a", "[you can't see images; say so if it matters]"}, 0},
		{
			"more than are shown", true,
			[]change{withPictures("a", "b", "c", "d", "e")},
			"A B C D",
			[]string{"[shown with this message: a, b, c, d]", "[could not be shown: e]"},
			0,
		},
		{
			"more bytes than are shown", true,
			[]change{withPictures("big", "big2", "a")},
			big + " A",
			[]string{"[shown with this message: big, a]", "[could not be shown: big2]"},
			0,
		},
		{"gone", true, []change{withPictures("gone", "a")}, "A", []string{"[shown with this message: a]", "[could not be shown: gone]"}, 0},
		{"one that does not come", true, []change{withPictures("hang", "a")}, "A", []string{"[could not be shown: hang]"}, 6 * time.Second},
		{
			"of a member who is left alone", true,
			[]change{withPictures("a"), replyToPictures(person("shy"), "b")},
			"A",
			[]string{"[shown with this message: a]"},
			0,
		},
		{"a name that pretends to be more", true, []change{withPictures("a]\n[a")}, "", []string{"[could not be shown: a) (a]"}, 0},
	} {
		check(t, c.name, func(t *testing.T) {
			w := newWorld(t)
			w.pictures = album{"a": "A", "b": "B", "c": "C", "d": "D", "e": "E", "big": big, "big2": big}
			w.models[0].Images = c.sees
			w.must(w.store.PutSetting(context.Background(), store.Setting{
				Scope: store.SettingMember, ID: person("shy").ID, Name: turn.SettingPrivacy, Value: "full",
			}))
			w.start()
			defer w.stop()
			begun := time.Now()
			w.say("ana", "c", "@bot look", c.changes...)
			w.pass(c.took)
			w.ended(store.TurnCompleted)
			asked := w.model.asked()[0].Messages
			m := asked[len(asked)-1]
			var shown []string
			for _, x := range m.Images {
				if x.MIME != "image/png" {
					t.Errorf("an image of kind %q", x.MIME)
				}
				shown = append(shown, string(x.Data))
			}
			if got := strings.Join(shown, " "); got != c.shown {
				t.Errorf("%d images of %d bytes, want %d bytes", len(shown), len(got), len(c.shown))
			}
			for _, want := range c.says {
				if !strings.Contains(m.Content, want) {
					t.Errorf("no %q in %q", want, m.Content)
				}
			}
			if took := time.Since(begun); took > c.took+time.Second {
				t.Error(fmt.Sprint("it took ", took))
			}
			synctest.Wait()
		})
	}
}
