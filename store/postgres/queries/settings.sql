-- name: PutSetting :exec
INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES (@guild_id, @channel_id, @member_id, @name, @value)
ON CONFLICT (guild_id, channel_id, member_id, name) DO UPDATE SET value = excluded.value;

-- name: DeleteSetting :exec
DELETE FROM settings WHERE guild_id = @guild_id AND channel_id = @channel_id AND member_id = @member_id AND name = @name;

-- name: SettingsOf :many
SELECT name, value FROM settings WHERE guild_id = @guild_id AND channel_id = @channel_id AND member_id = @member_id;

-- name: MemberSettings :many
-- In the order of the primary key, so that a page is read from it alone.
SELECT member_id, name, value FROM settings
WHERE guild_id = '' AND channel_id = '' AND member_id <> '' AND (member_id, name) > (@after_id::text, @after_name::text)
    AND name = ANY (@names::text[])
ORDER BY member_id, name LIMIT @count;
