package turn

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/parleybot/parley/store"
)

// CostScope says which turns a report of costs is about.
type CostScope string

// The cost scopes. CostHere is the channel since it was last cleared; the others are about days and months in UTC, and
// are not changed by a clear.
const (
	CostHere        CostScope = "here"
	CostHereToday   CostScope = "today"
	CostHereMonth   CostScope = "month"
	CostMine        CostScope = "mine"
	CostServerToday CostScope = "server_today"
	CostServerMonth CostScope = "server_month"
)

// ServerWide reports whether the scope is about a whole server, and so for those who manage it.
func (s CostScope) ServerWide() bool { return s == CostServerToday || s == CostServerMonth }

// costTurns bounds how many turns are added up one by one.
const costTurns = 1000

// CostReport is what was used in a scope.
type CostReport struct {
	Scope CostScope
	// Turns is how many turns were added up; 0 where only the sums are kept.
	Turns int
	Usage store.Usage
	// Models are the sums of each model, the dearest first.
	Models []store.UsageTotal
	// Budget is what may be spent in a day where the report is about; nil where nothing limits it, or where that is not for
	// whoever asks.
	Budget *Budget
	// Partial: there were more turns than were added up; the oldest are missing.
	Partial bool
}

// Cost tells what was used. Everybody may ask about a channel they are in and about themselves; a server's sums are for
// those who manage it.
func (m *Manager) Cost(ctx context.Context, p Place, of CostScope) (CostReport, error) {
	rep, err := m.cost(ctx, p, of)
	if err == nil && (of.ServerWide() || p.GuildID == "" && of != CostMine) {
		rep.Budget = m.spending.budget(ctx, p.GuildID, p.ChannelID)
	}
	return rep, err
}

func (m *Manager) cost(ctx context.Context, p Place, of CostScope) (CostReport, error) {
	if of == CostHere || of == "" {
		return m.costHere(ctx, p)
	}
	now := time.Now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	q := store.UsageQuery{ChannelID: p.ChannelID, Since: month}
	switch of {
	case CostHere, CostHereMonth:
	case CostHereToday:
		q.Since = today()
	case CostMine:
		q = store.UsageQuery{MemberID: p.Actor.ID, Since: month}
		if p.Actor.ID == "" {
			return CostReport{}, notHere()
		}
	case CostServerToday, CostServerMonth:
		if err := m.mayManageGuild(p); err != nil {
			return CostReport{}, err
		}
		q = store.UsageQuery{GuildID: p.GuildID, Since: month}
		if of == CostServerToday {
			q.Since = today()
		}
	default:
		return CostReport{}, invalid("There is no such report.", "")
	}
	totals, err := m.Store.UsageOf(ctx, q)
	if err != nil {
		return CostReport{}, unavailable(err)
	}
	rep := CostReport{Scope: of, Models: totals}
	for _, t := range totals {
		rep.Usage = rep.Usage.Add(t.Usage)
	}
	rep.sort()
	return rep, nil
}

// costHere adds up the turns since the channel was cleared, which is told by their triggers' ids and not by a clock.
func (m *Manager) costHere(ctx context.Context, p Place) (CostReport, error) {
	values, err := m.settings.read(ctx, store.SettingChannel, p.ChannelID)
	if err != nil {
		return CostReport{}, unavailable(err)
	}
	turns, err := m.Store.RecentTurns(ctx, p.ChannelID, costTurns)
	if err != nil {
		return CostReport{}, unavailable(err)
	}
	rep := CostReport{Scope: CostHere, Partial: len(turns) == costTurns}
	for _, t := range turns {
		if !after(t.TriggerID, values[SettingEpoch]) {
			rep.Partial = false
			continue
		}
		rep.Turns++
		rep.Usage = rep.Usage.Add(t.Usage)
		if t.Model == "" {
			continue
		}
		i := slices.IndexFunc(rep.Models, func(x store.UsageTotal) bool { return x.Model == t.Model })
		if i < 0 {
			i, rep.Models = len(rep.Models), append(rep.Models, store.UsageTotal{Model: t.Model})
		}
		rep.Models[i].Turns++
		rep.Models[i].Usage = rep.Models[i].Usage.Add(t.Usage)
	}
	rep.sort()
	return rep, nil
}

func (r *CostReport) sort() {
	slices.SortStableFunc(r.Models, func(a, b store.UsageTotal) int {
		if a.Usage.CostNanos != b.Usage.CostNanos {
			return int(max(-1, min(1, b.Usage.CostNanos-a.Usage.CostNanos)))
		}
		return strings.Compare(a.Model, b.Model)
	})
}

// maxCostLines bounds how many models are told one by one.
const maxCostLines = 15

// String words the report for people.
func (r CostReport) String() string {
	text := r.used()
	if r.Budget != nil {
		text += "\n" + r.Budget.String()
	}
	return text
}

func (r CostReport) used() string {
	where := map[CostScope]string{
		CostHereToday: "here today", CostHereMonth: "here this month", CostMine: "by you this month",
		CostServerToday: "in this server today", CostServerMonth: "in this server this month",
	}[r.Scope]
	if where == "" {
		where = "here since the last `/clear`"
	}
	if r.Turns == 0 && len(r.Models) == 0 {
		return "Nothing has been used " + where + "."
	}
	used := Money(r.Usage) + ": " + tokens(r.Usage)
	text := "Used " + where + ": " + used
	if r.Turns > 0 {
		text = plural(r.Turns, "turn") + " " + where + ": " + used
	}
	for i, x := range r.Models {
		if i == maxCostLines {
			text += fmt.Sprintf("\n• and %s more", plural(len(r.Models)-i, "model"))
			break
		}
		text += fmt.Sprintf("\n• %s: %s, %s", oneLine(x.Model, 80), plural(x.Turns, "turn"), Money(x.Usage))
		if len(r.Models) > 1 {
			text += ", " + tokens(x.Usage)
		}
	}
	if r.Partial {
		text += "\nOlder turns are not counted."
	}
	return text
}

func tokens(u store.Usage) string {
	text := fmt.Sprintf("%s in, %s out", grouped(u.Input), plural(u.Output, "token"))
	if u.CacheRead > 0 && u.Input > 0 {
		text += fmt.Sprintf(" (%d%% of those in came from the cache)", u.CacheRead*100/u.Input)
	}
	return text
}

// Money words a price in US dollars, as "$0.0123": never more than it was where it is a lower bound ("at least"), rounded
// to the nearest otherwise.
func Money(u store.Usage) string {
	switch {
	case u.CostNanos <= 0 && u.Unpriced:
		return "price unknown"
	case u.CostNanos <= 0:
		return "$0"
	}
	digits := 4
	if u.CostNanos < 10_000_000 { // below a cent
		digits = 6
	}
	unit := pow10(9 - digits)
	whole := u.CostNanos / unit
	if !u.Unpriced && u.CostNanos%unit >= unit/2 {
		whole++
	}
	if whole == 0 {
		return "less than $0.000001"
	}
	text := "$" + new(big.Rat).SetFrac64(whole, pow10(digits)).FloatString(digits)
	if u.Unpriced {
		return "at least " + text
	}
	return text
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
