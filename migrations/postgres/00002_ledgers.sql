-- Short-term memory, what turns cost, who did what, and approval cards. Erasing a member deletes short-term memory and the
-- member's cards; in the others the act stays and the name goes.

-- +goose Up

CREATE TABLE short_term (
    channel_id       text        NOT NULL,
    category         text        NOT NULL,
    guild_id         text        NOT NULL,
    author_member_id text        NOT NULL,
    turn_id          text        NOT NULL,
    content          text        NOT NULL,
    updated_at       timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    PRIMARY KEY (channel_id, category)
);

CREATE INDEX short_term_expiry ON short_term (expires_at);
CREATE INDEX short_term_of_author ON short_term (author_member_id);

CREATE TABLE usage_ledger (
    turn_id            text        NOT NULL,
    model              text        NOT NULL,
    guild_id           text        NOT NULL,
    channel_id         text        NOT NULL,
    member_id          text        NOT NULL,
    input_tokens       bigint      NOT NULL,
    output_tokens      bigint      NOT NULL,
    cache_read_tokens  bigint      NOT NULL,
    cache_write_tokens bigint      NOT NULL,
    at                 timestamptz NOT NULL,
    PRIMARY KEY (turn_id, model)
);

CREATE INDEX usage_of_guild ON usage_ledger (guild_id, at);
CREATE INDEX usage_of_channel ON usage_ledger (channel_id, at);
CREATE INDEX usage_of_member ON usage_ledger (member_id, at);

CREATE TABLE audit_log (
    id                bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    guild_id          text        NOT NULL,
    channel_id        text        NOT NULL,
    actor_member_id   text        NOT NULL,
    subject_member_id text        NOT NULL,
    action            text        NOT NULL,
    detail            text        NOT NULL,
    at                timestamptz NOT NULL
);

CREATE INDEX audit_of_guild ON audit_log (guild_id, at, id);
CREATE INDEX audit_of_actor ON audit_log (actor_member_id);
CREATE INDEX audit_of_subject ON audit_log (subject_member_id);

CREATE TABLE approvals (
    token             text        PRIMARY KEY,
    turn_id           text        NOT NULL,
    call_key          text        NOT NULL,
    guild_id          text        NOT NULL,
    channel_id        text        NOT NULL,
    message_id        text        NOT NULL,
    tool              text        NOT NULL,
    arguments         text        NOT NULL,
    owner_member_id   text        NOT NULL,
    status            text        NOT NULL CHECK (status IN ('open', 'approved', 'denied', 'expired', 'stopped')),
    decider_member_id text        NOT NULL,
    reason            text        NOT NULL,
    opened_at         timestamptz NOT NULL,
    decided_at        timestamptz
);

CREATE INDEX approvals_open ON approvals (opened_at) WHERE status = 'open';
CREATE INDEX approvals_of_owner ON approvals (owner_member_id);
CREATE INDEX approvals_of_decider ON approvals (decider_member_id) WHERE decider_member_id <> '';
