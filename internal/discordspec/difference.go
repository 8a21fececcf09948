package discordspec

import (
	"encoding/json"
	"strconv"
)

// difference is a place where Discord is known to do something else than it describes. Each has a reason; there are no
// others.
type difference struct {
	reason string
	// request rewrites a decoded request body to what is described.
	request func(any)
}

var differences = []difference{
	{
		reason: "default_member_permissions is described as a number in requests; clients send a string of digits, as the " +
			"documentation says and as answers have it, and Discord takes both",
		request: func(v any) { walk(v, digitsToNumber("default_member_permissions")) },
	},
	{
		reason: "the id of an uploaded file in attachments is described as a snowflake string; the documentation's own " +
			"examples and clients send the file's index as a number",
		request: func(v any) {
			if o, ok := v.(map[string]any); ok {
				walk(o["attachments"], numberToDigits("id"))
			}
		},
	},
}

// amend applies all differences to a request body.
func amend(v any) {
	for _, d := range differences {
		d.request(v)
	}
}

// walk calls f for every object in a JSON value.
func walk(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, inner := range v {
			walk(inner, f)
		}
	case []any:
		for _, inner := range v {
			walk(inner, f)
		}
	}
}

func digitsToNumber(key string) func(map[string]any) {
	return func(o map[string]any) {
		s, _ := o[key].(string)
		if _, err := strconv.ParseUint(s, 10, 64); err == nil {
			o[key] = json.Number(s)
		}
	}
}

func numberToDigits(key string) func(map[string]any) {
	return func(o map[string]any) {
		if n, ok := o[key].(json.Number); ok {
			o[key] = n.String()
		}
	}
}
