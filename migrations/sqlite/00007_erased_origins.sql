-- When something of an erased member came about is told by the id that it stems from, if there is one, and by nothing else: a
-- turn that could not be recorded as begun has no row either, and is not an erased one.

-- +goose Up

DROP TRIGGER turns_erased;
DROP TRIGGER memories_erased;
DROP TRIGGER short_term_erased;
DROP TRIGGER waiting_triggers_erased;
DROP TRIGGER approvals_erased;
DROP TRIGGER approvals_decider_erased;
DROP TRIGGER usage_ledger_erased;
DROP TRIGGER audit_log_actor_erased;
DROP TRIGGER audit_log_subject_erased;

-- Who had everything erased: up to which id that Discord counts up, and before which moment (in microseconds). What names no id
-- is as old as its moment, or as the turn that it was written in: if that was erased, so is what comes of it. No turn lasts
-- until "late", a day after, so later ones without a row were just not recorded.
CREATE VIEW erasures AS
SELECT member_id, up_to, moment, moment + 86400000000 AS late FROM (
    SELECT member_id, CAST(value AS INTEGER) AS up_to, ((CAST(value AS INTEGER) >> 22) + 1420070400001) * 1000 AS moment
    FROM settings WHERE guild_id = '' AND channel_id = '' AND member_id <> '' AND name = 'erased_before'
);

-- +goose StatementBegin
CREATE TRIGGER turns_erased BEFORE INSERT ON turns
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.owner_member_id
        AND iif(NEW.trigger_id <> '' AND NEW.trigger_id NOT GLOB '*[^0-9]*', CAST(NEW.trigger_id AS INTEGER) <= up_to, NEW.started_at < moment))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER memories_erased BEFORE INSERT ON memories
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id IN (NEW.member_id, NEW.author_member_id)
        AND iif(NEW.message_id <> '' AND NEW.message_id NOT GLOB '*[^0-9]*', CAST(NEW.message_id AS INTEGER) <= up_to,
            NEW.created_at < moment OR NEW.turn_id <> '' AND NEW.created_at < late AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER short_term_erased BEFORE INSERT ON short_term
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.author_member_id
        AND (NEW.updated_at < moment OR NEW.turn_id <> '' AND NEW.updated_at < late AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER waiting_triggers_erased BEFORE INSERT ON waiting_triggers
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.owner_member_id
        AND iif(NEW.message_id <> '' AND NEW.message_id NOT GLOB '*[^0-9]*', CAST(NEW.message_id AS INTEGER) <= up_to, NEW.queued_at < moment))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER approvals_erased BEFORE INSERT ON approvals
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.owner_member_id
        AND (NEW.opened_at < moment OR NEW.turn_id <> '' AND NEW.opened_at < late AND NOT EXISTS (SELECT 1 FROM turns WHERE id = NEW.turn_id)))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- Acts and costs stay, without the name. Whose a cost is, FinishTurn tells by the turn's message.

-- +goose StatementBegin
CREATE TRIGGER approvals_decider_erased AFTER UPDATE OF decider_member_id ON approvals
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.decider_member_id AND NEW.decided_at < moment)
BEGIN
    UPDATE approvals SET decider_member_id = '', reason = '' WHERE token = NEW.token;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_ledger_erased AFTER INSERT ON usage_ledger
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.member_id AND NEW.at < moment)
BEGIN
    UPDATE usage_ledger SET member_id = '', channel_id = iif(guild_id = '', '', channel_id)
    WHERE turn_id = NEW.turn_id AND model = NEW.model;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_log_actor_erased AFTER INSERT ON audit_log
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.actor_member_id AND NEW.at < moment)
BEGIN
    UPDATE audit_log SET actor_member_id = '', detail = '' WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_log_subject_erased AFTER INSERT ON audit_log
    WHEN EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.subject_member_id AND NEW.at < moment)
BEGIN
    UPDATE audit_log SET subject_member_id = '', detail = '' WHERE id = NEW.id;
END;
-- +goose StatementEnd
