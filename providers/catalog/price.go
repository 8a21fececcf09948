package catalog

import "github.com/parleybot/parley/providers"

// Price is what a model costs, in billionths of a US dollar per token. One US dollar per million tokens is 1000 of them.
type Price struct {
	// Input is for what was not read from a cache; CacheRead and CacheWrite are for what was read from it and written
	// to it; Output is for everything received, reasoning included.
	Input, CacheRead, CacheWrite, Output int64
	// Above are the prices of long requests, shortest first.
	Above []Tier
}

// Tier is the price of a request whose whole input has more than Tokens tokens.
type Tier struct {
	Tokens int
	Price
}

// Free reports whether the model costs nothing.
func (p *Price) Free() bool {
	free := p.Input == 0 && p.CacheRead == 0 && p.CacheWrite == 0 && p.Output == 0
	for i := range p.Above {
		free = free && p.Above[i].Free()
	}
	return free
}

// Bounds that keep a sum within 63 bits whatever a server reports: tokens of one round trip, nanos of one token, and the
// nanos of a round trip that a service may claim.
const (
	maxTokens   = 1_000_000_000
	maxPerToken = 1_000_000_000
	maxReported = 1_000_000_000_000_000
)

// Of is the price of one round trip. Cache reads and writes are parts of the input, so each token counts once; numbers
// that contradict each other are read so that none counts twice, and none below 0.
func (p *Price) Of(u providers.Usage) int64 {
	input := count(u.Input)
	read := min(count(u.CacheRead), input)
	write := min(count(u.CacheWrite), input-read)
	at := p
	for i := range p.Above {
		if input > int64(p.Above[i].Tokens) {
			at = &p.Above[i].Price
		}
	}
	return (input-read-write)*at.Input + read*at.CacheRead + write*at.CacheWrite + count(u.Output)*at.Output
}

func count(n int) int64 { return min(max(int64(n), 0), maxTokens) }

// Cost is the price of one round trip, and whether it is known. The operator's price comes first, then what the service
// itself reported, then the table's. The model that a service says it answered with comes before the one that was asked for.
func (c *Catalog) Cost(vendor, asked, answered string, u providers.Usage, reported *int64) (nanos int64, known bool) {
	price, operator := c.price(vendor, asked, answered)
	switch {
	case operator:
		return price.Of(u), true
	case reported != nil && *reported >= 0 && *reported <= maxReported:
		return *reported, true
	case price != nil:
		return price.Of(u), true
	}
	return 0, false
}

func (c *Catalog) price(vendor, asked, answered string) (p *Price, operator bool) {
	for _, name := range []string{answered, asked} {
		if name == "" {
			continue
		}
		m := c.Model(vendor, name)
		if m.Operator {
			return m.Price, true
		}
		if p == nil {
			p = m.Price
		}
	}
	return p, false
}

// free: no use of the model can cost anything.
func (c *Catalog) free(vendor, asked string) bool {
	p, _ := c.price(vendor, asked, "")
	return p != nil && p.Free()
}
