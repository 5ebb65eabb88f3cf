"""NaN beside smaller numbers in a Parquet file: a row is found by its own value, whatever the file says of all rows.

A file's minimum and maximum leave NaN out. Where a reader believes them, whether the NaN of one row satisfies a
condition depends on the other rows, and bounds and answers would speak of different rows.
"""

from __future__ import annotations

import math
import operator

import pyarrow as pa
import pyarrow.parquet as pq

from sordino.sql.answering.exact import compute_answer, write_answer_query
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement

NAN = math.nan
NULL = (-1, 0.0)  # below everything; what holds of NULL is said beside the condition
# Row groups that end below the constants asked for, hold one number alone, lie above, hold nothing but NaN.
GROUPS = [
    [1.0, 2.0, NAN, 3.0, None],
    [2.0, NAN, 2.0, NAN, 2.0],
    [7.0, 8.0, 9.0, -math.inf, math.inf],
    [NAN] * 5,
]
FILES = {"wide": GROUPS, "small": GROUPS[:2], "single": GROUPS[1:2]}
SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
POLICY = Policy.load(
    {
        "version": 1,
        "dataset": "x",
        "tables": {
            name: {"columns": {column: {"bounds": [0, 5], "granularity": 1} for column in "xf"}}
            for name in FILES
        },
    }
)


def write_files(folder):
    """One file per table; the same numbers as doubles and as single floats."""
    for name, groups in FILES.items():
        values = [value for group in groups for value in group]
        table = pa.table(
            {
                "x": pa.array(values, pa.float64()),
                "f": pa.array(values, pa.float32()),
                "i": pa.array(range(len(values)), pa.int64()),
            }
        )
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=5)


def place(value):
    """NaN is larger than every number and equal to itself."""
    return NULL if value is None else (1, 0.0) if math.isnan(value) else (0, value)


def expected_of(name, holds):
    return sum(holds(place(v)) for group in FILES[name] for v in group)


def comparisons(constants):
    for sign, holds in SIGNS.items():
        for constant in constants:
            yield f"x {sign} {constant}", lambda v, h=holds, c=constant: v != NULL and h(v, (0, c))


def conditions():
    yield "NOT (x < 5)", lambda v: v >= (0, 5)
    yield "x BETWEEN 2 AND 20", lambda v: (0, 2) <= v <= (0, 20)
    yield "x NOT BETWEEN 1 AND 3", lambda v: v != NULL and not (0, 1) <= v <= (0, 3)
    yield "x IN (2, 3)", lambda v: v in ((0, 2), (0, 3))
    yield "x NOT IN (2, 3)", lambda v: v not in (NULL, (0, 2), (0, 3))
    yield "GREATEST(x, 1) > 5", lambda v: v > (0, 5)
    yield "LEAST(x, 20) > 5", lambda v: v == NULL or v > (0, 5)
    yield "LEAST(x, 20) >= 20", lambda v: v == NULL or v >= (0, 20)
    yield "COALESCE(x, 9) > 5", lambda v: v == NULL or v > (0, 5)
    yield "CASE WHEN x > 5 THEN 1 ELSE 0 END = 1", lambda v: v > (0, 5)
    yield "x = x", lambda v: v != NULL
    yield "ABS(x) > 5", lambda v: v[0] == 1 or abs(v[1]) > 5
    yield "x > 5 OR x IS NULL", lambda v: v == NULL or v > (0, 5)
    yield "x + 1 > 5", lambda v: (0, 4) < v < (0, 1e70)


def check_nan_is_found(engine, *, constants=(0, 1, 2, 2.5, 5, 20)):
    """Every way to ask for a row finds it where its own value says so."""
    catalogue = engine.catalogue()
    with engine.snapshot() as snapshot:

        def ask(text):
            read = read_statement(text, policy=POLICY, catalogue=catalogue, dialect=engine.dialect)
            question = read.question((), 0)
            return compute_answer(snapshot, question), write_answer_query(question).sql(engine.dialect)

        def check(text, expected):
            found, sql = ask(text)
            assert found == expected, (text, found, expected, sql)

        for name in FILES:
            for condition, holds in (*comparisons(constants), *conditions()):
                check(f"SELECT COUNT(*) FROM {name} WHERE {condition}", expected_of(name, holds))
            check(f"SELECT COUNT(*) FROM {name} WHERE f > 5", expected_of(name, lambda v: v > (0, 5)))
            check(
                f"SELECT COUNT(*) FROM {name} WHERE f <> 2",
                expected_of(name, lambda v: v not in (NULL, (0, 2))),
            )
            places = [place(v) for group in FILES[name] for v in group if v is not None]
            clipped = [5 if v > (0, 5) else max(v[1], 0) for v in places]
            check(f"SELECT SUM(x) FROM {name}", sum(clipped))
            above = [add for add, v in zip(clipped, places, strict=True) if v > (0, 2)]
            check(f"SELECT SUM(x) FROM {name} WHERE f > 2", sum(above))
            check(f"SELECT COUNT(x) FROM {name} WHERE x > 2", len(above))
            # The values of one side of a join may be used to skip parts of the other.
            many = sum(v[0] == 1 for v in places)
            one = next(i for i, v in enumerate(v for group in FILES[name] for v in group) if v != v)
            check(f"SELECT COUNT(*) FROM {name} a JOIN {name} b ON a.x = b.x WHERE b.i = {one}", many)
            check(f"SELECT COUNT(*) FROM {name} a JOIN {name} b ON a.x >= b.x WHERE b.i = {one}", many)
            large = [v for v in places if v > (0, 100)]
            pairs = sum(v == w for v in large for w in large)
            check(f"SELECT COUNT(*) FROM {name} a, {name} b WHERE a.x = b.x AND a.x > 100", pairs)
