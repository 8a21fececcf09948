package store

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCD099DecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"garbage":                 `garbage`,
		"cut off":                 `{"v":1,"entries":[`,
		"no entries":              `{"v":1}`,
		"entries a string":        `{"v":1,"entries":"x"}`,
		"entries null":            `{"v":1,"entries":null}`,
		"no version":              `{"entries":[]}`,
		"a later version":         `{"v":2,"entries":[]}`,
		"version a string":        `{"v":"1","entries":[]}`,
		"an array":                `[]`,
		"null":                    `null`,
		"trailing data":           `{"v":1,"entries":[]}{}`,
		"an entry not an object":  `{"v":1,"entries":["x"]}`,
		"an entry null":           `{"v":1,"entries":[null]}`,
		"no kind":                 `{"v":1,"entries":[{"id":"a"}]}`,
		"unknown kind":            `{"v":1,"entries":[{"kind":"oracle"}]}`,
		"id a number":             `{"v":1,"entries":[{"kind":"user","id":1}]}`,
		"content an object":       `{"v":1,"entries":[{"kind":"user","content":{}}]}`,
		"content null":            `{"v":1,"entries":[{"kind":"user","content":null}]}`,
		"ts a string":             `{"v":1,"entries":[{"kind":"user","ts":"1"}]}`,
		"calls an object":         `{"v":1,"entries":[{"kind":"assistant","calls":{}}]}`,
		"a call without key":      `{"v":1,"entries":[{"kind":"assistant","calls":[{"name":"x"}]}]}`,
		"a call's arguments raw":  `{"v":1,"entries":[{"kind":"assistant","calls":[{"key":"k","arguments":{}}]}]}`,
		"call_key a number":       `{"v":1,"entries":[{"kind":"tool","call_key":1}]}`,
		"a good entry, a bad one": `{"v":1,"entries":[{"kind":"user"},{"kind":"nobody"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Decode(json.RawMessage(document))
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
			if diff := cmp.Diff(Transcript{}, got); diff != "" {
				t.Errorf("something came with the error:\n%s", diff)
			}
		})
	}
}

func TestCD100DecodeKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	// Written as Encode writes it, so that the bytes must come back the same: numbers keep their digits.
	const document = `{"v":1,"entries":[` +
		`{"kind":"user","id":"1","ts":1700000000000,"content":"<b> & ünï","attachments":[{"n":12345678901234567890}]},` +
		`{"kind":"assistant","calls":[{"key":"k","name":"read_file","arguments":"{\"a\":1}","opaque":{"s":"x<y"}}],"blocks":[null,1.50]},` +
		`{"kind":"tool","content":"r","call_key":"k","failed":true}],"epoch":3,"later":null}`
	t1, err := Decode(json.RawMessage(document))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(t1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document, string(again)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCD101CD104NotesAreStored(t *testing.T) {
	t.Parallel()
	stored := Transcript{Entries: list(user("/cost"), note("cost so far: 3 cents"), user("hi"), assistant("hello"))}
	document, err := Encode(stored)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Decode(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, loaded); diff != "" {
		t.Errorf("(-stored +loaded):\n%s", diff)
	}
}

func TestDecodeOfNothing(t *testing.T) {
	t.Parallel()
	got, err := Decode(nil)
	if err != nil || len(got.Entries) != 0 {
		t.Errorf("%+v, %v; want an empty transcript", got, err)
	}
}

func TestEncodeRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	bad := user("x")
	bad.Unknown = Fields{"later": json.RawMessage(`{`)}
	if _, err := Encode(Transcript{Entries: list(bad)}); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
}

func TestEncodeDecodeRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := Transcript{Entries: conversation(t), Unknown: Fields{"epoch": []byte("1")}}
		document, err := Encode(stored)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := Decode(document)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, loaded); diff != "" {
			t.Fatalf("(-stored +loaded):\n%s", diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"v":1,"entries":[{"kind":"user","id":"1","x":[]}],"y":1}`)
	f.Add(`{"v":1,"entries":[{"kind":"assistant","calls":[{"key":"k"}]}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		first, err := Decode(json.RawMessage(document))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%v, want ErrCorrupt", err)
			}
			return
		}
		written, err := Encode(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Decode(written)
		if err != nil {
			t.Fatalf("Decode of what Encode wrote: %v\n%s", err, written)
		}
		rewritten, err := Encode(second)
		if err != nil || string(rewritten) != string(written) {
			t.Fatalf("the second form differs (%v):\n%s\n%s", err, written, rewritten)
		}
	})
}
