package playground

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

func say(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	d := discordsim.Draft{Text: r.Text, ReplyTo: r.ReplyTo, Silent: r.Silent}
	for _, f := range r.Files {
		d.Files = append(d.Files, f.sim())
	}
	id, err := who.Send(r.Channel, d)
	return map[string]any{"id": id}, err
}

func (f file) sim() discordsim.File {
	return discordsim.File{Name: f.Name, ContentType: f.Type, Data: f.Data}
}

func edit(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	return nil, who.Edit(r.Message, r.Text)
}

func remove(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	return nil, who.Delete(r.Message)
}

func react(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	return nil, who.React(r.Message, r.Emoji)
}

func unreact(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	return nil, who.Unreact(r.Message, r.Emoji)
}

// thread opens a thread, from a message when one is named.
func thread(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	id, err := who.Thread(r.Channel, r.Name, r.Message)
	return map[string]any{"id": id}, err
}

func typing(_ context.Context, _ *Playground, who resident, r request) (any, error) {
	return nil, who.Type(r.Channel)
}

// fetchWithin bounds the way of a file from the simulator's CDN.
const fetchWithin = 10 * time.Second

// serveFile passes a file on from the simulator's CDN, which is another origin. Only pictures are shown in place, and
// nothing of a file may run.
func (p *Playground) serveFile(w http.ResponseWriter, r *http.Request) {
	from := ""
	if m, ok := p.town.world().Message(discordsim.ID(r.PathValue("message"))); ok && m.Deleted.IsZero() {
		for _, a := range m.Attachments {
			if a.ID == discordsim.ID(r.PathValue("attachment")) {
				from = a.URL
			}
		}
	}
	if from == "" {
		http.NotFound(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), fetchWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	one := &http.Transport{DisableKeepAlives: true}
	resp, err := one.RoundTrip(req)
	if err != nil {
		fail(w, http.StatusBadGateway, fmt.Errorf("fetching the file: %w", err))
		return
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	// A file never changes under its address, and a message that is drawn again must not fetch its pictures again.
	w.Header().Set("Cache-Control", "private, max-age=3600, immutable")
	if !picture(kind) {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(plainName(r.PathValue("name"))))
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func picture(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// plainName is a file's name as a header may carry it.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '/' {
			return '_'
		}
		return r
	}, name)
}
