package openai

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

// toolStream writes a stream in which each argument is the tool_calls list of one chunk.
func toolStream(lists ...string) string {
	var b strings.Builder
	for _, l := range lists {
		fmt.Fprintf(&b, `data: {"choices":[{"index":0,"delta":{"tool_calls":[%s]}}]}`+"\n\n", l)
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// showCalls tells calls in one line each: id, name, object or state.
func showCalls(calls []providers.Call) string {
	var out []string
	for _, c := range calls {
		arguments := string(c.Object)
		if c.State != providers.Whole {
			arguments = string(c.State)
		}
		out = append(out, fmt.Sprintf("%s/%s/%s", c.ID, c.Name, arguments))
	}
	return strings.Join(out, " ")
}

func TestCD109Assembly(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD108", "CD109", "CD110")
	for _, c := range []struct {
		name  string
		lists []string
		want  string
	}{
		{"CD108 arguments in three pieces, name in two", []string{
			`{"index":0,"id":"c1","function":{"name":"get_","arguments":""}}`, `{"index":0,"function":{"name":"weather","arguments":"{\"a\""}}`,
			`{"index":0,"function":{"arguments":":"}}`, `{"index":0,"function":{"arguments":"1}"}}`,
		}, `c1/get_weather/{"a":1}`},
		{"standard parallel", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":1,"id":"b","function":{"name":"add","arguments":"{\"n\":2}"}}`,
		}, `a/echo/{"n":1} b/add/{"n":2}`},
		{"B60 interleaved", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":""}},{"index":1,"id":"b","function":{"name":"add","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"n\":"}}`, `{"index":1,"function":{"arguments":"{\"n\":"}}`,
			`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`,
		}, `a/echo/{"n":1} b/add/{"n":2}`},
		{"id and name repeated in every chunk", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\""}}`, `{"index":0,"id":"a","function":{"name":"echo","arguments":":1}"}}`,
		}, `a/echo/{"n":1}`},
		{"a name that is no tool, repeated", []string{
			`{"index":0,"id":"a","function":{"name":"nope","arguments":"{"}}`, `{"index":0,"id":"a","function":{"name":"nope","arguments":"}"}}`,
		}, `a/nope/{}`},
		{"empty id and name on continuations", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{"}}`, `{"index":0,"id":"","function":{"name":"","arguments":"}"}}`,
		}, `a/echo/{}`},
		{"no index, whole calls in one list", []string{
			`{"id":"a","function":{"name":"echo","arguments":"{}"}},{"id":"b","function":{"name":"echo","arguments":"{\"n\":1}"}}`,
		}, `a/echo/{} b/echo/{"n":1}`},
		{"no index, in pieces", []string{
			`{"id":"a","function":{"name":"echo","arguments":"{\"n\""}}`, `{"function":{"arguments":":1}"}}`,
			`{"id":"b","function":{"name":"add","arguments":"{\"n\""}}`, `{"function":{"arguments":":2}"}}`,
		}, `a/echo/{"n":1} b/add/{"n":2}`},
		{
			"no index and no id, one list",
			[]string{`{"function":{"name":"echo","arguments":"{\"n\":1}"}},{"function":{"name":"echo","arguments":"{\"n\":2}"}}`},
			`/echo/{"n":1} /echo/{"n":2}`,
		},
		{"index always 0, different ids", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":0,"id":"b","function":{"name":"echo","arguments":"{\"n\":2}"}}`,
		}, `a/echo/{"n":1} b/echo/{"n":2}`},
		{"index always 0, no ids", []string{
			`{"index":0,"function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":0,"function":{"name":"add","arguments":"{\"n\":2}"}}`,
		}, `/echo/{"n":1} /add/{"n":2}`},
		{"index always 0, no ids, name first", []string{
			`{"index":0,"function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":0,"function":{"name":"add"}}`, `{"index":0,"function":{"arguments":"{\"n\":2}"}}`,
		}, `/echo/{"n":1} /add/{"n":2}`},
		{
			"late id with index",
			[]string{`{"index":0,"function":{"name":"echo","arguments":"{\"n\""}}`, `{"index":0,"id":"a","function":{"arguments":":1}"}}`},
			`a/echo/{"n":1}`,
		},
		{"late id without index", []string{`{"function":{"name":"echo","arguments":"{\"n\""}}`, `{"id":"a","function":{"arguments":":1}"}}`}, `a/echo/{"n":1}`},
		{
			"arguments as an object",
			[]string{`{"index":0,"id":"a","function":{"name":"echo","arguments":{"n": 12345678901234567890}}}`},
			`a/echo/{"n":12345678901234567890}`,
		},
		{"null arguments", []string{`{"index":0,"id":"a","function":{"name":"echo","arguments":null}}`}, `a/echo/{}`},
		{"no arguments", []string{`{"index":0,"id":"a","function":{"name":"echo"}}`}, `a/echo/{}`},
		{"the whole call again", []string{
			`{"index":0,"function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":0,"function":{"name":"echo","arguments":"{\"n\":1}"}}`,
		}, `/echo/{"n":1}`},
		{"the whole call again, with its id", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}"}}`, `{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}"}}`,
		}, `a/echo/{"n":1}`},
		{"first index is 1", []string{`{"index":1,"id":"a","function":{"name":"echo","arguments":"{}"}}`}, `a/echo/{}`},
		{
			"nested objects",
			[]string{`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"o\":{\"x\":{}}"}}`, `{"index":0,"function":{"arguments":",\"p\":\"}\"}"}}`},
			`a/echo/{"o":{"x":{}},"p":"}"}`,
		},
		{"nothing in an entry", []string{`{"index":0}`, `{}`, `{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`}, `a/echo/{}`},
		{"an entry of the wrong type", []string{`7`, `{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`}, `a/echo/{}`},
		{"CD110 {} and then more", []string{
			`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"n\""}}`,
			`{"index":0,"function":{"arguments":":1}"}}`,
		}, `a/echo/{"n":1}`},
		{"CD110 two objects in one text", []string{`{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}{\"n\":2}"}}`}, `a/echo/malformed`},
		{"CD110 {} and then rubbish", []string{`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`, `{"index":0,"function":{"arguments":" x"}}`}, `a/echo/malformed`},
		{"only {}", []string{`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`}, `a/echo/{}`},
		{"a call without a name is kept, for the loop to refuse", []string{`{"index":0,"id":"a","function":{"arguments":"{}"}}`}, `a//{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := replay(t, toolStream(c.lists...), 1<<16, "echo", "add", "get_weather")
			if err != nil || showCalls(got.Calls) != c.want {
				t.Errorf("got %s, want %s, error %v", showCalls(got.Calls), c.want, err)
			}
		})
	}
}

func TestLegacyFunctionCall(t *testing.T) {
	t.Parallel()
	got, err := replay(t, `data: {"choices":[{"index":0,"delta":{"function_call":{"name":"echo","arguments":"{\"n\":"}}}]}`+"\n\n"+
		`data: {"choices":[{"index":0,"delta":{"function_call":{"arguments":"1}"}},"finish_reason":"function_call"}]}`+"\n\n", 64, "echo")
	if err != nil || showCalls(got.Calls) != `/echo/{"n":1}` {
		t.Errorf("got %s, %v", showCalls(got.Calls), err)
	}
}

func TestOpaqueIsKeptWithItsOrigin(t *testing.T) {
	t.Parallel()
	got, err := replay(t, toolStream(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`,
		`{"index":0,"extra_content":{"google":{"thought_signature":"s1"}}}`), 64, "echo")
	want := `{"provider":"openai","model":"m","members":{"extra_content":{"google":{"thought_signature":"s1"}}}}`
	if err != nil || len(got.Calls) != 1 || string(got.Calls[0].Opaque) != want {
		t.Errorf("calls %+v, error %v", got.Calls, err)
	}
}

// TestAssemblyIsTheSameHoweverArgumentsAreCut draws well-formed parallel calls and cuts their arguments anywhere.
func TestAssemblyIsTheSameHoweverArgumentsAreCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := slots{offered: func(name string) bool { return name == "echo" }}
		n := rapid.IntRange(1, 4).Draw(t, "calls")
		type part struct {
			call int
			text string
		}
		var parts []part
		want := make([]string, n)
		for i := range n {
			want[i] = fmt.Sprintf(`{"n":%d,"s":%q,"o":{}}`, i, rapid.StringMatching(`[a-z{}"\\ ]{0,8}`).Draw(t, "text"))
			for rest := want[i]; rest != ""; {
				cut := rapid.IntRange(1, len(rest)).Draw(t, "cut")
				parts = append(parts, part{i, rest[:cut]})
				rest = rest[cut:]
			}
		}
		got := make([]string, n)
		// Pieces of different calls may alternate; those of one call keep their order.
		for i := range n {
			s.nextChunk()
			s.add(entry{index: new(i), id: fmt.Sprint("id", i), name: "echo"})
		}
		next := make([]int, n)
		for range parts {
			i := rapid.IntRange(0, n-1).Draw(t, "which")
			for k := range n {
				c := (i + k) % n
				if p := nthPart(len(parts), func(j int) bool { return parts[j].call == c }, next[c]); p >= 0 {
					next[c]++
					s.nextChunk()
					d, _ := s.add(entry{index: new(c), arguments: parts[p].text})
					got[d.Slot] += d.Arguments
					break
				}
			}
		}
		for _, d := range s.flush() {
			got[d.Slot] += d.Arguments
		}
		for i := range n {
			if got[i] != want[i] {
				t.Fatalf("call %d has %q, want %q", i, got[i], want[i])
			}
		}
	})
}

// nthPart finds the index of the n-th element that belongs.
func nthPart(length int, belongs func(int) bool, n int) int {
	for j := range length {
		if belongs(j) {
			if n == 0 {
				return j
			}
			n--
		}
	}
	return -1
}
