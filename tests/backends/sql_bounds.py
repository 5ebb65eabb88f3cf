"""Random joins on an engine, compared with the same joins on DuckDB."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
from sqlglot import exp, parse_one

from sordino.engines import connect
from sordino.sql.aggregates import BoundedSum, RowCount
from sordino.sql.analysis import plan_analysis
from sordino.sql.question import JoinQuestion, Occurrence

EVERY = ("patterns", "residual", "elastic")


def tables():
    rng = np.random.default_rng(5)

    def integers(size, values):
        return [None if v == 0 else int(v) for v in rng.integers(0, values, size=size)]

    people = pa.table(
        {
            "id": pa.array(integers(30, 12), pa.int64()),
            "city": pa.array(
                [None if rng.random() < 0.1 else str(rng.choice(["a", "b", "c"])) for _ in range(30)]
            ),
            "born": pa.array(integers(30, 9), pa.int64()),
        }
    )
    visits = pa.table(
        {
            "person": pa.array(integers(60, 12), pa.int64()),
            "place": pa.array(integers(60, 6), pa.int64()),
            "paid": pa.array([float(v) / 4 for v in rng.integers(-20, 60, size=60)], pa.float64()),
        }
    )
    places = pa.table(
        {
            "id": pa.array(integers(10, 6), pa.int64()),
            "city": pa.array([str(rng.choice(["a", "b", "c"])) for _ in range(10)]),
        }
    )
    return {"people": people, "visits": visits, "places": places}


COLUMNS = {
    "people": {"id": "integer", "city": "text", "born": "integer"},
    "visits": {"person": "integer", "place": "integer", "paid": "float"},
    "places": {"id": "integer", "city": "text"},
}
WEIGHTS = {"people": Fraction(1), "visits": Fraction(2), "places": Fraction(1)}


def question(tables, conditions, *, measure=None, public=()):
    occurrences = tuple(
        Occurrence(alias, table, None if table in public else WEIGHTS[table], COLUMNS[table])
        for alias, table in (pair.split() for pair in tables)
    )
    parsed: tuple[exp.Expr, ...] = tuple(parse_one(text) for text in conditions)
    return JoinQuestion(occurrences, parsed, measure or RowCount())


PAID = BoundedSum(parse_one("v.paid * 2"), Fraction(-5), Fraction(20), Fraction(1, 4))
QUESTIONS = {
    "two tables": question(["p people", "v visits"], ["p.id = v.person", "p.born > 3 OR v.paid IS NULL"]),
    "a chain and a sum": question(
        ["p people", "v visits", "q places"],
        ["p.id = v.person", "v.place = q.id", "q.city = 'a' OR NOT (p.born < 4)"],
        measure=PAID,
    ),
    "a triangle with a public table": question(
        ["p people", "v visits", "q places"],
        ["p.id = v.person", "v.place = q.id", "q.city = p.city"],
        public=("places",),
    ),
    "a self-join and an inequality": question(
        ["v visits", "w visits", "p people"], ["v.place = w.place", "p.born < v.place", "p.city = 'b'"]
    ),
}


def check_bounds_on(load, *, names=tuple(QUESTIONS), analyses=EVERY):
    """Bounds of the engine that ``load`` makes equal those of DuckDB."""
    given = tables()
    with connect(given) as reference, reference.snapshot() as expected, load(given).snapshot() as snapshot:
        for name in names:
            prepared = plan_analysis(QUESTIONS[name], analyses=analyses)
            ours, theirs = (prepared.read(s, beta=0.5) for s in (expected, snapshot))
            assert theirs.per_table == ours.per_table, name
            assert theirs.at(0.5) == ours.at(0.5) > 0, name
