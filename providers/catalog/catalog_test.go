package catalog

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

func load(t *testing.T, operator string) *Catalog {
	t.Helper()
	var file []byte
	if operator != "" {
		file = []byte(operator)
	}
	c, err := New(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTable(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	if c.Date() == "" || len(c.table) < 20 {
		t.Errorf("dated %q, with %d entries", c.Date(), len(c.table))
	}
	for _, e := range c.table {
		if e.vendor == "" {
			t.Errorf("%v names no vendor", e.names)
		}
		if e.price == nil {
			continue
		}
		if e.price.CacheRead > e.price.Input || e.price.Output < e.price.Input || e.price.CacheWrite < e.price.Input {
			t.Errorf("%s %v has an unlikely price: %+v", e.vendor, e.names, *e.price)
		}
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	operator := `{"models": [
		{"vendor": "openai", "name": "gpt-4o*", "price": {"input": 9, "output": 9}},
		{"vendor": "openai", "name": "gpt-4o", "images": false},
		{"vendor": "openrouter", "name": "some/model", "context_tokens": 5000, "tools": false},
		{"name": "house-*", "price": {"input": 0.001, "output": 0}}
	]}`
	for _, test := range []struct {
		name, vendor, model string
		want                Model
	}{
		{"as the table has it", "openai", "gpt-4.1-mini", Model{
			Known: true, ContextTokens: 1047576, MaxOutputTokens: 32768, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
			Price: &Price{Input: 400, CacheRead: 100, CacheWrite: 500, Output: 1600},
		}},
		{"one of its versions, in capitals", "openai", "O3-2025-04-16", Model{
			Known: true, ContextTokens: 200000, MaxOutputTokens: 100000, Images: true, Tools: true, Thinking: ThinkingEffort,
			Price: &Price{Input: 2000, CacheRead: 500, CacheWrite: 2500, Output: 8000},
		}},
		{"behind a router: what it can do, not what it costs", "openrouter", "anthropic/claude-3.5-haiku:beta", Model{
			Known: true, ContextTokens: 200000, MaxOutputTokens: 8192, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
		}},
		{"on a server of the operator's own", "", "gpt-4.1-mini", Model{
			Known: true, ContextTokens: 1047576, MaxOutputTokens: 32768, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
		}},
		{"of a family", "anthropic", "claude-unheard-of-9", Model{
			ContextTokens: 200000, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
		}},
		{"of a local server, free", "ollama", "llama3.2:1b", Model{
			Tools: true, Temperature: true, Thinking: ThinkingNone, Price: &Price{},
		}},
		{"unknown", "openai", "none-such", Model{Tools: true, Temperature: true, Thinking: ThinkingNone}},
		{"without a name", "openai", "", Model{Tools: true, Temperature: true, Thinking: ThinkingNone}},
		{"the operator's exact name before the operator's beginning", "openai", "gpt-4o", Model{
			Known: true, ContextTokens: 128000, MaxOutputTokens: 16384, Tools: true, Temperature: true, Thinking: ThinkingNone,
			Price: &Price{Input: 2500, CacheRead: 1250, CacheWrite: 3125, Output: 10000},
		}},
		{"the operator's beginning before the table's exact name", "openai", "gpt-4o-mini", Model{
			Known: true, ContextTokens: 128000, MaxOutputTokens: 16384, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
			Price: &Price{Input: 9000, CacheRead: 9000, CacheWrite: 11250, Output: 9000}, Operator: true,
		}},
		{"the operator's price for a vendor holds for no router", "openrouter", "openai/gpt-4o-mini", Model{
			Known: true, ContextTokens: 128000, MaxOutputTokens: 16384, Images: true, Tools: true, Temperature: true, Thinking: ThinkingNone,
		}},
		{"the operator's model behind a router", "openrouter", "some/model", Model{
			Known: true, ContextTokens: 5000, Temperature: true, Thinking: ThinkingNone,
		}},
		{"the operator's model of whatever vendor", "", "house-1", Model{
			Tools: true, Temperature: true, Thinking: ThinkingNone, Price: &Price{Input: 1, CacheRead: 1, CacheWrite: 2}, Operator: true,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, load(t, operator).Model(test.vendor, test.model)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCD136PriceChoice(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD136")
	c := load(t, `{"models": [
		{"vendor": "v", "name": "a*", "price": {"input": 1, "output": 1}},
		{"vendor": "v", "name": "abc*", "price": {"input": 2, "output": 2}},
		{"vendor": "v", "name": "ab*", "price": {"input": 3, "output": 3}},
		{"vendor": "openai", "name": "gpt-4.1*", "price": {"input": 4, "output": 4}}
	]}`)
	one := providers.Usage{Input: 1}
	free, reported := int64(0), int64(77)
	for _, test := range []struct {
		name                    string
		vendor, asked, answered string
		reported                *int64
		want                    int64
		known                   bool
	}{
		{"the longest beginning", "v", "abcd", "", nil, 2000, true},
		{"the operator's before what the service says", "openai", "gpt-4.1-mini", "", &reported, 4000, true},
		{"what the service says before the table", "openai", "gpt-4o", "", &reported, 77, true},
		{"it may say that it was free", "openai", "gpt-4o", "", &free, 0, true},
		{"the table", "openai", "gpt-4o", "", nil, 2500, true},
		{"the model that answered before the one that was asked for", "openai", "gpt-4o", "gpt-4o-mini-2024-07-18", nil, 150, true},
		{"the model that was asked for, when the one that answered is unknown", "openai", "gpt-4o", "none-such", nil, 2500, true},
		{"unknown", "openai", "none-such", "", nil, 0, false},
		{"another vendor's model of the same name", "v", "gpt-4o", "", nil, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			nanos, known := c.Cost(test.vendor, test.asked, test.answered, one, test.reported)
			if nanos != test.want || known != test.known {
				t.Errorf("%d, %t, want %d, %t", nanos, known, test.want, test.known)
			}
		})
	}
}

func TestProblemsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"no JSON", "{\n  \"models\": [,]\n}", `line 2, column 14: is not JSON`},
		{"empty", "", `line 1, column 1: is not JSON`},
		{"two values", `{} {}`, `line 1, column \d: is not JSON: something follows`},
		{"a list", `[]`, `the file: must be an object`},
		{"an unknown field", `{"model": []}`, `model: is not known here; possible: date, models`},
		{"an unknown field of a model", `{"models": [{"name": "a", "imges": true}]}`, `models\[0\].imges: is not known here`},
		{"a field twice", `{"models": [{"name": "a", "name": "b"}]}`, `models\[0\].name: is there twice`},
		{"no name", `{"models": [{"name": "a"}, {}]}`, `models\[1\]: has no name`},
		{"a star inside", `{"models": [{"name": ["a", "b*c"]}]}`, `models\[0\].name\[1\]: a \* may only be the last`},
		{"a name twice", `{"models": [{"name": "a"}, {"name": "A"}]}`, `models\[1\]: names a again, as models\[0\] does`},
		{"a number as text", `{"models": [{"name": "a", "context_tokens": "8k"}]}`, `models\[0\].context_tokens: must be a whole number`},
		{"null", `{"models": [{"name": "a", "images": null}]}`, `models\[0\].images: must be true or false`},
		{"a way of reasoning", `{"models": [{"name": "a", "thinking": "hard"}]}`, `models\[0\].thinking: "hard" is none of none, effort`},
		{"half a price", `{"models": [{"name": "a", "price": {"input": 1}}]}`, `models\[0\].price: needs input and output`},
		{"a negative price", `{"models": [{"name": "a", "price": {"input": -1, "output": 1}}]}`, `models\[0\].price.input: must be a number of US dollars`},
		{"a fine price", `{"models": [{"name": "a", "price": {"input": 0.0375, "output": 1}}]}`, `price.input: is finer than 0.001`},
		{"an endless number", `{"models": [{"name": "a", "price": {"input": 1e999999999, "output": 1}}]}`, `price.input: must be a number`},
		{"a price as text", `{"models": [{"name": "a", "price": {"input": "1", "output": 1}}]}`, `price.input: must be a number`},
		{"a tier without its tokens", `{"models": [{"name": "a", "price": {"input": 1, "output": 1, "above": [{"input": 2, "output": 2}]}}]}`, `price.above\[0\]: needs tokens`},
		{"tiers in disorder", `{"models": [{"name": "a", "price": {"input": 1, "output": 1, "above": [{"tokens": 9, "input": 2, "output": 2}, {"tokens": 8, "input": 2, "output": 2}]}}]}`, `price.above: must begin with the fewest`},
		{"more out than fits", `{"models": [{"name": "a", "context_tokens": 5, "max_output_tokens": 6}]}`, `models\[0\]: max_output_tokens is more`},
		{"a day that is none", `{"date": "yesterday"}`, `date: "yesterday" is not a day`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := New([]byte(test.file))
			if err == nil || !regexp.MustCompile(test.want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	_, err := New([]byte(`{"models": [{"name": 1}, {"name": "a", "tools": 2}], "extra": 3}`))
	if err == nil || strings.Count(err.Error(), "\n") < 3 {
		t.Errorf("not every problem is told: %v", err)
	}
}

// The example that operators are shown is one that works.
func TestDocsExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/models.md shows no example")
	}
	c := load(t, example)
	if m := c.Model("openrouter", "qwen/qwen3-235b-a22b"); !m.Known || m.ContextTokens == 0 || m.Operator {
		t.Errorf("the example's model is %+v", m)
	}
	if m := c.Model("", "house-model"); m.Price == nil || !m.Operator {
		t.Errorf("the example's own model is %+v", m)
	}
	if !strings.Contains(string(page), c.Date()) {
		t.Errorf("docs/models.md does not name the table's day, %s", c.Date())
	}
}
