package discordsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// commandForm is a command as the bot registers it.
type commandForm struct {
	Type                     int             `json:"type"`
	Name                     string          `json:"name"`
	NameLocalizations        json.RawMessage `json:"name_localizations"`
	Description              string          `json:"description"`
	DescriptionLocalizations json.RawMessage `json:"description_localizations"`
	Options                  []commandOption `json:"options"`
	// DefaultMemberPermissions is a string or, from some clients, a number.
	DefaultMemberPermissions json.RawMessage `json:"default_member_permissions"`
	DMPermission             *bool           `json:"dm_permission"`
	Contexts                 []int           `json:"contexts"`
	IntegrationTypes         []int           `json:"integration_types"`
	NSFW                     bool            `json:"nsfw"`
}

// commandOption is a parameter, a subcommand (1) or a group of those (2).
type commandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Required     bool            `json:"required,omitempty"`
	Autocomplete bool            `json:"autocomplete,omitempty"`
	Choices      []commandChoice `json:"choices,omitempty"`
	Options      []commandOption `json:"options,omitempty"`
	MinValue     *float64        `json:"min_value,omitempty"`
	MaxValue     *float64        `json:"max_value,omitempty"`
	MinLength    *int            `json:"min_length,omitempty"`
	MaxLength    *int            `json:"max_length,omitempty"`
	ChannelTypes []int           `json:"channel_types,omitempty"`

	NameLocalizations        json.RawMessage `json:"name_localizations,omitempty"`
	DescriptionLocalizations json.RawMessage `json:"description_localizations,omitempty"`
}

type commandChoice struct {
	Name              string          `json:"name"`
	Value             any             `json:"value"`
	NameLocalizations json.RawMessage `json:"name_localizations,omitempty"`
}

// Option types.
const (
	optionSubcommand  = 1
	optionGroup       = 2
	optionString      = 3
	optionInteger     = 4
	optionBoolean     = 5
	optionUser        = 6
	optionChannel     = 7
	optionRole        = 8
	optionMentionable = 9
	optionNumber      = 10
	optionAttachment  = 11
)

const commandSlash = 1

// command is a registered command.
type command struct {
	id      ID
	app     ID
	guild   ID
	version ID
	commandForm
}

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`)

// checkCommands holds a whole list to Discord's rules.
func checkCommands(list []commandForm) error {
	if len(list) > 100 {
		return &apiError{status: http.StatusBadRequest, code: 30032, message: "Maximum number of application commands reached (100)."}
	}
	f := &form{}
	seen := map[string]bool{}
	for i, c := range list {
		at := strconv.Itoa(i)
		c.check(f, at)
		key := fmt.Sprint(max(c.Type, commandSlash), c.Name)
		if seen[key] {
			f.add(at+".name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		seen[key] = true
	}
	return f.err()
}

func (c *commandForm) check(f *form, at string) {
	at = strings.TrimPrefix(at+".", ".")
	if c.Type > commandSlash {
		// Context menu commands have free names and no description.
		if c.Description != "" {
			f.add(at+"description", "APPLICATION_COMMAND_DESCRIPTION_INVALID", "Context menu commands cannot have a description")
		}
		return
	}
	checkNamed(f, at, c.Name, c.Description)
	checkOptions(f, at, c.Options)
	if _, _, err := c.permissions(); err != nil {
		f.add(at+"default_member_permissions", "BASE_TYPE_CHOICES", "Value is no permission set")
	}
}

func checkNamed(f *form, at, name, description string) {
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		f.add(at+"name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	if n := len([]rune(description)); n < 1 || n > 100 {
		f.badLength(at+"description", 1, 100)
	}
}

func checkOptions(f *form, at string, options []commandOption) {
	if len(options) > 25 {
		f.badLength(at+"options", 0, 25)
	}
	seen := map[string]bool{}
	optional := false
	for i, o := range options {
		here := fmt.Sprintf("%soptions.%d.", at, i)
		checkNamed(f, here, o.Name, o.Description)
		if seen[o.Name] {
			f.add(here+"name", "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATE", "Option names must be unique")
		}
		seen[o.Name] = true
		if o.Type < optionSubcommand || o.Type > optionAttachment {
			f.add(here+"type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).")
		}
		if len(o.Choices) > 25 {
			f.badLength(here+"choices", 0, 25)
		}
		if o.Required && optional {
			f.add(here+"required", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || !o.Required
		checkOptions(f, here, o.Options)
	}
}

// permissions are what a member needs to see the command; set is false when there is no such demand.
func (c *commandForm) permissions() (p Permissions, set bool, err error) {
	s := strings.Trim(string(c.DefaultMemberPermissions), `"`)
	if s == "" || s == "null" {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("reading default_member_permissions: %w", err)
	}
	return Permissions(n), true, nil
}

// wire is the command as Discord gives it back.
func (c *command) wire() map[string]any {
	out := map[string]any{
		"id": c.id, "application_id": c.app, "version": c.version, "type": c.Type, "name": c.Name,
		"description": c.Description, "default_member_permissions": nil, "nsfw": c.NSFW,
	}
	if p, set, _ := c.permissions(); set {
		out["default_member_permissions"] = p.wire()
	}
	if len(c.Options) > 0 {
		out["options"] = c.Options
	}
	if c.guild != "" {
		out["guild_id"] = c.guild
		return out
	}
	out["dm_permission"] = c.inDMs()
	out["integration_types"] = append([]int{}, c.IntegrationTypes...)
	if len(c.IntegrationTypes) == 0 {
		out["integration_types"] = []int{0}
	}
	out["contexts"] = nil
	if c.Contexts != nil {
		out["contexts"] = c.Contexts
	}
	return out
}

// inDMs reports whether a global command is there in the bot's DMs.
func (c *command) inDMs() bool {
	if c.Contexts != nil {
		return slices.Contains(c.Contexts, contextBotDM)
	}
	return c.DMPermission == nil || *c.DMPermission
}

func (c *command) inGuilds() bool {
	return c.Contexts == nil || slices.Contains(c.Contexts, contextGuild)
}

// command makes a command of a form; it keeps the id of the one it replaces, and the version if nothing changed.
func (w *World) command(scope ID, f commandForm) *command {
	f.Type = max(f.Type, commandSlash)
	cmd := &command{app: w.app.id, guild: scope, commandForm: f}
	for _, old := range w.commandsFor(scope) {
		if old.Name != f.Name || old.Type != f.Type {
			continue
		}
		cmd.id, cmd.version = old.id, old.version
		if string(encode(old.commandForm)) == string(encode(f)) {
			return cmd
		}
	}
	cmd.version = w.newID()
	if cmd.id == "" {
		cmd.id = w.newID()
	}
	return cmd
}

func (w *World) commandsFor(scope ID) []*command {
	if scope == "" {
		return w.app.globalCmds
	}
	return w.app.guildCmds[scope]
}

func (w *World) setCommands(scope ID, list []*command) {
	if scope == "" {
		w.app.globalCmds = list
	} else {
		w.app.guildCmds[scope] = list
	}
	w.record(CommandsRegistered{Guild: scope, Names: commandNames(list)})
}

func commandNames(list []*command) []string {
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}
