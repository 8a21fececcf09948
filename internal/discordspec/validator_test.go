package discordspec

import (
	"errors"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

// described loads the description or skips.
func described(t *testing.T) *description {
	t.Helper()
	d, err := load()
	if errors.Is(err, errAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	messages = "/channels/{channel_id}/messages"
	commands = "/applications/{application_id}/commands"
)

func TestExchangesThatDoNotFit(t *testing.T) {
	t.Parallel()
	d := described(t)
	good := discordsim.Exchange{
		Method: "POST", Template: messages, RequestType: "application/json", RequestBody: []byte(`{"content":"x"}`),
		Status: 429, ResponseType: "application/json",
		ResponseBody: []byte(`{"message":"slow","code":0,"retry_after":1.5,"global":false}`),
	}
	tests := []struct {
		name   string
		change func(*discordsim.Exchange)
		want   string // "" for no complaint
	}{
		{"fits", func(*discordsim.Exchange) {}, ""},
		{"multipart", func(e *discordsim.Exchange) {
			e.RequestType = "multipart/form-data; boundary=x"
			e.RequestBody, e.Files = []byte(`{"attachments":[{"id":0}]}`), []string{"a.txt"}
		}, ""},
		{"front failure", func(e *discordsim.Exchange) { e.Status, e.ResponseType, e.ResponseBody = 502, "", nil }, ""},
		{"refused request", func(e *discordsim.Exchange) {
			e.RequestBody, e.Status, e.ResponseBody = []byte(`{"content":7}`), 400, []byte(`{"message":"no","code":50035}`)
		}, ""},
		{"unknown path", func(e *discordsim.Exchange) { e.Template = "/nonsense" }, "not in the description"},
		{"wrong body", func(e *discordsim.Exchange) { e.RequestBody = []byte(`{"content":7}`) }, "got number, want"},
		{"no JSON", func(e *discordsim.Exchange) { e.RequestBody = []byte(`{`) }, "no JSON"},
		{"wrong content type", func(e *discordsim.Exchange) { e.RequestType = "text/plain" }, "text/plain is not described"},
		{"no body", func(e *discordsim.Exchange) { e.RequestBody = nil }, "has no body"},
		{"unknown query", func(e *discordsim.Exchange) { e.Query = map[string][]string{"wait": {"true"}} }, `"wait" is not described`},
		{"wrong answer", func(e *discordsim.Exchange) { e.ResponseBody = []byte(`{"message":"slow","code":0}`) }, "retry_after"},
		{"undescribed status", func(e *discordsim.Exchange) { e.Status = 302 }, "status 302 is not described"},
		{"a body for 204", func(e *discordsim.Exchange) {
			e.Method, e.Template, e.RequestBody, e.Status = "DELETE", messages+"/{message_id}", nil, 204
		}, "none is described"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := good
			tt.change(&e)
			err := d.validate(e)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestDifferencesAreNeeded fails when Discord's description catches up, so that the table does not outlive its reasons.
func TestDifferencesAreNeeded(t *testing.T) {
	t.Parallel()
	d := described(t)
	tests := []struct{ name, pointer, body string }{
		{
			"default_member_permissions", pointer("paths", commands, "put", "requestBody", "content", "application/json", "schema"),
			`[{"name":"kill","description":"Stop","default_member_permissions":"8"}]`,
		},
		{
			"attachment index", pointer("paths", messages, "post", "requestBody", "content", "application/json", "schema"),
			`{"attachments":[{"id":0}]}`,
		},
		{
			"form error codes", pointer("components", "responses", "ClientErrorResponse", "content", "application/json", "schema"),
			`{"message":"Invalid Form Body","code":50035,"errors":{"content":{"_errors":[{"code":"X","message":"x"}]}}}`,
		},
	}
	if len(tests) != len(differences) {
		t.Errorf("%d differences, %d of them tested", len(differences), len(tests))
	}
	for _, tt := range tests {
		if err := d.check(tt.pointer, []byte(tt.body), func(any) {}); err == nil {
			t.Errorf("%s: is described by now; take the difference away", tt.name)
		}
		both := func(v any) { amendRequest(v); amendAnswer(v) }
		if err := d.check(tt.pointer, []byte(tt.body), both); err != nil {
			t.Errorf("%s: amended: %v", tt.name, err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	d, err := load()
	if err != nil {
		b.Skip(err)
	}
	e := discordsim.Exchange{
		Method: "POST", Template: messages, RequestType: "application/json", RequestBody: []byte(`{"content":"x"}`),
		Status: 429, ResponseType: "application/json",
		ResponseBody: []byte(`{"message":"slow","code":0,"retry_after":1.5,"global":false}`),
	}
	for b.Loop() {
		if err := d.validate(e); err != nil {
			b.Fatal(err)
		}
	}
}
