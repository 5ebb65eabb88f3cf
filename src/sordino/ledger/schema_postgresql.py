"""The tables of a ledger in PostgreSQL: those of the SQLite file in a schema of their own, texts compared by bytes."""

from __future__ import annotations

SCHEMA = "sordino_ledger"
FORMAT = 1

_TEXT = 'TEXT COLLATE "C"'

CREATION = f"""
CREATE SCHEMA {SCHEMA};
SET LOCAL search_path = pg_catalog, {SCHEMA}, pg_temp;
CREATE TABLE {SCHEMA}.ledger (
  one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
  format INTEGER NOT NULL,
  identity TEXT NOT NULL    -- tells this ledger from another one that is put in its place
);
INSERT INTO ledger (format, identity) VALUES ({FORMAT}, gen_random_uuid()::text);
CREATE TABLE {SCHEMA}.datasets (
  dataset {_TEXT} PRIMARY KEY,
  distance {_TEXT},
  distance_text {_TEXT}
);
CREATE TABLE {SCHEMA}.accounts (
  dataset {_TEXT} NOT NULL,
  analyst {_TEXT} NOT NULL,
  measure {_TEXT} NOT NULL,
  loss_limit {_TEXT} NOT NULL, delta_limit {_TEXT} NOT NULL, at_delta {_TEXT},
  loss_spent {_TEXT} NOT NULL, delta_spent {_TEXT} NOT NULL,
  PRIMARY KEY (dataset, analyst)
);
CREATE TABLE {SCHEMA}.declared (
  dataset {_TEXT} NOT NULL,
  analyst {_TEXT} NOT NULL,
  measure {_TEXT} NOT NULL,
  loss_limit {_TEXT} NOT NULL, delta_limit {_TEXT} NOT NULL, at_delta {_TEXT},
  PRIMARY KEY (dataset, analyst)
);
CREATE TABLE {SCHEMA}.events (
  number BIGINT PRIMARY KEY,
  time {_TEXT} NOT NULL,
  kind {_TEXT} NOT NULL CHECK (
    kind IN ('grant', 'declare', 'redeclare', 'reserve', 'commit', 'refund', 'suspend', 'resume')
  ),
  dataset {_TEXT} NOT NULL,
  analyst {_TEXT} NOT NULL,
  reservation BIGINT REFERENCES {SCHEMA}.events (number),
  epsilon {_TEXT}, delta {_TEXT}, rho {_TEXT}, at_delta {_TEXT},
  distance {_TEXT}, theorem {_TEXT}, guarantee {_TEXT}, mechanism {_TEXT}, parameters {_TEXT}, scope {_TEXT},
  question {_TEXT}, release {_TEXT},
  facts {_TEXT},
  hash {_TEXT} NOT NULL
);
CREATE INDEX events_by_question ON events USING hash (question) WHERE kind = 'commit';  -- of any length
CREATE UNIQUE INDEX one_end_per_reservation ON events (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX events_of_suspension ON events (dataset, analyst, number) WHERE kind IN ('suspend', 'resume');
CREATE INDEX events_of_tables ON events (dataset, number) WHERE kind IN ('declare', 'redeclare');
CREATE INDEX events_of_payment ON events (dataset) WHERE kind = 'reserve';
CREATE FUNCTION {SCHEMA}.keep_events() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''events are append-only''; END';
CREATE TRIGGER events_keep_content BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_events();
CREATE TRIGGER events_keep_lines BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION keep_events();
CREATE TABLE {SCHEMA}.unended (
  number BIGINT PRIMARY KEY REFERENCES {SCHEMA}.events (number),
  dataset {_TEXT} NOT NULL,
  analyst {_TEXT} NOT NULL,
  holder {_TEXT}
);
CREATE INDEX unended_of_account ON unended (dataset, analyst);
CREATE SEQUENCE {SCHEMA}.holders AS INTEGER CYCLE;
"""
