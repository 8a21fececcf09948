package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// BeginTurn implements store.Turns.
func (db *DB) BeginTurn(ctx context.Context, t store.Turn) error { return db.begins(ctx, t, false) }

// BeginWaited implements store.Turns.
func (db *DB) BeginWaited(ctx context.Context, t store.Turn) error { return db.begins(ctx, t, true) }

func (db *DB) begins(ctx context.Context, t store.Turn, waited bool) error {
	if t.StartedAt.IsZero() {
		t.StartedAt = db.now()
	}
	done, err := db.ask.BeginTurn(ctx, queries.BeginTurnParams{
		ID: t.ID, ProcessID: db.presence.number, ChannelID: t.ChannelID, GuildID: t.GuildID, OwnerMemberID: t.OwnerID,
		TriggerID: t.TriggerID, Prompt: t.Prompt, Answer: t.Answer, Thinking: t.Thinking, Model: t.Model, InputTokens: t.Usage.Input,
		OutputTokens: t.Usage.Output, CacheReadTokens: t.Usage.CacheRead, CacheWriteTokens: t.Usage.CacheWrite,
		AnswerIDs: some(t.AnswerIDs), Transcript: t.Transcript, Error: t.Error, StartedAt: t.StartedAt,
		ReasoningTokens: t.Usage.Reasoning, CostNanos: t.Usage.CostNanos, Unpriced: t.Usage.Unpriced, Waited: waited,
	})
	if err == nil && waited && done.Taken == 0 {
		err = store.ErrTaken
	}
	return db.fail(ctx, "begin turn", leftOut(done.Begun, err))
}

// FinishTurn implements store.Turns.
func (db *DB) FinishTurn(ctx context.Context, t store.Turn, spent ...store.ModelUsage) error {
	const doing = "finish turn"
	if t.Status == store.TurnRunning || t.Status == "" {
		return db.fail(ctx, doing, fmt.Errorf("%w: turn %s would end as %q", store.ErrInvalid, t.ID, t.Status))
	}
	if t.FinishedAt.IsZero() {
		t.FinishedAt = db.now()
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = t.FinishedAt // only used if the turn was never begun
	}
	params := queries.FinishTurnParams{
		ID: t.ID, ProcessID: db.presence.number, ChannelID: t.ChannelID, GuildID: t.GuildID, OwnerMemberID: t.OwnerID,
		TriggerID: t.TriggerID, Status: t.Status, Prompt: t.Prompt, Answer: t.Answer, Thinking: t.Thinking, Model: t.Model,
		InputTokens: t.Usage.Input, OutputTokens: t.Usage.Output, CacheReadTokens: t.Usage.CacheRead, CacheWriteTokens: t.Usage.CacheWrite,
		AnswerIDs: some(t.AnswerIDs), Transcript: t.Transcript, Error: t.Error, StartedAt: t.StartedAt, FinishedAt: moment(t.FinishedAt),
		ReasoningTokens: t.Usage.Reasoning, CostNanos: t.Usage.CostNanos, Unpriced: t.Usage.Unpriced, At: t.FinishedAt,
	}
	for _, s := range spent {
		params.Models = append(params.Models, s.Model)
		params.Inputs = append(params.Inputs, int64(s.Usage.Input))
		params.Outputs = append(params.Outputs, int64(s.Usage.Output))
		params.CacheReads = append(params.CacheReads, int64(s.Usage.CacheRead))
		params.CacheWrites = append(params.CacheWrites, int64(s.Usage.CacheWrite))
		params.Reasonings = append(params.Reasonings, int64(s.Usage.Reasoning))
		params.Costs = append(params.Costs, s.Usage.CostNanos)
		params.UnpricedOnes = append(params.UnpricedOnes, s.Usage.Unpriced)
	}
	return db.fail(ctx, doing, db.ask.FinishTurn(ctx, params))
}

// RecentTurns implements store.Turns.
func (db *DB) RecentTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error) {
	if limit <= 0 {
		return nil, nil
	}
	found, err := db.ask.RecentTurns(ctx, queries.RecentTurnsParams{ChannelID: channelID, Count: most(limit)})
	slices.Reverse(found)
	return each(found, turnOf), db.fail(ctx, "read recent turns", err)
}

func turnOf(t queries.Turn) store.Turn {
	return store.Turn{
		ID: t.ID, ChannelID: t.ChannelID, GuildID: t.GuildID, OwnerID: t.OwnerMemberID, TriggerID: t.TriggerID, Status: t.Status,
		Prompt: t.Prompt, Answer: t.Answer, Thinking: t.Thinking, Model: t.Model,
		Usage: store.Usage{
			Input: t.InputTokens, Output: t.OutputTokens, CacheRead: t.CacheReadTokens, CacheWrite: t.CacheWriteTokens,
			Reasoning: t.ReasoningTokens, CostNanos: t.CostNanos, Unpriced: t.Unpriced,
		},
		AnswerIDs: t.AnswerIDs, Transcript: t.Transcript, Error: t.Error, StartedAt: t.StartedAt.UTC(), FinishedAt: instant(t.FinishedAt),
	}
}

// some makes of an empty list the one that is NULL.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
