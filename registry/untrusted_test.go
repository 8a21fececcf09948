package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parleybot/parley/registry"
)

// bomb is a schema whose references double n times.
func bomb(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"type":"object","required":["q"],"properties":{"q":{"type":"string","$ref":"#/$defs/a0"},"n":{"type":"integer"}},"$defs":{%s,"a%d":{"minLength":3}}}`,
		strings.Join(defs, ","), n)
}

func TestHostileSchemasAreEnforcedAtTheTopOnly(t *testing.T) {
	t.Parallel()
	const short = `{"q":"x"}`
	for name, tc := range map[string]struct {
		schema string
		// whole: everything the schema says is enforced, also that q has three characters.
		whole bool
	}{
		"no reference":                       {`{"type":"object","required":["q"],"properties":{"q":{"type":"string","minLength":3}}}`, true},
		"few references":                     {bomb(5), true},
		"a bomb":                             {bomb(64), false},
		"a bomb in a property named default": {strings.NewReplacer(`"type":"string","$ref":"#/$defs/a0"`, `"type":"string","minLength":3`, `"n":{"type":"integer"}`, `"default":{"$ref":"#/$defs/a0"}`).Replace(bomb(64)), false},
		"a circle":                           {`{"type":"object","required":["q"],"properties":{"q":{"type":"string","minLength":3},"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}}}`, false},
		"an anchor":                          {`{"type":"object","required":["q"],"properties":{"q":{"type":"string","$ref":"#name"}},"$defs":{"n":{"$anchor":"name","minLength":3}}}`, false},
		"another base":                       {`{"$id":"https://example.com/x","type":"object","required":["q"],"properties":{"q":{"type":"string","minLength":3}}}`, false},
		"another file":                       {`{"type":"object","required":["q"],"properties":{"q":{"type":"string","$ref":"file:///etc/passwd"}}}`, false},
		"a property named $ref":              {`{"type":"object","required":["q"],"properties":{"$ref":{"type":"string"},"q":{"type":"string","minLength":3}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t, tool("mcp_tool", func(t *registry.Tool) {
				t.Category, t.Schema = registry.CategoryMCP, json.RawMessage(tc.schema)
			}))
			mcp, _ := r.Lookup("mcp_tool")
			if string(mcp.Schema) != tc.schema {
				t.Error("the schema that is sent changed")
			}
			_, rejection := r.Check(mcp, json.RawMessage(short), nil)
			if got := rejection != nil; got != tc.whole {
				t.Errorf("rejected: %v, want %v", rejection, tc.whole)
			}
			for args, want := range map[string]string{
				`{}`:      `field "q": required but missing`,
				`{"q":1}`: `field "q": must be a string, got a number`,
			} {
				_, rejection := r.Check(mcp, json.RawMessage(args), nil)
				if rejection == nil || !strings.HasPrefix(rejection.Reason, want) {
					t.Errorf("%s: %+v", args, rejection)
				}
			}
		})
	}
}
