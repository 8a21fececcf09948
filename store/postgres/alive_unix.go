//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package postgres

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// askAfter is how long a connection may lie unused before its server is asked whether it is there: a machine that is gone
// without a word, or a router that has forgotten the connection, is not to be seen from here. Routers remember for a minute at
// the least, and to ask sooner would nearly double what a turn asks of the server in a bot that is talked to every few seconds.
const askAfter = 30 * time.Second

// quiet says that a connection nobody uses is open and nothing has come in on it: neither its end nor the words with which a
// server takes its leave. It asks the kernel, not the server, and waits for nobody: the driver may have left a reader on the
// connection (it starts one when a write is slow), which has the right to read until something comes, so this must not ask for it.
func quiet(conn net.Conn) bool {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = over.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	nothing := false
	err = raw.Control(func(fd uintptr) {
		var first [1]byte
		_, _, err := syscall.Recvfrom(int(fd), first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		nothing = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && nothing
}
