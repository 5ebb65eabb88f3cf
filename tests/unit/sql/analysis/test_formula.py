from __future__ import annotations

import pytest
from sqlglot import parse_one

from sordino.sql.analysis.formula import FALSE, TRUE, Cell, read_formula

A, B, C = Cell("t", "a"), Cell("t", "b"), Cell("r", "c")


def seen(text, known, through=None):
    return read_formula(parse_one(text)).seen(frozenset(known), through or {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t.a < 3 AND r.c < 3", '("t"."a" < 3)'),
        ("t.a < 3 OR r.c < 3", "TRUE"),
        ("NOT (t.a < 3 OR r.c < 3)", '(NOT ("t"."a" < 3))'),
        ("NOT (t.a < 3 AND r.c < 3)", "TRUE"),
        ("NOT (r.c < 3 OR (NOT (t.a IS NULL)))", '("t"."a" IS NULL)'),
        ("t.a = 1 AND (t.b = 2 OR (r.c = 1 AND t.b = 3))", None),
    ],
)
def test_what_is_unknown_is_taken_as_true_wherever_it_stands(text, expected):
    found = seen(text, {A, B})
    if expected is not None:
        assert found.tree().sql() == expected
    else:
        assert "3" in found.tree().sql()
        assert '"r"' not in found.tree().sql()


def test_an_unknown_cell_is_written_through_an_equal_one_only_where_widths_do_not_matter():
    through = {C: parse_one('"t"."b"')}
    assert seen("r.c < 5", {A, B}, through).tree().sql() == '("t"."b" < 5)'
    assert seen("r.c + t.a < 5", {A, B}, through) == TRUE
    assert seen("r.c = '5'", {A, B}, through) == TRUE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("r.c < 5", TRUE), ("NOT (r.c < 5)", FALSE), ("r.c IS NULL", FALSE), ("r.c = 2", TRUE)],
)
def test_constants_decide_at_once(text, expected):
    assert seen(text, set(), {C: parse_one("2")}) == expected


def test_a_cell_equals_itself_unless_it_is_null():
    assert seen("t.a = r.c", {A}, {C: parse_one('"t"."a"')}).tree().sql() == '(NOT ("t"."a") IS NULL)'
