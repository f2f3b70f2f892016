ALTER TABLE events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY;

SELECT setval(pg_get_serial_sequence('events', 'seq'), (SELECT COALESCE(MAX(seq), 0) + 1 FROM events), false);

UPDATE events SET message = LOWER(message);

CREATE INDEX events_by_time ON events (at);
