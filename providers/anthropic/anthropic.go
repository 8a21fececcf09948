// Package anthropic speaks the messages format, as Anthropic and the gateways compatible with it do. Requests,
// authentication and types are the vendor SDK's; the answer is read here, from its bytes: the SDK's own accumulator turns
// arguments that were cut into a valid empty object, and a stream that just stops into a finished one.
package anthropic

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// Config says which service to talk to. Nothing is read from the environment.
type Config struct {
	// Name is the provider's name in logs, gates and errors; "" means "anthropic".
	Name string
	// BaseURL is the service's base, with or without the version or the whole path; "" means Anthropic's own. Its query
	// is kept.
	BaseURL string
	// APIKey is sent as x-api-key; "" sends none, as local gateways want it.
	APIKey string
	// Bearer sends the key as a bearer token instead, for gateways that want it so.
	Bearer bool
	// Model is used when a request names none.
	Model string
	// MaxOutputTokens bounds an answer, its reasoning included, when a request has no bound of its own; the format
	// demands one. 0 means what suits the model.
	MaxOutputTokens int
	// HTTPClient carries the requests; nil means one of our own. Its Timeout and its redirects are not used: a total
	// timeout cuts healthy streams, and a redirect would take the key elsewhere.
	HTTPClient *http.Client
	// HeaderTimeout bounds the wait for an answer to begin; 0 means 2 minutes.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the wait between two pieces of an answer; 0 means 5 minutes.
	IdleTimeout time.Duration
}

const (
	defaultName          = "anthropic"
	defaultBaseURL       = "https://api.anthropic.com"
	defaultHeaderTimeout = 2 * time.Minute
	// apiVersion is the version that gateways know too. The SDK's own is newer and refuses a temperature of any model;
	// what is sent and read here is the same in both.
	apiVersion = "2023-06-01"
)

// Provider is one service that speaks the messages format. It is safe for concurrent use.
type Provider struct {
	service  *wire.Service
	messages sdk.MessageService
	model    string
	limit    int

	mu sync.Mutex
	// refused is what models were found not to take; learned from refusals and kept for later requests.
	refused map[string]refused
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
		service: &wire.Service{
			Name: c.Name, Key: c.APIKey, HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, HTTP: wire.NewClient(c.HTTPClient),
		},
		model: c.Model, limit: c.MaxOutputTokens, refused: map[string]refused{},
	}
	// The service's own constructor, unlike the client's, takes nothing from the environment.
	p.messages = sdk.NewMessageService(p.options(c, base, query)...)
	return p, nil
}

func (p *Provider) options(c Config, base string, query url.Values) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(base),
		option.WithHTTPClient(p.service.HTTP),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
		option.WithHeader("anthropic-version", apiVersion),
		option.WithMiddleware(wire.BoundErrorBody),
	}
	switch {
	case c.APIKey == "":
	case c.Bearer:
		opts = append(opts, option.WithAuthToken(c.APIKey))
	default:
		opts = append(opts, option.WithHeader("x-api-key", c.APIKey))
	}
	for name, values := range query {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	return opts
}

// endpoint turns whatever an operator wrote as base URL into the base behind which the SDK puts v1/messages, and the
// query to send along.
func endpoint(raw string) (base string, query url.Values, err error) {
	u, err := wire.ParseBase(raw)
	if err != nil {
		return "", nil, err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimSuffix(path, "/messages")
	path = strings.TrimSuffix(path, "/v1")
	return u.Scheme + "://" + u.Host + path + "/", u.Query(), nil
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
	return p.service.Stream(ctx, func(ctx context.Context, call wire.Call, yield wire.Yield) error {
		return p.stream(ctx, call, req, yield)
	})
}

func (p *Provider) stream(ctx context.Context, call wire.Call, req providers.Request, yield wire.Yield) error {
	if req.Model == "" {
		req.Model = p.model
	}
	if req.MaxOutputTokens == 0 {
		req.MaxOutputTokens = p.limit
	}
	res, sent, err := p.send(ctx, call, req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	defer call.Watch(res)()
	a := answer{service: p.service, yield: yield, model: req.Model, limit: sent.limit}
	if err := a.readBody(res); err != nil {
		return err
	}
	call.Drain(res.Body)
	return nil
}

// send gets a 200 answer. A refusal of something that can be left out is answered by one more try without it.
func (p *Provider) send(ctx context.Context, call wire.Call, req providers.Request) (*http.Response, prepared, error) {
	if err := check(req); err != nil {
		return nil, prepared{}, p.service.Failure(providers.KindBadRequest, err.Error(), nil)
	}
	without := p.refusedBy(req.Model)
	for {
		sent, err := p.prepare(req, without)
		if err != nil {
			return nil, sent, p.service.Failure(providers.KindBadRequest, err.Error(), nil)
		}
		res, err := p.sendOnce(ctx, call, sent)
		if err != nil {
			return nil, sent, err
		}
		if res.StatusCode == http.StatusOK {
			return res, sent, nil
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, wire.MaxErrorBody))
		_ = res.Body.Close()
		learned := without
		if res.StatusCode != http.StatusBadRequest || !learned.learn(sent, string(body)) {
			return nil, sent, p.service.Refusal(res, body)
		}
		without = learned
		p.remember(req.Model, without)
	}
}

func (p *Provider) sendOnce(ctx context.Context, call wire.Call, sent prepared) (*http.Response, error) {
	defer call.AwaitHeaders()()
	var res *http.Response
	opts := append(sent.extra, option.WithResponseInto(&res))
	stream := p.messages.NewStreaming(ctx, sent.params, opts...)
	if res != nil {
		// Also when the SDK made an error of it: it keeps less of a refusal than we do. The stream itself is not used.
		return res, nil
	}
	return nil, p.service.Unreachable(stream.Err())
}
