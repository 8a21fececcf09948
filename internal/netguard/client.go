// Package netguard makes HTTP clients that are safe to point at addresses chosen by strangers: a model, a member, a web
// page that redirects. Where a connection may go is decided when it is dialled, on the address the name really resolved
// to, so a name that changes its answer, an odd spelling of an address and a redirect all meet the same decision.
package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrRefused is wrapped by every error for a request that the rules forbid: the destination, the port, the form of the
// URL, or one redirect too many. Trying again can't help.
var ErrRefused = errors.New("refused by the network rules")

// Defaults of a [Config].
const (
	DefaultMaxRedirects = 5
	DefaultMaxBodyBytes = 10 << 20
)

// Config loosens or tightens the rules of one client. The zero value is the strict one: public addresses only, ports 80
// and 443.
type Config struct {
	// AllowPrefixes are addresses that may be reached although they are not public, such as loopback for a model
	// server of the operator's own. Never fill it from anything a stranger can say.
	AllowPrefixes []netip.Prefix
	// AllowPorts are ports, besides 80 and 443, that may be reached on the addresses of AllowPrefixes. Everywhere
	// else 80 and 443 stay the only ones.
	AllowPorts []uint16
	// MaxRedirects is how many redirects are followed; 0 means DefaultMaxRedirects, below 0 none.
	MaxRedirects int
	// MaxBodyBytes caps a response body after decompression; 0 means DefaultMaxBodyBytes. Reading past it is an
	// error of type *TooLargeError, never a silent cut.
	MaxBodyBytes int64
	// ConnectTimeout bounds dialling and, separately, the TLS handshake; 0 means 10 s.
	ConnectTimeout time.Duration
	// HeaderTimeout bounds the wait for response headers; 0 means 30 s. There is no limit on the whole request: the
	// request's context is that.
	HeaderTimeout time.Duration

	resolver *net.Resolver // tests answer names themselves
}

// NewClient returns a client that keeps the rules. It uses no proxy from the environment, since a proxy would resolve
// names itself, and keeps no cookies. It is safe for concurrent use; CloseIdleConnections ends its idle connections.
func NewClient(c Config) *http.Client {
	if c.MaxRedirects == 0 {
		c.MaxRedirects = DefaultMaxRedirects
	}
	if c.MaxBodyBytes <= 0 {
		c.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if c.HeaderTimeout <= 0 {
		c.HeaderTimeout = 30 * time.Second
	}
	dialer := &net.Dialer{
		Timeout:   c.ConnectTimeout,
		KeepAlive: 30 * time.Second,
		Control:   newGuard(c.AllowPrefixes, c.AllowPorts).control,
		Resolver:  c.resolver,
	}
	return &http.Client{
		CheckRedirect: checkRedirect(c.MaxRedirects),
		Transport: &transport{
			maxBody: c.MaxBodyBytes,
			base: &http.Transport{
				Proxy:                  nil,
				DialContext:            dialer.DialContext,
				ForceAttemptHTTP2:      true,
				TLSHandshakeTimeout:    c.ConnectTimeout,
				ResponseHeaderTimeout:  c.HeaderTimeout,
				ExpectContinueTimeout:  time.Second,
				MaxResponseHeaderBytes: 64 << 10,
				MaxIdleConns:           32,
				MaxConnsPerHost:        32,
				IdleConnTimeout:        90 * time.Second,
			},
		},
	}
}

// guard decides on one resolved address.
type guard struct {
	public  *ssrf.Guardian
	inside  *ssrf.Guardian
	allowed []netip.Prefix
}

func newGuard(allowed []netip.Prefix, ports []uint16) guard {
	var v4, v6 []netip.Prefix
	for _, p := range allowed {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return guard{
		public: ssrf.New(),
		inside: ssrf.New(
			ssrf.WithPorts(append([]uint16{80, 443}, ports...)...),
			ssrf.WithAllowedV4Prefixes(v4...),
			ssrf.WithAllowedV6Prefixes(v6...),
		),
		allowed: allowed,
	}
}

// control is called by the dialer between socket and connect, once for every address of a name.
func (g guard) control(network, address string, conn syscall.RawConn) error {
	decide := g.public
	if at, err := netip.ParseAddrPort(address); err == nil {
		if slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(at.Addr()) }) {
			decide = g.inside
		}
	}
	if err := decide.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

func checkRedirect(most int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if len(via) > most {
			return fmt.Errorf("%w: more than %d redirects", ErrRefused, max(most, 0))
		}
		if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return fmt.Errorf("%w: redirect from https to %s", ErrRefused, next.URL.Scheme)
		}
		return nil // where it leads is decided by the transport and the dialer, as for the first request
	}
}
