"""Event sums cost what they say: released blocks and scales of the code that runs, over neighbours of small tables.

A block gets independent Laplace noise of its scale, so two runs whose scales agree are apart by the sum of the moves of
their blocks over the scales. Values move by 1 in one row; with combined noise rows also come and go.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sordino as sd

S = sd.series
Row = S.TimedRow.of
HORIZON = 5


@pytest.fixture
def run(monkeypatch):
    """Blocks in steps, with noise that is zero, and the scales that the noise would have had."""

    def observe(rows, **options):
        scales = []
        monkeypatch.setattr(
            "sordino.series.event_sums.draw_discrete_laplace", lambda scale: scales.append(scale) or 0
        )
        sums = S.EventSums(HORIZON, 1, **({"step": 1} | options))
        sums.extend(rows)
        moved, seen = [], 0
        for time in range(1, HORIZON + 1):
            level = max(k for k in range(sums.levels) if time % sums.shape.base**k == 0)
            before = sum(sums._released[level:], Fraction(0))
            total = Fraction(sums.close().value)
            drawn = len(scales) > seen
            moved.append(((total - before) / sums._step, Fraction(scales[-1]) if drawn else None))
            seen = len(scales)
        return moved

    return observe


def cost(one, other):
    """Σ |difference| / scale: the exact loss of two runs of the same scales; what has no noise must not differ."""
    total = Fraction(0)
    for (value, scale), (moved, wide) in zip(one, other, strict=True):
        assert scale == wide, "scales are public here"
        if value != moved:
            assert scale is not None, "a block without noise tells about values"
            total += abs(value - moved) / scale
    return total


def random_rows(source, joined):
    rows = []
    for _ in range(5):
        added = int(source.integers(1, HORIZON + 1))
        removed = int(source.integers(added + 1, HORIZON + 2)) if source.random() < 0.5 else None
        rows.append(Row("abc"[int(source.integers(3))], added, int(source.integers(4)), removed=removed))
    if joined:
        pairs = [(rows[0], rows[1]), (rows[0], rows[2])]
        rows = [S.join_rows(pair, sum(row.value for row in pair), sensitivity=1) for pair in pairs]
    return [row for row in rows if row is not None]


@pytest.mark.parametrize("base", [2, 3, 6])
@pytest.mark.parametrize("allowance", ["levels", 2])
def test_moving_the_contents_of_a_row_costs_what_its_provenance_may_pay(run, base, allowance):
    source = np.random.default_rng(11)
    worst = Fraction(0)
    for _ in range(25):
        rows = random_rows(source, joined=False)
        options = {"base": base, "allowance": allowance}
        plain = run(rows, **options)
        sums = S.EventSums(HORIZON, 1, step=1, **options)
        most = sums.share * sums.allowance
        for place, row in enumerate(rows):
            changed = [*rows]
            changed[place] = S.TimedRow(row.provenances, row.added, row.value + 1, 1.0, row.removed)
            found = cost(plain, run(changed, **options))
            assert found <= most
            worst = max(worst, found / most)
    assert worst == 1, "and some row costs all of it"


@pytest.mark.parametrize("base", [2, 6])
def test_joined_rows_of_one_row_move_together(run, base):
    source = np.random.default_rng(12)
    for _ in range(25):
        rows = random_rows(source, joined=True)
        plain = run(rows, base=base)
        moved = [
            S.TimedRow(row.provenances, row.added, row.value + 1, 1.0, row.removed, components=row.components)
            for row in rows
        ]  # all of them hold the first row
        assert cost(plain, run(moved, base=base)) <= 1


@pytest.mark.parametrize("base", [2, 6])
@pytest.mark.parametrize("step", [1, Fraction(5, 2)])
@pytest.mark.parametrize("weight", [0.5, 1, 4])
def test_rows_that_come_and_go_cost_their_weight(run, base, step, weight):
    """Joined rows lose all that hold one provenance: at most M uses, one for each that stays, two for one that goes."""
    source = np.random.default_rng(13)
    limits = S.CombinedNoise(uses=6, largest=4, per_use=1, weight=weight)
    worst = Fraction(0)
    for _ in range(25):
        rows = random_rows(source, joined=False)[:3]
        options = {"base": base, "step": step, "combined": limits}
        plain = run(rows, **options)
        for name in "abc":
            found = cost(plain, run([row for row in rows if name not in row.provenances], **options))
            assert found <= Fraction(weight)
            worst = max(worst, found)
        for place, row in enumerate(rows):
            changed = [*rows]
            changed[place] = S.TimedRow(row.provenances, row.added, row.value + 1, 1.0, row.removed)
            assert row.value == 4 or cost(plain, run(changed, **options)) <= 1
    assert worst > 0
