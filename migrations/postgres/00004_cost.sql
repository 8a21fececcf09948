-- What turns cost in money, in billionths of a US dollar. Where unpriced is set the cost is a lower bound; so it is for
-- whatever was used before prices were kept.

-- +goose Up

ALTER TABLE turns ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN cost_nanos bigint NOT NULL DEFAULT 0,
    ADD COLUMN unpriced boolean NOT NULL DEFAULT false;
UPDATE turns SET unpriced = true WHERE input_tokens > 0 OR output_tokens > 0;

ALTER TABLE usage_ledger ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN cost_nanos bigint NOT NULL DEFAULT 0,
    ADD COLUMN unpriced boolean NOT NULL DEFAULT false;
UPDATE usage_ledger SET unpriced = true WHERE input_tokens > 0 OR output_tokens > 0;
