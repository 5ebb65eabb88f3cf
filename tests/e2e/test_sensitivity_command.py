"""`sordino sensitivity` on files as people have them."""

import json

import duckdb
import pytest

SCHEMA = (
    "CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE v (id INTEGER, k INTEGER, PRIMARY KEY (id, k))"
)
QUERY = "SELECT u.id FROM u JOIN v ON u.id = v.id WHERE k BETWEEN 1 AND 5"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.sql").write_text(SCHEMA)
    (tmp_path / "query.sql").write_text(QUERY + ";\n")
    (tmp_path / "outer.sql").write_text("SELECT u.id\nFROM u LEFT JOIN v ON u.id = v.id")
    columns = {"id": {"type": "integer"}, "k": {"type": "integer"}}
    tables = {"u": {"key": {"columns": ["id"], "enforced": True}, "columns": {"id": {"type": "integer"}}},
              "v": {"columns": columns}}  # fmt: skip
    (tmp_path / "policy.json").write_text(json.dumps({"version": 1, "dataset": "d", "tables": tables}))
    return tmp_path


def test_the_table_the_witness_and_the_formula(sordino, files):
    result = sordino(
        "sensitivity",
        "query.sql",
        "--schema",
        "schema.sql",
        "--timeout",
        60,
        "--witness",
        "--smt2",
        "out.smt2",
    )
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert ["u", "rows", "5", "5"] in [line[:4] for line in lines]
    assert ["v", "rows", "1", "1"] in [line[:4] for line in lines]
    assert "(check-sat)" in (files / "out.smt2").read_text()
    first = result.out.split("-- without the last row")[1].splitlines()[1:]
    with duckdb.connect() as connection:
        connection.execute(SCHEMA)
        for statement in [line for line in first if line.startswith("INSERT")]:
            connection.execute(statement)
        assert len(connection.execute(QUERY).fetchall()) == 5


def test_one_document(sordino, files):
    result = sordino(
        "sensitivity", "query.sql", "-s", "schema.sql", "--table", "u", "--timeout", 60, "--json"
    )
    (row,) = json.loads(result.out)["tables"]
    assert (row["table"], row["sensitivity"], row["at_least"], row["at_most"]) == ("u", 5, 5, 5)


def test_keys_of_a_policy_count_where_they_are_enforced(sordino, files):
    result = sordino("sensitivity", "query.sql", "-s", "policy.json", "--timeout", 60, "--json")
    found = {row["table"]: row["sensitivity"] for row in json.loads(result.out)["tables"]}
    assert found == {"u": "unbounded", "v": 1}


def test_bad_input_is_one_line(sordino, files):
    result = sordino("sensitivity", "outer.sql", "-s", "schema.sql")
    assert result.code != 0
    assert "line 2" in result.err
    assert "LEFT JOIN" in result.err
    result = sordino("sensitivity", "none.sql", "-s", "schema.sql")
    assert result.code != 0
    assert "none.sql cannot be read: no such file or directory" in result.err
    late = sordino("sensitivity", "query.sql", "-s", "schema.sql", "--timeout", 1e-9, "--json")
    assert {row["sensitivity"] for row in json.loads(late.out)["tables"]} == {"unknown"}
