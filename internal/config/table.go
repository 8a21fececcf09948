package config

import (
	"reflect"
	"strings"
)

// Variable describes one environment variable.
type Variable struct {
	// Name is how it is spelt in the environment.
	Name string
	// Default is what unset means; empty when there is none.
	Default string
	// Min is the smallest value taken as given, in the variable's own unit; empty when there is none.
	Min string
	// OneOf is the closed set of values; empty when there is none.
	OneOf []string
	// Help is one sentence or two for the operator.
	Help string
	// Secret is true when its value is never shown.
	Secret bool

	field string        // name of the Go field, by which the parser reports errors
	value reflect.Value // settable field of the Config it was read from
}

// Variables lists every environment variable the process reads, in the order of the struct.
func Variables() []Variable { return variables(&Config{}) }

func variables(cfg *Config) []Variable {
	var out []Variable
	groups := reflect.ValueOf(cfg).Elem()
	for _, group := range groups.Fields() {
		for field, value := range group.Fields() {
			v := Variable{
				Name:    field.Tag.Get("env"),
				Default: field.Tag.Get("envDefault"),
				Min:     field.Tag.Get("min"),
				Help:    field.Tag.Get("help"),
				Secret:  field.Type == reflect.TypeFor[Secret](),
				field:   field.Name,
				value:   value,
			}
			if set := field.Tag.Get("oneof"); set != "" {
				v.OneOf = strings.Split(set, "|")
			}
			out = append(out, v)
		}
	}
	return out
}

// Table returns every variable with its default, minimum and meaning as a Markdown table.
func Table() string {
	var b strings.Builder
	b.WriteString("| variable | default | minimum | meaning |\n| --- | --- | --- | --- |\n")
	for _, v := range Variables() {
		help := v.Help
		if len(v.OneOf) > 0 {
			help = "One of " + code(v.OneOf...) + ". " + help
		}
		b.WriteString("| " + code(v.Name) + " | " + code(v.Default) + " | " + v.Min + " | " + help + " |\n")
	}
	return b.String()
}

// code renders values as inline code, leaving out empty ones.
func code(values ...string) string {
	var quoted []string
	for _, v := range values {
		if v != "" {
			quoted = append(quoted, "`"+v+"`")
		}
	}
	return strings.Join(quoted, ", ")
}
