package scene

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// Options are what scenes are run with.
type Options struct {
	Booter Booter
	// Validator, if set, checks every exchange of the bot with Discord; an objection fails the scene.
	Validator discordsim.Validator
}

// Result is what became of one scene.
type Result struct {
	Scene *Scene
	// Err is nil when everything was as the scene says. It is a *Failure when a step was not met.
	Err        error
	Transcript string
	Took       time.Duration
}

// Failure is a step that was not met, or what was wrong at the end of a scene.
type Failure struct {
	Path string
	Line int
	// Step is the step as written.
	Step string
	Err  error
	// Log are the newest warnings of the bot's log.
	Log []string
}

// Error tells where, what was expected and what was there instead.
func (f *Failure) Error() string {
	text := fmt.Sprintf("%s:%d: %s\n%s", f.Path, f.Line, f.Step, indent(f.Err.Error(), "    "))
	if len(f.Log) > 0 {
		text += "\n    the bot's log says:\n" + indent(strings.Join(f.Log, "\n"), "      ")
	}
	return text
}

// Unwrap is what was wrong.
func (f *Failure) Unwrap() error { return f.Err }

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

// Run plays one scene with a Discord, a model and a bot of its own, and leaves nothing behind.
func Run(ctx context.Context, sc *Scene, o Options) Result {
	began := time.Now()
	s, err := newStage(ctx, sc, o)
	if err != nil {
		return Result{Scene: sc, Err: fmt.Errorf("setting up %s: %w", sc.Path, err), Took: time.Since(began)}
	}
	err = s.play(ctx)
	s.close(ctx)
	return Result{Scene: sc, Err: err, Transcript: s.tape.String(), Took: time.Since(began)}
}

// play performs the steps, and then looks at what must hold for the scene as a whole.
func (s *stage) play(ctx context.Context) error {
	begun := false
	for _, st := range s.scene.steps {
		if !begun && !st.verb.setting {
			begun = true
			if s.scene.startsItself {
				if err := s.start(ctx); err != nil {
					return s.failure(st, err)
				}
			}
		}
		s.tape.step(st)
		if st.verb.do == nil {
			continue
		}
		if err := st.verb.do(s, ctx, st); err != nil {
			return s.failure(st, err)
		}
		if err := ctx.Err(); err != nil {
			return s.failure(st, context.Cause(ctx))
		}
	}
	last := s.scene.steps[len(s.scene.steps)-1]
	if err := s.finale(ctx, last); err != nil {
		return err
	}
	return nil
}

func (s *stage) failure(st *step, err error) error {
	return &Failure{Path: s.scene.Path, Line: st.line, Step: st.source, Err: err, Log: s.log.tail()}
}

// finale lets the bot finish, stops it and checks what is said of the whole scene.
func (s *stage) finale(ctx context.Context, last *step) error {
	end := &step{line: last.line, source: "(the end of the scene)", verb: last.verb}
	if s.up() {
		if err := s.idle(ctx, end); err != nil {
			return s.failure(end, err)
		}
	}
	if err := s.end(ctx); err != nil {
		return s.failure(end, err)
	}
	for _, st := range s.nevers {
		if err := s.broken(st); err != nil {
			return s.failure(st, err)
		}
	}
	var wrong []string
	wrong = append(wrong, s.model.unanswered()...)
	wrong = append(wrong, s.model.unused()...)
	wrong = append(wrong, s.sim.Violations()...)
	if len(wrong) > 0 {
		return s.failure(end, errors.New(strings.Join(wrong, "\n")))
	}
	return nil
}
