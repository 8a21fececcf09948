package memory

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/parleybot/parley/registry"
)

// Values of memory_scope.
const (
	scopeMember = "target_user"
	scopeServer = "server_wide"
)

type createArguments struct {
	Content    string `json:"memory_content" jsonschema:"the fact, in one sentence that makes sense on its own; at most 1000 characters"`
	Scope      string `json:"memory_scope" jsonschema:"target_user for a fact about the member you are talking to, server_wide for a fact that everyone on this server shares"`
	TargetUser string `json:"target_user,omitempty" jsonschema:"whom the fact is about; only the member you are talking to is possible, so it can be left out"`
}

type saved struct {
	Status  string `json:"status"`
	ID      int64  `json:"memory_id"`
	Scope   string `json:"memory_scope"`
	Content string `json:"memory_content"`
	Private bool   `json:"private,omitempty"`
}

// Create returns create_long_term_memory, which keeps one fact.
func Create(s Store) registry.Tool {
	return registry.Tool{
		Name:    "create_long_term_memory",
		Aliases: []string{"remember_this_fact"},
		Description: "Keep a fact for good when the member asks for it or tells something lasting about themselves. " +
			"What is told in a direct message stays in direct messages.",
		Schema:   registry.SchemaFor[createArguments](registry.Enum("memory_scope", scopeMember, scopeServer)),
		Category: registry.CategoryMemory,
		Triggers: registry.Words("remember*", "don't forget", "do not forget", "note", "keep in mind", "commit to memory",
			"for future reference", "memorize*", "memorise*", "覚えて", "忘れないで"),
		Run: func(ctx context.Context, tc registry.ToolContext, args json.RawMessage) registry.Result {
			return create(ctx, s, tc, args)
		},
	}
}

func create(ctx context.Context, s Store, tc registry.ToolContext, args json.RawMessage) registry.Result {
	const status = "memory_save_failed"
	if tc.OutsideContent {
		return failed(status, failPrivacy, "%s", outsideReason)
	}
	var in createArguments
	if err := json.Unmarshal(args, &in); err != nil {
		return failed(status, failArguments, "the arguments cannot be read; nothing was saved")
	}
	in.Content = clean(in.Content)
	if in.Content == "" {
		return failed(status, failArguments, "memory_content is blank; nothing was saved")
	}
	if problem, long := tooLong(in.Content); long {
		return failed(status, failArguments, "%s; nothing was saved", problem)
	}
	f := Fact{
		GuildID: tc.GuildID, Content: in.Content, Private: tc.Private,
		AuthorID: tc.UserID, TurnID: tc.TurnID, MessageID: tc.Message.ID,
	}
	switch in.Scope {
	case scopeServer:
		// A target_user beside it is ignored: a server-wide fact is about nobody in particular.
		if tc.Private || tc.GuildID == "" {
			return failed(status, failArguments, "server_wide is not possible in a direct message; nothing was saved. Use memory_scope %s", scopeMember)
		}
		f.ServerWide = true
	case scopeMember:
		if tc.UserID == "" {
			return failed(status, failInternal, "it is not known who is speaking; nothing was saved")
		}
		if !isSpeaker(in.TargetUser, tc) {
			return failed(status, failPrivacy, "facts about other members are not kept: target_user can only be the member "+
				"you are talking to (%q), or be left out; nothing was saved", tc.UserName)
		}
		f.MemberID = tc.UserID
	default:
		return failed(status, failArguments, "memory_scope must be %s or %s; nothing was saved", scopeMember, scopeServer)
	}
	stored, err := s.Add(ctx, scopeOf(tc), f)
	if err != nil {
		return storeFailed(status, err)
	}
	return registry.OK(saved{
		Status: "memory_saved_successfully", ID: stored.ID, Scope: in.Scope, Content: stored.Content, Private: stored.Private,
	})
}

// isSpeaker reports whether name is left out or means the member whose turn this is.
func isSpeaker(name string, tc registry.ToolContext) bool {
	name = strings.TrimSpace(name)
	if name == "" || name == tc.UserID || name == "<@"+tc.UserID+">" || name == "<@!"+tc.UserID+">" {
		return true
	}
	name = strings.TrimPrefix(name, "@")
	return tc.UserName != "" && strings.EqualFold(name, strings.TrimPrefix(strings.TrimSpace(tc.UserName), "@"))
}
