package discordsim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// routes are all REST routes of the simulator.
var routes = slices.Concat(messageRoutes(), channelRoutes(), guildRoutes(), applicationRoutes(), interactionRoutes())

func guildRoutes() []route {
	const guild = "/guilds/{guild_id}"
	return []route{
		{method: "GET", template: guild, handle: getGuild},
		{method: "GET", template: guild + "/channels", handle: listChannels},
		{method: "GET", template: guild + "/threads/active", handle: listThreads},
		{method: "GET", template: guild + "/roles", handle: listRoles},
		{method: "GET", template: guild + "/emojis", handle: listEmojis},
		{method: "GET", template: guild + "/stickers", handle: listStickers},
		{method: "GET", template: guild + "/members", handle: listMembers},
		{method: "GET", template: guild + "/members/search", handle: searchMembers},
		{method: "GET", template: guild + "/members/{user_id}", handle: getMember},
	}
}

func getGuild(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	out := g.wire()
	if c.r.URL.Query().Get("with_counts") == "true" {
		n := len(g.members)
		out.ApproximateMembers, out.ApproximatePresenters = &n, &n
	}
	return http.StatusOK, out, nil
}

func listChannels(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	out := []wireChannel{}
	for _, id := range g.channels {
		if ch := c.w.channels[id]; ch != nil && !ch.isThread() {
			out = append(out, c.w.wireChannel(ch))
		}
	}
	return http.StatusOK, out, nil
}

func listThreads(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	out := struct {
		Threads []wireChannel      `json:"threads"`
		Members []wireThreadMember `json:"members"`
		HasMore bool               `json:"has_more"`
	}{Threads: []wireChannel{}, Members: []wireThreadMember{}}
	for _, t := range c.w.threadsOf(g) {
		if !c.perms(t).Has(PermViewChannel) {
			continue
		}
		out.Threads = append(out.Threads, c.w.wireChannel(t))
		if slices.Contains(t.members, c.w.app.bot) {
			out.Members = append(out.Members, wireThreadMember{ID: t.id, UserID: c.w.app.bot, JoinTimestamp: stamp(t.created)})
		}
	}
	return http.StatusOK, out, nil
}

func listRoles(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, g.wireRoles(), nil
}

func listEmojis(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, g.wireEmojis(), nil
}

func listStickers(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, g.wireStickers(), nil
}

func getMember(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	id := c.id("user_id")
	if g.members[id] == nil {
		if c.w.users[id] == nil {
			return 0, nil, errUnknownUser
		}
		return 0, nil, errUnknownMember
	}
	return http.StatusOK, c.w.wireMemberWithUser(g, id), nil
}

// listMembers needs the members intent switched on for the application, as at Discord.
func listMembers(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	if !c.w.app.privileged.Has(IntentGuildMembers) {
		return 0, nil, errMissingAccess
	}
	limit, err := limitOf(c.r, 1, 1000)
	if err != nil {
		return 0, nil, err
	}
	ids := slices.SortedFunc(slices.Values(g.memberOrder), compareIDs)
	out := []wireMember{}
	for _, id := range ids {
		if len(out) < limit && compareIDs(id, ID(c.r.URL.Query().Get("after"))) > 0 {
			out = append(out, c.w.wireMemberWithUser(g, id))
		}
	}
	return http.StatusOK, out, nil
}

func searchMembers(c *call) (int, any, error) {
	g, err := c.guild()
	if err != nil {
		return 0, nil, err
	}
	limit, err := limitOf(c.r, 1, 1000)
	if err != nil {
		return 0, nil, err
	}
	query := strings.ToLower(c.r.URL.Query().Get("query"))
	if query == "" {
		return 0, nil, invalid("query", "BASE_TYPE_REQUIRED", "This field is required")
	}
	out := []wireMember{}
	for _, id := range g.memberOrder {
		u, nick := c.w.users[id], g.members[id].nick
		if len(out) < limit && (strings.HasPrefix(strings.ToLower(u.name), query) || strings.HasPrefix(strings.ToLower(nick), query)) {
			out = append(out, c.w.wireMemberWithUser(g, id))
		}
	}
	return http.StatusOK, out, nil
}

// limitOf reads the limit of a listing.
func limitOf(r *http.Request, standard, most int) (int, error) {
	s := r.URL.Query().Get("limit")
	if s == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and "+strconv.Itoa(most)+".")
	}
	return n, nil
}
