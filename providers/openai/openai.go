// Package openai speaks the chat completions format, as OpenAI and the many servers compatible with it do. Requests,
// authentication and types are the vendor SDK's; the answer is read here, from its bytes, because what matters most (how
// a stream ended, which calls arrived whole) is what SDKs and servers disagree on most.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/parleybot/parley/providers"
)

// Config says which service to talk to. Nothing is read from the environment.
type Config struct {
	// Name is the provider's name in logs, gates and errors; "" means "openai".
	Name string
	// BaseURL is the service's base, with or without a version or the whole path; "" means OpenAI's own. Its query is
	// kept.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none, as local servers want it.
	APIKey string
	// Model is used when a request names none.
	Model string
	// HTTPClient carries the requests; nil means one of our own. Its Timeout and its redirects are not used: a total
	// timeout cuts healthy streams, and a redirect would take the key elsewhere.
	HTTPClient *http.Client
	// HeaderTimeout bounds the wait for an answer to begin; 0 means 2 minutes. Waiting between pieces is the caller's.
	HeaderTimeout time.Duration
	// ThinkTags moves <think>-style tags in the text to thinking, for servers that don't tell reasoning apart;
	// ThinkUnopened is for those whose prompt template opens the tag itself.
	ThinkTags, ThinkUnopened bool
}

const (
	defaultName          = "openai"
	defaultBaseURL       = "https://api.openai.com/v1"
	defaultHeaderTimeout = 2 * time.Minute
)

// Provider is one OpenAI-compatible service. It is safe for concurrent use.
type Provider struct {
	name          string
	model         string
	key           string
	headerTimeout time.Duration
	tags          bool
	unopened      bool
	client        *http.Client
	service       sdk.ChatCompletionService
	// What this service was found not to understand; learned from its refusals and kept for later requests.
	noStreamOptions, swapLimit atomic.Bool
}

var _ providers.Provider = (*Provider)(nil)

// New checks the configuration. It does not contact the service.
func New(c Config) (*Provider, error) {
	if c.Name == "" {
		c.Name = defaultName
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = defaultHeaderTimeout
	}
	base, query, err := endpoint(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("provider %s: base URL: %w", c.Name, err)
	}
	p := &Provider{
		name: c.Name, model: c.Model, key: c.APIKey, headerTimeout: c.HeaderTimeout,
		tags: c.ThinkTags || c.ThinkUnopened, unopened: c.ThinkUnopened, client: httpClient(c.HTTPClient),
	}
	// The service's own constructor, unlike the client's, takes nothing from the environment.
	p.service = sdk.NewChatCompletionService(p.options(base, query)...)
	return p, nil
}

func (p *Provider) options(base string, query url.Values) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base),
		option.WithHTTPClient(p.client),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
		option.WithMiddleware(boundErrorBody),
	}
	if p.key != "" {
		opts = append(opts, option.WithAPIKey(p.key))
	}
	for name, values := range query {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	return opts
}

// httpClient is a copy of c without what would break a stream or leak the key.
func httpClient(c *http.Client) *http.Client {
	if c == nil {
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32,
			IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
			// A compressing proxy would hold small pieces back.
			DisableCompression: true,
		}
		c = &http.Client{Transport: transport}
	}
	own := *c
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// boundErrorBody keeps the SDK, which reads the body of a refusal whole, from reading one without end.
func boundErrorBody(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res.StatusCode != http.StatusOK {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, err
}

// Name is the configured name.
func (p *Provider) Name() string { return p.name }

// Close drops idle connections. Streams that run are not touched.
func (p *Provider) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Stream sends one request and yields the answer as it arrives. Failures are *providers.Error, except for the context's
// own error.
func (p *Provider) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	seq := func(yield func(providers.Fragment, error) bool) {
		own, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		err := p.stream(own, cancel, req, yield)
		switch {
		case err == nil, errors.Is(err, errLeft):
			return
		case ctx.Err() != nil:
			err = ctx.Err()
		case errors.Is(context.Cause(own), errNoHeaders):
			err = p.retryable(p.failure(providers.KindTimeout, errNoHeaders.Error(), nil))
		}
		yield(nil, err)
	}
	if p.tags {
		return providers.ThinkTags(seq, p.unopened)
	}
	return seq
}

var (
	// errLeft means that the reader of the stream left it; there is nobody to tell anything.
	errLeft = errors.New("reader left")
	// errNoHeaders is the cause that ends a request whose answer doesn't begin.
	errNoHeaders = errors.New("no answer began in time")
)

func (p *Provider) stream(ctx context.Context, cancel context.CancelCauseFunc, req providers.Request,
	yield func(providers.Fragment, error) bool,
) error {
	if req.Model == "" {
		req.Model = p.model
	}
	if err := check(req); err != nil {
		return p.failure(providers.KindBadRequest, err.Error(), nil)
	}
	res, err := p.send(ctx, cancel, req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	a := answer{
		provider: p, yield: yield, limit: req.MaxOutputTokens, model: req.Model,
		slots: slots{offered: func(name string) bool {
			return slices.ContainsFunc(req.Tools, func(t providers.ToolSpec) bool { return t.Name == name })
		}},
	}
	if err := a.readBody(res); err != nil {
		return err
	}
	drain(res.Body, cancel)
	return nil
}

// send gets a 200 answer. A refusal that names a parameter some servers don't know is answered by one more try without it.
func (p *Provider) send(ctx context.Context, cancel context.CancelCauseFunc, req providers.Request) (*http.Response, error) {
	for {
		d := dialect{noStreamOptions: p.noStreamOptions.Load(), swapLimit: p.swapLimit.Load()}
		res, err := p.sendOnce(ctx, cancel, req, d)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || !p.learn(d, req, body) {
			return nil, p.refusal(res, body)
		}
	}
}

func (p *Provider) sendOnce(ctx context.Context, cancel context.CancelCauseFunc, req providers.Request, d dialect) (*http.Response, error) {
	timer := time.AfterFunc(p.headerTimeout, func() { cancel(errNoHeaders) })
	defer timer.Stop()
	var res *http.Response
	_, err := p.service.New(ctx, p.params(req, d), option.WithJSONSet("stream", true), option.WithResponseBodyInto(&res))
	if res != nil {
		// Also when err is set: the SDK makes errors of refusals, but keeps less of them than we do.
		return res, nil
	}
	return nil, p.retryable(p.failure(providers.KindNetwork, "the service could not be reached", withoutURL(err)))
}

// drain lets the connection be used again: the end of the body is usually there already, and when it isn't, the
// connection is given up after a moment.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	timer := time.AfterFunc(drainTime, func() { cancel(nil) })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, maxErrorBody)
}

const drainTime = 50 * time.Millisecond
