package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot/delivery"
)

const (
	maxTries       = 5
	retryBase      = 250 * time.Millisecond
	maxLimitedWait = 2 * time.Minute // a longer 429 is an error that people see
	requestTimeout = 20 * time.Second
	uploadTimeout  = 3 * time.Minute
	maxAnswer      = 16 << 20
)

// call is one request to Discord's REST API.
type call struct {
	route route
	path  string
	query url.Values
	body  any
	files []delivery.File
	// repeatable requests may be sent again when it is unknown whether the first one took effect.
	repeatable bool
}

// restClient sends requests: rate limits waited out, lost ones repeated, refusals typed. Safe for concurrent use.
type restClient struct {
	base    string // scheme, host and /api/vN
	auth    string
	agent   string
	http    *http.Client
	uploads *http.Client
	limiter *limiter
	log     zerolog.Logger

	rejectOnce sync.Once
	rejected   chan struct{} // closed when Discord answered 401 to the bot's token
}

func newRestClient(cfg Config, budget Budget, transport http.RoundTripper) *restClient {
	limiter := newLimiter()
	limiter.shared = newSharedBudget(budget, cfg.Log)
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &restClient{
		base:     strings.TrimRight(cfg.APIBase, "/") + "/api/v10",
		auth:     "Bot " + cfg.Token,
		agent:    "DiscordBot (https://github.com/parleybot/parley, " + cfg.Version + ")",
		http:     &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: follow},
		uploads:  &http.Client{Transport: transport, Timeout: uploadTimeout, CheckRedirect: follow},
		limiter:  limiter,
		log:      cfg.Log,
		rejected: make(chan struct{}),
	}
}

// do sends c and decodes the answer into out, unless out is nil. Errors are *APIError, a context's end, or what the
// network said.
func (r *restClient) do(ctx context.Context, c call, out any) error {
	body, kind, err := encode(c)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", c.route.key(), err)
	}
	p, err := r.limiter.enter(ctx, c.route)
	if err != nil {
		return err
	}
	defer p.leave()
	for try := 1; ; try++ {
		if err := p.wait(ctx); err != nil {
			return err
		}
		a, err := r.send(ctx, c, body, kind)
		again, err := r.judge(p, c, a, err)
		switch {
		case err == nil && out == nil:
			return nil
		case err == nil:
			if err := json.Unmarshal(a.body, out); err != nil {
				return fmt.Errorf("reading the answer to %s: %w", c.route.key(), err)
			}
			return nil
		case !again || try == maxTries || ctx.Err() != nil:
			return err
		}
		// A 429 is waited out by the limiter itself.
		if a.status == http.StatusTooManyRequests {
			continue
		}
		if err := pause(ctx, backoff(retryBase, 5*time.Second, try)); err != nil {
			return fmt.Errorf("repeating %s: %w", c.route.key(), err)
		}
	}
}

// answer is what came back; status is 0 when nothing did.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// judge says whether a request failed and whether it may be sent again.
func (r *restClient) judge(p *pass, c call, a answer, err error) (again bool, _ error) {
	if err != nil {
		return c.repeatable, fmt.Errorf("%s: %w", c.route.key(), err)
	}
	p.observe(a.header)
	switch {
	case a.status < 300:
		return false, nil
	case a.status == http.StatusTooManyRequests:
		after, global := readLimited(a)
		p.limited(after, global)
		r.log.Warn().Str("route", c.route.key()).Dur("retry_after", after).Bool("global", global).Msg("rest.limited")
		return after <= maxLimitedWait, newAPIError(c.route, a.status, a.body)
	case a.status >= 500:
		return c.repeatable, newAPIError(c.route, a.status, a.body)
	case a.status == http.StatusUnauthorized && !c.route.free:
		r.rejectOnce.Do(func() { close(r.rejected) })
	}
	return false, newAPIError(c.route, a.status, a.body)
}

// readLimited reads the delay of a 429 from its body, else from its header (Cloudflare answers without a JSON body).
func readLimited(a answer) (after time.Duration, global bool) {
	var said struct {
		RetryAfter *float64 `json:"retry_after"`
		Global     bool     `json:"global"`
	}
	global = a.header.Get("X-RateLimit-Global") == "true" || a.header.Get("X-RateLimit-Scope") == "global"
	seconds := a.header.Get("Retry-After")
	if json.Unmarshal(a.body, &said) == nil {
		global = global || said.Global
		if said.RetryAfter != nil {
			seconds = strconv.FormatFloat(*said.RetryAfter, 'f', -1, 64)
		}
	}
	after, err := parseSeconds(seconds)
	if err != nil {
		after = time.Second
	}
	return after, global
}

// send makes one round trip and reads the whole answer.
func (r *restClient) send(ctx context.Context, c call, body []byte, kind string) (answer, error) {
	target := r.base + c.path
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, c.route.method, target, reader)
	if err != nil {
		return answer{}, plainError(err)
	}
	req.Header.Set("Authorization", r.auth)
	req.Header.Set("User-Agent", r.agent)
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	client := r.http
	if len(c.files) > 0 {
		client = r.uploads
	}
	start := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, plainError(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, plainError(err)
	}
	if len(got) > maxAnswer {
		return answer{}, fmt.Errorf("answer of more than %d bytes", maxAnswer)
	}
	r.log.Debug().Str("route", c.route.key()).Int("status", resp.StatusCode).Dur("took", time.Since(start)).Msg("rest.request")
	return answer{status: resp.StatusCode, header: resp.Header, body: got}, nil
}

// plainError drops the URL of a network error: the paths of interactions hold their secret tokens.
func plainError(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// encode makes the request body: JSON, or a form with the JSON and the files.
func encode(c call) (body []byte, kind string, err error) {
	if c.body == nil {
		return nil, "", nil
	}
	payload, err := json.Marshal(c.body)
	if err != nil || len(c.files) == 0 {
		return payload, "application/json", err
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	head := textproto.MIMEHeader{}
	head.Set("Content-Disposition", `form-data; name="payload_json"`)
	head.Set("Content-Type", "application/json")
	part, err := w.CreatePart(head)
	if err == nil {
		_, err = part.Write(payload)
	}
	for i, f := range c.files {
		if err != nil {
			break
		}
		if part, err = w.CreateFormFile("files["+strconv.Itoa(i)+"]", f.Name); err == nil {
			_, err = part.Write(f.Data)
		}
	}
	if err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return form.Bytes(), w.FormDataContentType(), nil
}

// backoff is the delay before the next try: base doubled per try up to limit, of which a random half is taken away so
// that many clients don't come back together.
func backoff(base, limit time.Duration, try int) time.Duration {
	d := limit
	if shift := max(try-1, 0); shift < 20 {
		d = min(base<<shift, limit)
	}
	return d/2 + rand.N(d/2+1)
}
