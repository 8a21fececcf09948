-- What a member had erased stays erased: a statement that was on its way, or a process that did not know of it, writes
-- nothing of them any more that came about before. The setting erased_before says until when.

-- +goose Up

-- Whether a member (none is nobody) had everything erased since something came about: at the time of an id that Discord
-- counts up, that of what it stems from, or else at a moment. What was written in a turn (none for what was not) is as old as
-- the turn: if that is gone, so is what comes of it. In plpgsql, which plans a statement once per connection: a function in
-- SQL would plan it for every row.
-- +goose StatementBegin
CREATE FUNCTION erased(member text, id text, at timestamptz, turn text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    before text;
    origin text := $2;
BEGIN
    SELECT value INTO before FROM settings
        WHERE guild_id = '' AND channel_id = '' AND member_id = $1 AND $1 <> '' AND name = 'erased_before';
    IF before IS NULL THEN
        RETURN false;
    END IF;
    IF origin !~ '^[0-9]{1,20}$' THEN
        origin := (greatest(floor(extract(epoch FROM $3) * 1000) - 1420070400000, 0) * 4194304)::numeric(20)::text;
    END IF;
    RETURN lpad(before, 20, '0') COLLATE "C" >= lpad(origin, 20, '0')
        OR $4 <> '' AND NOT EXISTS (SELECT FROM turns WHERE turns.id = $4);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER turns_erased BEFORE INSERT ON turns FOR EACH ROW
    WHEN (erased(NEW.owner_member_id, NEW.trigger_id, NEW.started_at, '')) EXECUTE FUNCTION leave_out();
CREATE TRIGGER memories_erased BEFORE INSERT ON memories FOR EACH ROW
    WHEN (erased(NEW.member_id, NEW.message_id, NEW.created_at, NEW.turn_id)
        OR erased(NEW.author_member_id, NEW.message_id, NEW.created_at, NEW.turn_id)) EXECUTE FUNCTION leave_out();
CREATE TRIGGER short_term_erased BEFORE INSERT ON short_term FOR EACH ROW
    WHEN (erased(NEW.author_member_id, '', NEW.updated_at, NEW.turn_id)) EXECUTE FUNCTION leave_out();
CREATE TRIGGER waiting_triggers_erased BEFORE INSERT ON waiting_triggers FOR EACH ROW
    WHEN (erased(NEW.owner_member_id, NEW.message_id, NEW.queued_at, '')) EXECUTE FUNCTION leave_out();
CREATE TRIGGER approvals_erased BEFORE INSERT ON approvals FOR EACH ROW
    WHEN (erased(NEW.owner_member_id, '', NEW.opened_at, NEW.turn_id)) EXECUTE FUNCTION leave_out();

-- Acts and costs stay, without the name.
-- +goose StatementBegin
CREATE FUNCTION leave_decider_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.decider_member_id := '';
    NEW.reason := '';
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER approvals_decider_erased BEFORE UPDATE OF decider_member_id ON approvals FOR EACH ROW
    WHEN (erased(NEW.decider_member_id, '', NEW.decided_at, '')) EXECUTE FUNCTION leave_decider_out();

-- +goose StatementBegin
CREATE FUNCTION leave_payer_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.member_id := '';
    IF NEW.guild_id = '' THEN
        NEW.channel_id := '';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER usage_ledger_erased BEFORE INSERT ON usage_ledger FOR EACH ROW
    WHEN (erased(NEW.member_id, '', NEW.at, NEW.turn_id)) EXECUTE FUNCTION leave_payer_out();

-- +goose StatementBegin
CREATE FUNCTION leave_names_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.detail := '';
    IF erased(NEW.actor_member_id, '', NEW.at, '') THEN
        NEW.actor_member_id := '';
    END IF;
    IF erased(NEW.subject_member_id, '', NEW.at, '') THEN
        NEW.subject_member_id := '';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_log_erased BEFORE INSERT ON audit_log FOR EACH ROW
    WHEN (erased(NEW.actor_member_id, '', NEW.at, '') OR erased(NEW.subject_member_id, '', NEW.at, ''))
    EXECUTE FUNCTION leave_names_out();
