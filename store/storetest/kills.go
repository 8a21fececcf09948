package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// killBus is about orders to stop between processes.
func killBus(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("an order reaches every other process, in order, and not the one that gave it", func(t *testing.T) {
		t.Parallel()
		one := open(t)
		two, three := one.Beside(t), one.Beside(t)
		byOne, byTwo, byThree := listen(t, one), listen(t, two), listen(t, three)
		orders := []string{"a b", "c", ""}
		for _, order := range orders {
			must(t, one.Kills.PublishKill(t.Context(), "ana", []byte(order)))
		}
		for who, heard := range map[string]*listener{"two": byTwo, "three": byThree} {
			if diff := cmp.Diff(orders, heard.take(3)); diff != "" {
				t.Errorf("%s heard (-want +got):\n%s", who, diff)
			}
		}
		must(t, two.Kills.PublishKill(t.Context(), "eric", []byte("back")))
		for who, heard := range map[string]*listener{"one": byOne, "three": byThree} {
			if diff := cmp.Diff([]string{"back"}, heard.take(1)); diff != "" {
				t.Errorf("%s heard (-want +got):\n%s", who, diff)
			}
		}
		for _, heard := range []*listener{byOne, byTwo, byThree} {
			heard.end()
		}
	})

	t.Run("who begins to listen hears nothing of before", func(t *testing.T) {
		t.Parallel()
		one := open(t)
		two := one.Beside(t)
		first := listen(t, two)
		must(t, one.Kills.PublishKill(t.Context(), "ana", []byte("before")))
		first.take(1)
		first.end()
		<-time.After(5 * time.Millisecond) // what is given in the millisecond in which it begins may be heard
		second := listen(t, two)
		must(t, one.Kills.PublishKill(t.Context(), "ana", []byte("after")))
		if diff := cmp.Diff([]string{"after"}, second.take(1)); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
		second.end()
	})

	t.Run("64 orders at once are heard once each", func(t *testing.T) {
		t.Parallel()
		one := open(t)
		heard := listen(t, one.Beside(t))
		for _, err := range together(func(i int) error {
			return one.Kills.PublishKill(t.Context(), "ana", []byte(fmt.Sprintf("%02d", i)))
		}) {
			must(t, err)
		}
		got := heard.take(Writers)
		slices.Sort(got)
		for i, order := range got {
			if order != fmt.Sprintf("%02d", i) {
				t.Fatalf("heard %q", got)
			}
		}
		heard.end()
	})
}

// listener hears orders until its end.
type listener struct {
	t     *testing.T
	heard chan string
	stop  context.CancelFunc
	ended chan struct{}
}

// listen begins to listen, and returns when nothing is missed any more.
func listen(t *testing.T, e Engine) *listener {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &listener{t: t, heard: make(chan string, 4*Writers), stop: stop, ended: make(chan struct{})}
	states := make(chan error, 9)
	go func() {
		defer close(l.ended)
		e.Kills.SubscribeKills(ctx, func(err error) { states <- err }, func(order []byte) { l.heard <- string(order) })
	}()
	must(t, <-states)
	return l
}

// take waits for n orders.
func (l *listener) take(n int) []string {
	l.t.Helper()
	var all []string
	for range n {
		select {
		case order := <-l.heard:
			all = append(all, order)
		case <-l.t.Context().Done():
			l.t.Fatalf("heard only %q", all)
		}
	}
	return all
}

// end stops the listening, and expects that nothing more was heard.
func (l *listener) end() {
	l.t.Helper()
	l.stop()
	<-l.ended
	if len(l.heard) > 0 {
		l.t.Errorf("heard %q, too", <-l.heard)
	}
}
