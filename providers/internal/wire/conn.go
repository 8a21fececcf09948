package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

// line is the connection that a request goes over, for as long as it is this request's alone. The transport closes it
// some time after a request was cancelled; a killed turn must not say that it is done before.
type line struct{ conn net.Conn }

type lineKey struct{}

// withLine lets the requests of a context tell their connection.
func withLine(ctx context.Context) (context.Context, *line) {
	l := &line{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { l.conn = ownConn(info.Conn) }})
	return context.WithValue(ctx, lineKey{}, l), l
}

// ownConn is the plain connection below c; nil when other requests may share it.
func ownConn(c net.Conn) net.Conn {
	t, secure := c.(*tls.Conn)
	switch {
	case !secure:
		return c
	case t.ConnectionState().NegotiatedProtocol != "":
		return nil // HTTP/2: resetting the one stream is the transport's
	}
	return t.NetConn()
}

// cut closes the connection now. It is called when nobody wants anything from it any more.
func (l *line) cut() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// promptConn is a connection whose other side hears of its end at once. Closing alone only marks it: it is really closed
// when the transport's goroutine has left its read, which a busy machine puts off.
type promptConn struct{ *net.TCPConn }

// Close implements net.Conn.
func (c promptConn) Close() error {
	_ = c.CloseWrite()
	return c.TCPConn.Close()
}

// dialPromptly dials as http.DefaultTransport does.
func dialPromptly(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	c, err := d.DialContext(ctx, network, address)
	if t, ok := c.(*net.TCPConn); ok && err == nil {
		return promptConn{t}, nil
	}
	return c, err
}

// lineTransport tells a line when its connection is no longer its own: the transport gives it to others once a body was
// read to its end.
type lineTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t lineTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(req)
	if l, _ := req.Context().Value(lineKey{}).(*line); err == nil && l != nil {
		if res.Body == http.NoBody {
			l.conn = nil
		}
		res.Body = &lineBody{res.Body, l}
	}
	return res, err
}

// CloseIdleConnections passes http.Client's wish on.
func (t lineTransport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type lineBody struct {
	io.ReadCloser
	line *line
}

func (b *lineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.line.conn = nil
	}
	return n, err
}
