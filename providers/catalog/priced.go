package catalog

import (
	"context"
	"iter"

	"github.com/parleybot/parley/providers"
)

// Priced returns p with the price of each round trip in its usage. It belongs right around a wire, below
// providers.Retrying: a request that was refused costs nothing, while an answer that began and broke off costs at least
// what was known by then, and says so.
func Priced(p providers.Provider, c *Catalog, vendor string) providers.Provider {
	return priced{p, c, vendor}
}

type priced struct {
	providers.Provider
	catalog *Catalog
	vendor  string
}

// Stream implements providers.Provider. Until the end of an answer was seen, what is reported of it is a lower bound.
func (p priced) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	return func(yield func(providers.Fragment, error) bool) {
		m := meter{priced: p, asked: req.Model}
		for f, err := range p.Provider.Stream(ctx, req) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, f := range m.pass(f) {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// meter follows one answer.
type meter struct {
	priced
	asked string
	// begun: something of the answer has come. ended: all of it has.
	begun, ended bool
	last         *providers.UsageReport
}

// pass gives what is to be passed on for a fragment.
func (m *meter) pass(f providers.Fragment) []providers.Fragment {
	switch f := f.(type) {
	case providers.UsageReport:
		m.last = &f
		return []providers.Fragment{m.report()}
	case providers.End:
		m.ended = true
		return []providers.Fragment{m.report(), f}
	case providers.TextDelta, providers.ThinkingDelta, providers.ThinkingDone, providers.CallDelta:
		if !m.begun {
			m.begun = true
			return []providers.Fragment{m.report(), f}
		}
	case providers.Beat:
	}
	return []providers.Fragment{f}
}

// report is the usage as it is known now, with its price.
func (m *meter) report() providers.UsageReport {
	if m.last == nil { // nothing is known but that the model answers
		return providers.UsageReport{Usage: providers.Usage{Unpriced: !m.catalog.free(m.vendor, m.asked)}}
	}
	r := *m.last
	nanos, known := m.catalog.Cost(m.vendor, m.asked, r.Model, r.Usage, r.Reported)
	r.Usage.CostNanos = nanos
	r.Usage.Unpriced = !known || !m.ended && !m.catalog.free(m.vendor, m.asked)
	return r
}
