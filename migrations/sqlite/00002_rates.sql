-- Events that count against a limit, one row each until it leaves its window.

-- +goose Up

CREATE TABLE rates (
    seq        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    guild_id   TEXT    NOT NULL,
    channel_id TEXT    NOT NULL,
    member_id  TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rates_of ON rates (name, guild_id, channel_id, member_id);
CREATE INDEX rates_expiry ON rates (expires_at);
CREATE INDEX rates_of_member ON rates (member_id) WHERE member_id <> '';
