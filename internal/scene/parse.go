package scene

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Scene is a parsed scene file. It is read-only after Parse and may be run any number of times.
type Scene struct {
	// Path is the file's name as it was given.
	Path string
	// About is the first line of the comment at the top.
	About string

	steps []*step
	// rehearsal: the built-in offline model speaks. anthropic: the scene's model speaks Anthropic's format. ownProcess: the
	// bot is a child process.
	rehearsal, anthropic, ownProcess bool
	// startsItself: the bot starts with the first step that is not about the set, since no step starts it.
	startsItself bool
}

// Name is the file's name without folder and ending.
func (s *Scene) Name() string { return strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path)) }

// step is one line of a scene.
type step struct {
	line int
	// source is the line as written, with the text below it.
	source  string
	verb    *verb
	head    bound
	clauses []bound
	// place is where the step happens: #channel, or @person for their DM with the bot.
	place string
	// within is how long the step may wait; 0 for the usual time.
	within time.Duration
}

// clause finds a clause by its form.
func (s *step) clause(form string) (bound, bool) {
	i := slices.IndexFunc(s.clauses, func(b bound) bool { return b.form == form })
	if i < 0 {
		return bound{}, false
	}
	return s.clauses[i], true
}

func (s *step) has(form string) bool {
	_, ok := s.clause(form)
	return ok
}

// Problem is one mistake in a scene file.
type Problem struct {
	Path string
	Line int
	Text string
}

// Error is file:line: text.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text) }

// Parse reads a scene. All mistakes are returned at once, as joined *[Problem]s.
func Parse(path, text string) (*Scene, error) {
	p := &parser{scene: &Scene{Path: path, startsItself: true}, cast: newCast()}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		p.read(n, lines.Text())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	p.finish()
	if len(p.scene.steps) == 0 && len(p.problems) == 0 {
		p.problem(1, errors.New("the scene has no steps"))
	}
	if len(p.problems) > 0 {
		return nil, errors.Join(p.problems...)
	}
	return p.scene, nil
}

type parser struct {
	scene    *Scene
	cast     *cast
	problems []error

	// The step whose text may still go on.
	line   int
	source string
	block  textBlock
	began  bool
}

func (p *parser) problem(line int, err error) {
	p.problems = append(p.problems, &Problem{Path: p.scene.Path, Line: line, Text: err.Error()})
}

// read takes one line of the file. A line that begins with | belongs to the step above it.
func (p *parser) read(n int, line string) {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "|") {
		if !p.began {
			p.problem(n, errors.New("a text line (|) has no step above it"))
			return
		}
		// Trailing blanks of a text are part of it.
		_, text, _ := strings.Cut(line, "|")
		p.block.lines = append(p.block.lines, strings.TrimPrefix(text, " "))
		p.source += "\n  |" + text
		return
	}
	if about, ok := strings.CutPrefix(trimmed, "# "); ok && p.scene.About == "" && len(p.scene.steps) == 0 && !p.began {
		p.scene.About = about
	}
	if trimmed == "" || trimmed == "#" || strings.HasPrefix(trimmed, "# ") {
		return
	}
	p.finish()
	p.line, p.source, p.block, p.began = n, trimmed, textBlock{}, true
}

// finish parses the step that has been read.
func (p *parser) finish() {
	if !p.began {
		return
	}
	p.began = false
	first, _, _ := strings.Cut(p.source, "\n")
	s, err := p.step(first)
	if err != nil {
		p.problem(p.line, err)
		return
	}
	s.line, s.source = p.line, p.source
	p.scene.steps = append(p.scene.steps, s)
}

func (p *parser) step(line string) (*step, error) {
	tokens, err := lex(line)
	if err != nil {
		return nil, err
	}
	v, head, taken, err := p.verb(tokens)
	if err != nil {
		return nil, err
	}
	s := &step{verb: v, head: head}
	if err := p.clauses(s, tokens[taken:]); err != nil {
		return nil, err
	}
	if p.block.free() {
		return nil, fmt.Errorf("nothing in this step takes the text below it; the step is: %s", v.usage())
	}
	if err := p.cast.check(s); err != nil {
		return nil, err
	}
	if v.mark != nil {
		if err := v.mark(p.scene); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// verb finds the verb whose head fits, or says which one is nearest.
func (p *parser) verb(tokens []token) (*verb, bound, int, error) {
	best, nearest := -1, &verbs[0]
	for i := range verbs {
		v := &verbs[i]
		block := p.block
		head, taken, ok := v.form.match(tokens, &block)
		if ok {
			p.block = block
			return v, head, taken, nil
		}
		if l := v.form.likeness(tokens); l > best {
			best, nearest = l, v
		}
	}
	return nil, bound{}, 0, fmt.Errorf("no such step; the nearest is: %s", nearest.usage())
}

func (p *parser) clauses(s *step, tokens []token) error {
	for len(tokens) > 0 || p.block.free() && len(s.clauses) < 32 {
		b, taken, ok := p.clause(s.verb, tokens)
		if !ok {
			break
		}
		s.clauses = append(s.clauses, b)
		tokens = tokens[taken:]
	}
	if len(tokens) > 0 {
		var begin []string
		for _, c := range s.verb.clauses {
			begin = append(begin, c[0])
		}
		return fmt.Errorf("%s does not fit here%s; the step is: %s", tokens[0], closest(tokens[0].text, begin), s.verb.usage())
	}
	if s.verb.needsClause && len(s.clauses) == 0 {
		return fmt.Errorf("something is missing; the step is: %s", s.verb.usage())
	}
	return nil
}

func (p *parser) clause(v *verb, tokens []token) (bound, int, bool) {
	for _, c := range v.clauses {
		block := p.block
		if b, taken, ok := c.match(tokens, &block); ok {
			p.block = block
			return b, taken, true
		}
	}
	return bound{}, 0, false
}
