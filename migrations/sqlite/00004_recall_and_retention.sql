-- Recall of a member's facts in all their guilds, which the member allows; and what is kept only for a time, by its age.

-- +goose Up

CREATE INDEX memories_of_member ON memories (member_id, updated_at, id) WHERE member_id <> '' AND guild_id <> '';

CREATE INDEX approvals_decided ON approvals (decided_at) WHERE status <> 'open';
CREATE INDEX usage_by_age ON usage_ledger (at);
CREATE INDEX audit_by_age ON audit_log (at);
