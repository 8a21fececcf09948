-- name: BeginTurn :one
-- The turn of a trigger that waited takes it out of this process's line: both or neither.
WITH taken AS (
    DELETE FROM waiting_triggers
    WHERE @waited::boolean AND message_id = @trigger_id AND waiting_triggers.process_id = @process_id
    RETURNING waiting_triggers.message_id
), begun AS (
INSERT INTO turns (id, process_id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at,
    reasoning_tokens, cost_nanos, unpriced)
SELECT @id, @process_id, @channel_id, @guild_id, @owner_member_id, @trigger_id, 'running', @prompt, @answer, @thinking, @model,
    @input_tokens, @output_tokens, @cache_read_tokens, @cache_write_tokens, @answer_ids, @transcript, @error, @started_at,
    @reasoning_tokens, @cost_nanos, @unpriced
WHERE NOT @waited OR EXISTS (SELECT FROM taken)
RETURNING turns.id
)
SELECT (SELECT count(*) FROM taken) AS taken, (SELECT count(*) FROM begun) AS begun;

-- name: FinishTurn :exec
-- One statement, so that the record and what it cost are written in one round trip, both or neither. The cost is nobody's if
-- the turn's member had it erased; a private chat names its member as well as an id does.
WITH payer AS (
    SELECT CASE WHEN gone THEN '' ELSE @owner_member_id::text END AS member_id,
        CASE WHEN gone AND @guild_id::text = '' THEN '' ELSE @channel_id::text END AS channel_id
    FROM (SELECT erased(@owner_member_id::text, @trigger_id::text, @started_at::timestamptz, '') AS gone) AS origin
), closed AS (
INSERT INTO turns (id, process_id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at,
    reasoning_tokens, cost_nanos, unpriced)
VALUES (@id, @process_id, @channel_id, @guild_id, @owner_member_id, @trigger_id, @status, @prompt, @answer, @thinking, @model,
    @input_tokens, @output_tokens, @cache_read_tokens, @cache_write_tokens, @answer_ids, @transcript, @error, @started_at, @finished_at,
    @reasoning_tokens, @cost_nanos, @unpriced)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, prompt = coalesce(nullif(excluded.prompt, ''), turns.prompt), answer = excluded.answer,
    thinking = excluded.thinking, model = excluded.model, input_tokens = excluded.input_tokens,
    output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens,
    cache_write_tokens = excluded.cache_write_tokens, answer_ids = excluded.answer_ids,
    transcript = excluded.transcript, error = excluded.error, finished_at = excluded.finished_at,
    reasoning_tokens = excluded.reasoning_tokens, cost_nanos = excluded.cost_nanos, unpriced = excluded.unpriced
WHERE turns.status = 'running'
    -- Or taken for gone by a process that started while this one's lock was lost.
    OR turns.status = 'interrupted' AND turns.process_id = excluded.process_id
)
INSERT INTO usage_ledger (turn_id, model, guild_id, channel_id, member_id, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost_nanos, unpriced, at)
SELECT @id, unnest(@models::text[]), @guild_id, payer.channel_id, payer.member_id, unnest(@inputs::bigint[]), unnest(@outputs::bigint[]),
    unnest(@cache_reads::bigint[]), unnest(@cache_writes::bigint[]), unnest(@reasonings::bigint[]), unnest(@costs::bigint[]),
    unnest(@unpriced_ones::boolean[]), @at::timestamptz
FROM payer
ON CONFLICT (turn_id, model) DO NOTHING;

-- name: RecentTurns :many
SELECT * FROM turns WHERE channel_id = @channel_id AND status <> 'running' ORDER BY started_at DESC, seq DESC LIMIT @count;
