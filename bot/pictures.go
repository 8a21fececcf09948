package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/parleybot/parley/turn"
)

// attachmentHosts are where Discord keeps what people attach.
var attachmentHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// pictureKinds are the images that every model which sees can be shown.
var pictureKinds = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Pictures fetches the images that people attach, from Discord's own hosts and nowhere else. It is safe for concurrent use.
type Pictures struct {
	client *http.Client
	// base, when set, stands in for Discord, its attachments included.
	base *url.URL
}

var _ turn.Pictures = (*Pictures)(nil)

// NewPictures fetches with client, which must follow no redirect to other hosts and bound what it reads. apiBase stands
// in for Discord; empty means Discord.
func NewPictures(client *http.Client, apiBase string) *Pictures {
	p := &Pictures{client: client}
	if u, err := url.Parse(apiBase); err == nil && apiBase != "" && apiBase != DefaultAPIBase {
		p.base = u
	}
	return p
}

// Picture implements turn.Pictures.
func (p *Pictures) Picture(ctx context.Context, a turn.Attachment) (turn.Picture, error) {
	u, err := url.Parse(a.URL)
	if err != nil || !p.trusts(u) {
		return turn.Picture{}, fmt.Errorf("%w: it is not where attachments are kept", turn.ErrNoPicture)
	}
	if a.Size > turn.MaxPictureBytes {
		return turn.Picture{}, fmt.Errorf("%w: it has %d bytes", turn.ErrNoPicture, a.Size)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return turn.Picture{}, fmt.Errorf("asking for an attachment: %w", err)
	}
	res, err := p.client.Do(req)
	if err != nil {
		// The address holds a signature that gives access to the file; the log has no use for it.
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return turn.Picture{}, fmt.Errorf("fetching an attachment: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return turn.Picture{}, fmt.Errorf("fetching an attachment: HTTP %d", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, turn.MaxPictureBytes+1))
	switch {
	case err != nil:
		return turn.Picture{}, fmt.Errorf("reading an attachment: %w", err)
	case len(data) > turn.MaxPictureBytes:
		return turn.Picture{}, fmt.Errorf("%w: it has more than %d bytes", turn.ErrNoPicture, turn.MaxPictureBytes)
	}
	kind := http.DetectContentType(data) // what somebody says of a file proves nothing
	if !slices.Contains(pictureKinds, kind) {
		return turn.Picture{}, fmt.Errorf("%w: it is %s", turn.ErrNoPicture, kind)
	}
	return turn.Picture{MIME: kind, Data: data}, nil
}

// trusts reports whether an address is where attachments are kept.
func (p *Pictures) trusts(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if p.base != nil && u.Scheme == p.base.Scheme && u.Host == p.base.Host {
		return true
	}
	return u.Scheme == "https" && slices.Contains(attachmentHosts, u.Host)
}
