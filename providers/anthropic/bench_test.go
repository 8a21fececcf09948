package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
)

// longAnswer is a stream as the service writes it: some reasoning, n pieces of text, one call in pieces, usage.
func longAnswer(n int) string {
	var b strings.Builder
	b.WriteString(begin() + start(0, `{"type":"thinking","thinking":"","signature":""}`))
	for range n / 10 {
		b.WriteString(grow(0, `{"type":"thinking_delta","thinking":" hm"}`))
	}
	b.WriteString(grow(0, `{"type":"signature_delta","signature":"`+strings.Repeat("Eq", 200)+`"}`) + stop(0) + start(1, `{"type":"text","text":""}`))
	for range n - n/10 {
		b.WriteString(grow(1, `{"type":"text_delta","text":" word"}`))
	}
	b.WriteString(stop(1) + start(2, `{"type":"tool_use","id":"toolu_1","name":"echo","input":{}}`) + argument(2, "{"))
	for i := range 20 {
		b.WriteString(argument(2, fmt.Sprintf(`"key%d":1,`, i)))
	}
	return b.String() + argument(2, `"last":1}`) + stop(2) + end("tool_use")
}

// BenchmarkDecode reads a long answer from memory: bytes a second, and what one event takes.
func BenchmarkDecode(b *testing.B) {
	body := longAnswer(1000)
	events := strings.Count(body, "\n\n")
	decode := func() {
		got, err := read("text/event-stream", strings.NewReader(body), 0)
		if err != nil || len(got.Calls) != 1 || got.Calls[0].State != providers.Whole || len(got.ThinkingBlocks) != 1 {
			b.Fatal(show(got, err))
		}
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		decode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(testing.AllocsPerRun(5, decode)/float64(events), "allocs/event")
}

// BenchmarkByteToEvent is the time between the last byte of an event leaving the server and its fragment arriving at the
// reader, over a loopback connection: one event for each that was read.
func BenchmarkByteToEvent(b *testing.B) {
	next := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streamOf(begin())(w, r)
		piece := []byte(grow(0, `{"type":"text_delta","text":"x"}`))
		for {
			select {
			case _, more := <-next:
				if !more {
					return
				}
			case <-r.Context().Done():
				return
			}
			_, _ = w.Write(piece)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	p, err := New(Config{BaseURL: server.URL, Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for f, err := range p.Stream(ctx, hello) {
			if _, ok := f.(providers.TextDelta); err == nil && ok {
				arrived <- struct{}{}
			}
		}
	}()
	next <- struct{}{}
	<-arrived
	for b.Loop() {
		next <- struct{}{}
		<-arrived
	}
	b.StopTimer()
	close(next)
	cancel()
	<-arrived
}

// BenchmarkRequest builds the body of a late request of a long chain of calls.
func BenchmarkRequest(b *testing.B) {
	p, err := New(Config{BaseURL: "http://127.0.0.1:1", Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10, 100} {
		req := providers.Request{Model: "m", Messages: []providers.Message{{Role: providers.RoleUser, Content: "go"}}}
		for i := range n {
			object := json.RawMessage(fmt.Sprintf(`{"path":"dir/file%d","text":%q}`, i, strings.Repeat("x", 200)))
			key := fmt.Sprint("k", i)
			req.Messages = append(req.Messages,
				providers.Message{Role: providers.RoleAssistant, Calls: []providers.Call{{Key: key, ID: key, Name: "echo", Arguments: string(object), Object: object, State: providers.Whole}}},
				providers.Message{Role: providers.RoleTool, CallKey: key, Content: strings.Repeat("y", 1000)})
		}
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sent, err := p.prepare(req, refused{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(sent.params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
