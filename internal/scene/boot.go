package scene

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// boot is one life of the bot.
type boot struct {
	bot Bot
	// asked: a step told the bot to end.
	asked bool
	over  sync.WaitGroup
	stop  error
}

func (b *boot) ended() bool {
	select {
	case <-b.bot.Done():
		return true
	default:
		return false
	}
}

// up reports whether a bot is there that has not been told to end.
func (s *stage) up() bool { return s.boot != nil && !s.boot.asked && !s.boot.ended() }

// start boots the bot on the scene's data and waits until it hears messages.
func (s *stage) start(ctx context.Context) error {
	if s.boot != nil && !s.boot.ended() {
		return errors.New("the bot runs already")
	}
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	s.boots++
	s.turns.booted(s.boots)
	setup := Setup{Env: s.environment(), DiscordAPI: s.sim.URL(), Log: s.log, OwnProcess: s.scene.ownProcess}
	if s.scene.ownProcess {
		s.log.turns = s.turns
	} else {
		setup.Observer = s.turns
	}
	bot, err := s.booter.Boot(ctx, setup)
	if err != nil {
		return fmt.Errorf("starting the bot: %w", err)
	}
	b := &boot{bot: bot}
	s.boot = b
	b.over.Go(func() { <-bot.Done(); s.woken.happened() })
	if err := bot.Ready(ctx); err != nil {
		return fmt.Errorf("waiting for the bot to be ready: %w", err)
	}
	s.tape.happened("", "· the bot is ready")
	return s.world.Wait(ctx, discordsim.View.Connected)
}

// begin tells the bot to stop and does not wait for it.
func (s *stage) begin(ctx context.Context) error {
	if !s.up() {
		return errors.New("no bot runs")
	}
	b := s.boot
	b.asked = true
	b.over.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		b.stop = b.bot.Stop(ctx)
	})
	return nil
}

// end tells the bot to stop, unless that was done before, and waits until it has ended.
func (s *stage) end(ctx context.Context) error {
	if s.boot == nil {
		return nil
	}
	if s.up() {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	timeout := time.NewTimer(stopTime + stepTime)
	defer timeout.Stop()
	select {
	case <-s.boot.bot.Done():
	case <-timeout.C:
		return fmt.Errorf("the bot has not ended within %s", stopTime+stepTime)
	}
	s.boot.over.Wait()
	s.tape.happened("", "· the bot has ended with exit code %d", s.boot.bot.Exit())
	return s.boot.stop
}

// crash kills the bot's process.
func (s *stage) crash(context.Context, *step) error {
	if !s.up() {
		return errors.New("no bot runs")
	}
	s.boot.asked = true
	if err := s.boot.bot.Crash(); err != nil {
		return fmt.Errorf("killing the bot: %w", err)
	}
	s.boot.over.Wait()
	s.tape.happened("", "· the bot is dead")
	return nil
}
