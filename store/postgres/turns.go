package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

const turnColumns = `turns.id, turns.channel_id, turns.guild_id, turns.owner_member_id, turns.trigger_id, turns.status, turns.prompt,
	turns.answer, turns.thinking, turns.model, turns.input_tokens, turns.output_tokens, turns.cache_read_tokens,
	turns.cache_write_tokens, turns.answer_ids, turns.transcript, turns.error, turns.started_at, turns.finished_at,
	turns.reasoning_tokens, turns.cost_nanos, turns.unpriced`

const insertTurn = `INSERT INTO turns (id, process_id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking,
		model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at,
		reasoning_tokens, cost_nanos, unpriced)
	VALUES (@id, @process, @channel, @guild, @owner, @trigger, @status, @prompt, @answer, @thinking,
		@model, @input, @output, @cache_read, @cache_write, @answer_ids, @transcript, @error, @started, @finished,
		@reasoning, @cost, @unpriced)`

// BeginTurn implements store.Turns.
func (db *DB) BeginTurn(ctx context.Context, t store.Turn) error {
	if t.StartedAt.IsZero() {
		t.StartedAt = db.now()
	}
	t.Status, t.FinishedAt = store.TurnRunning, time.Time{}
	_, err := exec(ctx, db.pool, insertTurn, db.turnValues(t))
	return db.fail(ctx, "begin turn", err)
}

// FinishTurn implements store.Turns.
func (db *DB) FinishTurn(ctx context.Context, t store.Turn) error {
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
	_, err := exec(ctx, db.pool, insertTurn+` ON CONFLICT (id) DO UPDATE SET
		status = excluded.status, prompt = coalesce(nullif(excluded.prompt, ''), turns.prompt), answer = excluded.answer,
		thinking = excluded.thinking, model = excluded.model, input_tokens = excluded.input_tokens,
		output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens,
		cache_write_tokens = excluded.cache_write_tokens, answer_ids = excluded.answer_ids,
		transcript = excluded.transcript, error = excluded.error, finished_at = excluded.finished_at,
		reasoning_tokens = excluded.reasoning_tokens, cost_nanos = excluded.cost_nanos, unpriced = excluded.unpriced
		WHERE turns.status = 'running'`, db.turnValues(t))
	return db.fail(ctx, doing, err)
}

// RecentTurns implements store.Turns.
func (db *DB) RecentTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error) {
	if limit <= 0 {
		return nil, nil
	}
	turns, err := query(ctx, db.pool, `SELECT `+turnColumns+` FROM turns WHERE channel_id = @channel AND status <> 'running'
		ORDER BY started_at DESC, seq DESC LIMIT @limit`, args{"channel": channelID, "limit": limit}, readTurn)
	if err != nil {
		return nil, db.fail(ctx, "read recent turns", err)
	}
	slices.Reverse(turns)
	return turns, nil
}

func (db *DB) turnValues(t store.Turn) args {
	values := args{
		"id": t.ID, "process": db.presence.number, "channel": t.ChannelID, "guild": t.GuildID, "owner": t.OwnerID,
		"trigger": t.TriggerID, "status": t.Status, "prompt": t.Prompt, "answer": t.Answer, "thinking": t.Thinking,
		"model": t.Model, "input": t.Usage.Input, "output": t.Usage.Output, "cache_read": t.Usage.CacheRead,
		"cache_write": t.Usage.CacheWrite, "answer_ids": nil, "transcript": t.Transcript, "error": t.Error,
		"started": t.StartedAt, "finished": t.FinishedAt,
		"reasoning": t.Usage.Reasoning, "cost": t.Usage.CostNanos, "unpriced": t.Usage.Unpriced,
	}
	if len(t.AnswerIDs) > 0 {
		values["answer_ids"] = t.AnswerIDs
	}
	return values
}

func readTurn(row pgx.CollectableRow) (store.Turn, error) {
	var (
		t          store.Turn
		transcript *string
		finished   *time.Time
	)
	err := row.Scan(&t.ID, &t.ChannelID, &t.GuildID, &t.OwnerID, &t.TriggerID, &t.Status, &t.Prompt, &t.Answer, &t.Thinking,
		&t.Model, &t.Usage.Input, &t.Usage.Output, &t.Usage.CacheRead, &t.Usage.CacheWrite, &t.AnswerIDs, &transcript, &t.Error,
		&t.StartedAt, &finished, &t.Usage.Reasoning, &t.Usage.CostNanos, &t.Usage.Unpriced)
	if transcript != nil {
		t.Transcript = json.RawMessage(*transcript)
	}
	t.StartedAt, t.FinishedAt = t.StartedAt.UTC(), instant(finished)
	return t, err
}
