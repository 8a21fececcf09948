//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package postgres

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestQuiet looks at a connection while nothing has come, when something has, and at its end; each with and without a reader that
// the driver has left on it.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for name, reader := range map[string]bool{"left alone": false, "with a reader": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := pair(t)
			read := make(chan struct{})
			if reader {
				go func() {
					defer close(read)
					_, _ = io.ReadFull(ours, make([]byte, 1)) // whatever it says, it is over
				}()
			}
			for range 20_000 { // the reader begins at some time
				if !looks(t, ours) {
					t.Fatal("nothing has come, and it is not quiet")
				}
			}
			if _, err := theirs.Write([]byte("EE")); err != nil {
				t.Fatal(err)
			}
			if reader {
				<-read
			}
			if looks(t, ours) {
				t.Error("quiet with words that wait to be read")
			}
			if _, err := io.ReadFull(ours, make([]byte, map[bool]int{true: 1, false: 2}[reader])); err != nil {
				t.Fatal(err)
			}
			if !looks(t, ours) {
				t.Error("not quiet when everything is read")
			}
			if err := theirs.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // looking takes nothing away
				if looks(t, ours) {
					t.Error("quiet after its end")
				}
			}
			if err := ours.Close(); err != nil || looks(t, ours) {
				t.Errorf("quiet when closed here: %v", err)
			}
		})
	}
}

// looks is quiet, and fails the test when that waits.
func looks(t *testing.T, conn net.Conn) bool {
	t.Helper()
	answer := make(chan bool, 1)
	go func() { answer <- quiet(conn) }()
	select {
	case is := <-answer:
		return is
	case <-time.After(10 * time.Second):
		t.Fatal("looking at a connection waits")
		return false
	}
}

// pair is a connection and its other end.
func pair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listen.Close() }() // nothing is lost with it
	if ours, err = net.Dial("tcp", listen.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = listen.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() }) // some are closed already
	return ours, theirs
}

// TestAskedSeldom: the server is asked about a connection only when that lay unused for long, since asking is a round trip.
func TestAskedSeldom(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	for unused, want := range map[time.Duration]bool{0: false, 20 * time.Second: false, time.Minute: true} {
		if got := doubtful(ours, unused); got != want {
			t.Errorf("unused for %v: asked is %t, want %t", unused, got, want)
		}
	}
	if _, err := theirs.Write([]byte("E")); err != nil {
		t.Fatal(err)
	}
	if !doubtful(ours, 0) {
		t.Error("not asked though words wait to be read")
	}
}
