package delivery

import "strings"

// fence is the opening of a fenced code block; the zero value is no fence.
type fence struct {
	mark   byte
	length int
	info   string
}

func (f fence) open() bool { return f.length > 0 }

// reopening is the line that continues the block in the next message.
func (f fence) reopening() string {
	if !f.open() {
		return ""
	}
	return strings.Repeat(string(f.mark), f.length) + f.info + "\n"
}

// closing is what ends the block after body.
func (f fence) closing(body string) string {
	if !f.open() {
		return ""
	}
	marks := strings.Repeat(string(f.mark), f.length)
	if strings.HasSuffix(body, "\n") {
		return marks
	}
	return "\n" + marks
}

type lineKind int

const (
	lineText   lineKind = iota // prose, or code inside a block
	lineBlank                  // nothing but blanks, outside a block
	lineOpens                  // opens a block
	lineCloses                 // closes the open block
)

// classify tells what a line without its newline means after f, by CommonMark's
// rules: up to three spaces of indent; an opener has at least three marks, and
// no backtick in its info string when the marks are backticks; a closer has the
// same mark, at least as many, and nothing but blanks after. For an opener it
// returns the fence, for a closer the offset after its marks.
//
// An opener longer than limit units is taken for text: repeating it would leave
// no room for what it encloses.
func classify(f fence, line string, limit int) (kind lineKind, opened fence, marksEnd int) {
	start, run := marks(line)
	if run < 3 {
		if !f.open() && strings.Trim(line, " \t\r") == "" {
			return lineBlank, fence{}, 0
		}
		return lineText, fence{}, 0
	}
	mark, rest := line[start], line[start+run:]
	if f.open() {
		if mark == f.mark && run >= f.length && strings.Trim(rest, " \t\r") == "" {
			return lineCloses, fence{}, start + run
		}
		return lineText, fence{}, 0
	}
	if mark == '`' && strings.Contains(rest, "`") || len(line) > 3*limit || units(line) > limit || run > limit/2 {
		return lineText, fence{}, 0
	}
	return lineOpens, fence{mark: mark, length: run, info: strings.Trim(rest, " \t\r")}, 0
}

// marks finds the run of fence marks that begins line after at most three
// spaces. run is 0 when there is none.
func marks(line string) (start, run int) {
	for start < len(line) && start < 4 && line[start] == ' ' {
		start++
	}
	if start > 3 || start == len(line) || line[start] != '`' && line[start] != '~' {
		return start, 0
	}
	end := start
	for end < len(line) && line[end] == line[start] {
		end++
	}
	return start, end - start
}

// fenceAt is the fence of the line at opener, or none for -1.
func fenceAt(text string, opener, limit int) fence {
	if opener < 0 {
		return fence{}
	}
	line, _, _ := strings.Cut(text[opener:], "\n")
	_, f, _ := classify(fence{}, line, limit)
	return f
}
