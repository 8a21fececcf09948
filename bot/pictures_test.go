package bot_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/turn"
)

func TestPictures(t *testing.T) {
	t.Parallel()
	const gif = "GIF89a and the rest"
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/ok.gif": gif, "/lie.png": "plain text", "/svg.png": "<svg xmlns='http://www.w3.org/2000/svg'/>",
		"/big.gif": gif + strings.Repeat("x", turn.MaxPictureBytes), "/empty.png": "",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte(body))
		})
	}
	mux.HandleFunc("/hang.gif", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := bot.NewPictures(server.Client(), server.URL)
	for _, c := range []struct {
		name, url string
		size      int
		never     bool   // asking again can't help
		want      string // the kind, empty when there is an error
	}{
		{"an image, whatever its server calls it", server.URL + "/ok.gif", 10, false, "image/gif"},
		{"no image", server.URL + "/lie.png", 10, true, ""},
		{"no kind that all models take", server.URL + "/svg.png", 10, true, ""},
		{"nothing", server.URL + "/empty.png", 0, true, ""},
		{"too large, by its own word", server.URL + "/ok.gif", turn.MaxPictureBytes + 1, true, ""},
		{"too large, whatever it said", server.URL + "/big.gif", 10, true, ""},
		{"gone", server.URL + "/gone.gif", 10, false, ""},
		{"another host", "https://example.com/ok.gif", 10, true, ""},
		{"a host that begins like Discord's", "https://cdn.discordapp.com.example.com/ok.gif", 10, true, ""},
		{"Discord's host in the user part", "https://cdn.discordapp.com@example.com/ok.gif", 10, true, ""},
		{"Discord's host without TLS", "http://cdn.discordapp.com/ok.gif", 10, true, ""},
		{"Discord's host at another port", "https://cdn.discordapp.com:8443/ok.gif", 10, true, ""},
		{"no address", ":", 10, true, ""},
	} {
		got, err := p.Picture(t.Context(), turn.Attachment{Name: "x", URL: c.url, Size: c.size})
		if got.MIME != c.want || (err == nil) != (c.want != "") || errors.Is(err, turn.ErrNoPicture) != c.never {
			t.Errorf("%s: %s, %v", c.name, got.MIME, err)
		}
		if c.want != "" && string(got.Data) != gif {
			t.Errorf("%s: it came as %q", c.name, got.Data)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Picture(ctx, turn.Attachment{URL: server.URL + "/hang.gif"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that has ended: %v", err)
	}
	// Where nothing stands in for Discord, only Discord's hosts are asked.
	if _, err := bot.NewPictures(server.Client(), "").Picture(t.Context(), turn.Attachment{URL: server.URL + "/ok.gif"}); !errors.Is(err, turn.ErrNoPicture) {
		t.Errorf("a stranger's server: %v", err)
	}
}
