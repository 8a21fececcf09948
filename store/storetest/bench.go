package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// Bench measures what a turn asks of an engine, with p50 and p99. open is called once per benchmark and gives an empty
// store; it closes what it opened with b.Cleanup.
func Bench(b *testing.B, open func(b *testing.B) Engine) {
	b.Helper()
	for _, part := range []struct {
		name string
		has  func(Engine) bool
		run  func(b *testing.B, e Engine)
	}{
		{"Claim", func(e Engine) bool { return e.Claims != nil }, benchClaim},
		{"ConsumeWindows", func(e Engine) bool { return e.Windows != nil }, benchConsumeWindows},
		{"ClaimAndCount", func(e Engine) bool { return e.Claims != nil }, benchClaimAndCount},
		{"OpenAndCloseCall", func(e Engine) bool { return e.Journal != nil }, benchOpenAndCloseCall},
		{"BeginAndFinishTurn", func(e Engine) bool { return e.Turns != nil }, benchBeginAndFinishTurn},
		{"RecentTurns", func(e Engine) bool { return e.Turns != nil }, benchRecentTurns},
		{"Recall", func(e Engine) bool { return e.Memories != nil }, benchRecall},
	} {
		b.Run(part.name, func(b *testing.B) {
			e := open(b)
			if !part.has(e) {
				b.Skipf("this engine has no %s", part.name)
			}
			part.run(b, e)
		})
	}
}

// spread times each run of step and reports p50 and p99, in microseconds.
func spread(b *testing.B, step func(i int) error) {
	b.Helper()
	taken := make([]time.Duration, 0, 1024)
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		if err := step(i); err != nil {
			b.Fatal(err)
		}
		taken = append(taken, time.Since(begin))
	}
	slices.Sort(taken)
	at := func(share float64) float64 {
		return float64(taken[min(int(share*float64(len(taken))), len(taken)-1)].Nanoseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
}

func benchClaim(b *testing.B, e Engine) {
	start := time.Unix(1_900_000_000, 0)
	spread(b, func(i int) error { // a claim per second of the store's time, so that old ones expire
		_, err := e.Claims.Claim(b.Context(), store.Claim{ID: fmt.Sprint(i), TTL: 10 * time.Minute}, start.Add(time.Duration(i)*time.Second))
		return err
	})
}

func benchClaimAndCount(b *testing.B, e Engine) {
	start := time.Unix(1_900_000_000, 0)
	spread(b, func(i int) error { // a minute's 20 turns of 50 members in 20 channels
		_, err := e.Claims.Claim(b.Context(), store.Claim{ID: fmt.Sprint(i), TTL: 10 * time.Minute, Counts: []store.Count{
			{Rate: store.Rate{Name: "turns", MemberID: fmt.Sprint(i % 50)}, Limit: 20, Window: time.Minute},
			{Rate: store.Rate{Name: "turns", ChannelID: fmt.Sprint(i % 20)}, Limit: 60, Window: time.Minute},
		}}, start.Add(time.Duration(i)*60*time.Millisecond))
		return err
	})
}

func benchConsumeWindows(b *testing.B, e Engine) {
	for _, tools := range []int{0, 3} {
		b.Run(fmt.Sprintf("tools=%d", tools), func(b *testing.B) {
			now := time.Unix(1_900_000_000, 0)
			for tool := range tools {
				if err := e.Windows.RetainWindow(b.Context(), fmt.Sprint(tools), fmt.Sprint(tool), 1<<40, now); err != nil {
					b.Fatal(err)
				}
			}
			spread(b, func(i int) error {
				_, err := e.Windows.ConsumeWindows(b.Context(), fmt.Sprint(tools), fmt.Sprint(i), now.Add(time.Duration(i)*time.Second))
				return err
			})
		})
	}
}

func benchOpenAndCloseCall(b *testing.B, e Engine) {
	if err := e.Turns.BeginTurn(b.Context(), store.Turn{ID: "t", ChannelID: "c"}); err != nil {
		b.Fatal(err)
	}
	result := strings.Repeat("r", 2048)
	spread(b, func(i int) error {
		c := store.Call{TurnID: "t", Key: fmt.Sprint(i), Tool: "write_file", Arguments: `{"path":"a"}`}
		if err := e.Journal.OpenCall(b.Context(), c); err != nil {
			return err
		}
		c.Status, c.Result = store.CallDone, result
		return e.Journal.CloseCall(b.Context(), c)
	})
}

func benchBeginAndFinishTurn(b *testing.B, e Engine) {
	answer := strings.Repeat("a", 1500)
	transcript := []byte(`{"v":1,"entries":[{"kind":"assistant","id":"1","ts":1,"content":"` + strings.Repeat("t", 4000) + `"}]}`)
	spread(b, func(i int) error {
		turn := store.Turn{ID: fmt.Sprint(i), ChannelID: fmt.Sprint(i % 100), OwnerID: "ana", Prompt: "what is the weather"}
		if err := e.Turns.BeginTurn(b.Context(), turn); err != nil {
			return err
		}
		turn.Status, turn.Answer, turn.Transcript = store.TurnCompleted, answer, transcript
		return e.Turns.FinishTurn(b.Context(), turn, store.ModelUsage{Model: "big", Usage: store.Usage{Input: 2000, Output: 300}})
	})
}

func benchRecentTurns(b *testing.B, e Engine) {
	for i := range 2000 {
		turn := store.Turn{
			ID: fmt.Sprint(i), ChannelID: fmt.Sprint(i % 20), Status: store.TurnCompleted, Answer: strings.Repeat("a", 1500),
			StartedAt: time.Unix(int64(i), 0),
		}
		if err := e.Turns.FinishTurn(b.Context(), turn); err != nil {
			b.Fatal(err)
		}
	}
	spread(b, func(i int) error {
		_, err := e.Turns.RecentTurns(b.Context(), fmt.Sprint(i%20), 20)
		return err
	})
}

// benchRecall finds 20 memories among 10,000 of one guild and 10,000 of others, for a question whose words are rare,
// and for one with a word that every fact has.
func benchRecall(b *testing.B, e Engine) {
	subjects := strings.Fields("deploy meeting birthday server holiday pizza music project release exam garden cat keyboard router")
	for i := range 20_000 {
		m := store.Memory{
			Scope: store.ScopeGuild, GuildID: fmt.Sprint(i % 2), UpdatedAt: time.Unix(int64(i), 0), CreatedAt: time.Unix(int64(i), 0),
			Content: fmt.Sprintf("the %s number %d is about %s and unique%d", subjects[i%len(subjects)], i%97, subjects[i/7%len(subjects)], i),
		}
		if i%2 == 1 {
			m.GuildID = fmt.Sprint(100 + i%500)
		}
		if _, err := e.Memories.AddMemory(b.Context(), m, 1<<30); err != nil {
			b.Fatal(err)
		}
	}
	if e.Settle != nil {
		e.Settle(b)
	}
	for _, question := range []struct{ name, text string }{
		{"rare", "who knows about unique4242 or unique7000"},
		{"usual", "when is the birthday and the pizza"},
		{"none", ""},
	} {
		b.Run(question.name, func(b *testing.B) {
			q := store.MemoryQuery{GuildID: "0", MemberID: "ana", Text: question.text, Limit: 20}
			spread(b, func(int) error {
				_, err := e.Memories.FindMemories(b.Context(), q)
				return err
			})
		})
	}
}
