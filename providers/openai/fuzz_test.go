package openai

import (
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
)

// FuzzStream reads any bytes as an answer: the same however they arrive, and without an end no call is whole.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		fine, wholeCall() + endChunk("stop") + doneLine, halfCall(), halfCall() + endChunk("length"), sayChunk("a") + ": x\r\n\r\n" + endChunk("stop"),
		event(`{"error":{"message":"x","code":429}}`), toolStream(`{"function":{"name":"echo","arguments":{"a":[1]}}}`, `{"id":"a","function":{"arguments":"{}"}}`),
		deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`) + wholeCall() + doneLine,
		event(`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"}]}}],"usage":{"prompt_tokens":1,"cost":1e-5}}`) + doneLine,
		"\xef\xbb\xbfdata: {\"choices\":[{\"message\":{\"content\":\"a\",\"function_call\":{\"name\":\"x\"}}}]}\r\rdata: [DONE]",
	} {
		f.Add(body, uint64(7))
	}
	f.Fuzz(func(t *testing.T, body string, seed uint64) {
		whole, err := read("text/event-stream", &corpus.Pieces{Text: body, Size: func() int { return len(body) }}, "echo")
		checkResponse(t, whole, err)
		r := rand.New(rand.NewPCG(seed, 1))
		split, splitErr := read("text/event-stream", &corpus.Pieces{Text: body, Size: func() int { return 1 + r.IntN(9) }}, "echo")
		if (err == nil) != (splitErr == nil) || providers.KindOf(err) != providers.KindOf(splitErr) || !reflect.DeepEqual(whole, split) {
			t.Fatalf("in pieces: %v %+v\nwhole: %v %+v", splitErr, split, err, whole)
		}
		_, _ = read("application/json", &corpus.Pieces{Text: body, Size: func() int { return 64 }, End: io.ErrUnexpectedEOF}, "echo")
	})
}

func checkResponse(t *testing.T, got providers.Response, err error) {
	t.Helper()
	if err == nil && got.Finish != providers.FinishStop && got.Finish != providers.FinishLength && got.Finish != providers.FinishFiltered {
		t.Fatalf("no error, finish %s", got.Finish)
	}
	for _, c := range got.Calls {
		if c.State == providers.Whole && (err != nil || c.Object == nil) || c.State != providers.Whole && c.Object != nil {
			t.Fatalf("call %+v, error %v", c, err)
		}
	}
}
