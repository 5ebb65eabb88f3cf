"""Files as older formats of the ledger left them, written out: what the present code makes of them must not decide."""

from __future__ import annotations

import sqlite3

FORMAT_1 = """
PRAGMA application_id = 1399812708;
CREATE TABLE datasets (dataset TEXT PRIMARY KEY, distance TEXT, distance_text TEXT);
CREATE TABLE accounts (
  dataset TEXT NOT NULL, analyst TEXT NOT NULL, measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  loss_spent TEXT NOT NULL, delta_spent TEXT NOT NULL,
  PRIMARY KEY (dataset, analyst)
);
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  time TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'reserve', 'commit', 'refund')),
  dataset TEXT NOT NULL,
  analyst TEXT NOT NULL,
  reservation INTEGER REFERENCES events (number),
  epsilon TEXT, delta TEXT, rho TEXT, at_delta TEXT,
  distance TEXT, theorem TEXT, guarantee TEXT, mechanism TEXT, parameters TEXT, scope TEXT, question TEXT, release TEXT
);
CREATE INDEX events_by_question ON events (dataset, analyst, question) WHERE kind = 'commit';
CREATE UNIQUE INDEX one_end_per_reservation ON events (reservation) WHERE reservation IS NOT NULL;
CREATE TRIGGER events_keep_content BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_keep_lines BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
PRAGMA user_version = 1;
"""
FORMAT_2 = (
    FORMAT_1
    + """
CREATE TABLE declared (
  dataset TEXT NOT NULL, analyst TEXT NOT NULL, measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  PRIMARY KEY (dataset, analyst)
);
PRAGMA user_version = 2;
"""
)
FORMAT_3 = """
PRAGMA application_id = 1399812708;
CREATE TABLE datasets (dataset TEXT PRIMARY KEY, distance TEXT, distance_text TEXT);
CREATE TABLE accounts (
  dataset TEXT NOT NULL, analyst TEXT NOT NULL, measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  loss_spent TEXT NOT NULL, delta_spent TEXT NOT NULL,
  PRIMARY KEY (dataset, analyst)
);
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  time TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (
    kind IN ('grant', 'declare', 'redeclare', 'reserve', 'commit', 'refund', 'suspend', 'resume')
  ),
  dataset TEXT NOT NULL,
  analyst TEXT NOT NULL,
  reservation INTEGER REFERENCES events (number),
  epsilon TEXT, delta TEXT, rho TEXT, at_delta TEXT,
  distance TEXT, theorem TEXT, guarantee TEXT, mechanism TEXT, parameters TEXT, scope TEXT, question TEXT, release TEXT,
  facts TEXT
);
CREATE INDEX events_by_question ON events (dataset, analyst, question) WHERE kind = 'commit';
CREATE UNIQUE INDEX one_end_per_reservation ON events (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX events_of_suspension ON events (dataset, analyst, number) WHERE kind IN ('suspend', 'resume');
CREATE INDEX events_of_tables ON events (dataset, number) WHERE kind IN ('declare', 'redeclare');
CREATE INDEX events_of_payment ON events (dataset) WHERE kind = 'reserve';
CREATE TRIGGER events_keep_content BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_keep_lines BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TABLE declared (
  dataset TEXT NOT NULL, analyst TEXT NOT NULL, measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  PRIMARY KEY (dataset, analyst)
);
CREATE TABLE unended (
  number INTEGER PRIMARY KEY REFERENCES events (number), dataset TEXT NOT NULL, analyst TEXT NOT NULL, holder TEXT
);
CREATE INDEX unended_of_account ON unended (dataset, analyst);
PRAGMA user_version = 3;
"""
# Policy: ann 1, bob 1; ann was answered, then granted 0.85; zoe was granted 2 by hand.
_ROW = '{"change":"add_remove","unit":"row","weights":{}}'
_CONTENT = f"""
INSERT INTO datasets VALUES ('shop', '{_ROW}', 'one row added or removed');
INSERT INTO accounts VALUES ('shop', 'ann', 'epsilon', '17/20', '0', NULL, '1/2', '0');
INSERT INTO accounts VALUES ('shop', 'bob', 'epsilon', '1', '0', NULL, '0', '0');
INSERT INTO accounts VALUES ('shop', 'zoe', 'epsilon', '2', '0', NULL, '0', '0');
INSERT INTO events (time, kind, dataset, analyst, epsilon, delta, distance) VALUES
  ('t1', 'grant', 'shop', 'ann', '1', '0', 'one row added or removed'),
  ('t2', 'grant', 'shop', 'bob', '1', '0', 'one row added or removed');
INSERT INTO events (time, kind, dataset, analyst, epsilon, delta, distance, theorem, question) VALUES
  ('t3', 'reserve', 'shop', 'ann', '1/2', '0', 'one row added or removed', 'some mechanism', 'q');
INSERT INTO events (time, kind, dataset, analyst, reservation, question, release) VALUES
  ('t4', 'commit', 'shop', 'ann', 3, 'q', '{{"value":1}}');
INSERT INTO events (time, kind, dataset, analyst, epsilon, delta) VALUES
  ('t5', 'grant', 'shop', 'ann', '17/20', '0'),
  ('t6', 'grant', 'shop', 'zoe', '2', '0');
"""
_DECLARED = """
INSERT INTO declared VALUES ('shop', 'ann', 'epsilon', '1', '0', NULL), ('shop', 'bob', 'epsilon', '1', '0', NULL);
"""
# zoe asked, and her process died or her database failed: the old formats did not tell the two apart.
_UNENDED = """
INSERT INTO events (time, kind, dataset, analyst, epsilon, delta, distance, theorem, question) VALUES
  ('t7', 'reserve', 'shop', 'zoe', '1/4', '0', 'one row added or removed', 'some mechanism', 'r');
UPDATE accounts SET loss_spent = '1/4' WHERE analyst = 'zoe';
"""


def write_old(path, version, *, unended=False):
    """A ledger of format 1, 2 or 3 with six events, or seven."""
    file = sqlite3.connect(path, isolation_level=None)
    file.executescript({1: FORMAT_1, 2: FORMAT_2, 3: FORMAT_3}[version] + _CONTENT)
    if version > 1:
        file.executescript(_DECLARED)
    if unended:
        file.executescript(_UNENDED)
    if unended and version == 3:
        file.execute("INSERT INTO unended VALUES (7, 'shop', 'zoe', 'old.ledger-open-gone')")
    file.close()
    return path
