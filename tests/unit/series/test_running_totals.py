"""Trees and factorizations: digits, levels, totals without noise, errors, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import sordino as sd
from sordino.core import ParameterError, PrivateDataError
from sordino.series.tree_shape import TreeShape, choose_shape, cost_of
from tests.oracles.streams import count_memberships, list_released_blocks

S = sd.series


@pytest.mark.parametrize(
    ("horizon", "base", "levels", "addends", "mean"),
    [
        (1024, 2, 11, 10, 6),
        (1024, 3, 7, 12, 4.719),
        (1024, 4, 6, 15, 4.75),
        (1024, 8, 4, 22, 3.625),
        (1024, 16, 3, 33, 2.875),
        (1000, 2, 10, 9, 5.06),
        (1000, 16, 3, 32, 2.65),
    ],
)
def test_levels_addends_and_memberships_of_known_trees(horizon, base, levels, addends, mean):
    shape = TreeShape(horizon, base)
    members = count_memberships(horizon, base)
    assert (shape.levels, shape.most_addends) == (levels, addends)
    assert max(members) == levels
    assert np.mean(members) == pytest.approx(mean, abs=0.006)


@pytest.mark.parametrize(
    ("horizon", "base", "cost", "binary"),
    [(365, 20, 144, 648), (1024, 11, 243, 1210), (10**4, 22, 549, None), (10**5, 18, 1072, 4624)],
)
def test_the_automatic_base_is_the_best_one(horizon, base, cost, binary):
    chosen = choose_shape(horizon, "auto")
    assert (chosen.base, cost_of(chosen)) == (base, cost)
    if binary is not None:
        assert cost_of(TreeShape(horizon, 2)) == binary


@pytest.mark.parametrize("horizon", [1, 2, 3, 8, 50, 365])
@pytest.mark.parametrize("subtract", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_no_base_is_better_than_the_automatic_one(horizon, subtract, power):
    best = cost_of(choose_shape(horizon, "auto", subtract=subtract, power=power), power)
    every = [
        choose_shape(horizon, base, subtract=subtract)
        for base in range(3 if subtract else 2, 2 * horizon + 3)
    ]
    assert best == min(cost_of(shape, power) for shape in every)


@pytest.mark.parametrize("base", [2, 3, 4, 7])
@pytest.mark.parametrize("subtract", [False, True])
def test_blocks_sum_up_to_the_total(base, subtract):
    if subtract and base == 2:
        return
    horizon = 60
    shape = choose_shape(horizon, base, subtract=subtract)
    every = set(list_released_blocks(horizon, base))
    for time in range(1, horizon + 1):
        covered = np.zeros(horizon * base * base + 1, dtype=int)
        for first, last, sign in shape.blocks(time):
            covered[first : last + 1] += sign
            assert subtract or (first, last) in every
        assert covered[1 : time + 1].tolist() == [1] * time
        assert not covered[time + 1 :].any()
        assert len(shape.blocks(time)) == shape.addends(np.array([time]))[0]
    assert shape.most_addends == shape.addends(np.arange(1, horizon + 1)).max()


def test_the_seventh_total_of_a_binary_tree():
    blocks = [(block.first, block.last) for block in S.BlockTree(8, 1.0, base=2).blocks(7)]
    assert blocks == [(1, 4), (5, 6), (7, 7)]


MAKERS = {
    "block": lambda **k: S.BlockTree(300, **k),
    "binary": lambda **k: S.BlockTree(300, base=2, **k),
    "pan": lambda **k: S.BlockTree(300, base=3, pan_private=True, **k),
    "subtraction": lambda **k: S.SubtractionTree(300, **k),
    "even": lambda **k: S.SubtractionTree(300, base=4, **k),
    "doubling": lambda **k: S.DoublingTree(**k),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_totals_without_noise_are_the_sums_however_they_are_pushed(make):
    changes = (np.arange(300) * 7919) % 23 - 5
    series = make(epsilon=1e9)
    found = [series.push(int(change)).value for change in changes[:40]]
    for piece in np.split(changes[40:], [1, 3, 50, 51]):
        found += series.extend(piece).value.tolist()
    assert found == np.cumsum(changes).tolist()
    assert series.time == 300


@pytest.mark.parametrize("band", [None, 1, 7])
def test_the_factorization_without_noise_gives_the_sums(band):
    changes = (np.arange(90) * 7919) % 23 - 5
    root = S.SquareRoot(90, rho=1e14, band=band)
    found = [
        *root.extend(changes[:33]).value,
        root.push(int(changes[33])).value,
        *root.extend(changes[34:]).value,
    ]
    assert found == pytest.approx(np.cumsum(changes).tolist(), abs=1e-6)


@pytest.mark.parametrize(
    ("make", "largest"),
    [
        (lambda: S.BlockTree(365, rho=0.5, base=2), 8.9),
        (lambda: S.SubtractionTree(365, rho=0.5), 6.9),
        (lambda: S.SquareRoot(365, rho=0.5), 2.95),
    ],
)
def test_errors_at_equal_zcdp_are_no_worse_than_published(make, largest):
    assert make().worst_error <= largest


def test_subtraction_has_about_an_eighth_of_the_binary_variance_in_the_long_run():
    horizon = 19**9
    times = np.linspace(1, horizon, 20001).astype(np.int64)
    sub, binary = choose_shape(horizon, 19, subtract=True), TreeShape(horizon, 2)
    ratio = (binary.addends(times).mean() * binary.levels**2) / (sub.addends(times).mean() * sub.levels**2)
    assert 6.5 < ratio < 9


def test_the_deviation_is_the_formula():
    tree = S.BlockTree(1024, 0.1, base=2)
    laplace = (11 / 0.1) * np.sqrt(2 * 9)  # time 511 has nine digits of one
    assert tree.error(511) == pytest.approx(laplace, rel=1e-4)
    assert S.BlockTree(1024, 0.1, base=2, pan_private=True).error(511) == pytest.approx(
        laplace * 2**0.5, rel=1e-4
    )


def test_the_start_gets_the_whole_budget_unless_rows_are_shared():
    alone, shared = (
        S.BlockTree(8, 1.0, base=2, start=100),
        S.BlockTree(8, 1.0, base=2, start=100, start_shares_rows=True),
    )
    assert alone.noise.rate == 1 / 4 or alone.noise.rate * 4 == 1
    assert shared.noise.rate * 5 == 1
    assert alone.error(1) > S.BlockTree(8, 1.0, base=2).error(1)
    assert S.BlockTree(8, 1e9, base=2, start=100).push(1).value == 101


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_states_stay_small(make):
    series = make(epsilon=1.0)
    series.extend(np.ones(290, dtype=np.int64))
    if isinstance(series, S.BlockTree):
        assert len(series._open) == len(series._released) == series.levels
    elif isinstance(series, S.SubtractionTree):
        assert sum(map(len, series._subtracted)) <= series.levels * series.base / 2


def test_what_goes_past_the_horizon_is_refused_and_changes_nothing():
    tree = S.BlockTree(3, 1.0)
    tree.extend([1, 1])
    with pytest.raises(ParameterError, match="horizon of this series is 3"):
        tree.extend([1, 1])
    assert tree.time == 2
    tree.push(1)
    with pytest.raises(ParameterError, match="nothing was released"):
        tree.push(1)


def test_rows_in_two_changes_are_refused_where_they_are_named():
    tree = S.BlockTree(3, 1.0)
    tree.push(1, ids=["a"])
    with pytest.raises(PrivateDataError, match="two times"):
        tree.push(1, ids=["b", "a"])
    assert tree.time == 1
    tree.push(1, ids=["b"])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"horizon": 0, "epsilon": 1}, "horizon"),
        ({"horizon": 5}, "either epsilon or rho"),
        ({"horizon": 5, "epsilon": 1, "rho": 1}, "either epsilon or rho"),
        ({"horizon": 5, "epsilon": -1}, "epsilon must be > 0"),
        ({"horizon": 5, "epsilon": 1, "base": 1}, "base"),
        ({"horizon": 5, "epsilon": 1, "sensitivity": 0}, "sensitivity"),
        ({"horizon": 5, "epsilon": 1, "noise": "gaussian"}, "not paid for"),
        ({"horizon": 5, "rho": 1, "noise": "laplace"}, "not paid for"),
        ({"horizon": 5, "epsilon": 1e-15}, "too small"),
        ({"horizon": 5, "rho": 1e-25}, "too small"),
    ],
)
def test_bad_parameters_are_refused(arguments, match):
    with pytest.raises(ParameterError, match=match):
        S.BlockTree(**arguments)


@pytest.mark.parametrize("changes", [[float("nan")], [float("inf")], [2.0**61]])
def test_changes_that_are_no_numbers_are_refused_without_showing_them(changes):
    with pytest.raises(PrivateDataError) as error:
        S.BlockTree(3, 1.0).extend(changes)
    assert "nan" not in str(error.value)


def test_changes_are_rounded_down_to_the_lattice():
    tree = S.BlockTree(4, 1e9, 1, step=0.1)
    assert [round(value, 6) for value in tree.extend([0.25, 0.31, -0.05]).value] == [0.2, 0.5, 0.4]
    assert tree.lattice.sensitivity == 10
    assert S.BlockTree(4, 1.0, 0.25, step=0.1).lattice.sensitivity == 3


def test_a_series_is_paid_for_once_when_it_is_opened(tmp_path):
    from sordino.ledger import Ledger, Limit

    path = tmp_path / "book"
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1.5), distance=sd.add_remove_row())
        tree = S.BlockTree(100, 1.0, ledger=ledger, account=("shop", "ann"))
        tree.extend(np.ones(100))
        assert str(ledger.account("shop", "ann")).startswith("epsilon 0.5 left")
        with pytest.raises(sd.BudgetError):
            S.BlockTree(100, 1.0, ledger=ledger, account=("shop", "ann"))


def test_a_budget_that_is_too_small_to_be_drawn_is_refused_before_it_is_paid(tmp_path):
    from sordino.ledger import Ledger, Limit

    with Ledger.open(tmp_path / "book") as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1), distance=sd.add_remove_row())
        with pytest.raises(ParameterError, match="nothing was spent"):
            S.BlockTree(100, 1e-14, ledger=ledger, account=("shop", "ann"))
        assert not [event for event in ledger.history() if event.kind == "reserve"]


def test_a_refused_change_leaves_a_factorization_as_it_was():
    root = S.SquareRoot(10, rho=1e14)
    with pytest.raises(PrivateDataError, match="larger step"):
        root.push(2**45)
    assert root.push(3).value == pytest.approx(3, abs=1e-6)


@pytest.mark.parametrize("make", [S.BlockTree, S.SubtractionTree])
def test_the_largest_error_is_known_without_looking_at_every_time(make):
    for horizon in (1, 2, 7, 100, 365):
        for loss in ({"epsilon": 0.7}, {"rho": 0.3}):
            tree = make(horizon, **loss)
            every = tree.deviations(np.arange(1, horizon + 1)).max()
            assert tree.worst_error == pytest.approx(every, rel=1e-12)
    assert make(2**40, epsilon=1).worst_error > make(2**20, epsilon=1).worst_error
    with pytest.raises(ParameterError, match="tabulates"):
        S.advise(2**30, epsilon=1)
    root = S.SquareRoot(100, 0.5, band=7)
    assert root.worst_error == pytest.approx(root.deviations(np.arange(1, 101)).max())


def test_seeded_totals_say_that_they_are_not_private():
    from sordino.testing import seeded

    with seeded(1):
        one = S.BlockTree(5, 1.0).extend([1, 2, 3])
    with seeded(1):
        two = S.BlockTree(5, 1.0).extend([1, 2, 3])
    assert one.value.tolist() == two.value.tolist()
    assert not one.private
    assert "NOT PRIVATE" in str(one.guarantee)


def test_advice_is_by_public_parameters():
    pure = S.advise(365, epsilon=1.0)
    assert pure.best.name == "subtraction tree of base 28"
    assert [row.worst_error for row in pure.rows] == sorted(row.worst_error for row in pure.rows)
    assert S.advise(365, rho=0.5).best.worst_error == pytest.approx(2.944, abs=1e-3)
    assert pure.best.open().push(1).guarantee.epsilon == 1.0
    assert "base 28" in str(pure)
    assert pure.to_dict()["mechanisms"][0]["worst_error"] == pure.best.worst_error
