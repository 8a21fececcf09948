package playground

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// portsTried is how many ports in a row are tried.
const portsTried = 20

// listen takes addr or, when its port is taken, the next one that is free; taken is then what was asked for.
func listen(addr string) (ln net.Listener, taken string, err error) {
	host, port, err := loopback(addr)
	if err != nil {
		return nil, "", err
	}
	var lc net.ListenConfig
	for n := range portsTried {
		if port+n > 65535 {
			break
		}
		ln, err = lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(port+n)))
		if err == nil {
			if n > 0 {
				taken = net.JoinHostPort(host, strconv.Itoa(port))
			}
			return ln, taken, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, "", fmt.Errorf("opening the playground at %s: %w", addr, err)
}

// loopback refuses addresses that others could reach: a page that acts as anybody is for this machine alone.
func loopback(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("the playground's address %q is not HOST:PORT: %w", addr, err)
	}
	if host == "localhost" || host == "" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", 0, fmt.Errorf("the playground's address %q is not on loopback, such as %s", addr, DefaultAddr)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("the playground's address %q has no port from 0 to 65535", addr)
	}
	return host, port, nil
}
