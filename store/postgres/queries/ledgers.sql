-- name: LockShortTerm :exec
-- Whoever writes to a channel holds its lock until the end of the transaction, so what is counted is what is there.
SELECT pg_advisory_xact_lock(hashtextextended('short term ' || @channel_id::text, 0));

-- name: ExpireShortTerm :exec
DELETE FROM short_term WHERE channel_id = @channel_id AND expires_at <= @now;

-- name: PutShortTerm :execrows
INSERT INTO short_term (channel_id, category, guild_id, author_member_id, turn_id, content, updated_at, expires_at)
SELECT @channel_id::text, @category::text, @guild_id::text, @author_member_id::text, @turn_id::text, @content::text,
    @updated_at::timestamptz, @expires_at::timestamptz
WHERE (SELECT count(*) FROM short_term AS others WHERE others.channel_id = @channel_id AND others.category <> @category) < @most::bigint
ON CONFLICT (channel_id, category) DO UPDATE SET author_member_id = excluded.author_member_id, turn_id = excluded.turn_id,
    content = excluded.content, updated_at = excluded.updated_at, expires_at = excluded.expires_at;

-- name: ShortTermOf :many
SELECT * FROM short_term WHERE channel_id = @channel_id AND expires_at > @now ORDER BY category COLLATE "C";

-- name: ClearShortTerm :exec
DELETE FROM short_term WHERE channel_id = @channel_id;

-- name: AddAudit :exec
INSERT INTO audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
VALUES (@guild_id, @channel_id, @actor_member_id, @subject_member_id, @action, @detail, @at);

-- name: AuditOf :many
SELECT * FROM audit_log WHERE guild_id = @guild_id ORDER BY at DESC, id DESC LIMIT @count;

-- name: ShortTermOfMember :many
SELECT * FROM short_term WHERE author_member_id = @member_id ORDER BY channel_id COLLATE "C", category COLLATE "C";

-- name: UsageOfMember :many
SELECT * FROM usage_ledger WHERE member_id = @member_id ORDER BY at DESC, turn_id COLLATE "C", model COLLATE "C" LIMIT @count;

-- name: AuditOfMember :many
SELECT * FROM audit_log WHERE actor_member_id = @member_id OR subject_member_id = @member_id ORDER BY at DESC, id DESC LIMIT @count;

-- name: CountShortTerm :one
SELECT count(*) FROM short_term WHERE channel_id = @channel_id AND category <> @category;
