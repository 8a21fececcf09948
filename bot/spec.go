package bot

// commandSpec is a command as Discord is told about it.
type commandSpec struct {
	Name        string       `json:"name"`
	Type        int          `json:"type"`
	Description string       `json:"description"`
	Options     []optionSpec `json:"options,omitempty"`
	// Contexts: in servers and in the bot's private chats.
	Contexts         []int `json:"contexts"`
	IntegrationTypes []int `json:"integration_types"`
}

type optionSpec struct {
	Type         int          `json:"type"`
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Required     bool         `json:"required,omitempty"`
	Autocomplete bool         `json:"autocomplete,omitempty"`
	Choices      []choiceSpec `json:"choices,omitempty"`
	MaxLength    int          `json:"max_length,omitempty"`
	MinValue     *int         `json:"min_value,omitempty"`
	MaxValue     *int         `json:"max_value,omitempty"`
	ChannelTypes []int        `json:"channel_types,omitempty"`
	// Options are those of a subcommand.
	Options []optionSpec `json:"options,omitempty"`
}

type choiceSpec struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Option types.
const (
	optionSubcommand = 1
	optionString     = 3
	optionInteger    = 4
	optionChannel    = 7
)

const (
	typeSlash = 1
	// Where a command is offered.
	contextServer  = 0
	contextPrivate = 1
	// installServer: the bot is installed into servers, not into accounts.
	installServer = 0
)

// spec is the command as Discord is told about it.
func (c *command) spec() commandSpec {
	s := commandSpec{
		Name: c.name, Type: typeSlash, Description: c.description,
		Contexts: []int{contextServer, contextPrivate}, IntegrationTypes: []int{installServer},
	}
	if c.serverOnly {
		s.Contexts = []int{contextServer}
	}
	for _, a := range c.actions {
		if a.name == "" {
			s.Options = a.options
			continue
		}
		s.Options = append(s.Options, optionSpec{Type: optionSubcommand, Name: a.name, Description: a.description, Options: a.options})
	}
	return s
}

// switchOption is a required choice between on and off.
func switchOption(description string) optionSpec {
	return optionSpec{
		Type: optionString, Name: toOption, Description: description, Required: true,
		Choices: []choiceSpec{{Name: "on", Value: valueOn}, {Name: "off", Value: valueOff}},
	}
}

// The names and values that several commands' options share.
const (
	toOption    = "to"
	valueOn     = "on"
	valueOff    = "off"
	whereOption = "where"
	whereHere   = "channel"
	whereServer = "server"
)

// whereChoice asks for what a change holds: this channel unless the server is chosen.
func whereChoice() optionSpec {
	return optionSpec{
		Type: optionString, Name: whereOption, Description: "Only in this channel (default), or in the whole server",
		Choices: []choiceSpec{{Name: "this channel", Value: whereHere}, {Name: "the whole server", Value: whereServer}},
	}
}

// whereNeed is the right that a change needs for what it holds.
func whereNeed(i *interaction) need {
	if i.option(whereOption) == whereServer {
		return needServer
	}
	return needChannel
}
