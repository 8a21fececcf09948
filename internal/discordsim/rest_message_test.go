package discordsim_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

func (tw *town) messages() string { return "/channels/" + string(tw.general) + "/messages" }

// formCodes are the codes of an Invalid Form Body by path.
func formCodes(t *testing.T, r reply) map[string]string {
	t.Helper()
	var body struct{ Errors map[string]any }
	r.into(t, &body)
	out := map[string]string{}
	var walk func(path string, at map[string]any)
	walk = func(path string, at map[string]any) {
		for k, v := range at {
			if list, ok := v.([]any); ok && k == "_errors" {
				out[strings.TrimPrefix(path, ".")] = list[0].(map[string]any)["code"].(string)
			} else if inner, ok := v.(map[string]any); ok {
				walk(path+"."+k, inner)
			}
		}
	}
	walk("", body.Errors)
	return out
}

func TestMessageErrors(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	hidden := tw.channel(t, "hidden", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermViewChannel})
	quiet := tw.channel(t, "quiet", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermSendMessages})
	blind := tw.channel(t, "blind", discordsim.Overwrite{ID: tw.guild, Deny: discordsim.PermReadMessageHistory})
	anas := string(tw.say(t, tw.ana, "mine"))
	gone := tw.say(t, tw.ana, "gone")
	must(t, tw.ana.Delete(gone))
	in := func(id discordsim.ID) string { return "/channels/" + string(id) + "/messages" }
	here := tw.messages()
	tests := []struct {
		name, method, path, body string
		status, code             int
		form                     map[string]string
	}{
		{name: "unknown channel", method: "POST", path: "/channels/1/messages", body: `{"content":"x"}`, status: 404, code: 10003},
		{name: "hidden channel", method: "POST", path: in(hidden), body: `{"content":"x"}`, status: 403, code: 50001},
		{name: "no send permission", method: "POST", path: in(quiet), body: `{"content":"x"}`, status: 403, code: 50013},
		{name: "typing without send", method: "POST", path: "/channels/" + string(quiet) + "/typing", status: 403, code: 50013},
		{name: "empty", method: "POST", path: here, body: `{"content":""}`, status: 400, code: 50006},
		{name: "white space", method: "POST", path: here, body: `{"content":" \n\t"}`, status: 400, code: 50006},
		{name: "zero width", method: "POST", path: here, body: `{"content":"\u200b"}`, status: 400, code: 50006},
		{name: "no JSON", method: "POST", path: here, body: `{`, status: 400, code: 50109},
		{
			name: "too long", method: "POST", path: here, body: `{"content":"` + strings.Repeat("x", 2001) + `"}`,
			status: 400, code: 50035, form: map[string]string{"content": "BASE_TYPE_MAX_LENGTH"},
		},
		{
			name: "too long in UTF-16 only", method: "POST", path: here, body: `{"content":"` + strings.Repeat("🎉", 1001) + `"}`,
			status: 400, code: 50035, form: map[string]string{"content": "BASE_TYPE_MAX_LENGTH"},
		},
		{
			name: "reply to a deleted message", method: "POST", path: here,
			body:   `{"content":"x","message_reference":{"message_id":"` + string(gone) + `"}}`,
			status: 400, code: 50035, form: map[string]string{"message_reference": "MESSAGE_REFERENCE_UNKNOWN_MESSAGE"},
		},
		{
			name: "reply without history", method: "POST", path: in(blind),
			body: `{"content":"x","message_reference":{"message_id":"` + anas + `"}}`, status: 400, code: 160002,
		},
		{
			name: "parse and list", method: "POST", path: here,
			body:   `{"content":"x","allowed_mentions":{"parse":["users"],"users":["1"]}}`,
			status: 400, code: 50035, form: map[string]string{"allowed_mentions": "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"},
		},
		{
			name: "unknown parse", method: "POST", path: here, body: `{"content":"x","allowed_mentions":{"parse":["all"]}}`,
			status: 400, code: 50035, form: map[string]string{"allowed_mentions.parse.0": "BASE_TYPE_CHOICES"},
		},
		{
			name: "long nonce", method: "POST", path: here, body: `{"content":"x","nonce":"` + strings.Repeat("n", 26) + `"}`,
			status: 400, code: 50035, form: map[string]string{"nonce": "BASE_TYPE_MAX_LENGTH"},
		},
		{
			name: "embed title", method: "POST", path: here, body: `{"embeds":[{"title":"` + strings.Repeat("x", 257) + `"}]}`,
			status: 400, code: 50035, form: map[string]string{"embeds.0.title": "BASE_TYPE_MAX_LENGTH"},
		},
		{
			name: "custom id twice", method: "POST", path: here,
			body: `{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"a","custom_id":"a"},` +
				`{"type":2,"style":1,"label":"b","custom_id":"a"}]}]}`,
			status: 400, code: 50035, form: map[string]string{"components.0.custom_id": "COMPONENT_CUSTOM_ID_DUPLICATED"},
		},
		{
			name: "content beside components v2", method: "POST", path: here,
			body:   `{"flags":32768,"content":"x","components":[{"type":10,"content":"y"}]}`,
			status: 400, code: 50035, form: map[string]string{"content": "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"},
		},
		{name: "unknown message", method: "GET", path: here + "/1", status: 404, code: 10008},
		{name: "deleted message", method: "PATCH", path: here + "/" + string(gone), body: `{"content":"x"}`, status: 404, code: 10008},
		{name: "edit somebody's", method: "PATCH", path: here + "/" + anas, body: `{"content":"x"}`, status: 403, code: 50005},
		{name: "delete somebody's", method: "DELETE", path: here + "/" + anas, status: 403, code: 50013},
		{name: "unknown emoji", method: "PUT", path: here + "/" + anas + "/reactions/smile/@me", status: 400, code: 10014},
		{name: "no such route", method: "GET", path: "/nonsense", status: 404, code: 0},
		{name: "unknown guild", method: "GET", path: "/guilds/1", status: 404, code: 10004},
		{name: "history limit", method: "GET", path: here + "?limit=101", status: 400, code: 50035},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tw.do(t, tt.method, tt.path, tt.body)
			if r.status != tt.status || r.code(t) != tt.code {
				t.Fatalf("got %d %s, want %d with code %d", r.status, r.text, tt.status, tt.code)
			}
			if diff := cmp.Diff(tt.form, formCodes(t, r)); tt.form != nil && diff != "" {
				t.Errorf("form errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownRoutesAreViolations(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.do(t, "GET", "/voice/regions", "")
	want := []string{"GET : the simulator has no route for GET /voice/regions"}
	if diff := cmp.Diff(want, tw.server.Violations()); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestWrongTokenIsRefused(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	for _, auth := range []string{"", "Bot wrong", tw.world.Token(), "Bearer " + tw.world.Token()} {
		r, err := tw.request(t, "GET", "/users/@me", "", http.NoBody, auth)
		must(t, err)
		if r.status != 401 || r.code(t) != 0 {
			t.Errorf("Authorization %q: got %d %s, want 401", auth, r.status, r.text)
		}
	}
	for _, r := range tw.world.Requests("") {
		if r.Header.Get("Authorization") != "" {
			t.Error("the journal keeps tokens")
		}
	}
}

func TestPostEditDelete(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	var m struct{ ID string }
	tw.do(t, "POST", tw.messages(), `{"content":"  one  "}`).into(t, &m)
	path := tw.messages() + "/" + m.ID
	tw.do(t, "PATCH", path, `{"content":"two"}`)
	tw.do(t, "PATCH", path, `{"content":"three","components":[{"type":1,"components":[{"type":2,"style":2,"label":"Stop","custom_id":"stop"}]}]}`)
	got, _ := tw.world.Message(discordsim.ID(m.ID))
	var earlier []string
	for _, r := range got.Earlier {
		earlier = append(earlier, r.Content)
	}
	if got.Content != "three" || !slices.Equal(earlier, []string{"one", "two"}) || got.Edited.IsZero() || got.Components == nil {
		t.Errorf("after two edits: %+v", got)
	}
	if r := tw.do(t, "PATCH", path, `{"content":"","components":[]}`); r.status != 400 || r.code(t) != 50006 {
		t.Errorf("an edit to nothing: %d %s", r.status, r.text)
	}
	if r := tw.do(t, "DELETE", path, ""); r.status != 204 {
		t.Errorf("delete: %d %s", r.status, r.text)
	}
	for _, name := range []string{"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"} {
		g.expect(name)
	}
	if got := tw.world.Messages(tw.general); len(got) != 0 {
		t.Errorf("still visible: %+v", got)
	}
}

func TestNonceDeduplicates(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	post := func(body string) string {
		var m struct{ ID, Nonce string }
		r := tw.do(t, "POST", tw.messages(), body)
		r.into(t, &m)
		if r.status != 200 || m.Nonce != "n1" {
			t.Fatalf("got %d %s", r.status, r.text)
		}
		return m.ID
	}
	first := post(`{"content":"a","nonce":"n1","enforce_nonce":true}`)
	if again := post(`{"content":"a","nonce":"n1","enforce_nonce":true}`); again != first {
		t.Errorf("an enforced nonce made a second message")
	}
	if again := post(`{"content":"a","nonce":"n1"}`); again == first {
		t.Errorf("a nonce that is not enforced made no message")
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	question := tw.say(t, tw.ana, "why?")
	type answer struct {
		Type             int
		MessageReference *struct {
			MessageID string `json:"message_id"`
		} `json:"message_reference"`
		ReferencedMessage *struct{ Content string } `json:"referenced_message"`
	}
	var a answer
	tw.do(t, "POST", tw.messages(), `{"content":"because","message_reference":{"message_id":"`+string(question)+`"}}`).into(t, &a)
	if a.Type != 19 || a.ReferencedMessage == nil || a.ReferencedMessage.Content != "why?" {
		t.Errorf("reply: %+v", a)
	}
	must(t, tw.ana.Delete(question))
	var plain answer
	tw.do(t, "POST", tw.messages(), `{"content":"still","message_reference":{"message_id":"`+string(question)+`","fail_if_not_exists":false}}`).into(t, &plain)
	if plain.Type != 0 || plain.MessageReference != nil {
		t.Errorf("reply to a deleted message that need not exist: %+v", plain)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	var ids []string
	for i := range 5 {
		ids = append(ids, string(tw.say(t, tw.ana, fmt.Sprint(i))))
	}
	tests := []struct {
		query string
		want  string
	}{
		{"", "43210"},
		{"?limit=2", "43"},
		{"?limit=2&before=" + ids[2], "10"},
		{"?limit=2&after=" + ids[1], "32"},
		{"?limit=3&around=" + ids[2], "321"},
		{"?after=" + ids[4], ""},
	}
	for _, tt := range tests {
		var list []struct{ Content string }
		tw.do(t, "GET", tw.messages()+tt.query, "").into(t, &list)
		got := ""
		for _, m := range list {
			got += m.Content
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestUploadAndCDN(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	var body bytes.Buffer
	mw := multipart.NewWriter(&body)
	must(t, mw.WriteField("payload_json", `{"content":"see","attachments":[{"id":0,"description":"a file"}]}`))
	part, err := mw.CreateFormFile("files[0]", "answer.md")
	must(t, err)
	_, err = io.WriteString(part, "# Long")
	must(t, err)
	must(t, mw.Close())
	r, err := tw.request(t, "POST", tw.messages(), mw.FormDataContentType(), &body, "Bot "+tw.world.Token())
	must(t, err)
	if r.status != 200 {
		t.Fatalf("upload: %d %s", r.status, r.text)
	}
	m := tw.world.Messages(tw.general)[0]
	if len(m.Attachments) != 1 || m.Attachments[0].Name != "answer.md" || m.Attachments[0].Description != "a file" {
		t.Fatalf("attachments: %+v", m.Attachments)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", m.Attachments[0].URL, http.NoBody)
	must(t, err)
	res, err := tw.client.Do(req)
	must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	if string(text) != "# Long" {
		t.Errorf("the CDN serves %q", text)
	}
	if files := tw.world.Requests("POST /channels/{}/messages")[0].Files; !slices.Equal(files, []string{"answer.md"}) {
		t.Errorf("the journal has files %q", files)
	}
}

func TestReactions(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	emoji, err := tw.world.AddEmoji(tw.guild, "party")
	must(t, err)
	id := tw.say(t, tw.ana, "hello")
	for _, e := range []string{"%F0%9F%91%8D", "party:" + string(emoji)} {
		if r := tw.do(t, "PUT", tw.messages()+"/"+string(id)+"/reactions/"+e+"/@me", ""); r.status != 204 {
			t.Fatalf("%s: %d %s", e, r.status, r.text)
		}
	}
	must(t, tw.olga.React(id, "👍"))
	tw.do(t, "DELETE", tw.messages()+"/"+string(id)+"/reactions/%F0%9F%91%8D/@me", "")
	m, _ := tw.world.Message(id)
	want := []discordsim.Reaction{
		{Emoji: "👍", Users: []discordsim.ID{tw.olga.ID}},
		{Emoji: "party:" + string(emoji), Users: []discordsim.ID{tw.world.Bot()}},
	}
	if diff := cmp.Diff(want, m.Reactions); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
	tw.do(t, "GET", tw.messages()+"/"+string(id), "")
}

func TestIDsCarryTheClockAndGrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	tw := newTown(t, discordsim.Config{Clock: func() time.Time { return now }})
	a, b := tw.say(t, tw.ana, "a"), tw.say(t, tw.ana, "b")
	if !a.Time().Equal(now) || len(a) != len(b) || a >= b {
		t.Errorf("ids %s and %s at %s", a, b, a.Time())
	}
}

func TestEmbedsStickersAndKeptFiles(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	sticker, err := tw.world.AddSticker(tw.guild, "wave", "a waving hand", "wave")
	must(t, err)
	var m struct {
		ID       discordsim.ID
		Embeds   []struct{ Title string }
		Stickers []struct{ Name string } `json:"sticker_items"`
	}
	tw.do(t, "POST", tw.messages(), `{"embeds":[{"title":"Card","fields":[{"name":"a","value":"b"}]}],"sticker_ids":["`+string(sticker)+`"]}`).into(t, &m)
	if len(m.Embeds) != 1 || m.Embeds[0].Title != "Card" || len(m.Stickers) != 1 || m.Stickers[0].Name != "wave" {
		t.Errorf("message: %+v", m)
	}
	if r := tw.do(t, "POST", tw.messages(), `{"sticker_ids":["1"]}`); r.code(t) != 50081 {
		t.Errorf("unknown sticker: %s", r.text)
	}

	var body bytes.Buffer
	mw := multipart.NewWriter(&body)
	must(t, mw.WriteField("payload_json", `{}`))
	for i := range 2 {
		part, err := mw.CreateFormFile(fmt.Sprintf("files[%d]", i), fmt.Sprintf("%d.png", i))
		must(t, err)
		must(t, png.Encode(part, image.NewGray(image.Rect(0, 0, 3, 2))))
	}
	must(t, mw.Close())
	r, err := tw.request(t, "POST", tw.messages(), mw.FormDataContentType(), &body, "Bot "+tw.world.Token())
	must(t, err)
	r.into(t, &m)
	files := func() []discordsim.Attachment { m, _ := tw.world.Message(m.ID); return m.Attachments }
	if a := files(); len(a) != 2 || a[0].Width != 3 || a[0].Height != 2 || a[0].ContentType != "image/png" {
		t.Fatalf("attachments: %+v", a)
	}
	tw.do(t, "PATCH", tw.messages()+"/"+string(m.ID), `{"attachments":[{"id":"`+string(files()[1].ID)+`"}]}`)
	if a := files(); len(a) != 1 || a[0].Name != "1.png" {
		t.Errorf("kept attachments: %+v", a)
	}
}
