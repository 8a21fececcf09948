//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package postgres

import (
	"net"
	"time"
)

// askAfter is how long a connection may lie unused before its server is asked whether it is there.
const askAfter = time.Second

// quiet cannot be told here without a round trip, which would be one for every statement. So a connection that died less than
// askAfter ago still fails the first statement that is given it.
func quiet(net.Conn) bool { return true }
