package app

import (
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/netguard"
	"github.com/parleybot/parley/turn"
)

// pictures fetches attached images through the network guard. A simulator on this machine may be reached at its own port,
// and nothing else on it.
func pictures(discordAPI string) *bot.Pictures {
	c := netguard.Config{MaxRedirects: -1, MaxBodyBytes: turn.MaxPictureBytes + 1, ConnectTimeout: 3 * time.Second, HeaderTimeout: 5 * time.Second}
	if u, err := url.Parse(discordAPI); err == nil {
		addr, addrErr := netip.ParseAddr(u.Hostname())
		port, portErr := strconv.ParseUint(u.Port(), 10, 16)
		if addrErr == nil && portErr == nil && addr.IsLoopback() {
			c.AllowPrefixes = []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}
			c.AllowPorts = []uint16{uint16(port)}
		}
	}
	return bot.NewPictures(netguard.NewClient(c), discordAPI)
}
