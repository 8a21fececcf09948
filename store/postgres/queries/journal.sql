-- name: OpenCall :exec
INSERT INTO calls (turn_id, call_key, iteration, tool, arguments, status, reason, result, started_at, finished_at)
VALUES (@turn_id, @call_key, @iteration, @tool, @arguments, @status, @reason, @result, @started_at, @finished_at);

-- name: CloseCall :many
-- One statement tells a closed row (found, left as it is) from a missing one: the usual case costs no second look.
WITH closed AS (
    UPDATE calls SET status = @status, reason = @reason, result = @result, finished_at = @finished_at
    WHERE calls.turn_id = @turn_id AND calls.call_key = @call_key AND (calls.status = 'running'
        -- Or taken for interrupted by a process that started while this one's lock was lost.
        OR calls.status = 'error' AND calls.reason = 'interrupted'
            AND EXISTS (SELECT FROM turns WHERE turns.id = calls.turn_id AND turns.process_id = @process_id::integer))
)
SELECT calls.seq FROM calls WHERE calls.turn_id = @turn_id AND calls.call_key = @call_key;

-- name: CallsOfTurn :many
SELECT * FROM calls WHERE turn_id = @turn_id ORDER BY seq;

-- name: GoneProcesses :many
-- The processes whose work is left: this one, which asks before it begins any, and those whose lock is free. The lock is
-- taken until the transaction ends, so of two processes that ask at once one gets what a third has left.
SELECT process_id FROM (
    SELECT turns.process_id FROM turns WHERE turns.status = 'running'
    UNION SELECT waiting_triggers.process_id FROM waiting_triggers
    UNION SELECT turns.process_id FROM calls JOIN turns ON turns.id = calls.turn_id WHERE calls.status = 'running'
    OFFSET 0 -- each is asked about once
) AS left_by
WHERE process_id = @this::integer OR pg_try_advisory_xact_lock(@space::integer, process_id);

-- name: InterruptCalls :many
UPDATE calls SET status = 'error', reason = 'interrupted', finished_at = @at::timestamptz
FROM turns WHERE turns.id = calls.turn_id AND turns.process_id = ANY (@gone::integer[]) AND calls.status = 'running'
RETURNING calls.*;

-- name: InterruptTurns :many
UPDATE turns SET status = 'interrupted', finished_at = @at::timestamptz
WHERE status = 'running' AND process_id = ANY (@gone::integer[])
RETURNING *;
