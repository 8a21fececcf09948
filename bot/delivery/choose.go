package delivery

import "unicode/utf8"

// choose picks the cut: the best rank that leaves the message at least half
// full; else the fullest clean one, however short; else one that hurts.
func (s *scan) choose() cut {
	for r := rankParagraph; r >= rankWord; r-- {
		if c := s.clean[r]; c.next > 0 && c.cost >= s.budget/2 {
			return c
		}
	}
	if c := fullest(s.clean[rankWord:]); c.next > 0 {
		return c
	}
	if c := fullest(s.inside[rankWord:]); c.next > 0 && c.cost >= s.budget/2 {
		return c
	}
	if c := s.clean[rankGrapheme]; c.next > 0 {
		return c
	}
	if c := fullest(s.inside[:]); c.next > 0 {
		return c
	}
	return s.hard()
}

func fullest(cuts []cut) cut {
	var best cut
	for _, c := range cuts {
		if c.next > best.next {
			best = c
		}
	}
	return best
}

// hard cuts wherever a rune ends and the budget does. Only a line made of
// nothing but fence marks and the like gets here.
func (s *scan) hard() cut {
	used := units(fenceAt(s.text, s.reopened, s.limit).reopening())
	if s.block.open() {
		used += 1 + s.block.length
	}
	i := s.from
	for i < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if used += runeUnits(r); used > s.budget && i > s.from {
			break
		}
		i += size
	}
	return cut{end: i, next: i, cost: used, opener: s.opener}
}
