package discordsim

import (
	"strconv"
	"time"
)

// epochMillis is Discord's epoch, the first second of 2015, in Unix milliseconds.
const epochMillis = 1420070400000

// ID is a Discord snowflake in its wire form: a decimal string. Ids of one [World] are unique and grow with time.
type ID string

// Time is the moment an id was made, as Discord clients read it from the id's upper bits.
func (id ID) Time() time.Time {
	return time.UnixMilli(int64(id.number()>>22) + epochMillis).UTC()
}

// number is 0 for anything that is no snowflake.
func (id ID) number() uint64 {
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func compareIDs(a, b ID) int {
	switch x, y := a.number(), b.number(); {
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

// idSource makes ids that never repeat, even while its clock stands still or steps back.
type idSource struct{ last uint64 }

func (s *idSource) next(now time.Time) ID {
	id := uint64(max(now.UnixMilli()-epochMillis, 1)) << 22
	if id <= s.last {
		id = s.last + 1
	}
	s.last = id
	return ID(strconv.FormatUint(id, 10))
}

// stamp is a time as Discord writes it.
func stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000-07:00")
}

// stampOrNull is null for the zero time.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}

// idOrNull is null for no id.
func idOrNull(id ID) *ID {
	if id == "" {
		return nil
	}
	return &id
}
