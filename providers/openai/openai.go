// Package openai speaks the chat completions format, as OpenAI and the many servers compatible with it do. Requests,
// authentication and types are the vendor SDK's; the answer is read here, from its bytes, because what matters most (how
// a stream ended, which calls arrived whole) is what SDKs and servers disagree on most.
package openai

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// Config says which service to talk to. Nothing is read from the environment.
type Config struct {
	// Vendor names a line of the table of services (see Vendors) or "compatible" for one that is in none; "" means the
	// one whose address BaseURL is, and OpenAI when that is empty too.
	Vendor string
	// Name is the provider's name in logs, gates and errors; "" means the vendor's.
	Name string
	// BaseURL is the service's base, with or without a version or the whole path; "" means the vendor's own. Its query
	// is kept.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none, as local servers want it.
	APIKey string
	// Model is used when a request names none.
	Model string
	// HTTPClient carries the requests; nil means one of our own. Its Timeout and its redirects are not used: a total
	// timeout cuts healthy streams, and a redirect would take the key elsewhere.
	HTTPClient *http.Client
	// HeaderTimeout bounds the wait for an answer to begin; 0 means 2 minutes, and 5 for a local service, where a model
	// may have to load first.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the wait between two pieces of an answer; 0 means 5 minutes.
	IdleTimeout time.Duration
	// ThinkTags moves <think>-style tags in the text to thinking also where the vendor is known to tell reasoning apart;
	// ThinkUnopened is for servers whose prompt template opens the tag itself.
	ThinkTags, ThinkUnopened bool
	// Sees reports whether a model takes pictures; one that doesn't is told of them in words, and so is one for which the
	// service refuses them. nil means that whoever puts pictures into a request knows.
	Sees func(model string) bool
	// TextMayStop takes an answer of text whose stream just ended as finished, for servers that never say how an answer
	// ended. It can't be told from one that was cut off. An answer with calls is never taken so.
	TextMayStop bool
}

const (
	defaultHeaderTimeout = 2 * time.Minute
	localHeaderTimeout   = 5 * time.Minute
)

// Provider is one OpenAI-compatible service. It is safe for concurrent use.
type Provider struct {
	service     *wire.Service
	completions sdk.ChatCompletionService
	quirks      quirks
	model       string
	tags        bool
	unopened    bool
	seeing      func(string) bool

	mu sync.Mutex
	// dialects is what models were found not to take; learned from refusals and kept for later requests.
	dialects map[string]dialect
}

var _ providers.Provider = (*Provider)(nil)

// New checks the configuration. It does not contact the service.
func New(c Config) (*Provider, error) {
	vendor, known := vendorOf(c)
	if !known {
		return nil, fmt.Errorf("there is no vendor %q of the OpenAI format; there are %s", c.Vendor, vendorNames())
	}
	if c.Name == "" {
		c.Name = vendor.Name
	}
	switch {
	case c.BaseURL == "" && vendor.BaseURL == "":
		return nil, fmt.Errorf("provider %s: it needs a base URL", c.Name)
	case c.BaseURL == "" && vendor.NeedsKey && c.APIKey == "":
		return nil, fmt.Errorf("provider %s: it needs a key", c.Name)
	case c.BaseURL == "":
		c.BaseURL = vendor.BaseURL
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = defaultHeaderTimeout
		if vendor.Local {
			c.HeaderTimeout = localHeaderTimeout
		}
	}
	base, query, err := endpoint(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("provider %s: base URL: %w", c.Name, err)
	}
	p := &Provider{
		service: &wire.Service{Name: c.Name, Key: c.APIKey, HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, HTTP: wire.NewClient(c.HTTPClient)},
		quirks:  vendor.quirks, model: c.Model, seeing: c.Sees, dialects: map[string]dialect{},
		tags: vendor.quirks.thinkTags || c.ThinkTags || c.ThinkUnopened, unopened: c.ThinkUnopened,
	}
	p.quirks.loose = p.quirks.loose || c.TextMayStop
	// The service's own constructor, unlike the client's, takes nothing from the environment.
	p.completions = sdk.NewChatCompletionService(p.options(base, query)...)
	return p, nil
}

func (p *Provider) options(base string, query url.Values) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base),
		option.WithHTTPClient(p.service.HTTP),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
		option.WithMiddleware(wire.BoundErrorBody),
	}
	if p.service.Key != "" {
		opts = append(opts, option.WithAPIKey(p.service.Key))
	}
	for name, values := range query {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	return opts
}

// Name is the configured name.
func (p *Provider) Name() string { return p.service.Name }

// Close drops idle connections. Streams that run are not touched.
func (p *Provider) Close() error {
	p.service.HTTP.CloseIdleConnections()
	return nil
}

// Stream sends one request and yields the answer as it arrives. Failures are *providers.Error, except for the context's
// own error.
func (p *Provider) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	seq := p.service.Stream(ctx, func(ctx context.Context, call wire.Call, yield wire.Yield) error {
		return p.stream(ctx, call, req, yield)
	})
	if p.tags {
		return providers.ThinkTags(seq, p.unopened)
	}
	return seq
}

func (p *Provider) stream(ctx context.Context, call wire.Call, req providers.Request, yield wire.Yield) error {
	if req.Model == "" {
		req.Model = p.model
	}
	if err := check(req); err != nil {
		return p.service.Failure(providers.KindBadRequest, err.Error(), nil)
	}
	res, err := p.send(ctx, call, req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	defer call.Watch(res)()
	a := answer{
		provider: p, yield: yield, limit: req.MaxOutputTokens, model: req.Model, reasoned: reasoned{form: p.quirks.replay},
		slots: slots{offered: func(name string) bool {
			return slices.ContainsFunc(req.Tools, func(t providers.ToolSpec) bool { return t.Name == name })
		}},
	}
	if err := a.readBody(res); err != nil {
		return err
	}
	call.Drain(res.Body)
	return nil
}

// send gets a 200 answer. A refusal that names something some servers don't know is answered by one more try without it.
func (p *Provider) send(ctx context.Context, call wire.Call, req providers.Request) (*http.Response, error) {
	d := p.dialectOf(req.Model)
	for learned := false; ; learned = true {
		res, err := p.sendOnce(ctx, call, req, d)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK {
			if learned {
				p.remember(req.Model, d)
			}
			return res, nil
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, wire.MaxErrorBody))
		_ = res.Body.Close()
		if !d.learn(p, req, res.StatusCode, string(body)) {
			return nil, p.service.Refusal(res, body)
		}
	}
}

func (p *Provider) sendOnce(ctx context.Context, call wire.Call, req providers.Request, d dialect) (*http.Response, error) {
	defer call.AwaitHeaders()()
	var res *http.Response
	params, opts := p.params(req, d)
	_, err := p.completions.New(ctx, params, append(opts, option.WithResponseBodyInto(&res))...)
	if res != nil {
		// Also when err is set: the SDK makes errors of refusals, but keeps less of them than we do.
		return res, nil
	}
	return nil, p.service.Unreachable(err)
}
