package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
)

// Picture is an image in its encoded form, whole.
type Picture struct {
	// MIME is what the bytes are, whatever was said of them.
	MIME string
	Data []byte
}

// Pictures fetches images that people attached. Implementations are safe for concurrent use, honour ctx, go nowhere but
// where attachments are kept, and return an error that wraps ErrNoPicture for what will never be one.
type Pictures interface {
	Picture(ctx context.Context, a Attachment) (Picture, error)
}

// ErrNoPicture is wrapped by errors about attachments that can't be shown to a model: too large, or no image of a known kind.
var ErrNoPicture = errors.New("no image that can be shown")

// Bounds of the images of one turn. Beside a bound on each image there is one on all together, since every round trip
// sends them again.
const (
	maxPictures     = 4
	MaxPictureBytes = 3 << 20
	maxPicturesAll  = 8 << 20
	picturesTimeout = 6 * time.Second
)

// show puts the images of a turn's trigger, and of the message that it replies to, on the message that the model reads,
// and says in words which they are and which could not be shown. It takes picturesTimeout at most, and does nothing when
// there are none.
func (m *Manager) show(ctx context.Context, r *running, p plan, to *providers.Message, chain []Model) {
	wanted := m.pictured(ctx, r.in, p)
	if len(wanted) == 0 {
		return
	}
	if m.Pictures == nil || !anySees(chain) {
		to.Content += "\n" + remark("you can't see images; say so if it matters")
		return
	}
	shown, lost := m.fetchPictures(ctx, r, wanted)
	for _, x := range shown {
		to.Images = append(to.Images, providers.Image{MIME: x.MIME, Data: x.Data})
	}
	if names := named(shown); names != "" {
		to.Content += "\n" + remark("shown with this message: "+names)
	}
	if names := named(lost); names != "" {
		to.Content += "\n" + remark("could not be shown: "+names)
	}
}

// pictured is one image that a turn is about.
type pictured struct {
	Attachment
	// replied: it is on the message that was replied to.
	replied bool
	Picture
}

// pictured lists the images of a trigger and of what it replies to. What its author wants nobody's model to see, and what
// was cleared, is none of them.
func (m *Manager) pictured(ctx context.Context, in Inbound, p plan) []pictured {
	var out []pictured
	for _, a := range in.Attachments {
		if looksLikeImage(a) {
			out = append(out, pictured{Attachment: a})
		}
	}
	if q := in.ReplyTo; q != nil && after(q.MessageID, p.epoch) && !p.blind {
		if x, _ := m.wish(ctx, q.Author.ID); x.hides(q.MessageID) {
			return out
		}
		for _, a := range q.Attachments {
			if looksLikeImage(a) {
				out = append(out, pictured{Attachment: a, replied: true})
			}
		}
	}
	return out
}

func looksLikeImage(a Attachment) bool {
	return slices.Contains(attachmentKinds([]Attachment{a}), registry.AttachmentImage)
}

func anySees(chain []Model) bool {
	for _, x := range chain {
		if x.Images {
			return true
		}
	}
	return false
}

// fetchPictures gets the images side by side. What comes too late, or is too much, is lost.
func (m *Manager) fetchPictures(ctx context.Context, r *running, wanted []pictured) (shown, lost []pictured) {
	ctx, cancel := context.WithTimeout(ctx, picturesTimeout)
	defer cancel()
	asked := wanted[:min(len(wanted), maxPictures)]
	got, failed := make([]Picture, len(asked)), make([]error, len(asked))
	var fetching sync.WaitGroup
	for i, x := range asked {
		fetching.Go(func() {
			got[i], failed[i] = safely(func() (Picture, error) { return m.Pictures.Picture(ctx, x.Attachment) })
		})
	}
	fetching.Wait()
	total := 0
	for i, x := range asked {
		switch x.Picture = got[i]; {
		case failed[i] != nil:
			m.Log.Warn().Err(failed[i]).Str("turn", string(r.id)).Str("attachment", x.ID).Msg("turn.image_not_fetched")
			lost = append(lost, x)
		case len(x.Data) == 0 || total+len(x.Data) > maxPicturesAll:
			lost = append(lost, x)
		default:
			total += len(x.Data)
			shown = append(shown, x)
		}
	}
	return shown, append(lost, wanted[len(asked):]...)
}

// named lists images by their names.
func named(list []pictured) string {
	var names []string
	for _, x := range list {
		name := oneLine(x.Name, 80)
		if x.replied {
			name += " (of the message that is replied to)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
