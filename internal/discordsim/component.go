package discordsim

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Component types that the simulator looks into.
const (
	componentRow          = 1
	componentButton       = 2
	componentStringSelect = 3
	componentTextInput    = 4
	componentUserSelect   = 5
	componentRoleSelect   = 6
	componentMentionable  = 7
	componentChannel      = 8
	componentText         = 10
	componentSeparator    = 14
	componentContainer    = 17
	componentLabel        = 18

	buttonLink    = 5
	buttonPremium = 6
)

// component is what the simulator reads of any component.
type component struct {
	Type      int      `json:"type"`
	CustomID  string   `json:"custom_id"`
	Label     string   `json:"label"`
	Content   string   `json:"content"`
	Style     int      `json:"style"`
	URL       string   `json:"url"`
	Disabled  bool     `json:"disabled"`
	Value     string   `json:"value"`
	Required  *bool    `json:"required"`
	MinLength int      `json:"min_length"`
	MaxLength int      `json:"max_length"`
	Options   []choice `json:"options"`
	MinValues *int     `json:"min_values"`
	MaxValues *int     `json:"max_values"`
	// ChannelTypes narrows a channel select; empty for all.
	ChannelTypes []int       `json:"channel_types"`
	Placeholder  string      `json:"placeholder"`
	Description  string      `json:"description"`
	Components   []component `json:"components"`
	Accessory    *component  `json:"accessory"`
	// Inner is the one component of a label.
	Inner *component `json:"component"`
}

type choice struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description"`
}

// all walks a component and what is in it.
func (c *component) all(yield func(*component) bool) bool {
	if !yield(c) {
		return false
	}
	for i := range c.Components {
		if !c.Components[i].all(yield) {
			return false
		}
	}
	for _, inner := range []*component{c.Accessory, c.Inner} {
		if inner != nil && !inner.all(yield) {
			return false
		}
	}
	return true
}

// findComponent finds the component with a custom id in a JSON list.
func findComponent(list json.RawMessage, customID string) *component {
	var top []component
	if len(list) == 0 || json.Unmarshal(list, &top) != nil {
		return nil
	}
	var found *component
	for i := range top {
		top[i].all(func(c *component) bool {
			if c.CustomID == customID {
				found = c
			}
			return found == nil
		})
	}
	return found
}

// checkComponents holds Discord's limits: five rows of five buttons, unique custom ids of at most 100, labels of at most 80.
func checkComponents(f *form, list []json.RawMessage, v2 bool) {
	if !v2 && len(list) > 5 {
		f.badLength("components", 1, 5)
	}
	seen := map[string]bool{}
	total := 0
	for i, raw := range list {
		at := fmt.Sprintf("components.%d", i)
		var top component
		if json.Unmarshal(raw, &top) != nil {
			f.add(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
			continue
		}
		if !v2 && top.Type != componentRow {
			f.add(at+".type", "BASE_TYPE_CHOICES", "Value must be one of (1,).")
		}
		top.all(func(c *component) bool {
			total++
			c.check(f, at, seen)
			return true
		})
	}
	if v2 && total > 40 {
		f.add("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components exceeds the maximum of 40")
	}
}

func (c *component) check(f *form, at string, seen map[string]bool) {
	if len([]rune(c.CustomID)) > 100 {
		f.tooLong(at+".custom_id", 100)
	}
	if c.CustomID != "" {
		if seen[c.CustomID] {
			f.add(at+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
		}
		seen[c.CustomID] = true
	}
	switch c.Type {
	case componentRow:
		if len(c.Components) < 1 || len(c.Components) > 5 {
			f.badLength(at+".components", 1, 5)
		}
		if len(c.Components) > 1 && slices.ContainsFunc(c.Components, func(c component) bool { return c.isSelect() }) {
			f.add(at+".components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
		}
	case componentButton:
		if len([]rune(c.Label)) > 80 {
			f.tooLong(at+".label", 80)
		}
		if c.Style < buttonLink && c.CustomID == "" {
			f.required(at + ".custom_id")
		}
		if c.Style == buttonLink && c.URL == "" {
			f.required(at + ".url")
		}
		checkURL(f, at+".url", c.URL, buttonSchemes)
		if c.Style < 1 || c.Style > buttonPremium {
			f.add(at+".style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).")
		}
	case componentStringSelect, componentUserSelect, componentRoleSelect, componentMentionable, componentChannel:
		c.checkSelect(f, at)
	case componentText:
		if c.Content == "" {
			f.required(at + ".content")
		}
	}
}

// completed is a component list as Discord gives it back: numbered, and with the defaults written out.
func completed(list []json.RawMessage) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	var tree []map[string]any
	if json.Unmarshal(encode(list), &tree) != nil {
		return nil
	}
	next := 1
	for _, c := range tree {
		complete(c, &next)
	}
	return encode(tree)
}

func complete(c map[string]any, next *int) {
	defaults := map[string]any{"id": *next}
	*next++
	switch kind, _ := c["type"].(float64); kind {
	case componentStringSelect, componentUserSelect, componentRoleSelect, componentMentionable, componentChannel:
		defaults["min_values"], defaults["max_values"] = 1, 1
	case componentSeparator:
		defaults["spacing"], defaults["divider"] = 1, true
	case componentContainer:
		defaults["accent_color"], defaults["spoiler"] = nil, false
	}
	for k, v := range defaults {
		if old, ok := c[k]; !ok || k == "id" && old == float64(0) {
			c[k] = v
		}
	}
	children, _ := c["components"].([]any)
	for _, child := range append(children, c["accessory"]) {
		if m, ok := child.(map[string]any); ok {
			complete(m, next)
		}
	}
}

// completedEmbeds is an embed list as Discord gives it back.
func completedEmbeds(list []json.RawMessage) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	var embeds []map[string]any
	if json.Unmarshal(encode(list), &embeds) != nil {
		return nil
	}
	for _, e := range embeds {
		e["type"] = "rich"
		fields, _ := e["fields"].([]any)
		for _, f := range fields {
			if m, ok := f.(map[string]any); ok && m["inline"] == nil {
				m["inline"] = false
			}
		}
	}
	return encode(embeds)
}
