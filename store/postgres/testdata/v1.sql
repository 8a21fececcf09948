-- What version 1 wrote.
WITH written AS (
    INSERT INTO memories (scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at)
    VALUES ('member', '1', 'ana', false, 'likes tea', 'ana', 't1', 'm0', '2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z')
    RETURNING id
)
INSERT INTO memory_terms (place, term, memory_id) SELECT 'g1mana', unnest('{like,tea}'::text[]), id FROM written;

INSERT INTO turns (id, process_id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at)
VALUES ('t1', nextval('processes'), 'c', '1', 'ana', 'm0', 'completed', 'hello', 'hello ana', '', 'm', 10, 2, 0, 0, '{a1,a2}',
    '{"v":1,"entries":[]}', '', '2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z');

INSERT INTO calls (turn_id, call_key, iteration, tool, arguments, status, reason, result, started_at, finished_at)
VALUES ('t1', 'k', 0, 'write_file', '{"path":"a"}', 'done', '', 'written', '2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z');

INSERT INTO waiting_triggers (message_id, process_id, channel_id, guild_id, owner_member_id, payload, queued_at)
VALUES ('m', nextval('processes'), 'c', '1', 'ana', '{"text":"hi"}', '2026-03-01T12:00:02Z');

INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES ('1', '', '', 'tools', 'off');
