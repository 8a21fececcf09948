package discordsim

import (
	"bytes"
	"image"
	_ "image/gif" // Discord tells the size of images; so must their formats be known.
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
)

// File is a file to attach.
type File struct {
	Name        string
	Data        []byte
	Description string
	// ContentType is guessed from the name and the data when empty.
	ContentType string
}

type storedFile struct {
	Attachment
	data []byte
}

// store keeps a file and gives it an address on the simulator's own CDN.
func (w *World) store(channel ID, f File) Attachment {
	if f.Name == "" {
		f.Name = "unknown"
	}
	// A form's default type says nothing.
	if f.ContentType == "" || f.ContentType == "application/octet-stream" {
		f.ContentType = mime.TypeByExtension(path.Ext(f.Name))
	}
	if f.ContentType == "" {
		f.ContentType = http.DetectContentType(f.Data)
	}
	id := w.newID()
	size, _, _ := image.DecodeConfig(bytes.NewReader(f.Data)) // Zero for what is no image.
	a := Attachment{
		ID: id, Name: f.Name, ContentType: f.ContentType, Size: len(f.Data), Description: f.Description,
		Width: size.Width, Height: size.Height,
		URL: w.base + "/attachments/" + string(channel) + "/" + string(id) + "/" + url.PathEscape(f.Name),
	}
	w.files[id] = &storedFile{Attachment: a, data: slices.Clone(f.Data)}
	return a
}

// FileData returns what is in an attached file, false when there is none with this id.
func (w *World) FileData(id ID) ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.files[id]
	if !ok {
		return nil, false
	}
	return slices.Clone(f.data), true
}

// serveAttachment is the CDN.
func (s *Server) serveAttachment(rw http.ResponseWriter, r *http.Request) {
	s.world.mu.Lock()
	f := s.world.files[ID(r.PathValue("attachment"))]
	s.world.mu.Unlock()
	if f == nil || f.Name != r.PathValue("name") {
		http.Error(rw, "This content is no longer available.", http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", f.ContentType)
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Content-Security-Policy", "sandbox")
	_, _ = rw.Write(f.data)
}
