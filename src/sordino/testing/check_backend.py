"""The suite that every engine passes: types, NULLs, groups, exact numbers, one state per snapshot, no writing."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp, parse_one

from sordino.core import EngineError, ParameterError, ProofError, UnsupportedError
from sordino.engines import Engine, Snapshot, write_double

EngineFactory = Callable[[Mapping[str, pa.Table]], Engine]

_BIG = 2**53
_VALUES = [
    0.1,
    math.nextafter(0.1, 1),
    1 / 3,
    1e23,
    5e-324,
    1.7976931348623157e308,
    -0.3,
    123456.78901234567,
    None,
]
_LABELS = ["a", "A", "a ", "straße", "x%y'z", "", None, "a", "b"]
_READINGS = pa.table(
    {
        "id": pa.array([_BIG, _BIG + 1, 1, 2, 3, 4, 5, 6, None], pa.int64()),
        "amount": pa.array(
            [Decimal(n).scaleb(-2) for n in (10, 20, 1, 2, 3, 4, 5, 6, 999)], pa.decimal128(10, 2)
        ),
        "value": pa.array(_VALUES, pa.float64()),
        "label": pa.array(_LABELS, pa.string()),
        "flag": pa.array([True, False, None, True, True, False, None, True, False], pa.bool_()),
        "day": pa.array([datetime.date(2024, 2, 29)] * 9, pa.date32()),
        "moment": pa.array([datetime.datetime(2024, 2, 29, 12, 30, 1, 5)] * 9, pa.timestamp("us")),
    }
)
# What somebody might take for more than a text: quotes, escapes, comments, variables, parameters, odd characters.
_HOSTILE = (
    "it's", "''", "'", '"', "`", "\\", "\\'", "\\\\", "a\\", "\\'; SELECT 1; --", "x' OR 'a' = 'a", "--", "/* */",
    ";", "%", "%s %(a)s %%", "_", "$$", "$a$x$a$", "${", "$${", "${env:HOME}", "${spark.app.name}", "#{a}", "{{a}}",
    "@a", ":a", "?", "\n", "\r\n", "\t", "\\n", "\\u0041", "\\x41", "U&'\\0041'", "E'\\n'", "N'a'", "r'a'", "\x01",
    "\x7f", "\u00a0", "\u2028", "\ufeff", "😀", "\U0010fffd", "e\u0301", "\ufb00", "\u0130",
)  # fmt: skip
_TYPES = ("integer", "decimal", "float", "text", "boolean", "date", "timestamp")


def check_backend(engine_factory: EngineFactory, *, write: Callable[[], None] | None = None) -> None:
    """Raise `ProofError` naming the first thing in which an engine differs from what the workloads rely on.

    ``engine_factory(tables)`` loads the Arrow tables into the backend under their names and gives an engine over them.
    ``write()``, called while a snapshot is open, must commit one further row (any values) to the table ``readings``
    from elsewhere: the open snapshot must not see it, the next one must. Leave it out where the backend cannot isolate.

    >>> from sordino.engines import connect
    >>> from sordino.testing import check_backend
    >>> check_backend(connect)  # silence: DuckDB over frames passes
    """
    with engine_factory({"readings": _READINGS}) as engine:
        _check_catalogue(engine)
        for check in (
            _check_nulls,
            _check_groups,
            _check_integers,
            _check_doubles,
            _check_text,
            _check_other_types,
        ):
            with engine.snapshot() as snapshot:
                check(snapshot)
        check_literals(engine)
        _check_names(engine)
        _check_refusals(engine)
        _check_errors_are_secret(engine)
        if write is not None:
            _check_isolation(engine, write)


def check_literals(engine: Engine) -> None:
    """Raise `ProofError` unless every literal comes back as it is, has its length, and equals itself alone."""
    parts: list[exp.Expr] = []
    for text in _HOSTILE:
        same, longer = (
            exp.EQ(this=exp.Literal.string(text), expression=exp.Literal.string(text + end))
            for end in ("", "\\")
        )
        parts += [
            exp.Literal.string(text),
            exp.Length(this=exp.Literal.string(text)),
            exp.case().when(same, exp.Literal.string("same")).else_(exp.Literal.string("other")),
            exp.case().when(longer, exp.Literal.string("same")).else_(exp.Literal.string("other")),
        ]
    with engine.snapshot() as snapshot:
        query = exp.select(*(exp.alias_(part, f"c{i}") for i, part in enumerate(parts)))
        row = _rows(snapshot.aggregate(query))[0]
    for i, text in enumerate(_HOSTILE):
        _expect(f"the literal {text!r}", row[4 * i : 4 * i + 4], (text, len(text), "same", "other"))


def _check_catalogue(engine: Engine) -> None:
    tables = engine.catalogue()
    if "readings" not in tables:
        raise ProofError(f"catalogue: table readings is missing, got {sorted(tables)}")
    found = {column.name: column.type for column in tables["readings"].columns}
    _expect("catalogue", found, dict(zip(_READINGS.column_names, _TYPES, strict=True)))


def _check_nulls(snapshot: Snapshot) -> None:
    sql = """
        SELECT COUNT(*) AS a, COUNT(label) AS b, COUNT(DISTINCT flag) AS c,
               SUM(CASE WHEN label IS NULL THEN id END) AS d,
               SUM(CASE WHEN label = NULL THEN 1 ELSE 0 END) AS e,
               SUM(CASE WHEN flag THEN 1 WHEN NOT flag THEN 10 ELSE 100 END) AS f,
               SUM(CASE WHEN id < 0 THEN id END) AS g, COUNT(CASE WHEN id < 0 THEN id END) AS h
        FROM readings
    """
    _expect("NULL rules", _ask(snapshot, sql), [(9, 8, 2, 5, 0, 234, None, 0)])
    _expect(
        "WHERE drops unknown", _ask(snapshot, "SELECT COUNT(*) AS n FROM readings WHERE label <> 'a'"), [(6,)]
    )
    groups = _ask(snapshot, "SELECT flag, COUNT(*) AS n FROM readings GROUP BY flag")
    _expect("NULL is one group", set(groups), {(True, 4), (False, 3), (None, 2)})
    joined = _ask(snapshot, "SELECT COUNT(*) AS n FROM readings AS x JOIN readings AS y ON x.flag = y.flag")
    _expect("NULL joins nothing", joined, [(25,)])


def _check_groups(snapshot: Snapshot) -> None:
    sql = """
        SELECT flag, is_a, GROUPING(flag) AS level, COUNT(*) AS n
        FROM (SELECT flag, label = 'a' AS is_a FROM readings WHERE NOT flag IS NULL AND NOT label IS NULL) AS kept
        GROUP BY GROUPING SETS ((flag), (is_a), ())
    """
    expected = {
        (True, None, 0, 4),
        (False, None, 0, 3),
        (None, True, 1, 2),
        (None, False, 1, 5),
        (None, None, 1, 7),
    }
    _expect("GROUPING SETS", set(_ask(snapshot, sql)), expected)
    sql = "WITH w AS (SELECT CASE WHEN id > 3 THEN 'big' ELSE 'small' END AS size FROM readings) "
    sql += "SELECT size, COUNT(*) AS n FROM w GROUP BY size HAVING COUNT(*) > 0 UNION ALL SELECT 'all', COUNT(*) FROM w"
    _expect("CASE, WITH, UNION ALL", set(_ask(snapshot, sql)), {("big", 5), ("small", 4), ("all", 9)})


def _check_integers(snapshot: Snapshot) -> None:
    answer = snapshot.aggregate(
        parse_one(f"SELECT SUM(id) AS s, MAX(id) AS m, COUNT(*) AS n FROM readings WHERE id >= {_BIG}")
    )
    _expect("integers come as int64", [field.type for field in answer.schema], [pa.int64()] * 3)
    _expect("integers are exact", _rows(answer), [(2 * _BIG + 1, _BIG + 1, 2)])
    sql = f"SELECT COUNT(*) AS n FROM readings WHERE id = {_BIG + 1}"
    _expect("2^53 + 1 is not 2^53", _ask(snapshot, sql), [(1,)])
    _expect(
        "sums of decimals are exact",
        _ask(snapshot, "SELECT SUM(amount) AS s FROM readings"),
        [(Decimal("10.50"),)],
    )


def _check_doubles(snapshot: Snapshot) -> None:
    present = [value for value in _VALUES if value is not None]
    cuts = [
        cut
        for value in present
        for cut in (math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf))
    ]
    counts = [
        exp.alias_(
            exp.Count(
                this=exp.case().when(kind(this=exp.column("value"), expression=write_double(cut)), "1")
            ),
            f"n{i}",
        )
        for i, (kind, cut) in enumerate((kind, cut) for cut in cuts for kind in (exp.LTE, exp.EQ))
    ]
    got = _rows(snapshot.aggregate(exp.select(*counts).from_("readings")))[0]
    for i, cut in enumerate(cuts):
        expected = (sum(value <= cut for value in present), present.count(cut))
        _expect(f"DOUBLE <= and = {cut!r}", got[2 * i : 2 * i + 2], expected)
    back = {row[0] for row in _ask(snapshot, "SELECT value FROM readings GROUP BY value")}
    _expect("doubles come back as they are", back, set(_VALUES))


def _check_text(snapshot: Snapshot) -> None:
    got = _ask(snapshot, "SELECT label, COUNT(*) AS n FROM readings GROUP BY label")
    _expect(
        "texts are equal only when they are the same",
        set(got),
        {(text, _LABELS.count(text)) for text in _LABELS},
    )
    _expect(
        "quotes in texts", _ask(snapshot, "SELECT COUNT(*) AS n FROM readings WHERE label = 'x%y''z'"), [(1,)]
    )


def _check_other_types(snapshot: Snapshot) -> None:
    sql = "SELECT MIN(day) AS d, MAX(moment) AS m, MIN(label) AS t FROM readings WHERE flag AND label = 'a'"
    answer = snapshot.aggregate(parse_one(sql))
    _expect("text comes as string", answer.schema.field("t").type, pa.string())
    day, moment, _ = _rows(answer)[0]
    _expect(
        "dates",
        (day, moment.replace(tzinfo=None)),
        (_READINGS["day"][0].as_py(), _READINGS["moment"][0].as_py()),
    )


def _check_names(engine: Engine) -> None:
    for sql in (
        "SELECT 1 AS one FROM nowhere",
        "WITH w AS (SELECT 1 AS one) SELECT one FROM w, (SELECT * FROM v) AS u",
    ):
        _expect_error(engine, parse_one(sql), ParameterError, "an unknown table")
    shadow = "WITH readings AS (SELECT id FROM readings WHERE id < 3) SELECT COUNT(*) AS n FROM readings"
    with engine.snapshot() as snapshot:
        _expect("a WITH clause of a table's name", _ask(snapshot, shadow), [(2,)])


def _check_refusals(engine: Engine) -> None:
    for sql in (
        "DELETE FROM readings",
        "DROP TABLE readings",
        "INSERT INTO readings SELECT * FROM readings",
        "UPDATE readings SET id = 0",
        "CREATE TABLE other AS SELECT * FROM readings",
        "WITH gone AS (DELETE FROM readings RETURNING id) SELECT id FROM gone",
        "SELECT * INTO other FROM readings",
    ):
        _expect_error(engine, parse_one(sql), UnsupportedError, sql)
    with engine.snapshot() as snapshot:
        _expect("nothing was written", _ask(snapshot, "SELECT COUNT(*) AS n FROM readings"), [(9,)])


def _check_errors_are_secret(engine: Engine) -> None:
    query = parse_one("SELECT SUM(CAST(label AS BIGINT)) AS s FROM readings WHERE label = 'straße'")
    error = _expect_error(engine, query, EngineError, "a text that is no number")
    if "straße" in f"{error}{error.args}{error.__cause__}" or not error.__suppress_context__:
        raise ProofError("errors: the message of a failed query shows a value of a row")


def _check_isolation(engine: Engine, write: Callable[[], None]) -> None:
    sql = "SELECT COUNT(*) AS n FROM readings"
    with engine.snapshot() as snapshot:
        write()
        _expect("a snapshot begins when it is opened", _ask(snapshot, sql), [(9,)])
        write()
        _expect("a snapshot stays as it is", _ask(snapshot, sql), [(9,)])
    with engine.snapshot() as snapshot:
        _expect("the next snapshot sees what was written", _ask(snapshot, sql), [(11,)])


def _expect_error(engine: Engine, query: exp.Expr, kind: type[Exception], what: str) -> Any:
    with engine.snapshot() as snapshot:
        try:
            snapshot.aggregate(query)
        except kind as error:
            return error
        except Exception as error:
            raise ProofError(f"{what}: expected {kind.__name__}, got {type(error).__name__}") from error
    raise ProofError(f"{what}: expected {kind.__name__}, but it was answered")


def _ask(snapshot: Snapshot, sql: str) -> list[tuple[Any, ...]]:
    return _rows(snapshot.aggregate(parse_one(sql)))


def _rows(answer: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in answer.columns), strict=True))


def _expect(what: str, got: object, expected: object) -> None:
    if got != expected:
        raise ProofError(f"{what}: expected {expected}, got {got}")
