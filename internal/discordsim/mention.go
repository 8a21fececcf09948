package discordsim

import (
	"regexp"
	"slices"
	"strings"
)

// allowedMentions is a message's allowed_mentions field; set is false when it was absent.
type allowedMentions struct {
	set                    bool
	everyone, users, roles bool
	onlyUsers, onlyRoles   []ID
	repliedUser            bool
}

// everythingAllowed is what an absent allowed_mentions means.
var everythingAllowed = allowedMentions{}

func (a allowedMentions) user(id ID) bool {
	return !a.set || a.users || slices.Contains(a.onlyUsers, id)
}

func (a allowedMentions) role(id ID) bool {
	return !a.set || a.roles || slices.Contains(a.onlyRoles, id)
}

// mentions are those a message addresses, after allowed_mentions and the author's rights.
type mentions struct {
	everyone, here bool
	users, roles   []ID
}

func (m mentions) pings() Pings {
	return Pings{Everyone: m.everyone, Here: m.here, Users: slices.Clone(m.users), Roles: slices.Clone(m.roles)}
}

var (
	mentionPattern = regexp.MustCompile(`<@(!|&)?(\d{1,20})>`)
	codePattern    = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`\n]+`")
)

// parseMentions decides who a text addresses. Code is no place for mentions, an unknown id mentions nobody, roles must be
// mentionable and @everyone needs a right, and allowed_mentions narrows all of that.
func (w *World) parseMentions(c *channel, author ID, content string, replyTo *message, allowed allowedMentions) mentions {
	var out mentions
	g := w.guildOf(c)
	mayAll := w.permissionsIn(c, author).Has(PermMentionEveryone)
	text := codePattern.ReplaceAllString(content, "")
	if g != nil && mayAll && (!allowed.set || allowed.everyone) {
		out.everyone = strings.Contains(text, "@everyone")
		out.here = strings.Contains(text, "@here")
	}
	for _, match := range mentionPattern.FindAllStringSubmatch(text, -1) {
		id := ID(match[2])
		if match[1] == "&" {
			if g == nil || g.roles[id] == nil || id == g.id || slices.Contains(out.roles, id) {
				continue
			}
			if (g.roles[id].mentionable || mayAll) && allowed.role(id) {
				out.roles = append(out.roles, id)
			}
			continue
		}
		if w.users[id] != nil && allowed.user(id) && !slices.Contains(out.users, id) {
			out.users = append(out.users, id)
		}
	}
	if replyTo != nil && (!allowed.set || allowed.repliedUser) && replyTo.Author != author && !slices.Contains(out.users, replyTo.Author) {
		out.users = append(out.users, replyTo.Author)
	}
	return out
}
