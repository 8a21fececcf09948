package netguard

import (
	"fmt"
	"io"
	"net/http"
)

// TooLargeError says that a response body is longer than the client allows.
type TooLargeError struct {
	// Limit is the most that may be read, in bytes after decompression.
	Limit int64
}

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("response body is longer than %d bytes", e.Limit)
}

// transport checks the form of each request, redirects included, and caps each response's body.
type transport struct {
	base    *http.Transport
	maxBody int64
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if reason := refuseForm(req); reason != "" {
		if req.Body != nil {
			_ = req.Body.Close() // RoundTrip must, and there is nobody to tell
		}
		return nil, fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err // http.Client wraps it with method and URL
	}
	if resp.ContentLength > t.maxBody {
		_ = resp.Body.Close() // nothing was read from it
		return nil, &TooLargeError{Limit: t.maxBody}
	}
	// The transport has already put decompression in front of the body, so this counts what it grows to.
	resp.Body = &cappedBody{ReadCloser: resp.Body, limit: t.maxBody, left: t.maxBody}
	return resp, nil
}

// CloseIdleConnections is found by http.Client under this name.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

func refuseForm(req *http.Request) string {
	switch {
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return fmt.Sprintf("scheme %q", req.URL.Scheme)
	case req.URL.User != nil:
		return "user information in the URL"
	case req.URL.Hostname() == "":
		return "no host in the URL"
	}
	return ""
}

type cappedBody struct {
	io.ReadCloser
	limit, left int64
}

// Read hands out at most limit bytes and, if there is one more, an error rather than an end.
func (b *cappedBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if b.left == 0 {
		var probe [1]byte
		n, err := b.ReadCloser.Read(probe[:])
		if n > 0 {
			return 0, &TooLargeError{Limit: b.limit}
		}
		return 0, err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
