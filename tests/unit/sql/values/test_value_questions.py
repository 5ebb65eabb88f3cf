"""Questions about values: policies, refusals before anything is spent, answers, and what a release says."""

from __future__ import annotations

import copy

import duckdb
import pyarrow as pa
import pytest

import sordino as sd
from sordino.sql.values import bounds

SHIP = {
    "norm": "l1(0.1*l2(x, y), 5*log(speed), is(flag))",
    "key": "id",
    "columns": {
        "id": {"type": "integer", "public": True},
        "port": {"type": "text", "public": True, "domain": ["Riga", "Turku"]},
        "x": {"type": "integer", "bounds": [-300, 300]},
        "y": {"type": "integer", "bounds": [-300, 300]},
        "speed": {"type": "float", "granularity": 0.1, "bounds": [0.1, 60]},
        "flag": {"type": "text", "domain": ["EE", "FI", "other"]},
    },
}
POLICY = {
    "version": 1,
    "dataset": "ships",
    "protects": "values",
    "budgets": {"ann": {"epsilon": 1000}},
    "tables": {"ship": SHIP},
}
ROWS = {
    "ship": pa.table(
        {
            "id": [1, 2, 3, 4],
            "port": ["Riga", "Riga", "Turku", "Turku"],
            "x": [10, 40, -20, 250],
            "y": [5, 0, 0, -250],
            "speed": [10.0, 12.5, None, 99.0],
            "flag": ["EE", "FI", "SE", None],
        }
    )
}


def changed(**fields):
    policy = copy.deepcopy(POLICY)
    for path, value in fields.items():
        *way, last = path.split("__")
        place = policy["tables"]["ship"]
        for name in way:
            place = place[name]
        if value is None:
            place.pop(last)
        else:
            place[last] = value
    return policy


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"norm": None}, "needs a norm"),
        ({"norm": "l2(x, x)"}, "stands twice"),
        ({"norm": "l2(x, is(flag))"}, "under l1 only"),
        ({"norm": "x", "columns__y__public": True, "columns__speed__public": True}, "flag is neither in the norm"),
        ({"columns__x__bounds": None}, "needs bounds"),
        ({"columns__speed__granularity": None}, "needs a granularity"),
        ({"columns__speed__bounds": [0, 60]}, "bounds above 0"),
        ({"columns__flag__domain": None}, "needs a domain"),
        ({"columns__x__public": True}, "neither public nor hidden"),
        ({"rows": 2}, "added up, rows: 1"),
        ({"rows": 0.5}, "number >= 1"),
        ({"norm": "l1(x, y, z)"}, "'z' is not declared"),
        ({"weight": 2}, "factors into the norm"),
    ],
)  # fmt: skip
def test_a_policy_that_does_not_fit_is_refused(fields, said):
    with pytest.raises(sd.ParameterError, match=said):
        sd.Policy.load(changed(**fields))


def test_a_forgotten_column_of_the_database_is_refused():
    policy = changed(columns__port=None)
    with pytest.raises(sd.ParameterError, match="'port' is neither in the norm nor public"):
        sd.connect(ROWS, policy=policy)


def test_norms_are_for_values_only():
    policy = copy.deepcopy(POLICY) | {"protects": "row"}
    with pytest.raises(sd.ParameterError, match="protects: values"):
        sd.Policy.load(policy)
    del policy["tables"]["ship"]["norm"]
    with pytest.raises(sd.ParameterError, match="protects: values"):
        sd.Policy.load(policy)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(*) FROM ship", "number of rows is public"),
        ("SELECT COUNT(*) FROM ship WHERE port = 'Riga'", "number of rows is public"),
        ("SELECT COUNT(x) FROM ship WHERE x > 0", "write COUNT"),
        ("SELECT SUM(x/y) FROM ship", "without 0"),
        ("SELECT SUM(SQRT(x)) FROM ship", "0"),
        ("SELECT SUM(LN(x)) FROM ship", "above 0"),
        ("SELECT SUM(POWER(x, y)) FROM ship", "exponent must be a number"),
        ("SELECT SUM(ROUND(x)) FROM ship", "are understood"),
        ("SELECT SUM(flag) FROM ship", "category"),
        ("SELECT SUM(x) FROM ship WHERE flag = 'SE'", "values of flag are"),
        ("SELECT SUM(x) FROM ship WHERE flag LIKE 'E'", "are understood"),
        ("SELECT SUM(x) FROM ship WHERE x IS NULL", "are understood"),
        ("SELECT SUM(x) FROM ship WHERE SQRT(x*x + y*y) > 3", "granularity"),
        ("SELECT SUM(port) FROM ship", "needs bounds"),
        ("SELECT SUM(id*x) FROM ship", "needs bounds"),
        ("SELECT SUM(DISTINCT x) FROM ship", "refused"),
        ("SELECT x FROM ship", "GROUP BY"),
        ("SELECT x, SUM(y) FROM ship GROUP BY x", "protected, and no category"),
        ("SELECT flag, SUM(y) FROM ship GROUP BY flag, ship.flag", "grouped by twice"),
        ("SELECT SUM(a.x) FROM ship AS a JOIN ship AS b USING (x)", "write ON"),
        ("SELECT VARIANCE(x) FROM ship", "refused"),
        ("WITH s AS (SELECT x FROM ship) SELECT SUM(x) FROM s", "refused"),
        ("SELECT SUM(s.z) FROM (SELECT x + y AS z FROM ship) AS s", "sub-select"),
        ("SELECT SUM(x*x*x*x*x*y*y*y*speed*LN(speed)*EXP(x/100)*EXP(y/100)*SQRT(speed + 1)*ABS(x)*ABS(y)*ABS(x - y)) "
         "FROM ship WHERE x > 0 AND y > 0", "are followed"),
        ("SELECT SUM(LEAST(EXP(x)*EXP(y), 1)) FROM ship", "larger than 1e"),
        ("SELECT SUM(LEAST(POWER(x, 60), 1)) FROM ship", "larger than 1e"),
        ("SELECT SUM(1e-200*x) FROM ship", "between 1e-100 and 1e100"),
        ("SELECT SUM(x) FROM ship WHERE y > 1e-999999999", "between 1e-100 and 1e100"),
        ("SELECT SUM(1e30*x) FROM ship", "more than 1e"),
        ("SELECT SUM(POWER(speed, 0.00001)) FROM ship", "exponent must be between"),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused_with_its_place(sql, said):
    with sd.connect(ROWS, policy=POLICY) as curator:
        session = curator.session("ann")
        with pytest.raises(sd.SordinoError, match=said) as caught:
            session.query(sql, epsilon=1)
        assert caught.value.place is not None
        assert str(session.budget()) == "epsilon 1000 left of epsilon 1000"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"filters": "steep"}, "filters must be"),
        ({"filters": "ramp(0)"}, "filters must be"),
        ({"filters": 3}, "filters must be"),
        ({"delta": 1e-6}, "delta is not for"),
        ({"error_share": 0.1}, "error_share is not for"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    with sd.connect(ROWS, policy=POLICY) as curator, pytest.raises(sd.SordinoError, match=said):
        curator.session("ann").query("SELECT SUM(x) FROM ship", epsilon=1, **options)


def test_filters_are_for_values_only():
    policy = {
        "version": 1,
        "dataset": "d",
        "protects": "row",
        "tables": {"t": {}},
        "budgets": {"ann": {"epsilon": 1}},
    }
    curator = sd.connect({"t": pa.table({"x": [1]})}, policy=policy)
    with curator, pytest.raises(sd.ParameterError, match="filters are for"):
        curator.session("ann").query("SELECT COUNT(*) FROM t", epsilon=1, filters="exact")


def test_other_questions_are_refused():
    with sd.connect(ROWS, policy=POLICY) as curator:
        with pytest.raises(sd.UnsupportedError, match="what cells contain"):
            curator.session("ann").quantile("ship.x", 0.5, epsilon=1)
        with pytest.raises(sd.SordinoError):
            curator.session("ann").select("SELECT port, COUNT(*) FROM ship GROUP BY port", epsilon=1)


def test_a_join_needs_keys():
    sql = "SELECT SUM(a.x*b.y) FROM ship a JOIN ship b ON a.id < b.id"
    curator = sd.connect(ROWS, policy=changed(key=None))
    with curator, pytest.raises(sd.ParameterError, match="key"):
        curator.session("ann").query(sql, epsilon=1)


@pytest.mark.slow
def test_answers_and_what_they_say():
    with sd.connect(ROWS, policy=POLICY) as curator:
        session = curator.session("ann")
        release = session.query(
            "SELECT port, SUM(x) AS s, AVG(speed) AS v FROM ship WHERE y > -10 AND flag <> 'FI' GROUP BY port",
            epsilon=100,
        )
        assert [row["port"] for row in release.value] == ["Riga", "Turku"]
        told = str(release.guarantee)
        assert "per unit" not in told
        assert "0.1*l2(x, y)" in told
        assert "ship.port" in told
        assert "costs d times" in told
        assert "2 groups each take all of it" in told
        assert release.notes == ()
        smooth = session.query(
            "SELECT COUNT(*) FROM ship WHERE SQRT(x*x + y*y) < 50", epsilon=10, filters="ramp(5)"
        )
        assert "continuous version" in smooth.notes[0]
        assert "ramp(5)" in smooth.notes[0]
        least = session.query("SELECT MIN(speed) AS v FROM ship", epsilon=10)
        assert any("no row passes" in note for note in least.notes)


@pytest.mark.slow
def test_a_question_is_served_again_from_the_ledger():
    with sd.connect(ROWS, policy=POLICY) as curator:
        session = curator.session("ann")
        sql = "SELECT SUM(x) FROM ship WHERE y > 0"
        first = session.query(sql, epsilon=1, filters="ramp(5)")
        assert session.query(sql, epsilon=1, filters="ramp(5)", reuse=True).value == first.value
        assert session.query(sql, epsilon=1, filters="ramp(6)", reuse=True).value != first.value


@pytest.mark.slow
def test_groups_by_a_category():
    with sd.connect(ROWS, policy=POLICY) as curator:
        sql = "SELECT flag, COUNT(*) AS n, MIN(x) AS m FROM ship AS groups_0 GROUP BY flag HAVING COUNT(*) > -1e9"
        facts = curator.explain(sql, 6).reveal()
        release = curator.session("ann").query(sql, epsilon=6)
    # flags that are in no domain, and none, are the last of it
    assert [(row["flag"], row["n"], row["m"]) for row in facts["exact"]] == [
        ("EE", 1, 10),
        ("FI", 1, 40),
        ("other", 2, -20),
    ]
    assert [row["flag"] for row in release.value] == ["EE", "FI", "other"]
    assert "3 categories that rows may move between share it evenly" in str(release.guarantee)
    assert "flag may have changed for any row" in release.notes[-1]


@pytest.mark.slow
def test_groups_by_a_public_key_and_a_category():
    """Public keys take all of what a category leaves; the category is not fixed by any of them."""
    with sd.connect(ROWS, policy=POLICY) as curator:
        facts = curator.explain(
            "SELECT port, flag, SUM(x) AS s FROM ship WHERE y > -10 GROUP BY port, flag", 6
        ).reveal()
    found = {(row["port"], row["flag"]): row["s"] for row in facts["exact"]}
    assert found == {
        ("Riga", "EE"): 10, ("Riga", "FI"): 40, ("Riga", "other"): 0,
        ("Turku", "EE"): 0, ("Turku", "FI"): 0, ("Turku", "other"): -20,
    }  # fmt: skip
    assert "2 groups each take all of it; 3 categories" in facts["guarantee"]


@pytest.mark.slow
def test_questions_about_other_columns_are_other_questions():
    """x and y have equal bounds and granules: only their names tell the numbers apart."""
    with sd.connect(ROWS, policy=POLICY) as curator:
        session = curator.session("ann")
        asked = ["SELECT SUM(x) FROM ship", "SELECT SUM(y) FROM ship", "SELECT SUM(ship.y) AS s FROM ship"]
        values = [session.query(sql, epsilon=1, reuse=True).value for sql in asked]
        assert values[0] != values[1] == values[2]
        assert str(session.budget()) == "epsilon 998 left of epsilon 1000"


@pytest.mark.slow
def test_explain_tells_the_owner():
    with sd.connect(ROWS, policy=POLICY) as curator:
        facts = curator.explain(
            "SELECT SUM(x) AS s FROM ship WHERE y > -10", 1, filters="sigmoid(0.1)"
        ).reveal()
    assert facts["exact"] == pytest.approx(30)
    assert facts["continuous"] != facts["exact"]
    number = facts["numbers"][0]
    assert number["approximation"] == pytest.approx(abs(facts["continuous"] - 30))
    assert set(number["bounds_by_beta"]) == {"ship"}
    assert number["smooth_bound"] <= number["global_sensitivity"] * (1 + 1e-6)
    errors = [row["error"]["95%"] * row["epsilon"] for row in facts["error_against_epsilon"]]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        "SQRT(x*x + y*y) < 50",
        "SQRT(x*x + y*y) < 40",  # where one row is
        "SQRT(x*x + y*y) <= 40",
        "SQRT(x*x + y*y) = 20",
        "x/speed > 1 OR y/speed < -3",
    ],
)
def test_explain_tells_the_exact_answer_where_no_lattice_is_known(where):
    """Where a filter is a ramp since no exact one is known, the owner is told how far off that is."""
    rows = {
        "ship": pa.table(
            {
                "id": [1, 2, 3, 4],
                "port": ["Riga"] * 4,
                "x": [10, 40, -20, 250],
                "y": [5, 0, 0, -250],
                "speed": [9.0, 12.5, 3.0, 60.0],
                "flag": ["EE"] * 4,
            }
        )
    }
    plain = duckdb.connect()
    plain.register("ship", rows["ship"])
    sql = f"SELECT COUNT(*) AS n FROM ship WHERE {where}"
    wanted = plain.execute(sql).fetchone()[0]
    with sd.connect(rows, policy=POLICY) as curator:
        facts = curator.explain(sql, 1, filters="ramp(30)").reveal()
        with pytest.raises(sd.ParameterError, match="granularity"):
            curator.session("ann").query(sql, epsilon=1)
    assert facts["exact"] == pytest.approx(wanted, abs=1e-6)
    number = facts["numbers"][0]
    assert number["approximation"] == pytest.approx(abs(facts["continuous"] - wanted), abs=1e-6)
    # what is shown is of the statements of this question: the grid of its epsilon
    assert len(number["bounds_by_beta"]["ship"]) <= 10
    assert f"{number['beta']:.6g}" in number["bounds_by_beta"]["ship"]
    assert len(facts["statements"]) == 2


STAFF = {
    "norm": "x",
    "key": "id",
    "columns": {"id": {"type": "integer", "public": True}, "x": {"type": "integer", "bounds": [0, 100]}},
}


def explain_mean(protects, sql):
    staff = STAFF | ({"weight": 2} if protects == "row+values" else {})
    policy = POLICY | {"protects": protects, "tables": {"staff": staff}}
    rows = {"staff": pa.table({"id": range(100), "x": [i % 50 for i in range(100)]})}
    with sd.connect(rows, policy=policy) as curator:
        facts = curator.explain(sql, 1).reveal()
        return facts, curator.explain("SELECT SUM(x) AS s FROM staff", 1).reveal()


def test_a_mean_over_public_rows_spends_everything_on_the_sum():
    mean, total = explain_mean("values", "SELECT AVG(x) AS a FROM staff")
    number, count = mean["numbers"]
    assert number["error"] == total["numbers"][0]["error"]
    assert (count["exact"], count["noise_scale"]) == (100, 0)
    assert mean["exact"] == 24.5
    assert "the number of rows is public" in mean["budget"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protects", "sql"),
    [
        ("row+values", "SELECT AVG(x) AS a FROM staff"),
        ("values", "SELECT AVG(x) AS a FROM staff WHERE x > 20"),
    ],
)
def test_a_number_of_rows_that_is_not_public_has_noise(protects, sql):
    mean, _ = explain_mean(protects, sql)
    assert all(number["noise_scale"] > 0 for number in mean["numbers"])
    assert "2 aggregates share" in mean["budget"]


def test_a_sum_of_ones_is_a_public_number():
    with pytest.raises(sd.ParameterError, match="is public"):
        explain_mean("values", "SELECT SUM(1) AS n FROM staff")


@pytest.mark.slow
def test_rows_that_come_and_go_do_without_sums_of_too_many_terms(monkeypatch):
    """Whether there are many rows must not show: nothing is refused, and the bound is that of all contents."""
    few, _ = explain_mean("row+values", "SELECT SUM(x) AS a FROM staff")
    monkeypatch.setattr(bounds, "MOST_TERMS", 0)
    many, _ = explain_mean("row+values", "SELECT SUM(x) AS a FROM staff")
    assert many["numbers"][0]["smooth_bound"] >= few["numbers"][0]["smooth_bound"] * (1 - 1e-9)


MIXED = {
    "version": 1,
    "dataset": "mixed",
    "protects": "values",
    "tables": {
        "t": {
            "norm": "x",
            "columns": {
                "id": {"type": "integer", "public": True},
                "k": {"type": "integer", "public": True},
                "x": {"type": "integer", "bounds": [0, 9]},
            },
        }
    },
}
CONDITIONS = [
    "NOT (k = 1 AND x < 5)",
    "NOT (k = 1 OR x < 5)",
    "NOT (NOT (k <> 1) AND x >= 5) OR x = 0",
    "NOT (x < 5 AND NOT (k IN (1, 2) OR x = 7))",
    "NOT (CASE WHEN k = 1 THEN x ELSE 9 - x END < 5)",
    "x < 5 AND NOT k = 1 OR NOT (k = 2 OR x < 3)",
]


@pytest.mark.slow
@pytest.mark.parametrize("where", CONDITIONS)
@pytest.mark.parametrize("filters", [None, "sigmoid(100)"])
def test_public_columns_that_are_null_hold_in_no_condition_and_in_no_negated_one(where, filters):
    """As the engine has it: NOT of what is not known is not known either."""
    rows = {"t": pa.table({"id": range(40), "k": [1, 2, 3, None] * 10, "x": [i // 4 for i in range(40)]})}
    sql = f"SELECT COUNT(*) AS n FROM t WHERE {where}"
    plain = duckdb.connect()
    plain.register("t", rows["t"])
    wanted = plain.execute(sql).fetchone()[0]
    if filters:  # which is a half at x = 5
        where = (
            where.replace("x < 5", "x < 4.5").replace("x >= 5", "x >= 4.5").replace("END < 5", "END < 4.5")
        )
        where = where.replace("x < 3", "x < 2.5")
        sql = f"SELECT COUNT(*) AS n FROM t WHERE {where}"
    with sd.connect(rows, policy=MIXED) as curator:
        facts = curator.explain(sql, 1, filters=filters).reveal()
    assert facts["continuous"] == pytest.approx(wanted, abs=1e-6)
