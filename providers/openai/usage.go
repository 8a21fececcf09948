package openai

import (
	"encoding/json"
	"math/big"
	"regexp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

type usage struct {
	Prompt        wire.Count `json:"prompt_tokens"`
	Completion    wire.Count `json:"completion_tokens"`
	Total         wire.Count `json:"total_tokens"`
	CacheHit      wire.Count `json:"prompt_cache_hit_tokens"`
	CacheCreation wire.Count `json:"cache_creation_input_tokens"`
	PromptDetails struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	Cost        json.RawMessage `json:"cost"`
	Ticks       json.RawMessage `json:"cost_in_usd_ticks"`
	OwnKey      bool            `json:"is_byok"`
	CostDetails struct {
		Upstream json.RawMessage `json:"upstream_inference_cost"`
	} `json:"cost_details"`
}

// neutral reads usage in either convention. Cached and reasoning tokens are a part of the prompt's and the completion's
// with most services, and beside them with some: the total tells which, then a part that is larger than its whole, then
// the table.
func (u *usage) neutral(q quirks) providers.Usage {
	cached := max(u.PromptDetails.Cached, u.CacheHit)
	written := max(u.PromptDetails.CacheWrite, u.CacheCreation)
	n := providers.Usage{
		Input: int(u.Prompt), Output: int(u.Completion),
		CacheRead: int(cached), CacheWrite: int(written), Reasoning: int(u.CompletionDetails.Reasoning),
	}
	if u.reasoningBeside(q) {
		n.Output += n.Reasoning
	}
	if u.cacheBeside(n) {
		n.Input += n.CacheRead + n.CacheWrite
	}
	return n
}

func (u *usage) reasoningBeside(q quirks) bool {
	reasoning, sum := u.CompletionDetails.Reasoning, u.Prompt+u.Completion
	switch {
	case reasoning == 0:
		return false
	case u.Total == sum+reasoning, reasoning > u.Completion:
		return true
	case u.Total == sum:
		return false
	}
	return q.reasoningBeside
}

func (u *usage) cacheBeside(n providers.Usage) bool {
	cache := n.CacheRead + n.CacheWrite
	return cache > 0 && (cache > int(u.Prompt) || int(u.Total) == int(u.Prompt)+cache+n.Output)
}

// reported is the price that the service itself tells, in billionths of a dollar; nil when it tells none.
func (u *usage) reported(q quirks) *int64 {
	switch q.cost {
	case costDollars:
		cost := nanos(u.Cost, 9)
		if upstream := nanos(u.CostDetails.Upstream, 9); cost != nil && u.OwnKey && upstream != nil {
			// With a key of one's own, the service tells its fee and, beside it, what the key is charged.
			return new(*cost + *upstream)
		}
		return cost
	case costTicks:
		return nanos(u.Ticks, -1)
	case costNone:
	}
	return nil
}

// decimal is a number of JSON whose size can be told before it is worked out.
var decimal = regexp.MustCompile(`^\d{1,20}(\.\d{1,30})?([eE][+-]?\d{1,2})?$`)

// maxReported is a million dollars: a price beyond it is a mistake.
const maxReported = 1_000_000_000_000_000

// nanos reads a decimal times ten to the power of scale, rounded half up, without ever passing through a float; nil for
// what is no such number.
func nanos(raw json.RawMessage, scale int64) *int64 {
	if !decimal.Match(raw) {
		return nil
	}
	value, ok := new(big.Rat).SetString(string(raw))
	if !ok {
		return nil
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil))
	if scale < 0 {
		power.Inv(power)
	}
	value.Mul(value, power)
	value.Add(value, big.NewRat(1, 2))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() || whole.Int64() > maxReported {
		return nil
	}
	return new(whole.Int64())
}
