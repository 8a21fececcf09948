package catalog

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

func prices() *rapid.Generator[Price] {
	flat := rapid.Custom(func(t *rapid.T) Price {
		n := rapid.Int64Range(0, maxPerToken)
		return Price{Input: n.Draw(t, "in"), CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write"), Output: n.Draw(t, "out")}
	})
	return rapid.Custom(func(t *rapid.T) Price {
		p := flat.Draw(t, "base")
		over := 0
		for range rapid.IntRange(0, 3).Draw(t, "tiers") {
			over += rapid.IntRange(1, 300_000).Draw(t, "over")
			p.Above = append(p.Above, Tier{Tokens: over, Price: flat.Draw(t, "tier")})
		}
		return p
	})
}

// A price is exact, never negative, and counts each token once, whatever numbers a server reports.
func TestPriceOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := prices().Draw(t, "price")
		number := rapid.OneOf(rapid.IntRange(0, 500_000), rapid.Int(), rapid.SampledFrom([]int{math.MinInt, -1, 0, math.MaxInt}))
		u := providers.Usage{
			Input: number.Draw(t, "input"), Output: number.Draw(t, "output"), CacheRead: number.Draw(t, "read"),
			CacheWrite: number.Draw(t, "write"), Reasoning: number.Draw(t, "reasoning"),
		}
		got := p.Of(u)
		if got < 0 {
			t.Fatalf("%d", got)
		}
		if got != p.Of(providers.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}) {
			t.Fatal("reasoning is counted beside the output it is a part of")
		}
		// No division of the input into parts costs more than all of it at the dearest price.
		at := p
		for _, tier := range p.Above {
			if count(u.Input) > int64(tier.Tokens) {
				at = tier.Price
			}
		}
		most := new(big.Int).Mul(big.NewInt(count(u.Input)), big.NewInt(max(at.Input, at.CacheRead, at.CacheWrite)))
		most.Add(most, new(big.Int).Mul(big.NewInt(count(u.Output)), big.NewInt(at.Output)))
		if big.NewInt(got).Cmp(most) > 0 {
			t.Fatalf("%d is more than %s: a token is counted twice", got, most)
		}
	})
}

// Where the parts agree, the price is what big numbers say.
func TestPriceIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := prices().Draw(t, "price")
		part := rapid.IntRange(0, 200_000)
		fresh, read, write, out := part.Draw(t, "fresh"), part.Draw(t, "read"), part.Draw(t, "write"), part.Draw(t, "out")
		at := p
		for _, tier := range p.Above {
			if fresh+read+write > tier.Tokens {
				at = tier.Price
			}
		}
		want := new(big.Int)
		for _, x := range []struct {
			n     int
			price int64
		}{{fresh, at.Input}, {read, at.CacheRead}, {write, at.CacheWrite}, {out, at.Output}} {
			want.Add(want, new(big.Int).Mul(big.NewInt(int64(x.n)), big.NewInt(x.price)))
		}
		got := p.Of(providers.Usage{Input: fresh + read + write, Output: out, CacheRead: read, CacheWrite: write})
		if big.NewInt(got).Cmp(want) != 0 {
			t.Fatalf("%d, want %s", got, want)
		}
	})
}

func TestCD138TheSameWorkCostsTheSame(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD138")
	p := Price{Input: 3000, CacheRead: 300, CacheWrite: 3750, Output: 15000}
	// Both conventions arrive in ours: OpenAI's 1000 of which 800 were cached, Anthropic's 200 and 800 read.
	openai := providers.Usage{Input: 1000, CacheRead: 800}
	anthropic := providers.Usage{Input: 200 + 800, CacheRead: 800}
	if a, b := p.Of(openai), p.Of(anthropic); a != b || a != 200*3000+800*300 {
		t.Errorf("%d and %d", a, b)
	}
}

func TestCD139NothingIsLostInRounding(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD139")
	p := Price{Input: 1, Output: 0}
	var sum providers.Usage
	for range 100 {
		u := providers.Usage{Input: 1}
		u.CostNanos = p.Of(u)
		sum = sum.Add(u)
	}
	if sum.CostNanos != 100 {
		t.Errorf("100 tokens of a billionth each are %d", sum.CostNanos)
	}
}
