package discordsim

import (
	"net/http"
	"strconv"
)

func applicationRoutes() []route {
	const commands = "/applications/{application_id}/commands"
	const guildCommands = "/applications/{application_id}/guilds/{guild_id}/commands"
	out := []route{
		{method: "GET", template: "/gateway", handle: getGateway, open: true},
		{method: "GET", template: "/gateway/bot", handle: getGatewayBot},
		{method: "GET", template: "/users/@me", handle: getSelf},
		{method: "GET", template: "/users/{user_id}", handle: getUser},
		{method: "GET", template: "/applications/@me", handle: getApplication},
		{method: "GET", template: "/oauth2/applications/@me", handle: getApplication},
	}
	for _, template := range []string{commands, guildCommands} {
		out = append(out,
			route{method: "GET", template: template, handle: listCommands},
			route{method: "PUT", template: template, handle: overwriteCommands},
			route{method: "POST", template: template, handle: createCommand},
			route{method: "DELETE", template: template + "/{command_id}", handle: deleteCommand},
		)
	}
	return out
}

func getGateway(c *call) (int, any, error) {
	return http.StatusOK, map[string]any{"url": c.w.gatewayURL()}, nil
}

func getGatewayBot(c *call) (int, any, error) {
	return http.StatusOK, map[string]any{
		"url": c.w.gatewayURL(), "shards": 1,
		"session_start_limit": map[string]any{
			"total": c.w.starts.Total, "remaining": c.w.starts.Remaining,
			"reset_after": c.w.starts.ResetAfter.Milliseconds(), "max_concurrency": 1,
		},
	}, nil
}

func getSelf(c *call) (int, any, error) { return http.StatusOK, c.w.self(), nil }

func getUser(c *call) (int, any, error) {
	id := c.id("user_id")
	if c.w.users[id] == nil {
		return 0, nil, errUnknownUser
	}
	return http.StatusOK, c.w.wireUser(id), nil
}

func getApplication(c *call) (int, any, error) {
	a := &c.w.app
	return http.StatusOK, wireApplication{
		ID: a.id, Name: a.name, Bot: c.w.wireUser(a.bot), BotPublic: true, VerifyKey: "0000000000000000000000000000000000000000000000000000000000000000",
		Flags: a.flags(), FlagsNew: strconv.Itoa(a.flags()), RedirectURIs: []string{}, Owner: c.w.wireUser(a.owner),
		GuildCount: len(c.w.guilds), EligibleScopes: []string{},
	}, nil
}

// scope is the guild of a command route, empty for the global commands.
func (c *call) scope() (ID, error) {
	if c.id("application_id") != c.w.app.id {
		return "", &apiError{status: http.StatusForbidden, code: 20012, message: "You are not authorized to perform this action on this application"}
	}
	if c.id("guild_id") == "" {
		return "", nil
	}
	g, err := c.guild()
	if err != nil {
		return "", err
	}
	return g.id, nil
}

func listCommands(c *call) (int, any, error) {
	scope, err := c.scope()
	if err != nil {
		return 0, nil, err
	}
	out := []map[string]any{}
	for _, cmd := range c.w.commandsFor(scope) {
		out = append(out, cmd.wire())
	}
	return http.StatusOK, out, nil
}

// overwriteCommands replaces the whole list. A command that keeps name and type keeps its id.
func overwriteCommands(c *call) (int, any, error) {
	scope, err := c.scope()
	if err != nil {
		return 0, nil, err
	}
	var in []commandForm
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if err := checkCommands(in); err != nil {
		return 0, nil, err
	}
	var list []*command
	out := []map[string]any{}
	for _, form := range in {
		cmd := c.w.command(scope, form)
		list = append(list, cmd)
		out = append(out, cmd.wire())
	}
	c.w.setCommands(scope, list)
	return http.StatusOK, out, nil
}

// createCommand adds a command or, by name and type, replaces one.
func createCommand(c *call) (int, any, error) {
	scope, err := c.scope()
	if err != nil {
		return 0, nil, err
	}
	var in commandForm
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	f := &form{}
	in.check(f, "")
	if err := f.err(); err != nil {
		return 0, nil, err
	}
	cmd := c.w.command(scope, in)
	status := http.StatusCreated
	var list []*command
	for _, old := range c.w.commandsFor(scope) {
		if old.id == cmd.id {
			status = http.StatusOK
			continue
		}
		list = append(list, old)
	}
	c.w.setCommands(scope, append(list, cmd))
	return status, cmd.wire(), nil
}

func deleteCommand(c *call) (int, any, error) {
	scope, err := c.scope()
	if err != nil {
		return 0, nil, err
	}
	var list []*command
	found := false
	for _, cmd := range c.w.commandsFor(scope) {
		if cmd.id == c.id("command_id") {
			found = true
			continue
		}
		list = append(list, cmd)
	}
	if !found {
		return 0, nil, errUnknownCommand
	}
	c.w.setCommands(scope, list)
	return http.StatusNoContent, nil, nil
}
