-- What belongs to a cluster and is too large for its record: manifests, credentials.
CREATE TABLE cluster_files (
    cluster_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    doc        TEXT NOT NULL,
    PRIMARY KEY (cluster_id, name)
)
