-- What a member had erased stays erased: a statement that was on its way writes nothing of them any more that came about
-- before. The setting erased_before says until when, as an id that Discord counts up with time; what has no such id is as old
-- as an id of its moment. What was written in a turn is as old as the turn: if that is gone, so is what comes of it.

-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER turns_erased BEFORE INSERT ON turns
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.owner_member_id AND NEW.owner_member_id <> ''
        AND name = 'erased_before' AND printf('%20s', value) >= printf('%20s', iif(NEW.trigger_id <> '' AND NEW.trigger_id NOT GLOB '*[^0-9]*', NEW.trigger_id, CAST(max(NEW.started_at / 1000 - 1420070400000, 0) << 22 AS TEXT))))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER memories_erased BEFORE INSERT ON memories
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.member_id AND NEW.member_id <> ''
        AND name = 'erased_before' AND (printf('%20s', value) >= printf('%20s', iif(NEW.message_id <> '' AND NEW.message_id NOT GLOB '*[^0-9]*', NEW.message_id, CAST(max(NEW.created_at / 1000 - 1420070400000, 0) << 22 AS TEXT)))
            OR NEW.turn_id <> '' AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
    OR EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.author_member_id AND NEW.author_member_id <> ''
        AND name = 'erased_before' AND (printf('%20s', value) >= printf('%20s', iif(NEW.message_id <> '' AND NEW.message_id NOT GLOB '*[^0-9]*', NEW.message_id, CAST(max(NEW.created_at / 1000 - 1420070400000, 0) << 22 AS TEXT)))
            OR NEW.turn_id <> '' AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER short_term_erased BEFORE INSERT ON short_term
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.author_member_id AND NEW.author_member_id <> ''
        AND name = 'erased_before' AND (printf('%20s', value) >= printf('%20s', CAST(max(NEW.updated_at / 1000 - 1420070400000, 0) << 22 AS TEXT))
            OR NEW.turn_id <> '' AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER waiting_triggers_erased BEFORE INSERT ON waiting_triggers
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.owner_member_id AND NEW.owner_member_id <> ''
        AND name = 'erased_before' AND printf('%20s', value) >= printf('%20s', iif(NEW.message_id <> '' AND NEW.message_id NOT GLOB '*[^0-9]*', NEW.message_id, CAST(max(NEW.queued_at / 1000 - 1420070400000, 0) << 22 AS TEXT))))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER approvals_erased BEFORE INSERT ON approvals
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.owner_member_id AND NEW.owner_member_id <> ''
        AND name = 'erased_before' AND (printf('%20s', value) >= printf('%20s', CAST(max(NEW.opened_at / 1000 - 1420070400000, 0) << 22 AS TEXT))
            OR NEW.turn_id <> '' AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- Acts and costs stay, without the name.
-- +goose StatementBegin
CREATE TRIGGER approvals_decider_erased AFTER UPDATE OF decider_member_id ON approvals
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.decider_member_id AND NEW.decider_member_id <> ''
        AND name = 'erased_before' AND printf('%20s', value) >= printf('%20s', CAST(max(NEW.decided_at / 1000 - 1420070400000, 0) << 22 AS TEXT)))
BEGIN
    UPDATE approvals SET decider_member_id = '', reason = '' WHERE token = NEW.token;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_ledger_erased AFTER INSERT ON usage_ledger
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.member_id AND NEW.member_id <> ''
        AND name = 'erased_before' AND (printf('%20s', value) >= printf('%20s', CAST(max(NEW.at / 1000 - 1420070400000, 0) << 22 AS TEXT))
            OR NEW.turn_id <> '' AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    UPDATE usage_ledger SET member_id = '', channel_id = iif(guild_id = '', '', channel_id)
    WHERE turn_id = NEW.turn_id AND model = NEW.model;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_log_actor_erased AFTER INSERT ON audit_log
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.actor_member_id AND NEW.actor_member_id <> ''
        AND name = 'erased_before' AND printf('%20s', value) >= printf('%20s', CAST(max(NEW.at / 1000 - 1420070400000, 0) << 22 AS TEXT)))
BEGIN
    UPDATE audit_log SET actor_member_id = '', detail = '' WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_log_subject_erased AFTER INSERT ON audit_log
    WHEN EXISTS (SELECT 1 FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id = NEW.subject_member_id AND NEW.subject_member_id <> ''
        AND name = 'erased_before' AND printf('%20s', value) >= printf('%20s', CAST(max(NEW.at / 1000 - 1420070400000, 0) << 22 AS TEXT)))
BEGIN
    UPDATE audit_log SET subject_member_id = '', detail = '' WHERE id = NEW.id;
END;
-- +goose StatementEnd
