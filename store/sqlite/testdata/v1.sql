-- What version 1 wrote. 1772366400 is 2026-03-01 12:00:00 UTC.
INSERT INTO memories (id, scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at)
VALUES (1, 'member', '1', 'ana', 0, 'likes tea', 'ana', 't1', 'm0', 1772366400000000, 1772366400000000);
INSERT INTO memory_terms (rowid, places, terms) VALUES (1, 'g1mana', 'likes tea');

INSERT INTO turns (id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at)
VALUES ('t1', 'c', '1', 'ana', 'm0', 'completed', 'hello', 'hello ana', '', 'm', 10, 2, 0, 0, '["a1","a2"]',
    '{"v":1,"entries":[]}', '', 1772366400000000, 1772366401000000);

INSERT INTO calls (turn_id, call_key, iteration, tool, arguments, status, reason, result, started_at, finished_at)
VALUES ('t1', 'k', 0, 'write_file', '{"path":"a"}', 'done', '', 'written', 1772366400000000, 1772366401000000);

INSERT INTO waiting_triggers (message_id, channel_id, guild_id, owner_member_id, payload, queued_at)
VALUES ('m', 'c', '1', 'ana', '{"text":"hi"}', 1772366402000000);

INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES ('1', '', '', 'tools', 'off');
