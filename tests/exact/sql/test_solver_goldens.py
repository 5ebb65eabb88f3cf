"""The solver's numbers for known cases, their witnesses in a database, and the text of their formulas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sordino as sd
from sordino.sql.solver import is_result_key, read_query, read_schema
from sordino.sql.solver.z3_solver import solve

from .witnesses import replay

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "solver.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["cases"]}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    """A case and what was found."""
    asked = request.param
    return asked, sd.sql.sensitivity(asked["sql"], asked["schema"], timeout=120)


def test_the_numbers_are_those_known(case):
    asked, found = case
    for table, number in asked["rows"].items():
        if number == "unbounded":
            assert found[table].unbounded
            assert found[table].value is None
        else:
            assert found[table].rows == number
            assert found[table].value == asked.get("groups", asked["rows"])[table]


def test_witnesses_attain_the_numbers_in_a_database(case):
    asked, found = case
    for table, one in found.items():
        if one.value == 0:
            assert one.witness is None
            continue
        assert one.witness.table == table
        # Of a number without bound the witness attains as many as it says, or more: copies multiply.
        groups = len(asked.get("groups", ()))
        attained = replay(asked["schema"], asked["sql"], one.witness, groups=groups)
        assert attained >= one.at_least if one.unbounded else attained == one.value


def test_the_text_of_a_formula_has_the_same_answer(case):
    """It is what z3's parser reads; and without (check-sat) or comments it is the same formula."""
    for one in case[1].values():
        if one.formula:
            text = one.formula
            assert text.count("(") == text.count(")")
            assert "(check-sat)" in text
            assert solve(text.replace("(check-sat)\n", ""), seconds=60).verdict == "sat"


@pytest.mark.parametrize("asked", [case for case in CASES.values() if "sum" in case], ids=lambda c: c["name"])
def test_copies_add_up_to_no_less(asked):
    found = sd.sql.sensitivity(asked["sql"], asked["schema"], copies="sum", timeout=120)
    for table, number in asked["sum"].items():
        assert found[table].at_most == number
        assert found[table].at_most >= asked["rows"][table]
        assert found[table].value is None


@pytest.mark.parametrize("asked", GOLDEN["keys"])
def test_keys_of_results(asked):
    shapes = read_schema(asked["schema"])
    assert (
        is_result_key(read_query(asked["sql"], shapes), shapes, asked["columns"], seconds=60) is asked["key"]
    )


def test_a_workflow_multiplies_along_its_way():
    """Every order has at most seven lines; a customer is one row of each order of theirs, which no key bounds."""
    schema = (
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER);"
        "CREATE TABLE lines (id INTEGER, k INTEGER CHECK (k BETWEEN 1 AND 7), part INTEGER, PRIMARY KEY (id, k))"
    )
    steps = {
        "shipped": "SELECT orders.id, k, part, customer FROM orders JOIN lines ON orders.id = lines.id",
        "parts": "SELECT DISTINCT part FROM shipped",
        "pairs": "SELECT a.part, b.part AS other FROM shipped a, parts b WHERE a.part = b.part",
    }
    found = sd.sql.workflow_sensitivity(steps, schema, timeout=60)
    assert found["shipped"] == {"orders": 7, "lines": 1}
    assert found["parts"] == {"orders": 7, "lines": 1}
    # One row of ``parts`` meets all rows of ``shipped`` with that part.
    assert found["pairs"] == {"orders": None, "lines": None}


def test_groups_that_stay_are_changed_too():
    """With a self-join every group changes with one row, although at most one group comes or goes."""
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER)"
    grouped = sd.sql.sensitivity("SELECT b.x, COUNT(*) FROM t a, t b GROUP BY b.x", schema, timeout=60)["t"]
    distinct = sd.sql.sensitivity("SELECT DISTINCT b.x FROM t a, t b", schema, timeout=60)["t"]
    assert grouped.unbounded
    assert distinct.value == 1
