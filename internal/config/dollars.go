package config

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
)

// Dollars is an amount of US dollars in billionths, so that nothing is lost by reading it.
type Dollars int64

// oneDollar is how many of the smallest amounts make one.
const oneDollar = 1_000_000_000

// amount is a decimal whose size can be told before it is worked out.
var amount = regexp.MustCompile(`^[+-]?(\d{1,10}(\.\d{0,9})?|\.\d{1,9})$`)

func parseDollars(value string) (any, error) {
	if !amount.MatchString(value) {
		return nil, fmt.Errorf("%q is not an amount of US dollars such as 5 or 0.25, no finer than a billionth", value)
	}
	r, ok := new(big.Rat).SetString(value)
	if !ok {
		return nil, fmt.Errorf("%q is not an amount of US dollars", value)
	}
	r.Mul(r, big.NewRat(oneDollar, 1)) // whole: there are nine digits at most
	if !r.Num().IsInt64() || r.Num().Int64() == math.MinInt64 {
		return nil, fmt.Errorf("%q is more than can be counted", value)
	}
	return Dollars(r.Num().Int64()), nil
}

// String writes the amount as a decimal without needless zeros.
func (d Dollars) String() string {
	s := big.NewRat(int64(d), oneDollar).FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
