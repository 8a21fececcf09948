-- The first schema on PostgreSQL. Fleeting things (claims, windows, counters) are in Redis.
--
-- Naming rule: a column that holds a member's id is named member_id or ends in _member_id. Erasing a member relies on it
-- and a test holds every table to it. What a member said is only in rows that carry such a column or that hang, by a
-- foreign key with ON DELETE CASCADE, from one that does.
--
-- process_id says which process a running turn or a waiting trigger belongs to: each process draws a number at start and
-- holds the advisory lock of that number while it lives. What belongs to a number that nobody holds was left behind.

-- +goose Up

CREATE SEQUENCE processes AS integer;

-- Words that share no term are compared by their letters, where the server has the extension. It is trusted since
-- PostgreSQL 13: the database's owner may create it. Without it recall does without misspelt words.
-- +goose StatementBegin
DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN undefined_file OR insufficient_privilege OR feature_not_supported THEN
    RAISE NOTICE 'pg_trgm is not available; recall will not find misspelt words';
END $$;
-- +goose StatementEnd

-- English stems, no stop words: a stop word of one language is a word of another. Words that are no English stay whole.
CREATE TEXT SEARCH DICTIONARY parley_stem (TEMPLATE = snowball, LANGUAGE = english);

-- A memory's number is what people name it by, so the number of a forgotten one must not come back: identities never do.
CREATE TABLE memories (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope            text        NOT NULL CHECK (scope IN ('member', 'guild')),
    guild_id         text        NOT NULL,
    member_id        text        NOT NULL,
    private          boolean     NOT NULL,
    content          text        NOT NULL,
    author_member_id text        NOT NULL,
    turn_id          text        NOT NULL,
    message_id       text        NOT NULL,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    -- A guild's fact belongs to a guild; a member's to a guild or, when private, to none.
    CHECK (scope <> 'guild'  OR (guild_id <> '' AND member_id = '' AND NOT private)),
    CHECK (scope <> 'member' OR (member_id <> '' AND (guild_id = '') = private))
);

-- By hash, since a B-tree takes no content of more than 2,700 bytes.
CREATE UNIQUE INDEX memories_word_for_word ON memories (scope, guild_id, member_id, md5(content));
CREATE INDEX memories_newest ON memories (scope, guild_id, member_id, updated_at, id);
CREATE INDEX memories_of_author ON memories (author_member_id);

-- What recall ranks by: which memories of a place hold a term, newest last. A GIN index of tsvectors was measured
-- against this: it reads every row that holds a usual word (150 ms for seven words among 10,000 memories), where this
-- reads the newest 256 of each from the index alone (1.3 ms).
CREATE TABLE memory_terms (
    place     text   COLLATE "C" NOT NULL,
    term      text   COLLATE "C" NOT NULL,
    memory_id bigint NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    PRIMARY KEY (place, term, memory_id)
);

CREATE INDEX memory_terms_of_memory ON memory_terms (memory_id);

CREATE TABLE turns (
    id                 text        PRIMARY KEY,
    seq                bigint      GENERATED ALWAYS AS IDENTITY,
    process_id         integer     NOT NULL,
    channel_id         text        NOT NULL,
    guild_id           text        NOT NULL,
    owner_member_id    text        NOT NULL,
    trigger_id         text        NOT NULL,
    status             text        NOT NULL,
    prompt             text        NOT NULL,
    answer             text        NOT NULL,
    thinking           text        NOT NULL,
    model              text        NOT NULL,
    input_tokens       bigint      NOT NULL,
    output_tokens      bigint      NOT NULL,
    cache_read_tokens  bigint      NOT NULL,
    cache_write_tokens bigint      NOT NULL,
    answer_ids         text[],
    -- text, not jsonb: a document comes back as it was written, unknown fields, digits and all.
    transcript         text,
    error              text        NOT NULL,
    started_at         timestamptz NOT NULL,
    finished_at        timestamptz
);

CREATE INDEX turns_of_channel ON turns (channel_id, started_at, seq) WHERE status <> 'running';
CREATE INDEX turns_running ON turns (process_id) WHERE status = 'running';
CREATE INDEX turns_of_owner ON turns (owner_member_id);

-- seq is the order in which calls were opened.
CREATE TABLE calls (
    seq         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    turn_id     text        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    call_key    text        NOT NULL,
    iteration   integer     NOT NULL,
    tool        text        NOT NULL,
    arguments   text        NOT NULL,
    status      text        NOT NULL CHECK (status IN ('running', 'done', 'error')),
    reason      text        NOT NULL,
    result      text        NOT NULL,
    started_at  timestamptz NOT NULL,
    finished_at timestamptz,
    UNIQUE (turn_id, call_key)
);

CREATE INDEX calls_running ON calls (turn_id) WHERE status = 'running';

-- seq is the order of arrival among triggers queued in the same microsecond.
CREATE TABLE waiting_triggers (
    message_id      text        PRIMARY KEY,
    seq             bigint      GENERATED ALWAYS AS IDENTITY,
    process_id      integer     NOT NULL,
    channel_id      text        NOT NULL,
    guild_id        text        NOT NULL,
    owner_member_id text        NOT NULL,
    payload         text        NOT NULL,
    queued_at       timestamptz NOT NULL
);

CREATE INDEX waiting_triggers_of_owner ON waiting_triggers (owner_member_id);

-- Whose setting it is stands in the column of its kind; the other two are empty.
CREATE TABLE settings (
    guild_id   text NOT NULL,
    channel_id text NOT NULL,
    member_id  text NOT NULL,
    name       text NOT NULL,
    value      text NOT NULL,
    PRIMARY KEY (guild_id, channel_id, member_id, name),
    CHECK ((guild_id <> '')::integer + (channel_id <> '')::integer + (member_id <> '')::integer = 1)
);

CREATE INDEX settings_of_member ON settings (member_id) WHERE member_id <> '';
