package bot

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// auditWords say what was done.
var auditWords = map[store.AuditAction]string{
	turn.ActionSetting: "changed a setting", turn.ActionTool: "switched a tool", turn.ActionCleared: "cleared the conversation",
	turn.ActionKilled: "stopped what ran or waited", turn.ActionApproved: "approved a tool call", turn.ActionDenied: "denied a tool call",
	turn.ActionFactAdded: "added a fact", turn.ActionFactChanged: "changed a fact", turn.ActionFactForgotten: "removed a fact",
	turn.ActionErased: "had everything about them erased",
}

func (b *Bot) showAudit(ctx context.Context, i *interaction) said {
	entries, err := b.turns.AuditLog(ctx, i.place())
	switch {
	case err != nil:
		return b.refused(i, err)
	case len(entries) == 0:
		return privately("Nothing has been changed, stopped, decided or erased here yet.")
	}
	lines := make([]string, len(entries))
	for n, e := range entries {
		lines[n] = auditLine(e)
	}
	head := "**What was done in this server**, newest first"
	if !i.actor.ManageGuild {
		head = "**What was done in this channel**, newest first"
	}
	return listing("audit.txt", head, lines)
}

func auditLine(e store.AuditEntry) string {
	who, did := "somebody", auditWords[e.Action]
	if e.ActorID != "" {
		who = "<@" + e.ActorID + ">"
	}
	if did == "" {
		did = inline(string(e.Action), 40)
	}
	line := fmt.Sprintf("<t:%d:f> %s %s", e.At.Unix(), who, did)
	if e.SubjectID != "" && e.SubjectID != e.ActorID {
		line += fmt.Sprintf(" of <@%s>", e.SubjectID)
	}
	if e.ChannelID != "" {
		line += fmt.Sprintf(" in <#%s>", e.ChannelID)
	}
	if e.Detail != "" {
		line += ": " + inline(e.Detail, 250)
	}
	return line
}
