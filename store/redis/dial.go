package redis

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// dialer makes connections whose end the library's pool can see. Before it hands an idle one out it looks at the socket, without
// a round trip, and replaces what the server has ended: else every connection of before a restart would fail one command,
// although the server is back. It cannot look through TLS by itself.
//
// Two things are not covered. Where the library cannot look (Windows), the first commands after a restart fail. And a command
// whose connection dies under way fails and is not repeated: whether it was done cannot be known.
func dialer(options *redis.Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := redis.NewDialer(options)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if over, ok := conn.(*tls.Conn); ok && err == nil {
			if socket, ok := over.NetConn().(syscall.Conn); ok {
				return transparent{Conn: over, socket: socket}, nil
			}
		}
		return conn, err
	}
}

// transparent is a connection over TLS that shows the socket below it.
type transparent struct {
	*tls.Conn
	socket syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (t transparent) SyscallConn() (syscall.RawConn, error) { return t.socket.SyscallConn() }
