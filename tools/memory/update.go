package memory

import (
	"context"
	"encoding/json"

	"github.com/parleybot/parley/registry"
)

type updateArguments struct {
	ID      int64  `json:"memory_id" jsonschema:"the id of the fact, as recall_memory shows it"`
	Content string `json:"memory_content" jsonschema:"the corrected fact, at most 1000 characters; an empty text removes the fact"`
}

type updated struct {
	Status  string `json:"status"`
	ID      int64  `json:"memory_id"`
	Content string `json:"memory_content,omitempty"`
	Removed string `json:"removed_content,omitempty"`
}

// Update returns update_long_term_memory, which corrects or removes one fact.
func Update(s Store) registry.Tool {
	return registry.Tool{
		Name:        "update_long_term_memory",
		Description: "Correct a fact by its id, or remove it with an empty text. Look the id up with recall_memory first.",
		Schema:      registry.SchemaFor[updateArguments](registry.Range("memory_id", 1, 1<<53-1)),
		Category:    registry.CategoryMemory,
		Triggers: registry.Words("remember*", "forget*", "no longer", "not anymore", "correct*", "what do you know", "memory",
			"memories", "忘れて"),
		Run: func(ctx context.Context, tc registry.ToolContext, args json.RawMessage) registry.Result {
			return update(ctx, s, tc, args)
		},
	}
}

func update(ctx context.Context, s Store, tc registry.ToolContext, args json.RawMessage) registry.Result {
	const status = "memory_update_failed"
	if tc.OutsideContent {
		return failed(status, failPrivacy, "%s", outsideReason)
	}
	var in updateArguments
	if err := json.Unmarshal(args, &in); err != nil {
		return failed(status, failArguments, "memory_id must be a whole number and memory_content a text; nothing was changed")
	}
	who := scopeOf(tc)
	if who.MemberID == "" {
		return failed(status, failInternal, "it is not known who is speaking; nothing was changed")
	}
	content := clean(in.Content)
	if problem, long := tooLong(content); long {
		return failed(status, failArguments, "%s; nothing was changed", problem)
	}
	if content == "" {
		gone, err := s.Delete(ctx, who, in.ID)
		if err != nil {
			return storeFailed(status, err)
		}
		return registry.OK(updated{Status: "memory_deleted_successfully", ID: gone.ID, Removed: gone.Content})
	}
	f, err := s.Update(ctx, who, in.ID, content)
	if err != nil {
		return storeFailed(status, err)
	}
	return registry.OK(updated{Status: "memory_updated_successfully", ID: f.ID, Content: f.Content})
}
