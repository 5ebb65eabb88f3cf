"""Groups that nobody declared: which are shown, exactly, over all tiny databases, as DuckDB counts their holders.

A unit may hold up to three keys and is counted for m of them. The law of the shown set is that of independent coins,
one for each key that is held; its (ε, δ) is computed in fractions for every pair of neighbours.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import duckdb
import pytest

import sordino as sd
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units.plan import KEYS_SHARE
from sordino.sql.units.unknown_keys import count_holders
from sordino.units import KeyRelease

KEYS = ("x", "y", "z")
UNITS = (1, 2)
HELD = [frozenset(some) for size in range(4) for some in itertools.combinations(KEYS, size)]
EPSILON, DELTA = Fraction(3, 2), Fraction(1, 10)
GROWTH = Fraction(1648721270700128147, 10**18)  # a little more than e^0.5, the share of the keys


def policy(most):
    return {
        "version": 1,
        "dataset": "tiny",
        "protects": "user",
        "users": "u.id",
        "keys_per_unit": most,
        "tables": {"u": {}, "t": {"foreign_keys": {"id": "u.id"}}},
    }


def shown_laws(most, release=lambda planned: planned):
    """Per database the chance of every key to be shown."""
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        "CREATE TABLE u (id BIGINT); CREATE TABLE t (id BIGINT, k VARCHAR); INSERT INTO u VALUES (1), (2)"
    )
    found = {}
    with sd.connect(owner, policy=policy(most)) as curator:
        options = AnswerOptions.checked(EPSILON, DELTA)
        plan = curator.plan("SELECT k, COUNT(*) AS n FROM t GROUP BY k", options)
        assert plan.keys.epsilon == EPSILON * KEYS_SHARE
        coins = release(plan.keys)
        for database in itertools.product(HELD, repeat=len(UNITS)):
            rows = [
                f"({unit}, '{key}')"
                for unit, held in zip(UNITS, database, strict=True)
                for key in sorted(held)
            ]
            owner.execute("DELETE FROM t" + (f"; INSERT INTO t VALUES {', '.join(rows)}" if rows else ""))
            with curator.data.engine.snapshot() as snapshot:
                counts = dict(count_holders(snapshot, plan.statement, plan.owners, plan.keys.keys_per_unit))
            assert sum(counts.values()) == sum(min(most, len(held)) for held in database)
            found[database] = tuple(coins.probability(counts.get((key,), 0)) for key in KEYS)
    owner.close()
    return found


def excess(p, q):
    """Σ max(0, P(S) - e^ε Q(S)) over all sets S of shown keys; a little less than it is."""
    total = Fraction(0)
    for shown in itertools.product((True, False), repeat=len(KEYS)):
        a = b = Fraction(1)
        for one, other, is_shown in zip(p, q, shown, strict=True):
            a *= one if is_shown else 1 - one
            b *= other if is_shown else 1 - other
        total += max(Fraction(0), a - GROWTH * b)
    return total


def worst_excess(laws):
    pairs = [
        (laws[database], laws[(*database[:i], frozenset(), *database[i + 1 :])])
        for database in laws
        for i in range(len(UNITS))
        if database[i]
    ]
    return max(max(excess(p, q), excess(q, p)) for p, q in set(pairs))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_what_is_shown_has_the_claimed_loss(most):
    worst = worst_excess(shown_laws(most))
    assert worst <= DELTA
    assert worst > DELTA * Fraction(9, 10)


@pytest.mark.parametrize("most", [2, 3])
def test_a_delta_that_is_not_divided_over_the_keys_of_a_unit_is_refused(most):
    def whole(planned):
        return KeyRelease.of(epsilon=planned.epsilon / most, delta=planned.delta, min_units=1)

    assert worst_excess(shown_laws(most, whole)) > DELTA * Fraction(3, 2)


ODD_KEYS = {
    "DATE": ("DATE '2020-01-01'", ["DATE 'infinity'", "DATE '-infinity'", "DATE '10000-01-01'", "DATE '4-3-15 (BC)'"]),
    "HUGEINT": ("7", ["9223372036854775808", "-9223372036854775809"]),
    "UBIGINT": ("7", ["18446744073709551615"]),
    "VARCHAR": ("'a'", ["chr(0)", "'a' || chr(0)"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD_KEYS)
def test_a_key_that_cannot_be_shown_fails_no_question(kind):
    """One customer's key, whatever it is, decides neither whether a question is answered nor how others count."""
    common, odd = ODD_KEYS[kind]
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        f"CREATE TABLE u (id BIGINT); CREATE TABLE t (id BIGINT, k {kind}); INSERT INTO u FROM range(30);"
        f"INSERT INTO t SELECT range, {common} FROM range(29)"
    )
    declared = policy(1) | {"min_units": 1, "budgets": {"ann": {"epsilon": 1000, "delta": 0.5}}}
    with sd.connect(owner, policy=declared) as curator:
        ann = curator.session("ann")
        for key in (common, *odd):
            owner.execute(f"DELETE FROM t WHERE id = 29; INSERT INTO t VALUES (29, {key})")
            release = ann.query("SELECT k, COUNT(*) AS n FROM t GROUP BY k", epsilon=60, delta=0.01)
            (row,) = release.value  # 30 hold it, or 29: at this ε and δ it is shown but for 1e-40
            assert abs(row["n"] - 29) <= 3


def test_the_least_whole_number_is_shown():
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        "CREATE TABLE u (id BIGINT); CREATE TABLE t (id BIGINT, k BIGINT); INSERT INTO u FROM range(30);"
        f"INSERT INTO t SELECT range, {-(2**63)} FROM range(30)"
    )
    with sd.connect(owner, policy=policy(1)) as curator:
        plan = curator.plan("SELECT k, COUNT(*) AS n FROM t GROUP BY k", AnswerOptions.checked(1, 0.1))
        with curator.data.engine.snapshot() as snapshot:
            assert count_holders(snapshot, plan.statement, plan.owners, 1) == [((-(2**63),), 30)]


def test_a_day_of_a_domain_beside_a_key_nobody_declared_is_counted():
    """A domain written in texts: what the engine returns is a day, and is the same group."""
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        "CREATE TABLE u (id BIGINT); CREATE TABLE t (id BIGINT, k VARCHAR, day DATE); INSERT INTO u FROM range(40);"
        "INSERT INTO t SELECT range, 'a', DATE '2020-01-01' FROM range(40)"
    )
    declared = policy(1) | {"min_units": 1, "budgets": {"ann": {"epsilon": 1000, "delta": 0.5}}}
    declared["tables"] = {
        "u": {},
        "t": {"foreign_keys": {"id": "u.id"}, "columns": {"day": {"domain": ["2020-01-01"]}}},
    }
    with sd.connect(owner, policy=declared) as curator:
        asked = "SELECT day, k, COUNT(*) AS n FROM t GROUP BY day, k"
        (row,) = curator.session("ann").query(asked, epsilon=60, delta=0.01).value
        assert (row["day"], row["k"]) == ("2020-01-01", "a")
        assert abs(row["n"] - 40) <= 3


@pytest.mark.parametrize("kind", ["HUGEINT", "UBIGINT"])
def test_an_owner_beyond_64_bits_fails_no_question(kind):
    """Whoever has a key that no column of 64 bits holds is an owner like any other: rows of two, and values."""
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        f"CREATE TABLE u (id {kind}); CREATE TABLE t (id {kind}, other {kind}, k VARCHAR);"
        f"INSERT INTO u VALUES (1), ({2**64 - 1}); INSERT INTO t SELECT a.id, b.id, 'x' FROM u a, u b"
    )
    declared = policy(1) | {"budgets": {"ann": {"epsilon": 1000}}}
    declared["tables"] = {"u": {}, "t": {"foreign_keys": {"id": "u.id", "other": "u.id"}}}
    with sd.connect(owner, policy=declared) as curator:
        for asked, exact in {"COUNT(*)": 4, "COUNT(DISTINCT k)": 1}.items():
            release = curator.session("ann").query(f"SELECT {asked} FROM t", epsilon=200)
            assert abs(release.value - exact) <= 3
