package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Problem is one thing in the environment that Load refuses.
type Problem struct {
	// Name is the variable's name.
	Name string
	// Text says what is wrong and what would be right. It never holds a secret's value.
	Text string
}

// Error names the variable and says what is wrong with it.
func (p *Problem) Error() string { return p.Name + ": " + p.Text }

// Warning is a value that was taken differently from how it was given.
type Warning struct {
	// Name is the variable's name.
	Name string
	// Text says what was done.
	Text string
}

// String names the variable and says what was done.
func (w Warning) String() string { return w.Name + ": " + w.Text }

// Load reads environ, which has the form of os.Environ. A variable that is unset or blank means its default; one that
// is set and can't be read is refused; one below its minimum is raised to it with a warning. White space around a
// value is dropped. The error joins one *Problem for every refused variable; with an error the Config is not usable.
func Load(environ []string) (Config, []Warning, error) {
	set := known(environ)
	var (
		cfg      Config
		problems []error
	)
	for _, v := range variables(&cfg) {
		value, ok := set[v.Name]
		if !ok {
			continue
		}
		if text := v.refuse(value); text != "" {
			problems = append(problems, &Problem{Name: v.Name, Text: text})
			delete(set, v.Name) // one problem a variable is enough
		}
	}
	problems = append(problems, parse(&cfg, set)...)
	problems = append(problems, normalise(&cfg)...)
	if len(problems) > 0 {
		return Config{}, nil, errors.Join(problems...)
	}
	return cfg, raise(&cfg), nil
}

// CheckRun returns what keeps the bot from running on Discord: one *Problem for each missing variable, joined.
func (c Config) CheckRun() error {
	var problems []error
	if c.Discord.Token.IsZero() {
		problems = append(problems, &Problem{Name: "DISCORD_TOKEN", Text: "is not set; the bot cannot log in without it"})
	}
	if c.Model.Name == "" {
		problems = append(problems, &Problem{
			Name: "MODEL",
			Text: "is not set; name a model such as openai:gpt-4.1-mini and set OPENAI_API_KEY, or set OPENAI_BASE_URL for a server of " +
				"your own, or MODEL=" + RehearsalModel + " for the offline model",
		})
	}
	told := map[string]bool{}
	for _, choice := range c.Chain() {
		if p := choice.Missing(); p != nil && !told[p.Name] {
			told[p.Name] = true
			problems = append(problems, p)
		}
	}
	return errors.Join(problems...)
}

// known returns the trimmed values of the variables this package reads, without the blank ones. The last entry of a
// name wins, as it does in os/exec.
func known(environ []string) map[string]string {
	names := map[string]bool{}
	for _, v := range variables(&Config{}) {
		names[v.Name] = true
	}
	set := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !names[name] {
			continue
		}
		if value = strings.TrimSpace(value); value == "" {
			delete(set, name)
			continue
		}
		set[name] = value
	}
	return set
}

// placeholder matches a value that some tool should have expanded and did not.
var placeholder = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$|\$\{[A-Za-z_][^}]*\}`)

// refuse says why a value can't be taken whatever the variable's type, or nothing.
func (v Variable) refuse(value string) string {
	switch {
	case placeholder.MatchString(value):
		return "holds an unexpanded placeholder such as $NAME or ${NAME}; set the value itself"
	case len(v.OneOf) > 0 && !slices.Contains(v.OneOf, value):
		return fmt.Sprintf("%q is none of %s", value, strings.Join(v.OneOf, ", "))
	}
	return ""
}

// parse fills cfg and turns the library's errors, which name Go fields, into ones that name variables.
func parse(cfg *Config, set map[string]string) []error {
	err := env.ParseWithOptions(cfg, env.Options{
		Environment: set,
		FuncMap: map[reflect.Type]env.ParserFunc{
			reflect.TypeFor[time.Duration](): parseMillis,
			reflect.TypeFor[int]():           parseWhole,
			reflect.TypeFor[bool]():          parseSwitch,
			reflect.TypeFor[float64]():       parseNumber,
			reflect.TypeFor[Dollars]():       parseDollars,
		},
	})
	if err == nil {
		return nil
	}
	all := []error{err}
	if agg, ok := errors.AsType[env.AggregateError](err); ok {
		all = agg.Errors
	}
	byField := map[string]string{}
	for _, v := range variables(cfg) {
		byField[v.field] = v.Name
	}
	var problems []error
	for _, e := range all {
		field, ok := errors.AsType[env.ParseError](e)
		if !ok {
			problems = append(problems, fmt.Errorf("read the environment: %w", e))
			continue
		}
		problems = append(problems, &Problem{Name: byField[field.Name], Text: field.Err.Error()})
	}
	return problems
}

func parseMillis(value string) (any, error) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < -most || n > most {
		return nil, fmt.Errorf("%q is not a whole number of milliseconds", value)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func parseWhole(value string) (any, error) {
	n, err := strconv.ParseInt(value, 10, 0)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", value)
	}
	return int(n), nil
}

func parseSwitch(value string) (any, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return nil, fmt.Errorf("%q is neither true nor false", value)
	}
	return on, nil
}

func parseNumber(value string) (any, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, fmt.Errorf("%q is not a number", value)
	}
	return n, nil
}

// normalise brings single values into the form the rest of the program expects, and refuses those it can't.
func normalise(cfg *Config) []error {
	var problems []error
	token := strings.TrimSpace(strings.TrimPrefix(cfg.Discord.Token.Reveal(), "Bot "))
	if strings.ContainsAny(token, " \t\r\n") {
		problems = append(problems, &Problem{Name: "DISCORD_TOKEN", Text: "has white space inside; paste the token alone"})
	}
	cfg.Discord.Token = NewSecret(token)
	if text := checkBaseURL(cfg.Discord.APIBase); text != "" {
		problems = append(problems, &Problem{Name: "DISCORD_API_URL", Text: text})
	}
	for _, v := range cfg.Services.Vendors() {
		if text := checkBaseURL(v.BaseURL); text != "" {
			problems = append(problems, &Problem{Name: v.BaseVariable, Text: text})
		}
		if strings.ContainsAny(v.Key.Reveal(), " \t\r\n") {
			problems = append(problems, &Problem{Name: v.KeyVariable, Text: "has white space inside; paste the key alone"})
		}
	}
	problems = append(problems, checkModels(cfg)...)
	return append(problems, checkServers(cfg.Store)...)
}

// checkServers refuses one server without the other, and an address of something else. The values are never shown: they
// may hold passwords.
func checkServers(s Store) []error {
	var problems []error
	for _, at := range []struct {
		name, other string
		url         Secret
		others      Secret
		schemes     []string
	}{
		{"DATABASE_URL", "REDIS_URL", s.DatabaseURL, s.RedisURL, []string{"postgres", "postgresql"}},
		{"REDIS_URL", "DATABASE_URL", s.RedisURL, s.DatabaseURL, []string{"redis", "rediss", "unix"}},
	} {
		if at.url.IsZero() {
			continue
		}
		u, err := url.Parse(at.url.Reveal())
		switch {
		case err != nil || !slices.Contains(at.schemes, u.Scheme) || u.Host+u.Path == "":
			problems = append(problems, &Problem{Name: at.name, Text: "is not a URL that begins with " + at.schemes[0] + "://"})
		case at.others.IsZero():
			problems = append(problems, &Problem{
				Name: at.name,
				Text: "is set and " + at.other + " is not; set both, or neither for the embedded store in DATA_DIR",
			})
		}
	}
	return problems
}

func checkBaseURL(raw string) string {
	if raw == "" {
		return ""
	}
	// The value is never shown: it may hold a password where none belongs.
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return "is not an absolute http or https URL"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "must hold no user, query or fragment; a key has a variable of its own"
	}
	return ""
}

// raise lifts numbers to their minimum and says so.
func raise(cfg *Config) []Warning {
	var warnings []Warning
	for _, v := range variables(cfg) {
		if v.Min == "" {
			continue
		}
		least, err := strconv.ParseInt(v.Min, 10, 64)
		if err != nil {
			panic("config: min tag of " + v.Name + " is not a number")
		}
		unit := int64(1)
		switch v.value.Type() {
		case reflect.TypeFor[time.Duration]():
			unit = int64(time.Millisecond)
		case reflect.TypeFor[Dollars]():
			unit = oneDollar
		}
		if given := v.value.Int(); given < least*unit {
			shown := fmt.Sprint(given / unit)
			if unit == oneDollar {
				shown = Dollars(given).String()
			}
			v.value.SetInt(least * unit)
			warnings = append(warnings, Warning{Name: v.Name, Text: fmt.Sprintf("%s is below the minimum, using %d", shown, least)})
		}
	}
	return warnings
}
