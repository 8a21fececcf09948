-- name: LockMemories :exec
-- Whoever adds to a scope holds its lock until the end of the transaction, so what is counted is what is there.
SELECT pg_advisory_xact_lock(hashtextextended(@place::text, 0));

-- name: AddMemory :many
-- The words by which a memory is found are written with it; see IndexMemory.
WITH known AS (
    SELECT * FROM memories WHERE memories.scope = @scope AND memories.guild_id = @guild_id AND memories.member_id = @member_id
        AND md5(memories.content) = md5(@content::text) AND memories.content = @content::text
), written AS (
    INSERT INTO memories (scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at)
    SELECT @scope, @guild_id, @member_id, @private::boolean, @content::text, @author_member_id::text, @turn_id::text, @message_id::text,
        @created_at::timestamptz, @updated_at::timestamptz
    WHERE NOT EXISTS (SELECT FROM known) AND @most::bigint > (
        SELECT count(*) FROM memories WHERE memories.scope = @scope AND memories.guild_id = @guild_id AND memories.member_id = @member_id)
    RETURNING *
), words AS (
    INSERT INTO memory_terms (place, term, memory_id)
    SELECT DISTINCT @place::text, coalesce((ts_lexize('parley_stem', given.term))[1], given.term), written.id
    FROM written, unnest(@terms::text[]) AS given (term)
    ON CONFLICT DO NOTHING
)
SELECT * FROM written UNION ALL SELECT * FROM known;

-- name: ForgetWords :exec
DELETE FROM memory_terms WHERE memory_id = @memory_id;

-- name: IndexMemory :exec
INSERT INTO memory_terms (place, term, memory_id)
SELECT DISTINCT @place::text, coalesce((ts_lexize('parley_stem', given.term))[1], given.term), @memory_id::bigint
FROM unnest(@terms::text[]) AS given (term)
ON CONFLICT DO NOTHING;

-- name: OtherGuilds :many
-- Where else a member has told facts, the latest first.
SELECT guild_id FROM memories
WHERE scope = 'member' AND member_id = @member_id AND member_id <> '' AND guild_id <> '' AND guild_id <> @guild_id
GROUP BY guild_id ORDER BY max(updated_at) DESC LIMIT @count;

-- name: MemoriesOfMember :many
SELECT * FROM memories
WHERE member_id = @member_id AND member_id <> '' AND guild_id <> ''
    OR scope = 'member' AND guild_id = '' AND member_id = @member_id OR author_member_id = @member_id
ORDER BY id;

-- name: DeleteMemories :execrows
DELETE FROM memories WHERE scope = @scope AND guild_id = @guild_id AND member_id = @member_id AND private = @private;

-- name: CountMemories :one
SELECT count(*) FROM memories WHERE scope = @scope AND guild_id = @guild_id AND member_id = @member_id;
