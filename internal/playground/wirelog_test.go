package playground

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWireLog(t *testing.T) {
	t.Parallel()
	b := open(t, Config{})
	next := b.stream(b.person("You").ID, "")
	until(next, "snapshot")
	general := b.channel("general")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.p.town.sim.URL()+"/api/v9/channels/"+string(general)+"/messages",
		strings.NewReader(`{"content":"<b>`+strings.Repeat("é", wireBodyKept)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+b.p.town.world().Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	e := until(next, noteWire)
	l := decode[wireLine](t, e)
	if l.Method != http.MethodPost || l.Status != resp.StatusCode || l.Channel != general || l.Route != "POST /channels/{channel_id}/messages" {
		t.Errorf("the line: %+v", l)
	}
	if len(l.Body) > wireBodyKept+40 || !strings.HasPrefix(l.Body, `{"content":"<b>`) || !strings.HasSuffix(l.Body, "bytes more)") || !utf8.ValidString(l.Body) {
		t.Errorf("the body is shown with %d bytes: %.60q", len(l.Body), l.Body)
	}
	if strings.Contains(e.data, b.p.town.world().Token()) {
		t.Error("the log holds the token")
	}
}

func TestWireLogIsBounded(t *testing.T) {
	t.Parallel()
	f := newFeed()
	for i := range 5 * wireKept {
		f.wire(wireLine{Seq: i})
	}
	kept := f.state().wire
	if len(kept) != wireKept || kept[wireKept-1].Seq != 5*wireKept-1 || len(f.lines) > 2*wireKept {
		t.Errorf("%d lines are told and %d kept, the newest %d", len(kept), len(f.lines), kept[len(kept)-1].Seq)
	}
}

func TestBodyShownCutsAtCharacters(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "short", strings.Repeat("x", wireBodyKept), "a" + strings.Repeat("é", wireBodyKept), "\xff\xfe"} {
		got := bodyShown([]byte(body))
		if !utf8.ValidString(got) || len(got) > wireBodyKept+40 || len(body) <= wireBodyKept && utf8.ValidString(body) && got != body {
			t.Errorf("%.20q is shown as %.20q with %d bytes", body, got, len(got))
		}
	}
}
