package store

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// HistoryMaxBytes is the usual limit of Cap.
const HistoryMaxBytes = 200 << 10

// Cap returns entries cut to at most limit bytes of their stored form (Encode without unknown fields beside the entries).
// It never parts a call from its result and never changes its argument; what fits already is returned as it is.
//
// A *unit* is a user entry and everything up to the next one; a system entry in first place belongs to none and stays.
// A *round* is an assistant entry and what follows it up to the next one. Cap does, in this order and only as far as
// needed: drop the oldest units; drop the notes of the last unit; replace the tool results of its older rounds by a line;
// drop its oldest rounds; shorten the longest texts; drop the last round. Last, the unknown fields of what is left go. So
// the newest user entry is always there, if need be shortened.
func Cap(entries []Entry, limit int) []Entry {
	c := newCut(entries, limit)
	if c.fits() {
		return entries
	}
	for _, step := range []func(){
		c.dropUnits, c.dropNotes, c.replaceResults, c.dropRounds, c.shorten, c.dropLastRound, c.shorten, c.dropUnknown,
	} {
		step()
		if c.fits() {
			break
		}
	}
	return c.entries()
}

// cut is a transcript while it is being cut: its entries with their sizes, each of which is computed once per change.
type cut struct {
	pinned []sized
	body   []sized
	size   int // of the pinned and the body in their stored form
	limit  int
}

type sized struct {
	Entry
	size int
	// full is the content before it was shortened.
	full string
}

func newCut(entries []Entry, limit int) *cut {
	c := &cut{limit: limit}
	all := make([]sized, len(entries))
	for i, e := range entries {
		all[i] = sized{Entry: e, size: len(appendEntry(nil, e)), full: e.Content}
		c.size += all[i].size
	}
	pinned := 0
	if len(all) > 0 && all[0].Kind == EntrySystem {
		pinned = 1
	}
	c.pinned, c.body = all[:pinned:pinned], all[pinned:]
	return c
}

func (c *cut) fits() bool {
	const frame = len(`{"v":1,"entries":[]}`)
	commas := max(0, len(c.pinned)+len(c.body)-1)
	return frame+commas+c.size <= c.limit
}

func (c *cut) entries() []Entry {
	kept := make([]Entry, 0, len(c.pinned)+len(c.body))
	for _, e := range slices.Concat(c.pinned, c.body) {
		kept = append(kept, e.Entry)
	}
	return kept
}

// drop removes body[from:to].
func (c *cut) drop(from, to int) {
	for _, e := range c.body[from:to] {
		c.size -= e.size
	}
	c.body = slices.Delete(c.body, from, to)
}

// change replaces one entry of the body.
func (c *cut) change(i int, e Entry) {
	size := len(appendEntry(nil, e))
	c.size += size - c.body[i].size
	c.body[i].Entry, c.body[i].size = e, size
}

// dropUnits drops whole units from the oldest, never the last.
func (c *cut) dropUnits() {
	for !c.fits() {
		next := c.find(1, EntryUser)
		if next < 0 {
			return
		}
		c.drop(0, next)
	}
}

func (c *cut) dropNotes() {
	for i := 0; i < len(c.body) && !c.fits(); {
		if c.body[i].Kind == EntryNote {
			c.drop(i, i+1)
			continue
		}
		i++
	}
}

// replaceResults puts a line in the place of tool results older than the last round, oldest first.
func (c *cut) replaceResults() {
	for i := 0; i < c.lastRound() && !c.fits(); i++ {
		e := c.body[i].Entry
		line := fmt.Sprintf("[%d bytes of this result were removed]", len(e.Content))
		if e.Kind == EntryTool && len(e.Content) > len(line) {
			e.Content = line
			c.change(i, e)
			c.body[i].full = line
		}
	}
}

// dropRounds drops whole rounds from the oldest and keeps the last.
func (c *cut) dropRounds() {
	for !c.fits() {
		first := c.find(0, EntryAssistant)
		if first < 0 || first == c.lastRound() {
			return
		}
		c.drop(first, c.find(first+1, EntryAssistant))
	}
}

// shortest is the length under which a text is not shortened any more.
const shortest = 64

// shorten halves the longest text again and again. Arguments are no text: half of them is no JSON.
func (c *cut) shorten() {
	kept := make([]int, len(c.body)) // how much of each text is kept
	for i := range c.body {
		kept[i] = len(c.body[i].Content)
	}
	for !c.fits() {
		longest := -1
		for i := range c.body {
			if kept[i] > shortest && (longest < 0 || kept[i] > kept[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			return
		}
		kept[longest] /= 2
		e := c.body[longest].Entry
		e.Content = shortened(c.body[longest].full, kept[longest])
		c.change(longest, e)
	}
}

// shortened keeps at most n bytes of a text, whole characters, and says how many are missing.
func shortened(text string, n int) string {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[truncated %d bytes]", text[:n], len(text)-n)
}

// dropLastRound leaves the user entry alone, or nothing in a transcript in which no user ever spoke.
func (c *cut) dropLastRound() {
	if first := c.find(0, EntryAssistant); first >= 0 {
		c.drop(first, len(c.body))
	}
}

// dropUnknown is for a user entry whose unknown fields alone are over the limit.
func (c *cut) dropUnknown() {
	for i := 0; i < len(c.body) && !c.fits(); i++ {
		e := c.body[i].Entry
		e.Unknown = nil
		c.change(i, e)
	}
}

// find returns the first entry of a kind at or after from, or -1.
func (c *cut) find(from int, kind EntryKind) int {
	for i := from; i < len(c.body); i++ {
		if c.body[i].Kind == kind {
			return i
		}
	}
	return -1
}

// lastRound returns where the last round begins, or -1 when there is none.
func (c *cut) lastRound() int {
	for i, e := range slices.Backward(c.body) {
		if e.Kind == EntryAssistant {
			return i
		}
	}
	return -1
}
