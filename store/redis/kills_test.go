package redis

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKillBus: an order reaches every other process and not the one that gave it, and the end of the context ends the
// listening.
func TestKillBus(t *testing.T) {
	t.Parallel()
	shared := prefix(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 2)
	listen := func() (*DB, chan string) {
		db := open(t, shared)
		listening, heard := make(chan struct{}), make(chan string, 16)
		go func() {
			ended <- db.SubscribeKills(ctx, func() { close(listening) }, func(order []byte) { heard <- string(order) })
		}()
		<-listening
		return db, heard
	}
	one, heardByOne := listen()
	two, heardByTwo := listen()
	for _, order := range []string{"a b", "c", ""} {
		if err := one.PublishKill(t.Context(), []byte(order)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a b", "c", ""}, []string{<-heardByTwo, <-heardByTwo, <-heardByTwo}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := two.PublishKill(t.Context(), []byte("back")); err != nil {
		t.Fatal(err)
	}
	if got := <-heardByOne; got != "back" {
		t.Errorf("one heard %q, want only what it did not say itself", got)
	}
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
