"""The tables of a ledger's SQLite file, and how files of older formats become the present one."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA_VERSION = 4

_DECLARED = """
CREATE TABLE declared (    -- what a policy said last, whatever was granted since; analyst '' is the cap
  dataset TEXT NOT NULL,
  analyst TEXT NOT NULL,
  measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  PRIMARY KEY (dataset, analyst)
);
"""
_ACCOUNTS = """
CREATE TABLE datasets (
  dataset TEXT PRIMARY KEY,
  distance TEXT,           -- canonical; NULL until a grant or a question says it
  distance_text TEXT
);
CREATE TABLE accounts (    -- analyst '' is the cap of the data set; the sums of the events, kept for speed
  dataset TEXT NOT NULL,
  analyst TEXT NOT NULL,
  measure TEXT NOT NULL,
  loss_limit TEXT NOT NULL, delta_limit TEXT NOT NULL, at_delta TEXT,
  loss_spent TEXT NOT NULL, delta_spent TEXT NOT NULL,
  PRIMARY KEY (dataset, analyst)
);
"""
_EVENTS = """
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
  facts TEXT,
  hash TEXT NOT NULL       -- of this event and of the hash before it (`chain.py`)
);
"""
_EVENT_RULES = """
CREATE INDEX events_by_question ON events (dataset, analyst, question) WHERE kind = 'commit';
CREATE UNIQUE INDEX one_end_per_reservation ON events (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX events_of_suspension ON events (dataset, analyst, number) WHERE kind IN ('suspend', 'resume');
CREATE INDEX events_of_tables ON events (dataset, number) WHERE kind IN ('declare', 'redeclare');
CREATE INDEX events_of_payment ON events (dataset) WHERE kind = 'reserve';
CREATE TRIGGER events_keep_content BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_keep_lines BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
"""
_UNENDED = """
CREATE TABLE unended (     -- reservations without an end, kept for speed; holder: who works on it (`alive.py`)
  number INTEGER PRIMARY KEY REFERENCES events (number),
  dataset TEXT NOT NULL,
  analyst TEXT NOT NULL,
  holder TEXT
);
CREATE INDEX unended_of_account ON unended (dataset, analyst);
"""
UNENDED_BY_EVENTS = """
SELECT number, dataset, analyst, NULL AS holder FROM events AS paid
WHERE kind = 'reserve' AND NOT EXISTS (SELECT 1 FROM events AS ending WHERE ending.reservation = paid.number)
"""

# Formats 1 and 2 said in the theorem alone that a loss is of bounded range.
_FACTS = """
CASE WHEN kind = 'reserve' AND delta = '0' AND (
  theorem = 'exponential mechanism' OR theorem LIKE '%, drawn by exponential mechanism'
) THEN 'bounded_range' END
""".strip()

# Format 1 did not keep what policies said. Its grants with a distance came from one, those by hand have none.
_FROM_1_TO_2 = (
    _DECLARED
    + """
INSERT INTO declared
SELECT dataset, analyst, CASE WHEN rho IS NULL THEN 'epsilon' ELSE 'rho' END, coalesce(rho, epsilon), delta, at_delta
FROM events
WHERE number IN (
  SELECT max(number) FROM events WHERE kind = 'grant' AND distance IS NOT NULL GROUP BY dataset, analyst
);
"""
)
# SQLite cannot change a CHECK, nor add a column that must be said: the events are copied, line by line.
_SET_ASIDE = """
CREATE TABLE older_events AS SELECT * FROM events ORDER BY number;
DROP TABLE events;
"""
_DROP_OLDER = """
DROP TABLE older_events;
"""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """From one format to the present one: ``before``, then the older ``events`` are chained anew, then ``after``."""

    before: str
    events: str | None
    after: str


# Format 2 knew neither suspensions nor tables.
_FROM_2 = Upgrade(
    _SET_ASIDE + _EVENTS,
    f"SELECT *, {_FACTS} AS facts FROM older_events ORDER BY number",
    _DROP_OLDER + _EVENT_RULES + _UNENDED + f"INSERT INTO unended {UNENDED_BY_EVENTS.strip()};\n",
)
# By the format that a file has; 0 is an empty file. Format 3 did not chain its events.
UPGRADES = {
    0: Upgrade(_ACCOUNTS + _EVENTS, None, _EVENT_RULES + _DECLARED + _UNENDED),
    1: Upgrade(_FROM_1_TO_2 + _FROM_2.before, _FROM_2.events, _FROM_2.after),
    2: _FROM_2,
    3: Upgrade(
        _SET_ASIDE + _EVENTS, "SELECT * FROM older_events ORDER BY number", _DROP_OLDER + _EVENT_RULES
    ),
}
# For those who only look: the same names for what an older file does not keep.
_UNENDED_SEEN = f"CREATE TEMP VIEW unended AS {UNENDED_BY_EVENTS.strip()}"
_FACTS_SEEN = f"CREATE TEMP VIEW events AS SELECT *, {_FACTS} AS facts, NULL AS hash FROM main.events"
SEEN_AS_PRESENT = {
    1: (_FACTS_SEEN, _UNENDED_SEEN),
    2: (_FACTS_SEEN, _UNENDED_SEEN),
    3: ("CREATE TEMP VIEW events AS SELECT *, NULL AS hash FROM main.events",),
}
