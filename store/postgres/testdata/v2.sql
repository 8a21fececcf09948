-- What version 2 wrote in the tables that it brought.
INSERT INTO short_term (channel_id, category, guild_id, author_member_id, turn_id, content, updated_at, expires_at)
VALUES ('c', 'mood', '1', 'ana', 't1', 'likes jokes', '2026-03-01T12:00:00Z', '2026-03-02T12:00:00Z');

INSERT INTO usage_ledger (turn_id, model, guild_id, channel_id, member_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, at)
VALUES ('t1', 'm', '1', 'c', 'ana', 10, 2, 0, 0, '2026-03-01T12:00:00Z');

INSERT INTO audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
VALUES ('1', 'c', 'ana', '', 'setting', 'tools off', '2026-03-01T12:00:00Z');

INSERT INTO approvals (token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status, decider_member_id, reason, opened_at)
VALUES ('token', 't1', 'k', '1', 'c', 'm1', 'write_file', '{}', 'ana', 'open', '', '', '2026-03-01T12:00:00Z');
