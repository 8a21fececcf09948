package openai

import "encoding/json"

// plainSchema reduces a tool's schema to the keywords that every compatible server takes; several refuse requests over
// any other. The full schema still decides before dispatch, so nothing is loosened but what the model is told.
func plainSchema(raw json.RawMessage) map[string]any {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		schema = nil
	}
	plain := plainNode(schema)
	plain["type"] = "object"
	if plain["properties"] == nil {
		plain["properties"] = map[string]any{}
	}
	return plain
}

func plainNode(schema map[string]any) map[string]any {
	plain := map[string]any{}
	for _, keyword := range []string{"description", "enum", "required"} {
		if v, ok := schema[keyword]; ok {
			plain[keyword] = v
		}
	}
	if t := plainType(schema["type"]); t != "" {
		plain["type"] = t
	}
	if items, ok := schema["items"].(map[string]any); ok {
		plain["items"] = plainNode(items)
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		reduced := make(map[string]any, len(properties))
		for name, p := range properties {
			node, _ := p.(map[string]any)
			reduced[name] = plainNode(node)
		}
		plain["properties"] = reduced
	}
	return plain
}

// plainType takes the first type of a list that isn't null.
func plainType(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			if t, ok := e.(string); ok && t != "null" {
				return t
			}
		}
	}
	return ""
}
