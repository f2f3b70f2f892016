ALTER TABLE infra_envs ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

ALTER TABLE clusters ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

ALTER TABLE hosts ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- Signs of life change all the time and are written in batches, without the host's record.
CREATE TABLE host_check_ins (
    infra_env_id TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    clock        BIGINT NOT NULL,
    PRIMARY KEY (infra_env_id, host_id)
);

INSERT INTO host_check_ins (infra_env_id, host_id, at, clock) SELECT infra_env_id, id, checked_in_at, 0 FROM hosts;

ALTER TABLE hosts DROP COLUMN checked_in_at;
