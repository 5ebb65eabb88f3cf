"""What the solver reads of queries and schemas, and what it refuses with the clause."""

from __future__ import annotations

import sys

import pytest

import sordino as sd
from sordino.core import MissingExtraError, ParameterError, UnsupportedError
from sordino.sql.solver import read_query, read_schema, sensitivity
from sordino.sql.solver.query import GroupedLeaf, JoinLeaf, SetTree

SCHEMA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER NOT NULL, name TEXT, ok BOOLEAN, day DATE, price DECIMAL(6, 2));
CREATE TABLE u (id INTEGER REFERENCES t (id), k INTEGER DEFAULT 1, UNIQUE (id, k), CHECK (k BETWEEN 1 AND 3));
"""
SHAPES = read_schema(SCHEMA)


def test_a_schema_tells_columns_keys_and_checks():
    t, u = SHAPES["t"], SHAPES["u"]
    assert [column.kind for column in t.columns] == ["integer", "integer", "text", "boolean", "date", "real"]
    assert t.column("price").scale == 2
    assert (t.keys, u.keys) == ((("id",),), (("id", "k"),))
    assert [check.holds(lambda field: 4) for check in u.checks] == [False]


def test_of_a_policy_only_enforced_keys_count():
    columns = {"id": {"type": "integer"}, "k": {"type": "integer"}}
    tables = {
        "a": {"key": {"columns": ["id"], "enforced": True}, "columns": columns, "check": "k > 0"},
        "b": {"key": "id", "columns": columns},
    }
    shapes = read_schema({"version": 1, "dataset": "d", "tables": tables})
    assert (shapes["a"].keys, shapes["b"].keys) == ((("id",),), ())
    assert len(shapes["a"].checks) == 1


def test_keys_that_nobody_enforces_are_notes():
    for key in ("a INTEGER PRIMARY KEY NOT ENFORCED", "a INTEGER, UNIQUE (a) NOT ENFORCED"):
        (shape,) = read_schema(f"CREATE TABLE t ({key})").values()
        assert shape.keys == ()
        assert not shape.column("a").filled


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c INT CHECK (c IS NOT NULL), d INT NULL UNIQUE)",
        {
            "version": 1,
            "dataset": "d",
            "tables": {
                "t": {
                    "columns": {name: {"type": "integer"} for name in "abcd"},
                    "check": ["a IS NOT NULL AND b IS NOT NULL", "c IS NOT NULL"],
                }
            },
        },
    ],
)
def test_a_schema_tells_which_columns_are_never_null(schema):
    (shape,) = read_schema(schema).values()
    assert {column.name for column in shape.columns if column.filled} == {"a", "b", "c"}
    assert shape.checks == ()


def test_an_answer_names_the_columns_whose_nulls_it_leaves_out():
    """With NULLs in v.k any number of its rows meets one of u; where k is compared, none of them does."""
    schema = (
        "CREATE TABLE u (id INTEGER PRIMARY KEY, x INTEGER);"
        "CREATE TABLE v (k INTEGER UNIQUE CHECK (k BETWEEN 1 AND 2))"
    )
    one = sensitivity("SELECT id FROM u, v", schema, table="u", timeout=60)["u"]
    assert (one.value, one.assumed, one.to_dict()["without_null"]) == (2, ("v.k",), ["v.k"])
    assert sensitivity("SELECT id FROM u, v WHERE k > 0", schema, timeout=60)["u"].assumed == ()
    assert sensitivity("SELECT x FROM u", schema, timeout=60)["u"].assumed == ()
    assert sensitivity("SELECT DISTINCT x FROM u", schema, timeout=60)["u"].assumed == ("u.x",)
    twice = "SELECT a.k FROM v a, v b WHERE a.k > 0"
    assert sensitivity(twice, schema, timeout=60)["v"].assumed == ("v.k",)
    either = "SELECT id FROM u, v WHERE k > 0 OR x = 1"
    assert sensitivity(either, schema, timeout=60)["u"].assumed == ("u.x", "v.k")


def test_no_witness_has_days_that_are_not_written():
    schema = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (day DATE PRIMARY KEY)"
    late = sensitivity("SELECT * FROM a, b WHERE day > DATE '9999-12-30'", schema, table="a", timeout=60)["a"]
    assert late.witness is None or len(late.witness.tables["b"]) >= late.at_least


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("", "empty"),
        ("CREATE TABLE", "cannot be read|is refused"),
        ("SELECT 1", "CREATE TABLE"),
        ("CREATE TABLE t (id INTEGER, at TIMESTAMP)", "at TIMESTAMP.*no such type"),
        ("CREATE TABLE t (id INTEGER, PRIMARY KEY (no))", "no column 'no'"),
        ("CREATE TABLE t (id INTEGER CHECK (no IS NOT NULL))", "no column 'no'"),
        ("CREATE TABLE t (id INTEGER); CREATE TABLE T (id INTEGER)", "twice"),
        ({"version": 1, "dataset": "d", "tables": {"t": {"columns": {"x": {}}}}}, "needs its type"),
    ],
)
def test_a_schema_that_is_not_understood_is_refused(schema, said):
    with pytest.raises((ParameterError, UnsupportedError), match=said):
        read_schema(schema)


def test_the_shapes_of_queries():
    assert isinstance(read_query("SELECT x FROM t JOIN u USING (id) WHERE ok", SHAPES), JoinLeaf)
    assert isinstance(read_query("SELECT x, COUNT(*) FROM t GROUP BY x", SHAPES), GroupedLeaf)
    tree = read_query("(SELECT x FROM t UNION SELECT k FROM u) EXCEPT SELECT id FROM u", SHAPES)
    assert isinstance(tree, SetTree)
    assert (tree.word, tree.left.word, len(tree.leaves())) == ("except", "union", 3)
    counted = read_query("SELECT COUNT(*) FROM (SELECT DISTINCT x FROM t) AS s", SHAPES)
    assert counted == read_query("SELECT DISTINCT x FROM t", SHAPES)
    assert len(read_query("SELECT COUNT(*) FROM t, u", SHAPES).outputs) == 8


@pytest.mark.parametrize(
    ("sql", "clause", "said"),
    [
        ("SELECT x FROM t LEFT JOIN u ON t.id = u.id", "LEFT JOIN", "inner JOIN"),
        ("SELECT x FROM t WHERE id IN (SELECT id FROM u)", "IN", "join"),
        ("SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u)", "EXISTS", "sub-queries"),
        ("SELECT x FROM t WHERE x = (SELECT 1)", "SELECT 1", "sub-queries"),
        ("SELECT x, COUNT(*) FROM t GROUP BY x HAVING COUNT(*) > 1", "HAVING", "not modelled"),
        ("SELECT SUM(x) OVER () FROM t", "OVER", "windows"),
        ("SELECT x FROM t WHERE x IS NULL", "x IS NULL", "NULLs are not modelled"),
        ("SELECT x FROM t WHERE x IS NOT NULL", "NULL", "NULLs are not modelled"),
        ("SELECT x FROM t WHERE x IS DISTINCT FROM 1", "DISTINCT FROM", "NULLs are not modelled"),
        ("SELECT x FROM t WHERE name < 'b'", "name < 'b'", "no order of texts"),
        ("SELECT x FROM t WHERE name = 'b '", "'b '", "a blank at the end"),
        ("SELECT x FROM t WHERE day = '2024-W05-3'", "2024-W05-3", "do not fit"),
        ("SELECT x FROM t WHERE day = DATE '20240131'", "20240131", "YYYY-MM-DD"),
        ("SELECT x FROM t WHERE name LIKE 'b%'", "LIKE", "= and <>"),
        ("SELECT y FROM t", "y", "no column 'y'"),
        ("SELECT x FROM s", "s", "no table 's'"),
        ("SELECT id FROM t, u", "id", "several tables"),
        ("SELECT s.x FROM t", "s.x", "no table 's' in FROM"),
        ("SELECT x FROM t WHERE name = 1", "name = 1", "do not fit"),
        ("SELECT x FROM t WHERE x", "x", "a condition is needed"),
        ("SELECT x FROM t WHERE name + 1 = 2", "name", "a number is needed"),
        ("SELECT x FROM t WHERE ABS(x) = 1", "ABS", "are understood"),
        ("SELECT x FROM t ORDER BY x", "ORDER", "leave it out"),
        ("SELECT x FROM t LIMIT 1", "LIMIT", "leave it out"),
        ("SELECT SUM(x) FROM t", "SUM", "GROUP BY"),
        ("SELECT x FROM t UNION ALL SELECT id FROM u", "UNION ALL", "drops repeats"),
        ("SELECT x FROM t UNION SELECT name FROM t", "UNION", "do not fit"),
        ("SELECT x FROM t UNION SELECT id, k FROM u", "UNION", "columns"),
        ("SELECT x FROM (SELECT x FROM t) AS s", "SELECT x FROM t", "write sub-selects out"),
        ("SELECT name, COUNT(*) FROM t GROUP BY x", "name", "neither grouped"),
        ("WITH s AS (SELECT 1) SELECT x FROM t", "WITH", "without WITH"),
        ("DELETE FROM t", "DELETE", "SELECT"),
        ("", "", "empty"),
    ],
)
def test_what_the_solver_lacks_is_refused_with_the_clause(sql, clause, said):
    with pytest.raises((ParameterError, UnsupportedError), match=said) as caught:
        read_query(sql, SHAPES)
    assert clause.casefold() in str(caught.value).casefold()


def test_bad_arguments_are_refused():
    for options in (
        {"cap": 0},
        {"timeout": 0},
        {"timeout": -1},
        {"copies": "most"},
        {"table": "none"},
        {"values": []},
    ):
        with pytest.raises(ParameterError):
            sensitivity("SELECT x FROM t", SCHEMA, **options)
    with pytest.raises(UnsupportedError, match=r"t\.name"):
        sensitivity("SELECT x FROM t", SCHEMA, values=[0, 1])


def test_what_takes_too_long_is_unknown_and_never_a_number():
    found = sensitivity("SELECT u.id FROM u, t WHERE u.id = t.id", SCHEMA, timeout=1e-9)
    for one in found.values():
        assert one.unknown
        assert one.value is None
        assert (one.at_least, one.at_most) == (0, None)
        assert one.to_dict()["sensitivity"] == "unknown"
        assert "time" in str(one)


def test_the_cap_is_no_number():
    wide = "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE v (k INTEGER PRIMARY KEY)"
    found = sensitivity("SELECT k FROM t, v WHERE k BETWEEN 1 AND 9", wide, table="t", cap=4, timeout=60)["t"]
    assert (found.value, found.at_least, found.at_most, found.unbounded) == (None, 4, None, False)


def test_without_z3_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sordino\[solver\]'"):
        sensitivity("SELECT x FROM t", SCHEMA)
    # Over a few values all databases are walked through instead.
    monkeypatch.setattr("sordino.sql.solver.text_sensitivity.has_solver", lambda: False)
    small = "CREATE TABLE a (i INT PRIMARY KEY, x INT); CREATE TABLE b (i INT, k INT, PRIMARY KEY (i, k))"
    found = sensitivity("SELECT a.i FROM a, b WHERE a.i = b.i", small, values=[0, 1])
    assert (found["a"].value, found["b"].value) == (2, 1)
    with pytest.raises(UnsupportedError, match="more than 20000 databases over 20 values"):
        sensitivity("SELECT a.i FROM a, b WHERE a.i = b.i", small, values=range(20))


def test_numbers_of_other_types():
    """Ten tenths between two whole numbers; texts and truth values are compared; a date is a day."""
    schema = (
        "CREATE TABLE a (i INTEGER PRIMARY KEY); CREATE TABLE p (d DATE PRIMARY KEY, ok BOOLEAN, name TEXT)"
    )
    week = "d >= DATE '2024-02-26' AND d <= '2024-03-03' AND ok AND name IN ('x', 'y')"
    found = sd.sql.sensitivity(f"SELECT i FROM a, p WHERE {week}", schema, table="a", timeout=60)["a"]
    assert found.value == 7
    assert len(found.witness.tables["p"]) == 7


def test_counted_groups_are_rows_without_repeats():
    """Every group of a self-join changes with a row, and at most one of them comes or goes."""
    grouped = "SELECT b.x, COUNT(*) FROM t a, t b GROUP BY b.x"
    assert read_query(f"SELECT COUNT(*) FROM ({grouped})", SHAPES) == read_query(
        "SELECT DISTINCT b.x FROM t a, t b", SHAPES
    )
    found = sensitivity(f"SELECT COUNT(*) FROM ({grouped})", SCHEMA, timeout=60)["t"]
    assert (found.value, found.counted) == (1, "rows")


def test_names_with_dots_and_bars_stay_apart():
    """``c`` of ``a.b`` is not ``b.c`` of ``a``: were they one, no row would meet another."""
    schema = 'CREATE TABLE t (c INTEGER PRIMARY KEY); CREATE TABLE u ("b.c" INTEGER PRIMARY KEY)'
    asked = 'SELECT * FROM t "a.b", u a WHERE "a.b".c = a."b.c" + 1'
    assert [one.value for one in sensitivity(asked, schema, timeout=60).values()] == [1, 1]
    asked = 'SELECT * FROM t "a|b\\", u a WHERE "a|b\\".c = a."b.c"'
    assert [one.value for one in sensitivity(asked, schema, timeout=60).values()] == [1, 1]
    schema = (
        'CREATE TABLE t ("a,b" INTEGER, a INTEGER, b INTEGER, x INTEGER, UNIQUE ("a,b"), UNIQUE (a, b));'
        "CREATE TABLE u (x INTEGER PRIMARY KEY)"
    )
    assert sensitivity("SELECT * FROM t JOIN u ON t.a = u.x", schema, table="t", timeout=60)["t"].value == 1
