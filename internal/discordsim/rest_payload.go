package discordsim

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

const (
	maxFiles = 10
	// maxFileSize is Discord's limit without boosts.
	maxFileSize = 10 << 20
	maxBody     = maxFiles*maxFileSize + 1<<20
	maxJSON     = 1 << 20
)

// payload is a request's JSON and its files.
type payload struct {
	body  []byte
	files []uploadedFile
}

type uploadedFile struct {
	// index is the n of a field files[n]; -1 for any other name.
	index string
	File
}

func (p *payload) fileNames() []string {
	var names []string
	for _, f := range p.files {
		names = append(names, f.Name)
	}
	return names
}

// readPayload reads a JSON or a multipart body.
func readPayload(rw http.ResponseWriter, r *http.Request) (*payload, error) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	p := &payload{}
	if kind != "multipart/form-data" {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxJSON+1))
		if err != nil {
			return nil, errInvalidJSON
		}
		if len(body) > maxJSON {
			return nil, errTooLarge
		}
		p.body = body
		return p, nil
	}
	mr := multipart.NewReader(r.Body, params["boundary"])
	for {
		part, err := mr.NextPart()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, errInvalidJSON
		}
		if err := p.readPart(part); err != nil {
			return nil, err
		}
	}
}

func (p *payload) readPart(part *multipart.Part) error {
	data, err := io.ReadAll(io.LimitReader(part, maxFileSize+1))
	if err != nil {
		return errInvalidJSON
	}
	if len(data) > maxFileSize {
		return errTooLarge
	}
	if part.FormName() == "payload_json" {
		p.body = data
		return nil
	}
	if part.FileName() == "" {
		return nil
	}
	index, named := strings.CutPrefix(part.FormName(), "files[")
	index, closed := strings.CutSuffix(index, "]")
	if !named || !closed {
		index = ""
	}
	p.files = append(p.files, uploadedFile{
		index: index,
		File:  File{Name: part.FileName(), Data: data, ContentType: part.Header.Get("Content-Type")},
	})
	return nil
}
