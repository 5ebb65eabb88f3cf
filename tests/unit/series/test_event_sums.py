"""SUM series over tables whose rows come and go: blocks, totals against direct re-query, who pays, combined noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.core import CalibrationError, ParameterError, PrivateDataError, UnsupportedError
from sordino.series.event_sums import find_sensitivity

S = sd.series
Row = S.TimedRow.of
GOLDEN = [Row("a", 1, 5), Row("b", 2, 3, removed=4), Row("a", 3, 2), Row("c", 2, 7, removed=3)]


def open_sums(horizon=4, epsilon=1e9, **options):
    return S.EventSums(horizon, epsilon, step=1, **({"base": 2, "allowance": None} | options))


def requery(rows, time):
    """From the definition: the rows that are there at the end of a time."""
    return sum(row.value for row in rows if row.added <= time < row.removed)


def test_the_golden_series():
    sums = open_sums()
    sums.extend(GOLDEN)
    assert [sums.block(*block)[0] for block in ((1, 1), (1, 2), (3, 3), (1, 4))] == [5, 15, -5, 7]
    assert (
        [sums.close().value for _ in range(4)]
        == [5, 15, 10, 7]
        == [requery(GOLDEN, time) for time in range(1, 5)]
    )
    assert sums.charges() == {"a": 4, "b": 1, "c": 2}
    assert sums.share == Fraction(10**9, 3)


def test_a_provenance_beyond_its_allowance_is_left_out():
    sums = open_sums(epsilon=9.0, allowance="levels")
    sums.extend(GOLDEN)
    releases = [sums.close() for _ in range(4)]
    assert sums.charges()["a"] == 3
    assert {release.guarantee.epsilon for release in releases} == {9.0}
    free = open_sums(epsilon=9.0)
    free.extend(GOLDEN)
    assert [free.close().guarantee.epsilon for _ in range(4)] == [3.0, 6.0, 9.0, 12.0]


def random_rows(source, horizon, count):
    rows = []
    for _ in range(count):
        added = int(source.integers(1, horizon + 1))
        removed = int(source.integers(added + 1, horizon + 3)) if source.random() < 0.5 else None
        rows.append(Row(int(source.integers(4)), added, int(source.integers(-9, 10)), removed=removed))
    return rows


@pytest.mark.parametrize("base", [2, 3, 5, "auto"])
def test_totals_without_noise_are_those_of_asking_again(base):
    source = np.random.default_rng(8)
    for horizon in (1, 2, 5, 9, 17):
        rows = random_rows(source, horizon, 12)
        sums = open_sums(horizon, base=base)
        sums.extend(rows)
        assert [sums.close().value for _ in range(horizon)] == [
            requery(rows, t) for t in range(1, horizon + 1)
        ]


@pytest.mark.parametrize("base", [2, 3])
def test_nobody_is_in_more_blocks_than_was_charged(base):
    """Brute force: move one row's value and count the released blocks that move; no more than its provenance paid."""
    source = np.random.default_rng(9)
    horizon = 8
    for _ in range(10):
        rows = random_rows(source, horizon, 6)
        sums = open_sums(horizon, base=base)
        sums.extend(rows)
        blocks = []
        for time in range(1, horizon + 1):
            length = max(base**k for k in range(4) if time % base**k == 0)
            blocks.append((time - length + 1, time))
            sums.close()
        for name in range(4):
            moved = open_sums(horizon, base=base)
            moved.extend(
                S.TimedRow(r.provenances, r.added, r.value + (name in r.provenances), 1.0, r.removed)
                for r in rows
            )
            touched = sum(sums.block(*block)[0] != moved.block(*block)[0] for block in blocks)
            assert touched <= sums.charges().get(name, 0)


def test_changed_rows_are_two_versions_that_pay_once():
    sums = open_sums(2)
    old = Row("a", 1, 5)
    sums.add(old)
    assert sums.close().value == 5
    sums.remove(old, 2)
    sums.add(Row("a", 2, 8))
    assert sums.close().value == 8
    assert sums.charges() == {"a": 2}


def test_joined_rows_are_there_while_all_of_them_are():
    joined = S.join_rows([Row("a", 1, 5, removed=6), Row("b", 3, 2)], 10, sensitivity=2, public=[(4, 9)])
    assert (joined.added, joined.removed, joined.provenances) == (4, 6, {"a", "b"})
    assert S.join_rows([Row("a", 1, 5, removed=3), Row("b", 3, 2)], 10, sensitivity=2) is None


def test_joined_rows_of_one_row_move_together():
    a, b, c = Row("a", 1, 5), Row("b", 1, 2), Row("c", 1, 2)
    pairs = [S.join_rows([a, other], 1, sensitivity=3) for other in (b, c)]
    assert find_sensitivity(pairs) == pytest.approx(6)
    assert find_sensitivity([a, b]) == 1


def test_tables_are_joined_by_user():
    rows = [("ann", 2, 10.0), ("bob", 3, 20.0)]
    visits = [("ann", 1, 2), ("ann", 2, 3), ("eve", 9, 9)]

    def question(amount, visits):
        return amount * sum(visits), float(sum(visits))

    joined = S.join_by_user(rows, [visits], question)
    assert [(row.added, row.value, row.sensitivity) for row in joined] == [(2, 50, 5), (3, 0, 0)]
    with pytest.raises(PrivateDataError, match="twice"):
        S.join_by_user([*rows, ("ann", 4, 1.0)], [visits], question)
    with pytest.raises(PrivateDataError, match="after the user entered"):
        S.join_by_user(rows, [[("ann", 3, 1)]], question)


def test_smooth_rows_get_noise_for_smooth_bounds():
    with pytest.raises(ParameterError, match="beta of its rows"):
        S.EventSums(4, 50, step=1).add(Row("a", 1, 100, smooth=True))
    sums = S.EventSums(4, 50, step=1, base=2, noise="cauchy", beta=0.5)
    sums.add(Row("a", 1, 100, sensitivity=0.5, smooth=True))
    assert abs(sums.close().value - 100) < 10**6
    with pytest.raises(CalibrationError):
        S.EventSums(4, 1, step=1, noise="cauchy", beta=0.5)


def test_laplace_noise_for_smooth_rows_needs_delta():
    with pytest.raises(ParameterError, match="delta"):
        S.EventSums(4, 1, step=1, noise="laplace")
    sums = S.EventSums(4, 1, step=1, noise="laplace", delta=1e-6, beta=0.01)
    sums.add(Row("a", 1, 100, smooth=True))
    assert sums.close().guarantee.delta == pytest.approx(1e-6)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Row("a", 3, 1, removed=3), "removed must be after added"),
        (lambda: Row(None, 1, 1), "provenance"),
        (lambda: Row([], 1, 1), "provenance"),
        (lambda: Row("a", 0, 1), "added"),
        (lambda: open_sums().add(Row("a", 5, 1)), "beyond the horizon"),
        (lambda: open_sums().add("a"), "TimedRow"),
        (lambda: S.EventSums(4, -1, step=1), "epsilon"),
    ],
)
def test_bad_input_is_refused(make, match):
    with pytest.raises(ParameterError, match=match):
        make()


def test_times_out_of_order_and_beyond_the_horizon_are_refused():
    sums = open_sums(2)
    row = Row("a", 1, 1)
    sums.add(row)
    sums.close()
    with pytest.raises(ParameterError, match="out of order"):
        sums.add(Row("b", 1, 1))
    with pytest.raises(ParameterError, match="out of order"):
        sums.remove(row, 1)
    sums.close()
    with pytest.raises(ParameterError, match="nothing was released"):
        sums.close()


def test_the_golden_of_combined_noise():
    noise = S.CombinedNoise(uses=3, largest=2, per_use=0.7, weight=5)
    assert noise.scale(epsilon=1, levels=11) == pytest.approx(23.1)
    shares = {"epsilon_value": 0.75, "epsilon_scale": 0.25, "levels": 11}
    assert noise.local_scale(0.2, **shares) == pytest.approx(152.837741, abs=1e-6)
    heavy = S.CombinedNoise(uses=3, largest=2, per_use=0.7, weight=2000)
    assert heavy.local_scale(0.2, **shares) == pytest.approx(44, abs=1e-9)
    assert noise.advise(0.2, epsilon=1, levels=11)["best"] == "global"
    for measured in (0.0, 0.3, 0.7):
        most = noise.scale(epsilon=1, levels=11) / 0.75 * 5
        assert noise.local_scale(measured, **shares) <= most * (1 + 1e-12)


def test_local_combined_noise_costs_what_it_says():
    """Adding a row moves the scale within e^{βG}: the floor e^{−βG}K sees to it, for whatever is measured before."""
    noise = S.CombinedNoise(uses=3, largest=0.001, per_use=0.7, weight=50)
    beta = 0.25 / (5 * 3 * 11)
    shares = {"epsilon_value": 0.75, "epsilon_scale": 0.25, "levels": 11}
    for before in np.linspace(0, 0.7, 15):
        for after in np.linspace(before, 0.7, 8):
            ratio = noise.local_scale(after, **shares) / noise.local_scale(before, **shares)
            assert ratio <= np.exp(beta * 50) * (1 + 1e-12)


def test_combined_sums_refuse_a_use_too_many_and_keep_charges_secret():
    noise = S.CombinedNoise(uses=2, largest=10, per_use=1)
    sums = S.EventSums(4, 1e9, step=1, base=2, combined=noise)
    sums.add(Row("a", 1, 5))
    sums.add(Row("a", 1, 3))
    with pytest.raises(ParameterError, match="more than 2 times"):
        sums.add(Row("a", 1, 1))
    with pytest.raises(ParameterError, match="clip it"):
        sums.add(Row("b", 1, 11))
    assert [sums.close().value for _ in range(4)] == [8, 8, 8, 8]
    with pytest.raises(UnsupportedError):
        sums.charges()


def test_a_row_that_goes_is_used_twice():
    """It can be in more blocks than there are levels: 1 → 5 of 8 is in five of them."""
    sums = open_sums(8)
    sums.add(Row("a", 1, 1, removed=5))
    for _ in range(8):
        sums.close()
    assert sums.charges()["a"] == 5 > sums.levels
    combined = S.EventSums(8, 1.0, step=1, base=2, combined=S.CombinedNoise(uses=1, largest=10, per_use=1))
    with pytest.raises(ParameterError, match="more than 1 times"):
        combined.add(Row("a", 1, 1, removed=5))


def test_every_block_of_combined_sums_has_noise():
    sums = S.EventSums(4, 1e-3, step=1, base=2, combined=S.CombinedNoise(uses=1, largest=10, per_use=1))
    assert any(sums.close().value for _ in range(4))


def test_rows_joined_in_two_steps_are_still_joined_rows_of_one_row():
    """Moving a by 1 moves (ab)c by 3 and (a)d by 4; so does moving it where the joins name only provenances."""
    a, b, c, d = (Row(name, 1, 1) for name in "abcd")
    first = S.join_rows([a, b], 1, sensitivity=3)
    nested = [S.join_rows([first, c], 1, sensitivity=3), S.join_rows([a, d], 1, sensitivity=4)]
    assert find_sensitivity(nested) == 7
    by_hand = [Row(["a", "b"], 1, 1, sensitivity=3), Row(["a", "c"], 1, 1, sensitivity=4)]
    assert find_sensitivity(by_hand) == 7
    sums = open_sums()
    sums.extend(by_hand)
    assert find_sensitivity([sums.remove(by_hand[0], 3), by_hand[1]]) == 7, "also when one has gone"
    assert find_sensitivity([Row("a", 1, 1, sensitivity=3), Row("a", 1, 1, sensitivity=4)]) == 4


def test_rows_that_look_the_same_are_two_rows():
    """Else the width of the noise would tell whether two values agree."""
    alike, other = [Row("a", 1, 5), Row("a", 1, 5)], [Row("a", 1, 5), Row("a", 1, 6)]
    assert find_sensitivity(alike) == find_sensitivity(other) == 1


def drawn_scale(monkeypatch, **limits):
    """The scale, in steps, of the noise of one block of combined sums at ε = 1."""
    scales = []
    monkeypatch.setattr(
        "sordino.series.event_sums.draw_discrete_laplace", lambda scale: scales.append(scale) or 0
    )
    sums = S.EventSums(4, 1, step=1, base=2, combined=S.CombinedNoise(**limits))
    sums.close()
    return scales[0], sums.levels


@pytest.mark.parametrize("weight", [0.1, 1, 5])
@pytest.mark.parametrize("largest", [0.01, 1, 2.5])
def test_rounding_is_paid_for_by_rows_of_any_weight(monkeypatch, weight, largest):
    """A row that adds 0.01 to 0.99 moves a block by a whole step, and a row of weight 1/10 may cost ε/10 in all."""
    limits = {"uses": 2, "largest": largest, "per_use": 0.0, "weight": weight}
    scale, levels = drawn_scale(monkeypatch, **limits)
    moved = max(
        np.floor(start + 2 * largest) - np.floor(start) for start in np.arange(0, 1, 1 / 64)
    )  # one block, both uses
    assert moved / scale * levels <= weight * (1 + 1e-12)
    assert 2 * np.ceil(largest) / scale * levels == pytest.approx(weight), "and nothing is paid twice"


def test_event_sums_are_paid_for_when_they_are_opened():
    from sordino.ledger import Ledger, Limit

    ledger = Ledger.in_memory()
    ledger.grant("shop", "ann", Limit.of(epsilon=2))
    paid = {"ledger": ledger, "account": ("shop", "ann")}
    sums = S.EventSums(4, 1, step=1, base=2, allowance=5, **paid)
    spent = ledger.account("shop", "ann").spent.loss
    assert Fraction(5, 3) <= spent < Fraction(5, 3) + Fraction(1, 10**9), "five shares of a third, rounded up"
    assert sums.close().guarantee.epsilon == pytest.approx(5 / 3)
    with pytest.raises(sd.BudgetError):
        S.EventSums(4, 1, step=1, **paid)
    with pytest.raises(ParameterError, match="without an allowance"):
        S.EventSums(4, 0.01, step=1, allowance=None, **paid)
    with pytest.raises(ParameterError, match="two distances"):
        S.EventSums(4, 0.01, step=1, combined=S.CombinedNoise(1, 1, 1), **paid)
