-- Whose image a host registered from, empty for the image of an infra-env. An image is one host's.
ALTER TABLE hosts ADD COLUMN machine TEXT NOT NULL DEFAULT '';

CREATE UNIQUE INDEX hosts_by_machine ON hosts (infra_env_id, machine) WHERE machine <> ''
