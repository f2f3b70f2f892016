-- When time alone may change the record, in Unix microseconds, or zero. Rows from before are due at once.
ALTER TABLE hosts ADD COLUMN due_at BIGINT NOT NULL DEFAULT 1;

ALTER TABLE clusters ADD COLUMN due_at BIGINT NOT NULL DEFAULT 1;

-- How long the host may be silent, in microseconds, or zero where nobody waits for its polls.
ALTER TABLE hosts ADD COLUMN patience BIGINT NOT NULL DEFAULT 0;

-- Who is alive, and who does what only one program does at a time.
CREATE TABLE leases (
    name    TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    holder  TEXT NOT NULL
);

-- Slow work that waits to be done, or that a holder does.
CREATE TABLE jobs (
    id         TEXT PRIMARY KEY,
    version    BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    not_before BIGINT NOT NULL,
    doc        TEXT NOT NULL
);

CREATE INDEX jobs_by_holder ON jobs (holder, not_before);
