-- What version 4 knew of costs.
UPDATE turns SET unpriced = true;
UPDATE usage_ledger SET unpriced = true;
