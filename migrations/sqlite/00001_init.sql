-- The first schema of the embedded store.
--
-- Times are microseconds since 1970 in UTC (what PostgreSQL's timestamptz holds); NULL is "not yet".
-- Naming rule: a column that holds a member's id is named member_id or ends in _member_id. Erasing a member relies on it
-- and a test holds every table to it. What a member said is only in rows that carry such a column or that hang, by a
-- foreign key with ON DELETE CASCADE, from one that does.

-- +goose Up

-- AUTOINCREMENT: people name a memory by its number, so the number of a forgotten one must not come back.
CREATE TABLE memories (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    scope            TEXT    NOT NULL CHECK (scope IN ('member', 'guild')),
    guild_id         TEXT    NOT NULL,
    member_id        TEXT    NOT NULL,
    private          INTEGER NOT NULL CHECK (private IN (0, 1)),
    content          TEXT    NOT NULL,
    author_member_id TEXT    NOT NULL,
    turn_id          TEXT    NOT NULL,
    message_id       TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    -- A guild's fact belongs to a guild; a member's to a guild or, when private, to none.
    CHECK (scope <> 'guild'  OR (guild_id <> '' AND member_id = '' AND private = 0)),
    CHECK (scope <> 'member' OR (member_id <> '' AND (guild_id = '') = private))
) STRICT;

CREATE UNIQUE INDEX memories_word_for_word ON memories (scope, guild_id, member_id, content);
CREATE INDEX memories_newest ON memories (scope, guild_id, member_id, updated_at, id);
CREATE INDEX memories_of_author ON memories (author_member_id);

-- What recall ranks by. places holds one word per place in which the fact may be seen, so that a search never walks
-- the facts of other guilds; terms holds the words of store.Terms, which knows scripts without spaces. Vowel signs (M*)
-- are part of a word.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    places, terms,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
);
-- A forgotten fact leaves no words behind in the index.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);

-- +goose StatementBegin
CREATE TRIGGER memories_forget AFTER DELETE ON memories BEGIN
    DELETE FROM memory_terms WHERE rowid = old.id;
END;
-- +goose StatementEnd

CREATE TABLE turns (
    id                 TEXT    NOT NULL PRIMARY KEY,
    channel_id         TEXT    NOT NULL,
    guild_id           TEXT    NOT NULL,
    owner_member_id    TEXT    NOT NULL,
    trigger_id         TEXT    NOT NULL,
    status             TEXT    NOT NULL,
    prompt             TEXT    NOT NULL,
    answer             TEXT    NOT NULL,
    thinking           TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    answer_ids         TEXT,
    transcript         TEXT,
    error              TEXT    NOT NULL,
    started_at         INTEGER NOT NULL,
    finished_at        INTEGER
) STRICT;

CREATE INDEX turns_of_channel ON turns (channel_id, started_at) WHERE status <> 'running';
CREATE INDEX turns_running ON turns (started_at) WHERE status = 'running';
CREATE INDEX turns_of_owner ON turns (owner_member_id);

-- seq is the order in which calls were opened.
CREATE TABLE calls (
    seq         INTEGER PRIMARY KEY,
    turn_id     TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    call_key    TEXT    NOT NULL,
    iteration   INTEGER NOT NULL,
    tool        TEXT    NOT NULL,
    arguments   TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('running', 'done', 'error')),
    reason      TEXT    NOT NULL,
    result      TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (turn_id, call_key)
) STRICT;

CREATE INDEX calls_running ON calls (seq) WHERE status = 'running';

-- seq is the order of arrival among triggers queued in the same microsecond.
CREATE TABLE waiting_triggers (
    seq             INTEGER PRIMARY KEY,
    message_id      TEXT    NOT NULL UNIQUE,
    channel_id      TEXT    NOT NULL,
    guild_id        TEXT    NOT NULL,
    owner_member_id TEXT    NOT NULL,
    payload         TEXT    NOT NULL,
    queued_at       INTEGER NOT NULL
) STRICT;

CREATE INDEX waiting_triggers_of_owner ON waiting_triggers (owner_member_id);

-- Whose setting it is stands in the column of its kind; the other two are empty.
CREATE TABLE settings (
    guild_id   TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    member_id  TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (guild_id, channel_id, member_id, name),
    CHECK ((guild_id <> '') + (channel_id <> '') + (member_id <> '') = 1)
) STRICT, WITHOUT ROWID;

CREATE INDEX settings_of_member ON settings (member_id) WHERE member_id <> '';

CREATE TABLE claims (
    id         TEXT    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_expiry ON claims (expires_at);

-- One row per open affordance window; a window that is used up is deleted.
CREATE TABLE windows (
    channel_id TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    turns_left INTEGER NOT NULL CHECK (turns_left >= 0),
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (channel_id, tool)
) STRICT, WITHOUT ROWID;

CREATE INDEX windows_expiry ON windows (expires_at);

-- The turns that have counted a channel's windows down, with what was open in them: counting happens once per turn.
CREATE TABLE window_turns (
    channel_id TEXT    NOT NULL,
    turn_id    TEXT    NOT NULL,
    tools      TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (channel_id, turn_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX window_turns_expiry ON window_turns (expires_at);
