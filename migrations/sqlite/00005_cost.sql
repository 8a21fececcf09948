-- What turns cost in money, in billionths of a US dollar. Where unpriced is set the cost is a lower bound; so it is for
-- whatever was used before prices were kept.

-- +goose Up

ALTER TABLE turns ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN cost_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0 CHECK (unpriced IN (0, 1));
UPDATE turns SET unpriced = 1 WHERE input_tokens > 0 OR output_tokens > 0;

ALTER TABLE usage_ledger ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_ledger ADD COLUMN cost_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_ledger ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0 CHECK (unpriced IN (0, 1));
UPDATE usage_ledger SET unpriced = 1 WHERE input_tokens > 0 OR output_tokens > 0;
