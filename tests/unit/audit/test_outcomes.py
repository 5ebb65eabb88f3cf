"""Outcomes are told apart by type and bits: whatever a reader could tell apart carries a message."""

import enum
import math
import struct
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import attack, prove
from sordino.audit.outcome import outcome_key, outcome_kind
from sordino.core.errors import ProofError


def other_bit(x):
    return [1 - x]


def nan_with(payload):
    return struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0000 | payload))[0]


class Colour(enum.IntEnum):
    RED = 1


@dataclass(frozen=True)
class Point:
    x: float


Pair = namedtuple("Pair", "a b")
UTC, EAST = timezone.utc, timezone(timedelta(hours=1))  # noqa: UP017

APART = [
    (0.0, -0.0),
    (1, True),
    (1, 1.0),
    (1.0, np.float64(1.0)),
    (1, np.int64(1)),
    (np.int32(1), np.int64(1)),
    (np.float32(0.0), np.float32(-0.0)),
    (np.longdouble(0.0), np.longdouble(-0.0)),
    (nan_with(0), nan_with(5)),
    (1, Fraction(1)),
    (1, Decimal(1)),
    (Decimal("1.0"), Decimal("1.00")),
    (Decimal("0"), Decimal("-0")),
    (0j, complex(0.0, -0.0)),
    (1, Colour.RED),
    ((0.0, "a"), (-0.0, "a")),
    (("a", (1, [2])), ("a", (1, [2.0]))),
    ((1, 2), [1, 2]),
    ((1, 2), Pair(1, 2)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": True}),
    ({"a": 1}, OrderedDict(a=1)),
    (frozenset([1]), frozenset([True])),
    (np.array([0.0]), np.array([-0.0])),
    (np.array([1, 2]), np.array([[1, 2]])),
    (np.array([1, 2], dtype=object), np.array([1, True + 1.0], dtype=object)),
    (Point(0.0), Point(-0.0)),
    ("1", b"1"),
    (datetime(2020, 1, 1, 12, tzinfo=UTC), datetime(2020, 1, 1, 13, tzinfo=EAST)),
]


@pytest.mark.parametrize(("one", "two"), APART, ids=repr)
def test_what_a_reader_tells_apart_is_apart(one, two):
    assert outcome_key(one) != outcome_key(two)
    told = prove(lambda x: ([(one, two)[x]], [1.0]), [0, 1], other_bit, 0.0)
    assert not told.holds
    assert told.worst_epsilon == np.inf
    assert not attack(lambda x: (one, two)[x], 0, 1, runs=400, epsilon=0.5).holds


def mixed():
    return (
        1,
        2.5,
        -0.0,
        "a",
        None,
        True,
        b"b",
        [Decimal("1.0"), {"k": np.arange(3)}],
        np.float32(2),
        Point(1.0),
    )


def test_outcomes_of_the_same_types_and_bits_are_one():
    assert outcome_key(mixed()) == outcome_key(mixed())
    assert outcome_key(nan_with(3)) == outcome_key(nan_with(3))
    assert outcome_key(np.longdouble(1) / 3) == outcome_key(np.longdouble(1) / 3)
    proof = prove(lambda x: ([mixed(), float("nan")], [0.5, 0.5]), [0, 1], other_bit, 0.0)
    assert proof.holds
    assert attack(lambda x: mixed(), 0, 1, runs=100).epsilon_lower_bound == 0


@pytest.mark.parametrize(("one", "two"), [(0.0, -0.0), (1, True), (1, 1.0), (np.float64(2), 2.0)], ids=repr)
def test_keys_of_mapping_laws_are_told_apart(one, two):
    told = prove(lambda x: {(one, two)[x]: 1.0}, [0, 1], other_bit, 0.0)
    assert told.worst_epsilon == np.inf
    assert repr(told.witness.outcome) in (repr(one), repr(two))
    assert repr(told.witness.outcome) in str(told)


def test_an_outcome_that_is_named_twice_has_both_masses():
    laws = [([float("nan"), float("nan"), 0.0], [0.25, 0.25, 0.5]), ([float("nan"), 0.0], [0.5, 0.5])]
    assert prove(laws.__getitem__, [0, 1], other_bit, 0.0).worst_epsilon == pytest.approx(0, abs=1e-12)


def test_outcomes_without_identity_are_refused():
    class Bare:
        __hash__ = None

    with pytest.raises(ProofError, match="told apart"):
        prove(lambda x: ([Bare()], [1.0]), [0, 1], other_bit, 0.0)


def test_the_kind_of_an_outcome_is_seen_where_no_value_occurs_twice():
    assert outcome_kind((0.0, 1.5)) != outcome_kind((-0.0, 2.5))
    assert outcome_kind((3.0, 1.5)) == outcome_kind((2.0, 7.25))
    fresh = iter(np.random.default_rng(3).random(10_000).tolist())
    typed = attack(lambda x: (next(fresh), 0.0 if x else -0.0), 0, 1, runs=1000)
    assert typed.epsilon_lower_bound > 2
    numpy_or_not = attack(lambda x: np.float64(next(fresh)) if x else next(fresh), 0, 1, runs=1000)
    assert numpy_or_not.epsilon_lower_bound > 2


def test_given_outcomes_do_not_hide_what_tells_them_apart():
    for one, two in ((0.0, -0.0), (1, True), (1, np.int64(1))):
        found = attack(lambda x, pair=(one, two): pair[x], 0, 1, runs=400, outcomes=[one])
        assert found.epsilon_lower_bound > 2


def test_vectorised_samples_are_told_apart_by_bits_and_dtype():
    for one, two in ((0.0, -0.0), (1, 1.0), (1.0, np.float32(1.0)), (np.nan, -np.nan)):
        found = attack(
            lambda x, size, pair=(one, two): np.full(size, pair[x]), 0, 1, runs=400, vectorised=True
        )
        assert found.epsilon_lower_bound > 2


def test_databases_that_python_calls_equal_are_two_databases():
    """Whether 1/x is +∞ or -∞: the two zeros are neighbours with different answers, and neither may be lost."""
    law = lambda x: {math.copysign(1.0, x): 1.0}  # noqa: E731
    flipped = prove(law, [0.0, -0.0], lambda x: [-x], 1.0)
    assert (flipped.pairs, flipped.worst_epsilon) == (2, np.inf)
    assert prove(lambda x: [1.0], [0, 1], lambda x: [bool(1 - x)], 0.0).pairs == 2
    with pytest.raises(ProofError, match="not in the universe"):
        prove(law, [0.0, -0.0], lambda x: [0], 1.0)
    with pytest.raises(ProofError, match="twice"):
        prove(law, [0.0, -0.0, 0.0], lambda x: [-x], 1.0)
