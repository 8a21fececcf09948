package storetest

import (
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// Earlier reads what an earlier version of the schema wrote, after it was brought to this one. Each engine has the same
// records in its testdata/vN.sql: those of the tables and columns that version N brought. ledgers says whether the version had ledgers.
func Earlier(t *testing.T, e Engine, ledgers bool) {
	t.Helper()
	ctx := t.Context()
	found, err := e.Memories.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "what about teas"})
	if err != nil || len(found) != 1 || found[0].Content != "likes tea" {
		t.Errorf("memories: %+v, %v", found, err)
	}
	turns, err := e.Turns.RecentTurns(ctx, "c", 10)
	if err != nil || len(turns) != 1 || turns[0].Answer != "hello ana" || len(turns[0].AnswerIDs) != 2 ||
		turns[0].Usage.Input != 10 || !turns[0].Usage.Unpriced { // before prices were kept, no cost was known
		t.Errorf("turns: %+v, %v", turns, err)
	}
	calls, err := e.Journal.Calls(ctx, "t1")
	if err != nil || len(calls) != 1 || calls[0].Tool != "write_file" {
		t.Errorf("calls: %+v, %v", calls, err)
	}
	waiting, err := e.Triggers.AllWaiting(ctx)
	if err != nil || len(waiting) != 1 || waiting[0].MessageID != "m" {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	settings, err := e.Settings.SettingsOf(ctx, store.SettingGuild, "1")
	if err != nil || settings["tools"] != "off" {
		t.Errorf("settings: %v, %v", settings, err)
	}
	if ledgers {
		earlierLedgers(t, e)
	}
}

func earlierLedgers(t *testing.T, e Engine) {
	t.Helper()
	ctx := t.Context()
	notes, err := e.ShortTerms.ShortTermOf(ctx, "c", start)
	if err != nil || len(notes) != 1 || notes[0].Content != "likes jokes" {
		t.Errorf("short-term memory: %+v, %v", notes, err)
	}
	used, err := e.Ledger.UsageOf(ctx, store.UsageQuery{GuildID: "1", Since: start.Add(-time.Hour)})
	if err != nil || len(used) != 1 || used[0].Usage.Input != 10 || !used[0].Usage.Unpriced {
		t.Errorf("usage: %+v, %v", used, err)
	}
	acts, err := e.Audit.AuditOf(ctx, "1", 10)
	if err != nil || len(acts) != 1 || acts[0].Detail != "tools off" {
		t.Errorf("audit: %+v, %v", acts, err)
	}
	if cards, err := e.Approvals.OpenApprovals(ctx); err != nil || len(cards) != 1 || cards[0].Token != "token" {
		t.Errorf("cards: %+v, %v", cards, err)
	}
}
