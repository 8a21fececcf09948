// Package wire holds what the wire formats have in common and no SDK does the way it is needed here: the HTTP client, the
// frame of a stream, what is made of a refusal, and ids and names that vendors take back.
package wire

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/parleybot/parley/providers"
)

// MaxErrorBody bounds how much of a refusal is read.
const MaxErrorBody = 64 << 10

// Service is what every wire knows of the service it speaks to. It is safe for concurrent use.
type Service struct {
	// Name is the provider's name in logs, gates and errors.
	Name string
	// Key is the secret that no error may show.
	Key string
	// HeaderTimeout bounds the wait for an answer to begin.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the wait between two pieces of an answer; 0 means 5 minutes. The tool loop's own bound is
	// stricter: this one is for whoever reads without it, so that a silent server holds nobody for ever.
	IdleTimeout time.Duration
	// HTTP carries the requests; it comes from NewClient.
	HTTP *http.Client
}

// NewClient is a copy of c without what would break a stream or leak the key; nil means a client of our own. A total
// timeout cuts healthy streams, and a redirect would take the key elsewhere.
func NewClient(c *http.Client) *http.Client {
	if c == nil {
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialPromptly, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32,
			IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
			// A compressing proxy would hold small pieces back.
			DisableCompression: true,
		}
		c = &http.Client{Transport: transport}
	}
	own := *c
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = lineTransport{own.Transport}
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// BoundErrorBody is a middleware for the SDKs, which read the body of a refusal whole: it keeps one without end from
// being read for ever.
func BoundErrorBody(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res.StatusCode != http.StatusOK {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, MaxErrorBody), res.Body}
	}
	return res, err
}

var (
	// ErrLeft means that the reader of the stream left it; there is nobody to tell anything.
	ErrLeft = errors.New("reader left")
	// errNoHeaders is the cause that ends a request whose answer doesn't begin.
	errNoHeaders = errors.New("no answer began in time")
	// errSilent is the cause that ends an answer of which nothing more comes.
	errSilent = errors.New("the answer stopped coming")
)

const defaultIdleTimeout = 5 * time.Minute

// Yield passes a fragment or an error on; false means that the reader left.
type Yield func(providers.Fragment, error) bool

// Call is one request on its way.
type Call struct {
	service *Service
	cancel  context.CancelCauseFunc
}

// AwaitHeaders ends the request when no answer begins in time; the caller stops the wait when one did.
func (c Call) AwaitHeaders() (stop func() bool) {
	return time.AfterFunc(c.service.HeaderTimeout, func() { c.cancel(errNoHeaders) }).Stop
}

// Watch ends the request when its answer stops coming: every byte of the body starts the wait anew. The caller ends it.
func (c Call) Watch(res *http.Response) (stop func() bool) {
	wait := c.service.IdleTimeout
	if wait == 0 {
		wait = defaultIdleTimeout
	}
	timer := time.AfterFunc(wait, func() { c.cancel(errSilent) })
	res.Body = &watchedBody{ReadCloser: res.Body, timer: timer, wait: wait}
	return timer.Stop
}

type watchedBody struct {
	io.ReadCloser
	timer *time.Timer
	wait  time.Duration
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.wait)
	}
	return n, err
}

// Drain lets the connection be used again: the end of the body is usually there already, and when it isn't, the
// connection is given up after a moment.
func (c Call) Drain(body io.Reader) {
	timer := time.AfterFunc(drainTime, func() { c.cancel(nil) })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, MaxErrorBody)
}

const drainTime = 50 * time.Millisecond

// Stream frames one request: run sends it and yields the answer, and its error becomes the last element of the sequence:
// the caller's own context error when that context ended, else a *providers.Error.
func (s *Service) Stream(ctx context.Context, run func(context.Context, Call, Yield) error) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		own, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		own, line := withLine(own)
		err := run(own, Call{s, cancel}, yield)
		if ctx.Err() != nil || errors.Is(err, ErrLeft) {
			line.cut()
		}
		switch {
		case err == nil, errors.Is(err, ErrLeft):
			return
		case ctx.Err() != nil:
			err = ctx.Err()
		case errors.Is(context.Cause(own), errNoHeaders):
			err = Retryable(s.Failure(providers.KindTimeout, errNoHeaders.Error(), nil))
		case errors.Is(context.Cause(own), errSilent):
			err = Retryable(s.Failure(providers.KindTimeout, errSilent.Error(), nil))
		}
		yield(nil, err)
	}
}
