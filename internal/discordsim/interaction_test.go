package discordsim_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/discordsim"
)

// register registers global commands.
func (tw *town) register(t *testing.T, commands string) reply {
	t.Helper()
	return tw.do(t, "PUT", "/applications/"+string(tw.world.Bot())+"/commands", commands)
}

// sent is the INTERACTION_CREATE as a bot needs it.
type sent struct {
	ID, Token string
	Type      int
	ChannelID string `json:"channel_id"`
	Data      json.RawMessage
	Member    *struct {
		Permissions string
		User        struct{ ID string }
	}
	User    *struct{ ID string }
	Message *struct{ ID string }
}

// receive takes the next interaction from the gateway.
func (g *gateway) receive() sent {
	g.t.Helper()
	for {
		f := g.next()
		if f.Type == "INTERACTION_CREATE" {
			var i sent
			must(g.t, json.Unmarshal(f.Data, &i))
			return i
		}
	}
}

// answer posts an interaction's callback.
func (tw *town) answer(t *testing.T, i sent, body string) reply {
	t.Helper()
	return tw.do(t, "POST", "/interactions/"+i.ID+"/"+i.Token+"/callback", body)
}

func (tw *town) hook(i sent) string { return "/webhooks/" + string(tw.world.Bot()) + "/" + i.Token }

const killCommand = `[{"name":"kill","description":"Stop the turn here"}]`

func TestDeferredAnswerEditedAndFollowedUp(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, killCommand)
	g, _ := tw.open(t, allIntents)
	slash, err := tw.ana.Slash(tw.general, "kill")
	must(t, err)
	i := g.receive()
	if i.Type != 2 || i.Member == nil || i.Member.User.ID != string(tw.ana.ID) || i.Member.Permissions == "" {
		t.Errorf("INTERACTION_CREATE: %+v", i)
	}
	if r := tw.answer(t, i, `{"type":5}`); r.status != 204 {
		t.Fatalf("defer: %d %s", r.status, r.text)
	}
	state, err := slash.Wait(t.Context())
	must(t, err)
	loading, _ := tw.world.Message(state.Original)
	if state.Answer != discordsim.AnswerDeferred || loading.Flags&discordsim.FlagLoading == 0 {
		t.Errorf("after deferring: %+v, message %+v", state, loading)
	}
	tw.do(t, "PATCH", tw.hook(i)+"/messages/@original", `{"content":"done"}`)
	tw.do(t, "POST", tw.hook(i), `{"content":"and more"}`)
	var got []string
	for _, m := range slash.Replies() {
		got = append(got, m.Content)
	}
	if diff := cmp.Diff([]string{"done", "and more"}, got); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
	if r := tw.answer(t, i, `{"type":5}`); r.status != 400 || r.code(t) != 40060 {
		t.Errorf("second answer: %d %s", r.status, r.text)
	}
	tw.do(t, "GET", tw.hook(i)+"/messages/@original", "")
	tw.do(t, "GET", tw.messages(), "")
	if r := tw.do(t, "DELETE", tw.hook(i)+"/messages/@original", ""); r.status != 204 {
		t.Errorf("delete: %d %s", r.status, r.text)
	}
	if r := tw.do(t, "PATCH", tw.hook(i)+"/messages/@original", `{"content":"x"}`); r.code(t) != 10008 {
		t.Errorf("edit after delete: %d %s", r.status, r.text)
	}
}

func TestFirstFollowUpFillsTheDeferredAnswer(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, killCommand)
	g, _ := tw.open(t, allIntents)
	slash, err := tw.ana.Slash(tw.general, "kill")
	must(t, err)
	i := g.receive()
	tw.answer(t, i, `{"type":5,"data":{"flags":64}}`)
	tw.do(t, "POST", tw.hook(i), `{"content":"only for you"}`)
	s := slash.State()
	if m, _ := tw.world.Message(s.Original); len(s.FollowUps) != 0 || m.Content != "only for you" || m.VisibleTo != tw.ana.ID {
		t.Errorf("state %+v, original %+v", s, m)
	}
}

func TestEphemeralAnswersAreForOnePerson(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, killCommand)
	g, _ := tw.open(t, allIntents)
	slash, err := tw.ana.Slash(tw.general, "kill")
	must(t, err)
	i := g.receive()
	tw.answer(t, i, `{"type":4,"data":{"content":"psst","flags":64}}`)
	if s := slash.State(); !s.Ephemeral {
		t.Errorf("state: %+v", s)
	}
	if ana, olga := len(tw.ana.Sees(tw.general)), len(tw.olga.Sees(tw.general)); ana != 1 || olga != 0 {
		t.Errorf("ana sees %d messages and olga %d, want 1 and 0", ana, olga)
	}
	id := string(slash.State().Original)
	if r := tw.do(t, "GET", tw.messages()+"/"+id, ""); r.code(t) != 10008 {
		t.Errorf("the channel's route serves an ephemeral message: %s", r.text)
	}
	if len(tw.world.Messages(tw.general)) != 0 {
		t.Error("an ephemeral message is in the channel")
	}
	// Nothing of it reached the gateway: the next event is somebody's message.
	tw.say(t, tw.olga, "hi")
	g.expect("MESSAGE_CREATE")
}

func TestInteractionExpiry(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var later atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(later.Load())) }
	tw := newTown(t, discordsim.Config{Clock: clock, StrictInteractions: true})
	tw.register(t, killCommand)
	g, _ := tw.open(t, allIntents)
	for range 2 {
		_, err := tw.ana.Slash(tw.general, "kill")
		must(t, err)
	}
	first, second := g.receive(), g.receive()
	if r := tw.do(t, "POST", tw.hook(first), `{"content":"x"}`); r.code(t) != 10015 {
		t.Errorf("follow-up before the answer: %d %s", r.status, r.text)
	}
	tw.answer(t, first, `{"type":5}`)
	later.Store(int64(4 * time.Second))
	if r := tw.answer(t, second, `{"type":5}`); r.status != 404 || r.code(t) != 10062 {
		t.Errorf("answer after 4 s: %d %s", r.status, r.text)
	}
	later.Store(int64(16 * time.Minute))
	if r := tw.do(t, "PATCH", tw.hook(first)+"/messages/@original", `{"content":"x"}`); r.status != 401 || r.code(t) != 50027 {
		t.Errorf("edit after 15 min: %d %s", r.status, r.text)
	}
	if r := tw.answer(t, sent{ID: "1", Token: "none"}, `{"type":5}`); r.code(t) != 10062 {
		t.Errorf("unknown interaction: %s", r.text)
	}
}

const approvalCard = `{"content":"Run it?","components":[{"type":1,"components":[` +
	`{"type":2,"style":3,"label":"Approve","custom_id":"ok"},{"type":2,"style":4,"label":"Deny","custom_id":"why"},` +
	`{"type":2,"style":2,"label":"Off","custom_id":"off","disabled":true}]}]}`

func TestClickUpdatesAndModalIsSubmitted(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	var card struct{ ID discordsim.ID }
	tw.do(t, "POST", tw.messages(), approvalCard).into(t, &card)

	click, err := tw.ana.Click(card.ID, "why")
	must(t, err)
	i := g.receive()
	if i.Type != 3 || i.Message == nil || i.Message.ID != string(card.ID) {
		t.Errorf("click: %+v", i)
	}
	r := tw.answer(t, i, `{"type":9,"data":{"custom_id":"reason","title":"Why?","components":[{"type":1,"components":[`+
		`{"type":4,"custom_id":"text","label":"Reason","style":2,"max_length":10,"required":true}]}]}}`)
	if r.status != 204 {
		t.Fatalf("modal: %d %s", r.status, r.text)
	}
	if m := click.State().Modal; m == nil || m.Title != "Why?" || len(m.Inputs) != 1 || m.Inputs[0].Label != "Reason" {
		t.Fatalf("modal: %+v", m)
	}
	for _, bad := range []map[string]string{{}, {"text": "much too long"}, {"text": "ok", "other": "x"}} {
		if _, err := tw.ana.Submit(click, bad); err == nil {
			t.Errorf("submitting %v is possible", bad)
		}
	}
	submit, err := tw.ana.Submit(click, map[string]string{"text": "no way"})
	must(t, err)
	form := g.receive()
	var data struct {
		CustomID   string `json:"custom_id"`
		Components []struct {
			Components []struct{ Value string }
		}
	}
	must(t, json.Unmarshal(form.Data, &data))
	if form.Type != 5 || data.CustomID != "reason" || data.Components[0].Components[0].Value != "no way" {
		t.Errorf("modal submit: %s", form.Data)
	}
	if r := tw.answer(t, form, `{"type":7,"data":{"content":"Denied: no way","components":[]}}`); r.status != 204 {
		t.Fatalf("update: %d %s", r.status, r.text)
	}
	m, _ := tw.world.Message(card.ID)
	if m.Content != "Denied: no way" || submit.State().Original != card.ID {
		t.Errorf("card after the update: %+v", m)
	}
	if _, err := tw.ana.Click(card.ID, "ok"); err == nil {
		t.Error("a button that is gone can be clicked")
	}
}

func TestClicksThatCannotBe(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	var card struct{ ID discordsim.ID }
	tw.do(t, "POST", tw.messages(), approvalCard).into(t, &card)
	stranger := tw.world.Person("stranger")
	if _, err := stranger.Click(card.ID, "ok"); !errors.Is(err, discordsim.ErrNotAllowed) {
		t.Errorf("a stranger's click: %v", err)
	}
	if _, err := tw.ana.Click(card.ID, "off"); !errors.Is(err, discordsim.ErrNotAllowed) {
		t.Errorf("a disabled button: %v", err)
	}
	if _, err := tw.ana.Click(card.ID, "other"); err == nil {
		t.Error("a button that is not there can be clicked")
	}
}

func TestCallbackTypesFitTheInteraction(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, killCommand)
	g, _ := tw.open(t, allIntents)
	_, err := tw.ana.Slash(tw.general, "kill")
	must(t, err)
	i := g.receive()
	for _, body := range []string{`{"type":6}`, `{"type":7,"data":{"content":"x"}}`, `{"type":8,"data":{"choices":[]}}`, `{"type":1}`} {
		if r := tw.answer(t, i, body); r.status != 400 || r.code(t) != 50035 {
			t.Errorf("%s: %d %s", body, r.status, r.text)
		}
	}
	long := `{"type":4,"data":{"content":"` + strings.Repeat("x", 2001) + `"}}`
	if r := tw.answer(t, i, long); formCodes(t, r)["data.content"] != "BASE_TYPE_MAX_LENGTH" {
		t.Errorf("long answer: %d %s", r.status, r.text)
	}
	if r := tw.answer(t, i, `{"type":4,"data":{"content":""}}`); r.code(t) != 50006 {
		t.Errorf("empty answer: %d %s", r.status, r.text)
	}
	r := tw.do(t, "POST", "/interactions/"+i.ID+"/"+i.Token+"/callback?with_response=true", `{"type":4,"data":{"content":"fine"}}`)
	if r.status != 200 {
		t.Errorf("an answer after refused ones: %d %s", r.status, r.text)
	}
}

func TestAutocomplete(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	tw.register(t, `[{"name":"model","description":"Choose","options":[{"type":3,"name":"name","description":"Which","autocomplete":true}]}]`)
	g, _ := tw.open(t, allIntents)
	typed, err := tw.ana.Autocomplete(tw.general, "model", "name", discordsim.Option{Name: "name", Value: "gp"})
	must(t, err)
	i := g.receive()
	tw.answer(t, i, `{"type":8,"data":{"choices":[{"name":"GPT","value":"gpt"}]}}`)
	want := []discordsim.Choice{{Name: "GPT", Value: "gpt"}}
	if diff := cmp.Diff(want, typed.State().Choices); i.Type != 4 || diff != "" {
		t.Errorf("type %d, choices (-want +got):\n%s", i.Type, diff)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	tw := newTown(t, discordsim.Config{})
	g, _ := tw.open(t, allIntents)
	var menu struct{ ID discordsim.ID }
	tw.do(t, "POST", tw.messages(), `{"content":"Which?","components":[{"type":1,"components":[{"type":3,"custom_id":"model",`+
		`"options":[{"label":"A","value":"a"},{"label":"B","value":"b"}]}]}]}`).into(t, &menu)
	if _, err := tw.ana.Select(menu.ID, "model", "c"); err == nil {
		t.Error("a value that is not offered can be selected")
	}
	_, err := tw.ana.Select(menu.ID, "model", "b")
	must(t, err)
	var data struct{ Values []string }
	must(t, json.Unmarshal(g.receive().Data, &data))
	if diff := cmp.Diff([]string{"b"}, data.Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
