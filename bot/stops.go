package bot

import (
	"slices"
	"sync"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/turn"
)

// maxStops bounds the turns whose end was told and that have not said their last words yet.
const maxStops = 1000

// stops remembers which turns' ends are told by the answer to the /kill that ended them, in the channel they ran in: such
// a turn need not say once more who stopped it. Safe for concurrent use.
type stops struct {
	mu sync.Mutex
	// under are the kills that are under way, with the turns that said their last words before their kill returned.
	under map[stopKey]*underWay
	// told are the turns whose kill has returned, until they say their last words.
	told map[turn.ID]struct{}
}

type stopKey struct{ channelID, by string }

type underWay struct {
	kills int
	ended []turn.ID
}

func newStops() *stops { return &stops{under: map[stopKey]*underWay{}, told: map[turn.ID]struct{}{}} }

// begin notes that by asks in a channel to stop something and will be answered there. done takes what was stopped.
func (s *stops) begin(channelID, by string) (done func(turn.KillReport)) {
	key := stopKey{channelID, by}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.under[key]
	if u == nil {
		u = &underWay{}
		s.under[key] = u
	}
	u.kills++
	return func(rep turn.KillReport) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.kills--; u.kills == 0 {
			delete(s.under, key)
		}
		if len(s.told) >= maxStops {
			clear(s.told) // the worst that follows is that who stopped is said twice
		}
		for _, k := range rep.Killed {
			if k.ChannelID == channelID && !slices.Contains(u.ended, k.TurnID) {
				s.told[k.TurnID] = struct{}{}
			}
		}
	}
}

// tells reports whether the end of a turn, which ended for cause, is told by the answer to a command in its channel.
func (s *stops) tells(o turn.Opening, cause abort.Cause) bool {
	k, ok := cause.(abort.Killed)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, told := s.told[o.TurnID]; told {
		delete(s.told, o.TurnID)
		return true
	}
	u := s.under[stopKey{o.ChannelID, k.By}]
	if u == nil {
		return false
	}
	u.ended = append(u.ended, o.TurnID)
	return true
}
