package openai

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

// longAnswer is a stream as services write it: some reasoning, n pieces of text, one call in pieces, usage.
func longAnswer(n int) string {
	const frame = `{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1730000000,"model":"m-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":null}]}`
	var b strings.Builder
	for i := range n {
		delta := `{"content":" word"}`
		if i < n/10 {
			delta = `{"reasoning_content":" hm"}`
		}
		b.WriteString(event(fmt.Sprintf(frame, delta)))
	}
	b.WriteString(event(fmt.Sprintf(frame, `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"echo","arguments":""}}]}`)))
	for i := range 20 {
		piece := fmt.Sprintf(`\"key%d\":1,`, i)
		if i == 0 {
			piece = "{" + piece
		}
		b.WriteString(event(fmt.Sprintf(frame, `{"tool_calls":[{"index":0,"function":{"arguments":"`+piece+`"}}]}`)))
	}
	b.WriteString(event(fmt.Sprintf(frame, `{"tool_calls":[{"index":0,"function":{"arguments":"\"last\":1}"}}]}`)))
	return b.String() + endChunk("tool_calls") + event(`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":1020,"total_tokens":2020}}`) + doneLine
}

// BenchmarkDecode reads a long answer from memory: bytes a second, and what one event takes.
func BenchmarkDecode(b *testing.B) {
	const words = 1000
	body := longAnswer(words)
	events := strings.Count(body, "\n\n")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := read("text/event-stream", strings.NewReader(body), "echo")
		if err != nil || len(got.Calls) != 1 || got.Calls[0].State != providers.Whole {
			b.Fatal(show(got, err))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(testing.AllocsPerRun(5, func() { _, _ = read("text/event-stream", strings.NewReader(body), "echo") })/float64(events), "allocs/event")
}

// BenchmarkByteToEvent is the time between the last byte of an event leaving the server and its fragment arriving at the
// reader, over a loopback connection: one event for each that was read.
func BenchmarkByteToEvent(b *testing.B) {
	next := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := []byte(sayChunk("x"))
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

// chain is a turn that has made n calls one after the other.
func chainOf(n int) providers.Request {
	req := hello
	req.Model = "m"
	for i := range n {
		object := json.RawMessage(fmt.Sprintf(`{"path":"dir/file%d","text":%q}`, i, strings.Repeat("x", 200)))
		key := fmt.Sprint("k", i)
		req.Messages = append(req.Messages,
			providers.Message{Role: providers.RoleAssistant, Calls: []providers.Call{{Key: key, ID: key, Name: "echo", Arguments: string(object), Object: object, State: providers.Whole}}},
			providers.Message{Role: providers.RoleTool, CallKey: key, Content: strings.Repeat("y", 1000)})
	}
	return req
}

// BenchmarkRequest builds the body of a late request of a long chain; repair is the part of it that the tool loop has
// done already.
func BenchmarkRequest(b *testing.B) {
	p, err := New(Config{BaseURL: "http://127.0.0.1:1", Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10, 100} {
		req := chainOf(n)
		repaired := req
		repaired.Messages = providers.Repair(req.Messages)
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				params, _ := p.params(repaired, dialect{})
				if _, err := json.Marshal(params); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("calls=%d/repair", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				providers.Repair(repaired.Messages)
			}
		})
	}
}
