"""`sordino sensitivity`: numbers, witnesses and formulas, from two files of text."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

SCHEMA = (
    "CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE v (id INTEGER, k INTEGER, PRIMARY KEY (id, k))"
)
QUERY = "SELECT u.id, k FROM u JOIN v ON u.id = v.id WHERE k BETWEEN 1 AND 5"
ASK = ("sensitivity", "query.sql", "--schema", "schema.sql", "--timeout", 60)


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """The directory with both files, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    Path("schema.sql").write_text(SCHEMA)
    Path("query.sql").write_text(QUERY)
    return tmp_path


def test_every_table_has_its_number(sordino, texts):
    result = sordino(*ASK)
    assert (result.code, result.err) == (0, "")
    rows = [line.split() for line in result.out.splitlines() if line.split()[:1] in (["u"], ["v"])]
    assert [row[:4] for row in rows] == [["u", "rows", "5", "5"], ["v", "rows", "1", "1"]]
    told = json.loads(sordino(*ASK, "--json").out)["tables"]
    assert [(row["table"], row["sensitivity"]) for row in told] == [("u", 5), ("v", 1)]


def test_a_witness_attains_the_number_in_a_database(sordino, texts):
    told = json.loads(sordino(*ASK, "--table", "u", "--witness", "--json").out)["tables"]
    *others, last = told[0]["witness"]["statements"]
    shown = sordino(*ASK, "--table", "u", "--witness").out
    assert "without the last row, of u, 5 rows change" in shown
    assert last in shown
    with duckdb.connect() as connection:
        connection.execute(SCHEMA)
        for statement in others:
            connection.execute(statement)
        assert connection.execute(QUERY).fetchall() == []
        connection.execute(last)
        assert len(connection.execute(QUERY).fetchall()) == 5


def test_a_formula_is_read_by_a_solver_of_its_own(sordino, texts):
    """The program z3, given the file, says of every table's formula that it has a model."""
    sordino(*ASK, "--smt2", "out.smt2")
    program = Path(sys.executable).with_name("z3")
    said = subprocess.run([program, "out.smt2"], capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.split() == ["sat", "sat"]
    # Six rows with k between 1 and 5 are one too many: the same text with a narrower range has none.
    text = Path("out.smt2").read_text().partition("(reset)")[0]
    assert text.count(" 5)") == 5
    Path("four.smt2").write_text(text.replace(" 5)", " 4)"))
    said = subprocess.run([program, "four.smt2"], capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.split() == ["unsat"]


def test_what_is_not_found_out_is_no_number(sordino, texts):
    late = json.loads(sordino(*ASK[:-1], "1e-9", "--json").out)["tables"][0]
    assert (late["sensitivity"], late["at_least"], late["at_most"]) == ("unknown", 0, None)
    capped = json.loads(sordino(*ASK, "--cap", 3, "--table", "u", "--json").out)["tables"][0]
    assert (capped["sensitivity"], capped["at_least"], capped["at_most"]) == ("unknown", 3, None)
    Path("query.sql").write_text("SELECT u.id FROM u, v")
    assert json.loads(sordino(*ASK, "--json").out)["tables"][0]["sensitivity"] == "unbounded"


@pytest.mark.parametrize(
    ("query", "more", "said"),
    [
        ("SELECT id FROM u LEFT JOIN v USING (id)", (), "LEFT JOIN is refused"),
        ("SELECT x FROM u", (), "there is no column 'x' here"),
        ("SELECT id FROM u", ("--table", "w"), "there is no table 'w' in the schema"),
        ("SELECT id FROM u", ("--cap", "0"), "cap must be"),
        ("SELECT id FROM u", ("--copies", "most"), "copies must be"),
        ("SELECT id FROM u", ("--schema", "none.sql"), "none.sql cannot be read"),
        ("SELECT id FROM u", ("--smt2", "no/out.smt2"), "no/out.smt2 cannot be written"),
    ],
)
def test_bad_input_is_refused_with_what_would_work(sordino, texts, query, more, said):
    Path("query.sql").write_text(query)
    result = sordino(*ASK, *more)
    assert result.code != 0
    assert said in result.err
    assert "Traceback" not in result.err


def test_columns_that_may_be_null_are_named(sordino, texts):
    assert "without NULL" not in sordino(*ASK).out
    Path("schema.sql").write_text(SCHEMA.replace("PRIMARY KEY (id, k)", "UNIQUE (id, k)"))
    Path("query.sql").write_text("SELECT v.id FROM u, v")
    assert "between databases without NULL in v.id, v.k" in " ".join(sordino(*ASK).out.split())
