-- name: PutWaiting :execrows
INSERT INTO waiting_triggers (message_id, process_id, channel_id, guild_id, owner_member_id, payload, queued_at)
VALUES (@message_id, @process_id, @channel_id, @guild_id, @owner_member_id, @payload, @queued_at)
ON CONFLICT (message_id) DO UPDATE SET
    process_id = excluded.process_id, channel_id = excluded.channel_id, guild_id = excluded.guild_id,
    owner_member_id = excluded.owner_member_id, payload = excluded.payload;

-- name: UpdateWaiting :execrows
UPDATE waiting_triggers SET payload = @payload WHERE message_id = @message_id;

-- name: DeleteWaiting :exec
DELETE FROM waiting_triggers WHERE message_id = ANY (@message_ids::text[]);

-- name: TakeWaiting :many
-- What a process that is gone has left waits for this one from now on; see GoneProcesses.
WITH gone AS MATERIALIZED (
    SELECT process_id FROM (SELECT process_id FROM waiting_triggers GROUP BY process_id OFFSET 0) AS left_by
    WHERE process_id = @this OR pg_try_advisory_xact_lock(@space::integer, process_id)
)
UPDATE waiting_triggers SET process_id = @this WHERE waiting_triggers.process_id IN (SELECT gone.process_id FROM gone)
RETURNING *;

-- name: WaitingOfMember :many
SELECT * FROM waiting_triggers WHERE owner_member_id = @member_id ORDER BY queued_at, seq LIMIT @count;
