package redis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// idle opens every connection that the pool may have, and leaves all of them idle in it.
func idle(t *testing.T, db *DB) {
	t.Helper()
	var held sync.WaitGroup
	held.Add(connections)
	problems := make(chan error, connections)
	for range connections {
		go func() {
			conn := db.client.Conn()
			err := conn.Ping(t.Context()).Err()
			held.Done()
			held.Wait() // so that nobody is given the one that another has let go of
			if err == nil {
				err = conn.Close()
			}
			problems <- err
		}()
	}
	for range connections {
		if err := <-problems; err != nil {
			t.Fatal(err)
		}
	}
	if there := db.client.PoolStats().IdleConns; there != connections {
		t.Fatalf("%d connections are idle, want %d", there, connections)
	}
}

// TestBlink: a server that was away while nobody asked it anything fails nobody. The connections in the pool are dead, and the
// very next call of each kind is done all the same.
func TestBlink(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t, prefix(t))
	blinks(t, db, proxy)
}

// TestBlinkOverTLS: the end of a connection is seen below its encryption too.
func TestBlinkOverTLS(t *testing.T) {
	t.Parallel()
	shared := prefix(t)
	open(t, shared) // skips without a server
	at, err := url.Parse(address())
	if err != nil {
		t.Fatal(err)
	}
	proxy := storetest.NewProxy(t, encrypted(t, at.Host))
	at.Scheme, at.Host, at.RawQuery = "rediss", proxy.Addr(), "skip_verify=true"
	db, err := Open(t.Context(), Config{URL: at.String(), Prefix: shared, Patience: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test of its content, not of Close
	blinks(t, db, proxy)
}

func blinks(t *testing.T, db *DB, proxy *storetest.Proxy) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	for _, call := range []struct {
		name string
		do   func() error
	}{
		{"a claim", func() error {
			claimed, err := db.Claim(ctx, store.Claim{ID: "m", TTL: time.Minute}, now)
			if err == nil && !claimed.Ours {
				err = fmt.Errorf("not won, so it was made twice")
			}
			return err
		}},
		{"a window", func() error { return db.RetainWindow(ctx, "c", "a", 1, now) }},
		{"a claim that counts", func() error {
			_, err := db.Claim(ctx, store.Claim{ID: "n", TTL: time.Minute, Counts: []store.Count{
				{Rate: store.Rate{Name: "turns", ChannelID: "c"}, Limit: 1, Window: time.Minute},
			}}, now)
			return err
		}},
		{"a kill", func() error { return db.PublishKill(ctx, "ana", []byte("stop")) }},
		{"a question whether it is there", func() error { return db.Ping(ctx) }},
	} {
		idle(t, db)
		proxy.Cut()
		proxy.Restore(t)
		if err := call.do(); err != nil {
			t.Errorf("%s after a blink: %v", call.name, err)
		}
	}
}

// encrypted speaks TLS in front of a server until the end of the test, and returns where.
func encrypted(t *testing.T, target string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	listen, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		_ = listen.Close() // whatever it says, it is closed
		work.Wait()
	})
	work.Go(func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close() // the server is not there either
				continue
			}
			for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
				work.Go(func() {
					_, _ = io.Copy(to, from) // until one of them ends
					_, _ = from.Close(), to.Close()
				})
			}
		}
	})
	return listen.Addr().String()
}
