-- name: ChannelsAfter :many
-- The next channels that have finished turns. Each is found by one step in the index turns_of_channel.
WITH RECURSIVE step (channel_id, n) AS (
    SELECT (SELECT min(turns.channel_id) FROM turns WHERE turns.status <> 'running' AND turns.channel_id > @after::text), 1
    UNION ALL
    SELECT (SELECT min(turns.channel_id) FROM turns WHERE turns.status <> 'running' AND turns.channel_id > step.channel_id), step.n + 1
    FROM step WHERE step.channel_id IS NOT NULL AND step.n < @count::integer
)
SELECT channel_id::text AS channel_id FROM step WHERE step.channel_id IS NOT NULL ORDER BY step.n;

-- name: OldTurns :many
-- What a channel has beyond its newest and what is too old, by the same index.
SELECT id FROM (
    SELECT id FROM unnest(@channels::text[]) AS given (channel_id), LATERAL (
        SELECT turns.id FROM turns WHERE turns.channel_id = given.channel_id AND turns.status <> 'running'
        ORDER BY turns.started_at DESC, turns.seq DESC LIMIT @batch::integer OFFSET @keep::integer) AS many
    UNION
    SELECT id FROM unnest(@channels::text[]) AS given (channel_id), LATERAL (
        SELECT turns.id FROM turns WHERE turns.channel_id = given.channel_id AND turns.status <> 'running' AND turns.started_at < @before
        ORDER BY turns.started_at LIMIT @batch::integer) AS old
) AS both_kinds LIMIT @batch::integer;

-- name: PruneCalls :execrows
DELETE FROM calls WHERE turn_id = ANY (@turn_ids::text[]);

-- name: PruneTurns :execrows
DELETE FROM turns WHERE id = ANY (@turn_ids::text[]) AND status <> 'running';

-- name: PruneApprovals :execrows
DELETE FROM approvals WHERE token IN (
    SELECT token FROM approvals AS old WHERE old.status <> 'open' AND old.decided_at < @before::timestamptz ORDER BY old.decided_at LIMIT @batch);

-- name: PruneShortTerm :execrows
DELETE FROM short_term WHERE (channel_id, category) IN (
    SELECT channel_id, category FROM short_term AS old WHERE old.expires_at <= @now ORDER BY old.expires_at LIMIT @batch);

-- name: PruneUsage :execrows
DELETE FROM usage_ledger WHERE (turn_id, model) IN (
    SELECT turn_id, model FROM usage_ledger AS old WHERE old.at < @before ORDER BY old.at LIMIT @batch);

-- name: PruneAudit :execrows
DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log AS old WHERE old.at < @before ORDER BY old.at LIMIT @batch);
