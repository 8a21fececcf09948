-- name: PrivateChannels :many
SELECT turns.channel_id FROM turns WHERE turns.owner_member_id = @member_id AND turns.guild_id = ''
UNION SELECT waiting_triggers.channel_id FROM waiting_triggers
WHERE waiting_triggers.owner_member_id = @member_id AND waiting_triggers.guild_id = ''
UNION SELECT usage_ledger.channel_id FROM usage_ledger
WHERE usage_ledger.member_id = @member_id AND usage_ledger.guild_id = '' AND usage_ledger.channel_id <> ''
ORDER BY channel_id;

-- name: EraseMemories :execrows
DELETE FROM memories
WHERE member_id = @member_id AND member_id <> '' AND guild_id <> ''
    OR scope = 'member' AND guild_id = '' AND member_id = @member_id OR author_member_id = @member_id;

-- name: EraseShortTerm :execrows
DELETE FROM short_term WHERE author_member_id = @member_id
    OR channel_id IN (SELECT turns.channel_id FROM turns WHERE turns.owner_member_id = @member_id)
    OR channel_id = ANY (@chats::text[]);

-- name: EraseApprovals :execrows
DELETE FROM approvals WHERE owner_member_id = @member_id;

-- name: EraseDecider :execrows
UPDATE approvals SET decider_member_id = '', reason = '' WHERE decider_member_id = @member_id AND decider_member_id <> '';

-- name: EraseUsage :execrows
-- A private chat names its member as well as an id does.
UPDATE usage_ledger SET member_id = '', channel_id = CASE WHEN guild_id = '' THEN '' ELSE channel_id END WHERE member_id = @member_id;

-- name: EraseAudit :execrows
UPDATE audit_log SET detail = '',
    actor_member_id = CASE WHEN actor_member_id = @member_id THEN '' ELSE actor_member_id END,
    subject_member_id = CASE WHEN subject_member_id = @member_id THEN '' ELSE subject_member_id END
WHERE actor_member_id = @member_id OR subject_member_id = @member_id;

-- name: EraseCalls :execrows
DELETE FROM calls USING turns WHERE turns.id = calls.turn_id AND turns.owner_member_id = @member_id;

-- name: EraseTurns :execrows
DELETE FROM turns WHERE owner_member_id = @member_id;

-- name: EraseWaiting :execrows
DELETE FROM waiting_triggers WHERE owner_member_id = @member_id;

-- name: EraseSettings :execrows
DELETE FROM settings WHERE member_id = @member_id AND name <> ALL (@keep::text[])
    OR channel_id <> '' AND channel_id = ANY (@chats::text[]);

-- name: PutErased :exec
-- From here on nothing that is older is written; see erased() in the migrations.
INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES ('', '', @member_id, 'erased_before', @value)
ON CONFLICT (guild_id, channel_id, member_id, name) DO UPDATE SET value = excluded.value
WHERE lpad(settings.value, 20, '0') COLLATE "C" < lpad(excluded.value, 20, '0');
