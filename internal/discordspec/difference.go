package discordspec

import (
	"encoding/json"
	"strconv"
)

// difference is a place where Discord is known to do something else than it describes. Each has a reason; there are no
// others.
type difference struct {
	reason string
	// request and answer rewrite a decoded body to what is described; nil for no difference there.
	request, answer func(any)
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
	{
		reason: "the codes inside a form error's _errors are described as integers; the documentation's examples and Discord " +
			"have names such as BASE_TYPE_MAX_LENGTH",
		answer: func(v any) {
			o, _ := v.(map[string]any)
			walk(o["errors"], func(o map[string]any) {
				list, _ := o["_errors"].([]any)
				for _, e := range list {
					if problem, ok := e.(map[string]any); ok {
						if _, named := problem["code"].(string); named {
							problem["code"] = json.Number("0")
						}
					}
				}
			})
		},
	},
}

// amendRequest and amendAnswer apply all differences to a body.
func amendRequest(v any) {
	for _, d := range differences {
		if d.request != nil {
			d.request(v)
		}
	}
}

func amendAnswer(v any) {
	for _, d := range differences {
		if d.answer != nil {
			d.answer(v)
		}
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
