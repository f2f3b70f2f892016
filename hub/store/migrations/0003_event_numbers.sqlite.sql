CREATE TABLE numbered_events (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id   TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    infra_env_id TEXT NOT NULL,
    severity     TEXT NOT NULL,
    category     TEXT NOT NULL,
    message      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    doc          TEXT NOT NULL
);

INSERT INTO numbered_events SELECT seq, cluster_id, host_id, infra_env_id, severity, category, LOWER(message), at, doc FROM events ORDER BY seq;

DROP TABLE events;

ALTER TABLE numbered_events RENAME TO events;

CREATE INDEX events_by_host ON events (infra_env_id, host_id, seq);

CREATE INDEX events_by_cluster ON events (cluster_id, seq);

CREATE INDEX events_by_time ON events (at);
