package observe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/observe"
)

// The made-up secrets of these tests. They are put together from parts so that no scanner takes them for real ones.
var (
	discordToken = "MTA" + strings.Repeat("4", 21) + "." + "Gabc12" + "." + strings.Repeat("x", 38)
	vendorKey    = "sk-" + "proj-" + strings.Repeat("k", 40)
)

func TestB113SecretsByValue(t *testing.T) {
	t.Parallel()
	const (
		plain  = "correcthorse"
		odd    = `p"w\x&y<z> é/?#`
		longer = plain + "battery"
		dsn    = "postgres://parley:db-pass!word@db:5432/parley"
	)
	r := observe.NewRedactor(plain, odd, longer, dsn, "short")
	quoted, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	var zero strings.Builder
	log := zerolog.New(&zero)
	log.Info().Str("v", odd).Msg("")
	cases := map[string]struct{ in, want string }{
		"bare":                      {"key " + plain + " refused", "key [redacted] refused"},
		"inside a word":             {"x" + plain + "y", "x[redacted]y"},
		"one begins like another":   {longer, "[redacted]"},
		"JSON with HTML escapes":    {string(quoted), `"[redacted]"`},
		"JSON as zerolog writes it": {zero.String(), `{"level":"info","v":"[redacted]"}` + "\n"},
		"in a query":                {"https://h/?q=" + url.QueryEscape(odd), "https://h/?q=[redacted]"},
		"in a path":                 {"https://h/" + url.PathEscape(odd) + "/x", "https://h/[redacted]/x"},
		"whole DSN":                 {"dial " + dsn, "dial [redacted]"},
		"password of the DSN":       {"auth failed for db-pass!word", "auth failed for [redacted]"},
		"too short to search for":   {"a short word", "a short word"},
		"nothing to do":             {"nothing to do", "nothing to do"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, r.Clean(c.in)); diff != "" {
				t.Errorf("Clean (-want +got):\n%s", diff)
			}
		})
	}
}

func TestB113SecretsByShape(t *testing.T) {
	t.Parallel()
	r := observe.NewRedactor() // knows no value: only the look tells
	header := http.Header{"Authorization": {"Basic dXNlcjpodW50ZXIy"}, "Accept": {"text/html"}}
	asJSON, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	netError := &url.Error{Op: "Get", URL: "https://h/v1?alt=sse&key=hunter2hunter2", Err: errors.New("timeout")}
	cases := map[string]struct{ in, want string }{
		"bare Discord token":          {"token " + discordToken + " leaked", "token [redacted] leaked"},
		"provider error body":         {`{"message":"Incorrect API key provided: ` + vendorKey + `."}`, `{"message":"Incorrect API key provided: [redacted]."}`},
		"net error with a key":        {netError.Error(), `Get "https://h/v1?alt=sse&key=[redacted]": timeout`},
		"the same inside JSON":        {`{"u":"https://h/?a=1\u0026api_key=hunter2hunter2"}`, `{"u":"https://h/?a=1\u0026api_key=[redacted]"}`},
		"webhook URL":                 {"POST https://discord.com/api/v10/webhooks/123456789012345678/aW-" + strings.Repeat("q", 60), "POST https://discord.com/api/v10/webhooks/123456789012345678/[redacted]"},
		"interaction callback":        {"/interactions/12345/" + strings.Repeat("q", 60) + "/callback", "/interactions/12345/[redacted]/callback"},
		"DSN with a password":         {"connect postgres://parley:hunter2@db/x: refused", "connect postgres://parley:[redacted]@db/x: refused"},
		"header dump":                 {fmt.Sprint(header), "map[Accept:[text/html] Authorization:[[redacted]]]"},
		"header dump as JSON":         {string(asJSON), `{"Accept":["text/html"],"Authorization":["[redacted]"]}`},
		"header line":                 {"X-Api-Key: hunter2hunter2\r\nAccept: x", "X-Api-Key: [redacted]\r\nAccept: x"},
		"bearer without a header":     {"sent Bearer " + strings.Repeat("z", 24), "sent Bearer [redacted]"},
		"panic trace":                 {"panic: " + discordToken + "\n\ngoroutine 1 [running]:", "panic: [redacted]\n\ngoroutine 1 [running]:"},
		"web token":                   {"eyJhbGciOi.eyJzdWIiOi.c2lnbmF0", "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0"},
		"web token of usual length":   {"x eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl y", "x [redacted] y"},
		"ordinary URL":                {"https://discord.com/channels/1/2?x=1", "https://discord.com/channels/1/2?x=1"},
		"ordinary port":               {"http://127.0.0.1:8080/a@b", "http://127.0.0.1:8080/a@b"},
		"snowflakes and versions":     {"1234567890123456789 v1.234567.8", "1234567890123456789 v1.234567.8"},
		"ordinary words with keys":    {"the key= to the token= is patience", "the key= to the token= is patience"},
		"file names with six letters": {"a.golang.md", "a.golang.md"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, r.Clean(c.in)); diff != "" {
				t.Errorf("Clean (-want +got):\n%s", diff)
			}
		})
	}
}

// A cleaned log line must still be a JSON object with the same fields.
func FuzzCleanKeepsJSON(f *testing.F) {
	f.Add("k", `Authorization: "x\"y" Bearer aaaaaaaaaaaaaaaaaaaaaaaa`)
	f.Add("url", "https://u:p\\w@h/?key=a\"b&token=\u2028")
	f.Add("authorization", discordToken)
	r := observe.NewRedactor("hunter2hunter2")
	f.Fuzz(func(t *testing.T, key, value string) {
		var line strings.Builder
		log := zerolog.New(&line)
		log.Info().Str(key, value).Interface("any", map[string]string{key: value}).Msg(value)
		if !json.Valid([]byte(line.String())) {
			t.Skip("zerolog itself wrote no valid JSON")
		}
		if clean := r.Clean(line.String()); !json.Valid([]byte(clean)) {
			t.Errorf("no longer JSON:\n%s\nwas\n%s", clean, line.String())
		}
	})
}

func BenchmarkCleanOrdinaryLine(b *testing.B) {
	r := observe.NewRedactor(discordToken, vendorKey)
	line := `{"level":"info","turn":"0198c1f2","channel":"1234567890123456789","guild":"1234567890123456788","tool":"recall_memory","ms":12,` +
		`"time":"2026-01-02T15:04:05.123Z","message":"Function call completed: recall_memory (12ms)"}` + "\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		r.Clean(line)
	}
}
