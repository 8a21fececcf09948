package discordsim

import "fmt"

const (
	// maxOptions is how many options a select menu can have, and how many can be chosen.
	maxOptions = 25
	// maxPlaceholder is how many characters its placeholder can have, maxOption each text of an option.
	maxPlaceholder = 150
	maxOption      = 100
)

// isSelect reports whether people choose values of it.
func (c *component) isSelect() bool {
	return c.Type == componentStringSelect || c.Type >= componentUserSelect && c.Type <= componentChannel
}

// bounds are how many values may be chosen.
func (c *component) bounds() (least, most int) {
	least, most = 1, 1
	if c.MinValues != nil {
		least = *c.MinValues
	}
	if c.MaxValues != nil {
		most = *c.MaxValues
	}
	return least, most
}

// checkSelect holds a select menu to Discord's rules.
func (c *component) checkSelect(f *form, at string) {
	if c.CustomID == "" {
		f.required(at + ".custom_id")
	}
	if len([]rune(c.Placeholder)) > maxPlaceholder {
		f.tooLong(at+".placeholder", maxPlaceholder)
	}
	least, most := c.bounds()
	if least < 0 || least > maxOptions {
		f.add(at+".min_values", "NUMBER_TYPE_MAX", fmt.Sprintf("int value should be between 0 and %d.", maxOptions))
	}
	if most < 1 || most > maxOptions || most < least {
		f.add(at+".max_values", "NUMBER_TYPE_MAX", fmt.Sprintf("int value should be between 1 and %d, and not below min_values.", maxOptions))
	}
	if c.Type != componentStringSelect {
		return
	}
	if len(c.Options) < 1 || len(c.Options) > maxOptions {
		f.badLength(at+".options", 1, maxOptions)
	}
	c.checkOptions(f, at)
}

func (c *component) checkOptions(f *form, at string) {
	seen := map[string]bool{}
	for i, o := range c.Options {
		here := fmt.Sprintf("%s.options.%d", at, i)
		for name, text := range map[string]string{"label": o.Label, "value": o.Value} {
			if n := len([]rune(text)); n < 1 || n > maxOption {
				f.badLength(here+"."+name, 1, maxOption)
			}
		}
		if len([]rune(o.Description)) > maxOption {
			f.tooLong(here+".description", maxOption)
		}
		if seen[o.Value] {
			f.add(here+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		seen[o.Value] = true
	}
}
