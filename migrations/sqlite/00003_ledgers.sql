-- Short-term memory, what turns cost, who did what, and approval cards. Erasing a member deletes short-term memory and the
-- member's cards; in the others the act stays and the name goes.

-- +goose Up

CREATE TABLE short_term (
    channel_id       TEXT    NOT NULL,
    category         TEXT    NOT NULL,
    guild_id         TEXT    NOT NULL,
    author_member_id TEXT    NOT NULL,
    turn_id          TEXT    NOT NULL,
    content          TEXT    NOT NULL,
    updated_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    PRIMARY KEY (channel_id, category)
) STRICT;

CREATE INDEX short_term_expiry ON short_term (expires_at);
CREATE INDEX short_term_of_author ON short_term (author_member_id);

CREATE TABLE usage_ledger (
    turn_id            TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    guild_id           TEXT    NOT NULL,
    channel_id         TEXT    NOT NULL,
    member_id          TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    at                 INTEGER NOT NULL,
    PRIMARY KEY (turn_id, model)
) STRICT;

CREATE INDEX usage_of_guild ON usage_ledger (guild_id, at);
CREATE INDEX usage_of_channel ON usage_ledger (channel_id, at);
CREATE INDEX usage_of_member ON usage_ledger (member_id, at);

CREATE TABLE audit_log (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    guild_id          TEXT    NOT NULL,
    channel_id        TEXT    NOT NULL,
    actor_member_id   TEXT    NOT NULL,
    subject_member_id TEXT    NOT NULL,
    action            TEXT    NOT NULL,
    detail            TEXT    NOT NULL,
    at                INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_of_guild ON audit_log (guild_id, at, id);
CREATE INDEX audit_of_actor ON audit_log (actor_member_id);
CREATE INDEX audit_of_subject ON audit_log (subject_member_id);

CREATE TABLE approvals (
    token             TEXT    NOT NULL PRIMARY KEY,
    turn_id           TEXT    NOT NULL,
    call_key          TEXT    NOT NULL,
    guild_id          TEXT    NOT NULL,
    channel_id        TEXT    NOT NULL,
    message_id        TEXT    NOT NULL,
    tool              TEXT    NOT NULL,
    arguments         TEXT    NOT NULL,
    owner_member_id   TEXT    NOT NULL,
    status            TEXT    NOT NULL CHECK (status IN ('open', 'approved', 'denied', 'expired', 'stopped')),
    decider_member_id TEXT    NOT NULL,
    reason            TEXT    NOT NULL,
    opened_at         INTEGER NOT NULL,
    decided_at        INTEGER
) STRICT;

CREATE INDEX approvals_open ON approvals (opened_at) WHERE status = 'open';
CREATE INDEX approvals_of_owner ON approvals (owner_member_id);
CREATE INDEX approvals_of_decider ON approvals (decider_member_id) WHERE decider_member_id <> '';
