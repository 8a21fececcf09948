package catalog

import (
	"context"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
)

// asked is a wire that keeps what it was asked.
type asked struct{ req providers.Request }

func (*asked) Name() string { return "asked" }

func (a *asked) Stream(_ context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	a.req = req
	return func(func(providers.Fragment, error) bool) {}
}

func TestFitted(t *testing.T) {
	t.Parallel()
	warm, cold := 0.7, 0.1
	all := Wishes{Thinking: providers.ThinkingHigh, Temperature: &warm, MaxOutputTokens: 1000}
	able := Model{Known: true, Images: true, Tools: true, Temperature: true, Thinking: ThinkingEffort, MaxOutputTokens: 5000}
	tools := []providers.ToolSpec{{Name: "x"}}
	picture := []providers.Image{{MIME: "image/png", Data: []byte("p")}}
	for _, test := range []struct {
		name      string
		model     Model
		wishes    Wishes
		req, want providers.Request
	}{
		{"an able model is asked for everything", able, all, providers.Request{Tools: tools}, providers.Request{
			Tools: tools, Thinking: providers.ThinkingHigh, Temperature: &warm, MaxOutputTokens: 1000,
		}},
		{"no wishes", able, Wishes{}, providers.Request{}, providers.Request{}},
		{"the request's own come first", able, all, providers.Request{
			Thinking: providers.ThinkingLow, Temperature: &cold, MaxOutputTokens: 10,
		}, providers.Request{Thinking: providers.ThinkingLow, Temperature: &cold, MaxOutputTokens: 10}},
		{"but within the operator's bound", able, all, providers.Request{MaxOutputTokens: 2000}, providers.Request{
			Thinking: providers.ThinkingHigh, Temperature: &warm, MaxOutputTokens: 1000,
		}},
		{"and the model's", able, Wishes{MaxOutputTokens: 9000}, providers.Request{}, providers.Request{MaxOutputTokens: 5000}},
		{"a model that takes nothing", Model{Known: true}, all, providers.Request{Tools: tools}, providers.Request{MaxOutputTokens: 1000}},
		{"a model that always reasons", Model{Known: true, Thinking: ThinkingAlways, Temperature: true}, all, providers.Request{}, providers.Request{
			Temperature: &warm, MaxOutputTokens: 1000,
		}},
		{"an unknown model is asked for a level", Model{Thinking: ThinkingNone, Temperature: true}, all, providers.Request{}, providers.Request{
			Thinking: providers.ThinkingHigh, Temperature: &warm, MaxOutputTokens: 1000,
		}},
		{"images to one that sees", able, Wishes{}, providers.Request{
			Messages: []providers.Message{{Content: "look", Images: picture}},
		}, providers.Request{Messages: []providers.Message{{Content: "look", Images: picture}}}},
		{"images to one that does not", Model{}, Wishes{}, providers.Request{
			Messages: []providers.Message{{Content: "look", Images: picture}, {Content: "no"}, {Content: "both", Images: append(picture, picture...)}},
		}, providers.Request{Messages: []providers.Message{
			{Content: "look\n[with an image that you can't see: say so if it matters]"},
			{Content: "no"},
			{Content: "both\n[with 2 images that you can't see: say so if it matters]"},
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var wire asked
			before := len(test.req.Messages) > 0 && len(test.req.Messages[0].Images) > 0
			Fitted(&wire, test.model, test.wishes).Stream(t.Context(), test.req)
			if diff := cmp.Diff(test.want, wire.req); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if before && len(test.req.Messages[0].Images) == 0 {
				t.Error("the caller's messages were changed")
			}
		})
	}
}
