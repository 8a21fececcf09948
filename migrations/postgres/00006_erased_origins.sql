-- When something of an erased member came about is told by the id that it stems from, if there is one, and by nothing else: a
-- turn that could not be recorded as begun has no row either, and is not an erased one.

-- +goose Up

-- Whether a member (none is nobody) had everything erased since something came about: at the time of an id that Discord
-- counts up, that of what it stems from. What names no such id is as old as the moment, or as the turn that it was written in:
-- if that was erased, so is what comes of it. No turn lasts a day, so later ones without a row were just not recorded.
-- It finds its tables wherever they are called from, as from a restored dump. In plpgsql, which plans a statement once per
-- connection: a function in SQL would plan it for every row.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erased(member text, id text, at timestamptz, turn text) RETURNS boolean LANGUAGE plpgsql STABLE
    SET search_path FROM CURRENT AS $$
DECLARE
    before numeric;
    moment numeric;
BEGIN
    SELECT value INTO before FROM settings
        WHERE guild_id = '' AND channel_id = '' AND member_id = $1 AND $1 <> '' AND name = 'erased_before';
    IF before IS NULL THEN
        RETURN false;
    END IF;
    IF $2 ~ '^[0-9]{1,20}$' THEN
        RETURN $2::numeric <= before;
    END IF;
    moment := floor(before / 4194304) + 1420070400000; -- in milliseconds
    RETURN floor(extract(epoch FROM $3) * 1000) <= moment
        OR $4 <> '' AND extract(epoch FROM $3) * 1000 < moment + 86400000 AND NOT EXISTS (SELECT FROM turns WHERE turns.id = $4);
END $$;
-- +goose StatementEnd

-- Whose a cost is, FinishTurn tells by the turn's message.
DROP TRIGGER usage_ledger_erased ON usage_ledger;
CREATE TRIGGER usage_ledger_erased BEFORE INSERT ON usage_ledger FOR EACH ROW
    WHEN (erased(NEW.member_id, '', NEW.at, '')) EXECUTE FUNCTION leave_payer_out();

ALTER FUNCTION leave_names_out() SET search_path FROM CURRENT;
