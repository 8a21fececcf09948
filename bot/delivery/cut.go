package delivery

import (
	"strings"
	"unicode/utf8"
)

// rank orders the places where a text may be cut, worst first.
type rank int

const (
	rankGrapheme rank = iota
	rankWord
	rankSentence
	rankLine
	rankParagraph
	ranks
)

// cut is one place where a message may end: its body is text[from:end] and the
// next one begins at next, at most one newline or space later. cost is what the
// message then takes, added fences included. opener is where the code block
// that is open at the cut begins, or -1.
type cut struct {
	end, next, cost, opener int
}

// scan walks once over the text of one message and notes where it may end.
type scan struct {
	text   string
	from   int // where the body begins
	budget int // units for the message, added fences included
	limit  int // the one of classify
	reach  int // bytes a span may have
	final  bool

	clean  [ranks]cut // last place of each rank outside a span; next is 0 when there is none
	inside [ranks]cut // places that hurt: inside a span, before a blank line, ...
	first  cut        // first place between two paragraphs

	reopened  int // the code block open at from, or -1
	undecided int // where what follows may still be read differently, with more text
	spanEnd   int
	opener    int   // state at the end of the scan
	block     fence // the same, as a fence
	used      int   // units up to the end of the scan, the reopened fence included
	stopped   int   // where the budget ended, or len(text)
	whole     bool  // the text ended first
}

// skim is run for a text known to fit: it finds the state at the end and no cuts.
func (s *scan) skim(opener int) {
	s.reopened, s.opener, s.stopped, s.undecided = opener, opener, len(s.text), len(s.text)+1
	s.block = fenceAt(s.text, opener, s.limit)
	s.used = units(s.block.reopening()) + units(s.text[s.from:])
	for p := s.from; p < len(s.text); {
		eol, _ := s.lineEnd(p)
		switch kind, opened, _ := classify(s.block, s.text[p:eol], s.limit); kind {
		case lineOpens:
			s.opener, s.block = p, opened
		case lineCloses:
			s.opener, s.block = -1, fence{}
		case lineText, lineBlank:
		}
		p = eol + 1
	}
	s.whole = true
}

// run walks text[from:] with the code block at opener (-1: none) reopened.
func (s *scan) run(opener int) {
	s.reopened, s.opener, s.undecided, s.stopped = opener, opener, len(s.text)+1, len(s.text)
	s.block = fenceAt(s.text, opener, s.limit)
	s.used = units(s.block.reopening())
	prev, splittable := lineText, s.block.open()
	for p := s.from; p < len(s.text); {
		eol, complete := s.lineEnd(p)
		line := s.text[p:eol]
		kind, opened, marksEnd := classify(s.block, line, s.limit)
		if !complete && !s.final && kind != lineText {
			s.undecided = min(s.undecided, p)
		}
		if p > s.from {
			s.atLine(p, prev, kind, splittable)
		}
		if s.used > s.budget {
			s.stopped = p
			return
		}
		if kind == lineOpens {
			splittable = s.blockExceeds(p, opened)
		}
		if !s.walk(p, eol, kind, p+marksEnd, splittable) {
			return
		}
		switch kind {
		case lineOpens:
			s.opener, s.block = p, opened
		case lineCloses:
			s.opener, s.block = -1, fence{}
		case lineText, lineBlank:
		}
		prev, p = kind, eol
		if complete {
			s.used++
			p++
		}
	}
	s.whole = true
}

func (s *scan) lineEnd(p int) (eol int, complete bool) {
	if n := strings.IndexByte(s.text[p:], '\n'); n >= 0 {
		return p + n, true
	}
	return len(s.text), false
}

// atLine notes the cut before the line at p.
func (s *scan) atLine(p int, prev, kind lineKind, splittable bool) {
	if s.block.open() {
		if !splittable {
			return
		}
		c := cut{p, p, s.used + s.block.length, s.opener}
		if prev == lineOpens || kind == lineCloses {
			s.hurts(rankLine, c) // one side would be an empty block
			return
		}
		s.add(rankLine, c)
		return
	}
	c := cut{p - 1, p, s.used - 1, -1}
	switch {
	case kind == lineBlank:
		s.hurts(rankWord, c)
	case prev == lineBlank:
		if s.first.next == 0 && c.end >= s.spanEnd && speaks(s.text[s.from:c.end]) {
			s.first = c
		}
		s.add(rankParagraph, c)
	case prev == lineCloses || kind == lineOpens:
		s.add(rankParagraph, c)
	default:
		s.add(rankLine, c)
	}
}

// speaks reports whether a paragraph can stand alone: "---" can't.
func speaks(body string) bool {
	return strings.IndexFunc(body, func(r rune) bool {
		return r > '~' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}) >= 0
}

func (s *scan) add(r rank, c cut) {
	switch {
	case c.cost > s.budget || c.next <= s.from:
	case c.end < s.spanEnd:
		s.inside[r] = c
	default:
		s.clean[r] = c
	}
}

func (s *scan) hurts(r rank, c cut) {
	if c.cost <= s.budget && c.next > s.from {
		s.inside[r] = c
	}
}

// blockExceeds reports whether the code block that begins at p is too long for
// a message of its own, which is the only reason to cut inside it.
func (s *scan) blockExceeds(p int, opened fence) bool {
	used := 0
	for q := p; q < len(s.text); {
		eol, complete := s.lineEnd(q)
		line := s.text[q:eol]
		kind, _, marksEnd := classify(opened, line, s.limit)
		closed := q > p && kind == lineCloses
		if closed {
			line = line[:marksEnd]
		}
		if used += len(line); used > s.budget { // bytes are never fewer than units
			used += units(line) - len(line)
		}
		if used > s.budget {
			return true
		}
		if closed {
			if !complete && !s.final {
				s.undecided = min(s.undecided, p)
			}
			return false
		}
		q = eol
		if complete {
			used++
			q++
		}
	}
	if !s.final {
		s.undecided = min(s.undecided, p)
	}
	return used+len(opened.closing(s.text)) > s.budget
}

// walk measures one line and notes the cuts inside it. It reports false when
// the budget ended.
func (s *scan) walk(p, eol int, kind lineKind, marksEnd int, splittable bool) bool {
	_, run := marks(s.text[p:eol])
	fenceLike := run >= 3
	code := s.block.open() && kind != lineCloses
	closing := 0
	if code {
		closing = 1 + s.block.length
	}
	cuttable := kind == lineText && (!code || splittable) || kind == lineBlank
	indented := true
	for i := p; i < eol; {
		if kind == lineCloses && i >= marksEnd {
			cuttable = true
		}
		if !code && cuttable && i >= s.spanEnd && !(plain[s.text[i]] && s.text[i] != 'h') {
			s.span(i)
		}
		if n := min(plainRun(s.text[:eol], i), s.budget-s.used); n > 0 {
			if cuttable {
				s.inPlain(p, eol, i, n, closing, kind, fenceLike)
			}
			i, s.used, indented = i+n, s.used+n, false
			continue
		}
		size, width := cluster(s.text[:eol], i, s.limit)
		if s.used+width > s.budget {
			s.stopped = i
			return false
		}
		blank := size == 1 && (s.text[i] == ' ' || s.text[i] == '\t')
		indented = indented && blank
		if blank && cuttable && !indented && i+1 < eol && s.text[i+1] != ' ' && s.text[i+1] != '\t' {
			s.atSpace(p, i, closing, kind, fenceLike)
		}
		s.used += width
		i += size
		if cuttable && i < eol {
			s.atGrapheme(p, i, closing, kind, fenceLike)
		}
	}
	return true
}

// plainRun counts the bytes from text[i] that are one grapheme cluster and one
// unit each, and at which nothing begins: the bulk of most texts.
func plainRun(text string, i int) int {
	n := i
	for n < len(text) && plain[text[n]] {
		if text[n] == 'h' && strings.HasPrefix(text[n:], "http") {
			break
		}
		n++
	}
	if n > i && n < len(text) && text[n] >= utf8.RuneSelf {
		n-- // what follows may join the last one
	}
	return n - i
}

var plain = func() (set [256]bool) {
	for c := '!'; c <= '~'; c++ {
		set[c] = !strings.ContainsRune("`[<*_~|(#>-", c)
	}
	return set
}()

// inPlain notes the last cut in the n plain bytes from i.
func (s *scan) inPlain(p, eol, i, n, closing int, kind lineKind, fenceLike bool) {
	for n = min(n, s.budget-closing-s.used); n > 0; n-- {
		c := cut{i + n, i + n, s.used + n + closing, s.openerAt(kind)}
		if i+n < eol && s.addInLine(rankGrapheme, p, c, kind, fenceLike) {
			return
		}
	}
}

// span notes the span that begins at i.
func (s *scan) span(i int) {
	end, open := spanEnd(s.text, i, s.reach)
	if open && !s.final {
		s.undecided = min(s.undecided, i)
	}
	s.spanEnd = max(s.spanEnd, end)
}

// atSpace notes the cut at the space at i: the space is dropped in prose, kept in code.
func (s *scan) atSpace(p, i, closing int, kind lineKind, fenceLike bool) {
	c := cut{i, i + 1, s.used, s.openerAt(kind)}
	r := rankWord
	if closing > 0 {
		c = cut{i + 1, i + 1, s.used + 1 + closing, s.opener}
	} else if sentenceEnds(s.text, s.from, i) {
		r = rankSentence
	}
	s.addInLine(r, p, c, kind, fenceLike)
}

// atGrapheme notes the cut between the two clusters that meet at i.
func (s *scan) atGrapheme(p, i, closing int, kind lineKind, fenceLike bool) {
	c := cut{i, i, s.used + closing, s.openerAt(kind)}
	r := rankGrapheme
	if closing == 0 && s.text[i-1] >= utf8.RuneSelf {
		before, _ := utf8.DecodeLastRuneInString(s.text[:i])
		after, _ := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case before == '。' || before == '！' || before == '？':
			r = rankSentence
		case ideographic(before) && ideographic(after) && !strings.ContainsRune("、。，！？）」』】", after):
			r = rankWord
		}
	}
	s.addInLine(r, p, c, kind, fenceLike)
}

func (s *scan) openerAt(kind lineKind) int {
	if kind == lineCloses {
		return -1
	}
	return s.opener
}

// addInLine adds a cut inside the line at p, unless one half of the line would
// then be read as something else: a fence, a heading, a quote. It reports
// whether the cut was taken.
func (s *scan) addInLine(r rank, p int, c cut, kind lineKind, fenceLike bool) bool {
	if c.cost > s.budget {
		return false
	}
	if c.opener >= 0 && s.closes(c.next) || c.opener < 0 && beginsBlock(s.text, c.next) {
		return false
	}
	if fenceLike {
		if half, _, _ := classify(s.block, s.text[p:c.end], s.limit); half != kind {
			return false
		}
	}
	s.add(r, c)
	return true
}

// closes reports whether text[i:] would end the open code block if it stood at
// the start of a line.
func (s *scan) closes(i int) bool {
	if c := s.text[i]; c != ' ' && c != s.block.mark {
		return false
	}
	eol, _ := s.lineEnd(i)
	kind, _, _ := classify(s.block, s.text[i:eol], s.limit)
	return kind == lineCloses
}

// beginsBlock reports whether text[i:] would begin a fence, a heading, a quote
// or a subtext line if it stood at the start of a message.
func beginsBlock(text string, i int) bool {
	if c := text[i]; c != ' ' && c != '`' && c != '~' && c != '#' && c != '>' && c != '-' {
		return false
	}
	head := text[i:min(len(text), i+8)]
	if _, run := marks(head); run >= 3 {
		return true
	}
	head = strings.TrimLeft(head, " ")
	return strings.HasPrefix(head, "-# ") || strings.HasPrefix(head, "> ") || strings.HasPrefix(strings.TrimLeft(head, "#"), " ") && strings.HasPrefix(head, "#")
}
