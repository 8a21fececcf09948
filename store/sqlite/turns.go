package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/parleybot/parley/store"
)

const turnColumns = `id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model,
	input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at,
	reasoning_tokens, cost_nanos, unpriced`

const insertTurn = `INSERT INTO turns (` + turnColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// BeginTurn implements store.Turns.
func (db *DB) BeginTurn(ctx context.Context, t store.Turn) error {
	const doing = "begin turn"
	values, err := db.beginning(t)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	return db.fail(ctx, doing, leftOut(db.write.one(ctx, insertTurn, values...)))
}

// BeginWaited implements store.Turns.
func (db *DB) BeginWaited(ctx context.Context, t store.Turn) error {
	const doing = "begin turn that waited"
	values, err := db.beginning(t)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	return db.fail(ctx, doing, db.write.transact(ctx, func(ctx context.Context) error {
		taken, err := db.write.exec(ctx, `DELETE FROM waiting_triggers WHERE message_id = ?`, args{t.TriggerID})
		if err != nil {
			return err
		}
		if taken == 0 {
			return store.ErrTaken
		}
		return leftOut(db.write.exec(ctx, insertTurn, values))
	}))
}

func (db *DB) beginning(t store.Turn) (args, error) {
	if t.StartedAt.IsZero() {
		t.StartedAt = db.now()
	}
	t.Status, t.FinishedAt = store.TurnRunning, time.Time{}
	return turnValues(t)
}

const finishTurn = insertTurn + ` ON CONFLICT (id) DO UPDATE SET
	status = excluded.status, prompt = iif(excluded.prompt = '', prompt, excluded.prompt), answer = excluded.answer,
	thinking = excluded.thinking, model = excluded.model, input_tokens = excluded.input_tokens,
	output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens,
	cache_write_tokens = excluded.cache_write_tokens, answer_ids = excluded.answer_ids,
	transcript = excluded.transcript, error = excluded.error, finished_at = excluded.finished_at,
	reasoning_tokens = excluded.reasoning_tokens, cost_nanos = excluded.cost_nanos, unpriced = excluded.unpriced
	WHERE status = 'running'`

// erasedTurn finds a row when the member of a turn had it erased, as the triggers of the migrations tell it.
const erasedTurn = `SELECT 1 FROM erasures WHERE member_id = @member AND iif(@trigger <> '' AND @trigger NOT GLOB '*[^0-9]*',
	CAST(@trigger AS INTEGER) <= up_to, @started < moment)`

const insertUsage = `INSERT INTO usage_ledger (turn_id, model, guild_id, channel_id, member_id, input_tokens, output_tokens,
	cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_nanos, unpriced, at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn_id, model) DO NOTHING`

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
	values, err := turnValues(t)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	err = db.write.transact(ctx, func(ctx context.Context) error {
		if _, err := db.write.exec(ctx, finishTurn, values); err != nil || len(spent) == 0 {
			return err
		}
		payer, err := db.payer(ctx, t)
		if err != nil {
			return err
		}
		for _, s := range spent {
			_, err := db.write.exec(ctx, insertUsage, args{
				t.ID, s.Model, t.GuildID, payer.ChannelID, payer.OwnerID, s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite,
				s.Usage.Reasoning, s.Usage.CostNanos, s.Usage.Unpriced, t.FinishedAt,
			})
			if err != nil {
				return fmt.Errorf("usage of %s: %w", s.Model, err)
			}
		}
		return nil
	})
	return db.fail(ctx, doing, err)
}

// payer is the turn as the ledger names it: a cost is nobody's if the turn's member had that erased, and a private chat names
// its member as well as an id does.
func (db *DB) payer(ctx context.Context, t store.Turn) (store.Turn, error) {
	err := db.write.query(ctx, erasedTurn, args{
		sql.Named("member", t.OwnerID), sql.Named("trigger", t.TriggerID), sql.Named("started", t.StartedAt),
	}, func(row) error {
		if t.OwnerID = ""; t.GuildID == "" {
			t.ChannelID = ""
		}
		return nil
	})
	return t, err
}

// RecentTurns implements store.Turns.
func (db *DB) RecentTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error) {
	if limit <= 0 {
		return nil, nil
	}
	var turns []store.Turn
	err := db.read.query(ctx, `SELECT `+turnColumns+` FROM turns WHERE channel_id = ? AND status <> 'running'
		ORDER BY started_at DESC, rowid DESC LIMIT ?`, args{channelID, limit}, func(r row) error {
		t, err := scanTurn(r)
		turns = append(turns, t)
		return err
	})
	if err != nil {
		return nil, db.fail(ctx, "read recent turns", err)
	}
	slices.Reverse(turns)
	return turns, nil
}

func turnValues(t store.Turn) (args, error) {
	var answerIDs json.RawMessage
	if len(t.AnswerIDs) > 0 {
		var err error
		if answerIDs, err = json.Marshal(t.AnswerIDs); err != nil {
			return nil, err
		}
	}
	return args{
		t.ID, t.ChannelID, t.GuildID, t.OwnerID, t.TriggerID, t.Status, t.Prompt, t.Answer, t.Thinking, t.Model,
		t.Usage.Input, t.Usage.Output, t.Usage.CacheRead, t.Usage.CacheWrite, answerIDs, t.Transcript, t.Error,
		t.StartedAt, t.FinishedAt, t.Usage.Reasoning, t.Usage.CostNanos, t.Usage.Unpriced,
	}, nil
}

func scanTurn(r row) (store.Turn, error) {
	var (
		t                     store.Turn
		answerIDs, transcript sql.NullString
		started, finished     instant
	)
	err := r.Scan(&t.ID, &t.ChannelID, &t.GuildID, &t.OwnerID, &t.TriggerID, &t.Status, &t.Prompt, &t.Answer, &t.Thinking,
		&t.Model, &t.Usage.Input, &t.Usage.Output, &t.Usage.CacheRead, &t.Usage.CacheWrite, &answerIDs, &transcript, &t.Error,
		&started, &finished, &t.Usage.Reasoning, &t.Usage.CostNanos, &t.Usage.Unpriced)
	if err != nil {
		return t, err
	}
	if transcript.Valid {
		t.Transcript = json.RawMessage(transcript.String)
	}
	if answerIDs.Valid {
		if err := json.Unmarshal([]byte(answerIDs.String), &t.AnswerIDs); err != nil {
			return t, fmt.Errorf("answer ids of turn %s: %w: %w", t.ID, store.ErrCorrupt, err)
		}
	}
	t.StartedAt, t.FinishedAt = started.Time, finished.Time
	return t, nil
}
