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
