"""VAR and STDDEV: those of the rows where there is no noise, and within their radii where there is."""

from __future__ import annotations

import random
import statistics
from fractions import Fraction

import duckdb
import pytest

import sordino as sd
from sordino.sql.aggregates import Part
from sordino.sql.aggregates.variance import VARIANCES

from ..test_read import read

BY_NAME = {aggregate.name: aggregate for aggregate in VARIANCES}
EXACT = {
    "variance": statistics.variance,
    "var_pop": statistics.pvariance,
    "stddev": statistics.stdev,
    "stddev_samp": statistics.stdev,
    "stddev_pop": statistics.pstdev,
}


def measures_of(name="variance"):
    return read(f"SELECT {name}(items) FROM orders").measures


def parts_of(rows, radii=(0, 0, 0), noise=(0, 0, 0)):
    """Exact parts of some values of items, which lies in [1, 20]; the centre of the bounds is 10.5."""
    numbers = (len(rows), sum(x - 10.5 for x in rows), sum((x - 10.5) ** 2 for x in rows))
    return [
        Part(measure, Fraction(number + off), None if radius is None else Fraction(radius))
        for measure, number, radius, off in zip(measures_of(), numbers, radii, noise, strict=True)
    ]


@pytest.mark.parametrize("name", sorted(EXACT))
def test_without_noise_it_is_that_of_the_rows(name):
    draw = random.Random(3)
    for size in (2, 3, 10, 100):
        rows = [draw.randint(1, 20) for _ in range(size)]
        assert float(BY_NAME[name].combine(parts_of(rows)).value) == pytest.approx(
            EXACT[name](rows), abs=1e-9
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_exact_one_lies_within_the_radius_while_all_parts_do(name):
    draw, finite = random.Random(4), 0
    for _ in range(300):
        rows = [draw.randint(1, 20) for _ in range(draw.randint(2, 60))]
        radii = (draw.randint(0, 8), draw.randint(0, 100), draw.randint(0, 1000))
        noise = tuple(draw.randint(-r, r) for r in radii)
        found = BY_NAME[name].combine(parts_of(rows, radii, noise))
        if found.value is None:
            continue
        assert abs(float(found.value) - EXACT[name](rows)) <= float(found.radius()) + 1e-9
        finite += float(found.radius()) < 90  # below what the bounds alone say
    assert finite > 20


def test_it_is_what_a_variance_can_be_or_null():
    wild = [Part(m, Fraction(n), None) for m, n in zip(measures_of(), (9, 0, 10**9), strict=True)]
    assert BY_NAME["var_pop"].combine(wild).value == 9.5**2  # half of the rows at each end of [1, 20]
    assert BY_NAME["var_pop"].combine(wild).radius() is None
    few = [Part(m, Fraction(1), Fraction(0)) for m in measures_of()]
    assert BY_NAME["variance"].combine(few).value is None
    assert BY_NAME["var_pop"].combine(few).value is not None
    none = [Part(m, Fraction(-2), Fraction(0)) for m in measures_of()]
    assert BY_NAME["stddev_pop"].combine(none).value is None


def test_all_of_them_and_the_count_share_three_measures():
    asked = "VARIANCE(items), VAR_SAMP(items), VAR_POP(items), STDDEV(items), STDDEV_POP(items), COUNT(items)"
    assert len(read(f"SELECT {asked} FROM orders").measures) == 3
    with pytest.raises(sd.ParameterError, match="needs public bounds"):
        read("SELECT STDDEV(id) FROM orders")


def test_squares_reach_half_of_the_bounds_squared():
    count, total, squares = measures_of()
    assert (count.reach, total.reach, squares.reach) == (1, 19, 361)  # in steps of 1, 1/2 and 1/4
    assert (squares.low, squares.high) == (0, Fraction(361, 4))


def test_the_engine_measures_the_same_numbers():
    rows = [0, 7, 12, 50, None, 33, 2000, -4]  # beyond its bounds a value is clipped
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x INTEGER, y DOUBLE)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(x, None if x is None else x / 4) for x in rows]
        )
        table = {"columns": {"x": {"bounds": [0, 50]}, "y": {"bounds": [-3, 12], "granularity": 0.25}}}
        policy = {"version": 1, "dataset": "d", "tables": {"t": table}}
        with sd.connect(connection, policy=policy) as curator:
            sql = "SELECT VAR_POP(x) AS a, STDDEV_SAMP(x) AS b, STDDEV(y) AS c FROM t"
            (exact,) = curator.explain(sql, 1).reveal()["exact"]
    clipped = [min(max(x, 0), 50) for x in rows if x is not None]
    quarters = [min(max(x / 4, -3), 12) for x in rows if x is not None]
    assert exact["a"] == pytest.approx(statistics.pvariance(clipped))
    assert exact["b"] == pytest.approx(statistics.stdev(clipped))
    assert exact["c"] == pytest.approx(statistics.stdev(quarters))
