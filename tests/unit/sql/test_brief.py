"""The brief of an explanation: the least certain number, whose rows decide, and which ε would do."""

import pytest

from sordino.sql.answering.brief import summarize


def number(exact, error, *, bounds=(), aggregate="COUNT(*)", **group):
    return {
        "group": group,
        "aggregate": aggregate,
        "exact": exact,
        "smooth_bound": 3.0,
        "error": {"50%": error / 4, "95%": error},
        "bounds": list(bounds),
    }


def facts(*numbers, exact=None, files=(), against=((0.1, 400.0), (1.0, 40.0), (10.0, 4.0)), sql="SELECT 1"):
    return {
        "sql": sql,
        "exact": numbers[0]["exact"] if exact is None else exact,
        "epsilon": 1.0,
        "delta": 0.0,
        "mechanism": "cauchy noise",
        "files": list(files),
        "numbers": list(numbers),
        "error_against_epsilon": [{"epsilon": e, "error": {"95%": error}} for e, error in against],
    }


def bound(table, analysis, local, smooth):
    return {"table": table, "analysis": analysis, "local": local, "smooth": smooth}


def test_one_number_is_told_in_seven_lines():
    found = summarize(facts(number(1000.0, 40.0)))
    assert found.lines() == [
        "asked:    SELECT 1",
        "exact:    1,000",
        "noise:    cauchy noise for epsilon 1",
        "error:    with 95 % at most 40, 4 % of it",
        "          with 50 % at most 10",
        "bound:    one row changes it by at most 3",
        "epsilon:  about 0.8 would give an error of 5 % of the exact number",
    ]


@pytest.mark.parametrize(("exact", "epsilon"), [(80_000.0, 0.1), (8_000.0, 0.1), (800.0, 1.0), (80.0, 10.0)])
def test_the_epsilon_of_five_percent_lies_where_the_error_falls_to_it(exact, epsilon):
    """The errors above are 40/ε; one that is below 5 % at the least ε asks for no more than that."""
    assert summarize(facts(number(exact, 40.0))).useful_budget == pytest.approx(epsilon)


def test_an_epsilon_beyond_those_that_were_tried_is_not_guessed():
    found = summarize(facts(number(8.0, 40.0)))
    assert found.useful_budget is None
    assert "epsilon:  more than 10 would be needed for an error of 5 % of the exact number" in found.lines()


def test_the_table_whose_best_bound_is_largest_decides():
    rows = [
        bound("orders", "patterns", 5.0, 6.0),
        bound("orders", "elastic", 9.0, 99.0),
        bound("items", "patterns", 1.0, 50.0),
        bound("items", "elastic", 2.0, 7.0),
    ]
    found = summarize(facts(number(1000.0, 40.0, bounds=rows)))
    assert (found.table, found.analysis, found.one_row, found.smooth_bound) == ("items", "elastic", 2.0, 7.0)
    assert found.lines()[5] == (
        "bound:    one row of items changes it by at most 2 in these data; the noise is made for 7 (analysis elastic)"
    )


def test_of_several_numbers_the_least_certain_is_told():
    numbers = [
        number(1000.0, 40.0, city="Rome"),
        number(100.0, 40.0, city="Oslo"),
        number(500.0, 40.0, city="Lima"),
    ]
    found = summarize(facts(*numbers, exact=[{}, {}, {}]))
    assert found.relative_error == pytest.approx(0.4)
    assert (
        found.lines()[1]
        == "exact:    3 rows; least certain of 3 noisy numbers: COUNT(*) where city = Oslo = 100"
    )


def test_an_error_as_large_as_the_answer_is_warned_about():
    assert summarize(facts(number(41.0, 40.0))).warnings == ()
    (warning,) = summarize(facts(number(40.0, 40.0))).warnings
    assert "not below the exact answer" in warning
    (warning,) = summarize(facts(number(1000.0, 40.0), number(-3.0, 40.0), exact=[])).warnings
    assert "not below 1 of the 2 exact numbers" in warning


def test_an_answer_of_nothing_has_no_relative_error():
    found = summarize(facts(number(0.0, 40.0)))
    assert (found.relative_error, found.useful_budget) == (None, None)
    assert "epsilon:  none makes the error small beside an exact number of 0" in found.lines()


def test_there_are_never_more_than_nine_lines_and_the_query_is_one_of_them():
    torn = [{"table": "orders", "lines": 9, "rows": 8}, {"table": "items", "lines": 9, "rows": 9}]
    found = summarize(
        facts(number(1.0, 40.0), files=torn, sql="SELECT COUNT(*)\n  FROM t " + "WHERE a " * 50)
    )
    assert len(found.lines()) == 9
    assert found.lines()[0].startswith("asked:    SELECT COUNT(*) FROM t WHERE a")
    assert len(found.lines()[0]) == 110
    assert found.lines()[-1] == "warning:  not every line of the file became a row in table orders"
