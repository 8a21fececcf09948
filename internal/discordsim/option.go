package discordsim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// resolver turns a person's options into the wire's, as Discord's client and server do together.
type resolver struct {
	w        *World
	c        *channel
	focused  string
	sawFocus bool
	resolved *wireResolved
}

// path follows groups and subcommands down to the options themselves.
func (r *resolver) path(declared []commandOption, path []string, options []Option) ([]wireOption, error) {
	if len(path) == 0 {
		if slices.ContainsFunc(declared, func(o commandOption) bool { return o.Type <= optionGroup }) {
			return nil, fmt.Errorf("a subcommand is missing: %w", ErrNoCommand)
		}
		return r.options(declared, options)
	}
	for _, o := range declared {
		if o.Name == path[0] && o.Type <= optionGroup {
			inner, err := r.path(o.Options, path[1:], options)
			if err != nil {
				return nil, err
			}
			return []wireOption{{Name: o.Name, Type: o.Type, Options: inner}}, nil
		}
	}
	return nil, fmt.Errorf("no subcommand %q: %w", path[0], ErrNoCommand)
}

func (r *resolver) options(declared []commandOption, given []Option) ([]wireOption, error) {
	var out []wireOption
	for _, g := range given {
		at := slices.IndexFunc(declared, func(d commandOption) bool { return d.Name == g.Name })
		if at < 0 {
			return nil, fmt.Errorf("no option %q: %w", g.Name, ErrNoCommand)
		}
		d := declared[at]
		focused := r.focused == d.Name && d.Autocomplete
		r.sawFocus = r.sawFocus || focused
		w := wireOption{Name: d.Name, Type: d.Type, Focused: focused}
		if focused {
			w.Value = fmt.Sprint(g.Value)
		} else {
			var err error
			if w.Value, err = r.value(d, g.Value); err != nil {
				return nil, fmt.Errorf("option %q: %w", d.Name, err)
			}
		}
		out = append(out, w)
	}
	for _, d := range declared {
		missing := !slices.ContainsFunc(given, func(g Option) bool { return g.Name == d.Name })
		if d.Required && missing && r.focused == "" {
			return nil, fmt.Errorf("option %q is required: %w", d.Name, ErrNotAllowed)
		}
	}
	return out, nil
}

// value checks one value against its declaration.
func (r *resolver) value(d commandOption, v any) (any, error) {
	bad := fmt.Errorf("%v is no value for it: %w", v, ErrNotAllowed)
	rv := reflect.ValueOf(v)
	switch d.Type {
	case optionString:
		s, ok := v.(string)
		size := len([]rune(s))
		if !ok || d.MinLength != nil && size < *d.MinLength || d.MaxLength != nil && size > *d.MaxLength {
			return nil, bad
		}
		if len(d.Choices) > 0 && !slices.ContainsFunc(d.Choices, func(c commandChoice) bool { return c.Value == any(s) }) {
			return nil, bad
		}
		return s, nil
	case optionInteger, optionNumber:
		var n float64
		switch {
		case rv.CanInt():
			n = float64(rv.Int())
		case rv.CanFloat():
			n = rv.Float()
		default:
			return nil, bad
		}
		if d.Type == optionInteger && n != math.Trunc(n) || d.MinValue != nil && n < *d.MinValue || d.MaxValue != nil && n > *d.MaxValue {
			return nil, bad
		}
		if len(d.Choices) > 0 && !slices.ContainsFunc(d.Choices, func(c commandChoice) bool { return c.Value == any(n) }) {
			return nil, bad
		}
		return v, nil
	case optionBoolean:
		if _, ok := v.(bool); !ok {
			return nil, bad
		}
		return v, nil
	case optionAttachment:
		f, ok := v.(File)
		if !ok {
			return nil, bad
		}
		return r.file(f), nil
	default:
		id, ok := v.(ID)
		if !ok || !r.resolve(d.Type, id) {
			return nil, bad
		}
		return id, nil
	}
}

// resolve puts what an id means beside the options, and reports whether it is something of the option's type.
func (r *resolver) resolve(kind int, id ID) bool {
	g := r.w.guildOf(r.c)
	if (kind == optionUser || kind == optionMentionable) && r.w.users[id] != nil {
		put(&r.resolved.Users, id, r.w.wireUser(id))
		if g != nil && g.members[id] != nil {
			m := r.w.wireMember(g, id)
			m.Permissions = r.w.permissionsIn(r.c, id).wire()
			put(&r.resolved.Members, id, m)
		}
		return true
	}
	if (kind == optionRole || kind == optionMentionable) && g != nil && g.roles[id] != nil {
		put(&r.resolved.Roles, id, g.roles[id].wire())
		return true
	}
	if c := r.w.channels[id]; kind == optionChannel && c != nil && c.guild == r.c.guild && c.guild != "" {
		put(&r.resolved.Channels, id, r.w.wireChannel(c))
		return true
	}
	return false
}

// chosen checks what was chosen of a select menu, and puts what ids mean beside it.
func (r *resolver) chosen(menu *component, values []string) error {
	least, most := menu.bounds()
	if len(values) < least || len(values) > most {
		return fmt.Errorf("%d values, where %d to %d may be chosen: %w", len(values), least, most, ErrNotAllowed)
	}
	seen := map[string]bool{}
	for _, v := range values {
		known := false
		switch menu.Type {
		case componentStringSelect:
			known = slices.ContainsFunc(menu.Options, func(o choice) bool { return o.Value == v })
		case componentUserSelect:
			known = r.resolve(optionUser, ID(v))
		case componentRoleSelect:
			known = r.resolve(optionRole, ID(v))
		case componentMentionable:
			known = r.resolve(optionMentionable, ID(v))
		case componentChannel:
			c := r.w.channels[ID(v)]
			known = c != nil && (len(menu.ChannelTypes) == 0 || slices.Contains(menu.ChannelTypes, int(c.kind))) && r.resolve(optionChannel, ID(v))
		}
		if !known || seen[v] {
			return fmt.Errorf("%q is nothing to choose: %w", v, errNoSuch)
		}
		seen[v] = true
	}
	return nil
}

func (r *resolver) file(f File) ID {
	a := r.w.store(r.c.id, f)
	put(&r.resolved.Attachments, a.ID, a.wire(true))
	return a.ID
}

func put[V any](m *map[ID]V, id ID, v V) {
	if *m == nil {
		*m = map[ID]V{}
	}
	(*m)[id] = v
}

// result is nil when nothing had to be resolved.
func (r *resolver) result() *wireResolved {
	if reflect.ValueOf(*r.resolved).IsZero() {
		return nil
	}
	return r.resolved
}
