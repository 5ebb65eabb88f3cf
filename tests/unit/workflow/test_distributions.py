"""Distributions: goldens, and weights that are none."""

from __future__ import annotations

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow import Family, bottleneck, emd, emd_1d, emd_front, lifted_epsilon

POINTS = (0, 1, 3)
LINE = [[abs(one - other) for other in POINTS] for one in POINTS]
P, Q = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)


def test_goldens_on_the_line():
    """Worked out by hand: 0.3 of the mass goes from 0 to 3, 0.1 from 1 to 3."""
    assert emd(P, Q, LINE) == pytest.approx(1.1)
    assert emd_1d(POINTS, P, Q) == 1.1
    assert bottleneck(P, Q, LINE) == 3
    assert lifted_epsilon(P, Q, lambda v: 0.2 * v, LINE) == pytest.approx(0.6)
    assert bottleneck((0.5, 0.5, 0), (0.5, 0.25, 0.25), LINE) == 2


def test_the_golden_front():
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    by = [[[abs(a[axis] - b[axis]) for b in places] for a in places] for axis in range(2)]
    front = emd_front((0.5, 0, 0, 0.5), (0, 0.5, 0.5, 0), by)
    assert front == [(0, 1), (1, 0)]


def test_the_golden_product_of_families():
    A, B = Family([[(1, 0)], [(0, 2)]]), Family([[(0, 1)], [(3, 0)]])
    found = Family.multiply([[A, B]])
    assert found.sets == {frozenset({(1, 0), (0, 1)}), frozenset({(3, 0)}), frozenset({(0, 2)})}
    assert found.value(sum) == 1 == max(A.value(sum), B.value(sum))


def test_families_of_numbers_are_one_number():
    assert Family([[3, 1], [2], [5]]).sets == {frozenset({2})}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: emd((0.5, 0.6), (0.5, 0.5), [[0, 1], [1, 0]]), "weights p must sum to 1, got 1.1"),
        (lambda: emd((0.5, 0.5), (1.5, -0.5), [[0, 1], [1, 0]]), r"q\[1\] must be >= 0, got -0.5"),
        (lambda: emd((1,), (0.5, 0.5), [[0]]), "1 rows and 2 columns"),
        (lambda: emd((1,), (0.5, 0.5), [[0, float("inf")]]), r"d\[0\]\[1\] must be finite"),
        (lambda: emd_1d((0, 1), (1,), (1,)), "equally many"),
        (lambda: bottleneck((1,), (1,), [[-1]]), r"cost\[0\]\[0\] must be >= 0"),
        (lambda: lifted_epsilon((1,), (1,), abs), "give the distances too"),
        (lambda: emd_front((1,), (1,), []), "at least one matrix"),
        (lambda: Family([]), "must have sets"),
        (lambda: Family([[]]), "each set members"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_families_that_grow_too_large_are_refused():
    many = Family([[(i, 400 - i)] for i in range(400)])
    with pytest.raises(UnsupportedError, match="at most"):
        many.join(many)
