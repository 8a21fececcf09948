-- name: OpenApproval :exec
INSERT INTO approvals (token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status,
    decider_member_id, reason, opened_at)
VALUES (@token, @turn_id, @call_key, @guild_id, @channel_id, @message_id, @tool, @arguments, @owner_member_id, 'open', '', '', @opened_at);

-- name: DecideApproval :execrows
UPDATE approvals SET status = @status, decider_member_id = @decider_member_id, reason = @reason, decided_at = @decided_at
WHERE token = @token AND status = 'open';

-- name: OpenApprovals :many
SELECT * FROM approvals WHERE status = 'open' ORDER BY opened_at, token COLLATE "C";
