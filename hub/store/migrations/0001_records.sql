CREATE TABLE infra_envs (
    id         TEXT PRIMARY KEY,
    cluster_id TEXT NOT NULL,
    doc        TEXT NOT NULL
);

CREATE TABLE clusters (
    id     TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    doc    TEXT NOT NULL
);

CREATE TABLE hosts (
    infra_env_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    cluster_id    TEXT NOT NULL,
    status        TEXT NOT NULL,
    checked_in_at BIGINT NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (infra_env_id, id)
);

CREATE INDEX hosts_by_cluster ON hosts (cluster_id);
CREATE INDEX hosts_by_status ON hosts (status);

CREATE TABLE host_reports (
    infra_env_id TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    doc          TEXT NOT NULL,
    PRIMARY KEY (infra_env_id, host_id, kind)
);

CREATE TABLE host_macs (
    infra_env_id TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    mac          TEXT NOT NULL,
    PRIMARY KEY (mac, infra_env_id, host_id)
);

CREATE INDEX host_macs_by_host ON host_macs (infra_env_id, host_id);

CREATE TABLE events (
    seq          BIGINT PRIMARY KEY,
    cluster_id   TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    infra_env_id TEXT NOT NULL,
    severity     TEXT NOT NULL,
    category     TEXT NOT NULL,
    message      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    doc          TEXT NOT NULL
);

CREATE INDEX events_by_host ON events (infra_env_id, host_id, seq);
CREATE INDEX events_by_cluster ON events (cluster_id, seq);
