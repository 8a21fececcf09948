package discordsim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// RateLimit is how many requests one bucket takes in a window of time.
type RateLimit struct {
	Requests int
	Window   time.Duration
}

// RateLimits are the limits that [World.EnableRateLimits] enforces. A bucket is one route with one channel, guild or
// webhook.
type RateLimits struct {
	// Global counts all requests but those of interactions; 50 a second when zero.
	Global RateLimit
	// Routes are limits by route; those not named have a bucket of 50 a second, and the ones that Discord holds
	// shorter (messages, reactions, typing) the limits seen there.
	Routes map[string]RateLimit
}

type limiter struct {
	global  RateLimit
	routes  map[string]RateLimit
	windows map[string]*window
}

type window struct {
	ends time.Time
	used int
}

// discordLimits are what Discord's answers told, measured by the community; Discord does not publish them.
var discordLimits = map[string]RateLimit{
	"POST /channels/{channel_id}/messages":                                           {5, 5 * time.Second},
	"PATCH /channels/{channel_id}/messages/{message_id}":                             {5, 5 * time.Second},
	"DELETE /channels/{channel_id}/messages/{message_id}":                            {5, time.Second},
	"POST /channels/{channel_id}/typing":                                             {5, 5 * time.Second},
	"PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me":    {1, 250 * time.Millisecond},
	"DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me": {1, 250 * time.Millisecond},
}

var unlimited = RateLimit{Requests: 50, Window: time.Second}

// EnableRateLimits makes the server refuse with 429 what goes over the limits. Without it, headers tell of room only.
func (w *World) EnableRateLimits(limits RateLimits) error {
	if limits.Global.Requests == 0 {
		limits.Global = unlimited
	}
	l := &limiter{global: limits.Global, routes: map[string]RateLimit{}, windows: map[string]*window{}}
	for name, limit := range discordLimits {
		l.routes[routeKey(name)] = limit
	}
	for name, limit := range limits.Routes {
		if !knownRoute(routeKey(name)) {
			return fmt.Errorf("enabling rate limits: no route %q", name)
		}
		if limit.Requests < 1 || limit.Window <= 0 {
			return fmt.Errorf("enabling rate limits: %q needs at least one request in a window", name)
		}
		l.routes[routeKey(name)] = limit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limiter = l
	return nil
}

// check counts a request and returns the refusal, if it is one too many, and the headers for its answer. Windows are
// fixed, as Discord's are, and run in real time. The world is locked.
func (l *limiter) check(r route, req *http.Request) (*answer, map[string]string) {
	bucket := bucketHash(r)
	if l == nil {
		return nil, limitHeaders(bucket, unlimited, unlimited.Requests-1, time.Now().Add(unlimited.Window))
	}
	now := time.Now()
	if !r.open {
		if w := l.window("global", l.global, now); w.used > l.global.Requests {
			a := tooMany(w.ends.Sub(now), "global")
			return &a, nil
		}
	}
	limit, ok := l.routes[routeKey(r.name())]
	if !ok {
		limit = unlimited
	}
	w := l.window(bucket+majorParameter(req), limit, now)
	headers := limitHeaders(bucket, limit, max(limit.Requests-w.used, 0), w.ends)
	if w.used <= limit.Requests {
		return nil, headers
	}
	a := tooMany(w.ends.Sub(now), "user")
	maps.Copy(a.header, headers)
	return &a, nil
}

// window counts one request in.
func (l *limiter) window(key string, limit RateLimit, now time.Time) *window {
	w := l.windows[key]
	if w == nil || !now.Before(w.ends) {
		if len(l.windows) > 10_000 {
			clear(l.windows)
		}
		w = &window{ends: now.Add(limit.Window)}
		l.windows[key] = w
	}
	w.used++
	return w
}

func limitHeaders(bucket string, limit RateLimit, remaining int, ends time.Time) map[string]string {
	return map[string]string{
		"X-RateLimit-Bucket":      bucket,
		"X-RateLimit-Limit":       strconv.Itoa(limit.Requests),
		"X-RateLimit-Remaining":   strconv.Itoa(remaining),
		"X-RateLimit-Reset":       seconds(time.Duration(ends.UnixMilli()) * time.Millisecond),
		"X-RateLimit-Reset-After": seconds(max(time.Until(ends), 0)),
	}
}

// tooMany is the 429.
func tooMany(after time.Duration, scope string) answer {
	after = max(after, time.Millisecond)
	body := map[string]any{
		"message": "You are being rate limited.", "retry_after": after.Seconds(), "global": scope == "global", "code": 0,
	}
	a := jsonAnswer(http.StatusTooManyRequests, body)
	a.fault = true
	a.header = map[string]string{
		// The header is in whole seconds, rounded up.
		"Retry-After":       strconv.Itoa(int((after + time.Second - 1) / time.Second)),
		"X-RateLimit-Scope": scope,
	}
	if scope == "global" {
		a.header["X-RateLimit-Global"] = "true"
	}
	return a
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func bucketHash(r route) string {
	sum := sha256.Sum256([]byte(r.name()))
	return hex.EncodeToString(sum[:8])
}

// majorParameter is the id that has its own bucket of a route.
func majorParameter(r *http.Request) string {
	for _, name := range []string{"channel_id", "guild_id", "webhook_id"} {
		if v := r.PathValue(name); v != "" {
			return "/" + v + r.PathValue("webhook_token")
		}
	}
	return ""
}
