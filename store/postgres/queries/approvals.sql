-- name: OpenApproval :execrows
INSERT INTO approvals (token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status,
    decider_member_id, reason, opened_at)
VALUES (@token, @turn_id, @call_key, @guild_id, @channel_id, @message_id, @tool, @arguments, @owner_member_id, 'open', '', '', @opened_at);

-- name: ShowApproval :exec
UPDATE approvals SET message_id = @message_id WHERE token = @token;

-- name: DecideApproval :execrows
UPDATE approvals SET status = @status, decider_member_id = @decider_member_id, reason = @reason, decided_at = @decided_at
WHERE token = @token AND status = 'open';

-- name: OpenApprovals :many
SELECT * FROM approvals WHERE status = 'open'
    AND NOT EXISTS (SELECT FROM turns WHERE turns.id = approvals.turn_id AND turns.status = 'running')
ORDER BY opened_at, token COLLATE "C";

-- name: ApprovalsOfMember :many
SELECT * FROM approvals WHERE owner_member_id = @member_id OR decider_member_id = @member_id AND decider_member_id <> ''
ORDER BY opened_at DESC, token COLLATE "C" LIMIT @count;
