"""Running totals are private over all neighbouring streams: the law of the code that runs, for all bases and horizons
up to 8; and a share of the budget that is one level short is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import sordino as sd
from tests.oracles.streams import PlantedNoise, count_memberships, find_cheapest_shift, read_noise_matrix

EPSILON = 1.0
CASES = [(horizon, base) for horizon in range(1, 9) for base in range(2, horizon + 2)]


def observe_totals(make, seen_at=None):
    """Totals, and for pan-privacy the state after ``seen_at`` changes, as a function of stream and noise."""

    def observe(stream, noise):
        tree = make()
        tree.noise = noise
        if hasattr(tree, "_open"):
            tree._open = [tree._first_draw() for _ in range(tree.levels)]
        seen = []
        for piece in np.split(np.asarray(stream, dtype=np.int64), [] if seen_at is None else [seen_at]):
            if len(piece):
                seen += tree._advance(piece).tolist()
                tree._time += len(piece)
            if tree._time == seen_at and len(piece):
                seen += [*tree._open, *tree._released]
        return seen

    return observe


def tabulate(rate, centres):
    """The law of independent discrete Laplace numbers of which only the sign is kept.

    Far out both laws of a pair fall by the same rate, so P(below 0) of two centres ≥ 0 has the largest ratio there is.
    """
    below = np.exp(-rate * (np.asarray(centres, dtype=np.float64) + 1)) / (1 + np.exp(-rate))
    law = np.ones(1)
    for chance in below:
        law = np.concatenate([law * chance, law * (1 - chance)])
    return law


def prove_tree(horizon, base, rate):
    tree = sd.series.BlockTree(horizon, EPSILON, base=base)
    observe = observe_totals(lambda: sd.series.BlockTree(horizon, EPSILON, base=base))
    matrix = read_noise_matrix(observe, [0] * horizon)
    assert matrix.shape == (horizon, horizon), "one block is released per time"
    inverse = np.rint(np.linalg.inv(matrix))
    assert np.array_equal(matrix @ inverse, np.eye(horizon)), "totals and released blocks are a bijection"

    def law(stream):
        totals = observe(stream, PlantedNoise())
        assert totals == np.cumsum(stream).tolist()
        return tabulate(rate, inverse @ totals)

    def neighbours(stream):
        for place in range(horizon):
            changed = list(stream)
            changed[place] = 1 - changed[place]
            yield tuple(changed)

    return tree, sd.audit.prove(law, list(product((0, 1), repeat=horizon)), neighbours, EPSILON)


@pytest.mark.parametrize(("horizon", "base"), CASES)
def test_block_trees_are_private_over_all_neighbouring_streams(horizon, base):
    levels = max(count_memberships(horizon, base))
    tree, proof = prove_tree(horizon, base, EPSILON / levels)
    assert tree.noise.rate == Fraction(1, levels), "the share that the code takes"
    assert proof.holds, proof
    assert proof.slack == pytest.approx(0, abs=1e-9)
    if levels > 1:
        _, mutant = prove_tree(horizon, base, EPSILON / (levels - 1))
        assert not mutant.holds


@pytest.mark.parametrize(("horizon", "base"), CASES)
@pytest.mark.parametrize("kind", ["plain", "subtraction", "pan"])
def test_no_change_moves_more_noisy_numbers_than_its_share_pays_for(horizon, base, kind):
    if kind == "subtraction" and base == 2:
        base = 3

    def make():
        if kind == "subtraction":
            return sd.series.SubtractionTree(horizon, EPSILON, base=base)
        return sd.series.BlockTree(horizon, EPSILON, base=base, pan_private=kind == "pan")

    tree = make()
    worst = 0.0
    for seen_at in range(1, horizon + 1) if kind == "pan" else [None]:
        observe = observe_totals(make, seen_at=seen_at)
        matrix = read_noise_matrix(observe, [0] * horizon)
        plain = np.array(observe([0] * horizon, PlantedNoise()))
        for place in range(horizon):
            stream = [int(time == place) for time in range(horizon)]
            moved = np.array(observe(stream, PlantedNoise())) - plain
            worst = max(worst, find_cheapest_shift(matrix, moved))
    assert worst * float(tree.noise.rate) <= EPSILON + 1e-9
    assert worst > tree.levels - 1 + 1e-9 or kind == "subtraction", "a share for one level less would not do"


def test_a_state_without_noise_of_its_own_is_not_pan_private():
    """The control: the open block of a plain tree shows a change exactly."""
    observe = observe_totals(lambda: sd.series.BlockTree(4, EPSILON, base=2), seen_at=3)
    matrix = read_noise_matrix(observe, [0] * 4)
    plain = np.array(observe([0, 0, 0, 0], PlantedNoise()))
    moved = np.array(observe([0, 1, 0, 0], PlantedNoise())) - plain
    assert find_cheapest_shift(matrix, moved) == float("inf")


@pytest.mark.parametrize(("horizon", "base"), [(5, 3), (8, 3), (8, 5), (7, 4), (40, 3)])
def test_subtraction_with_a_share_of_one_level_less_is_refused(horizon, base):
    def make():
        return sd.series.SubtractionTree(horizon, EPSILON, base=base)

    observe = observe_totals(make)
    matrix = read_noise_matrix(observe, [0] * horizon)
    tree = make()
    costs = [
        find_cheapest_shift(matrix, [float(time >= place) for time in range(horizon)])
        for place in range(horizon)
    ]
    assert max(costs) * float(tree.noise.rate) <= EPSILON + 1e-9
    assert max(costs) * EPSILON / (tree.levels - 1) > EPSILON + 1e-9


@pytest.mark.parametrize("band", [None, 1, 3])
def test_the_square_root_factorization_has_the_norm_that_it_pays_for(band):
    """R·x is moved by one change by a column of whole numbers whose squares the variance is made for."""
    horizon, rho = 8, Fraction(1, 2)
    root = sd.series.SquareRoot(horizon, rho, 3, band=band)
    columns = []
    for place in range(horizon):
        change = np.zeros(horizon)
        change[place] = 3
        columns.append(np.convolve(change, root._coefficients)[:horizon])
    worst = max(int(sum(int(entry) ** 2 for entry in column)) for column in columns)
    assert Fraction(worst) / (2 * root.noise.sigma_squared) == rho
    assert Fraction(worst) / (2 * root.noise.sigma_squared * Fraction(99, 100)) > rho


@pytest.mark.parametrize("base", [2, 3])
@pytest.mark.parametrize("seen_at", [1, 3, 6])
def test_the_whole_state_of_a_pan_private_tree_is_what_the_proof_looks_at(base, seen_at):
    """Through the public door: all that the tree keeps, but its noisy sums, is the same for every stream."""

    def state(stream, pan_private):
        tree = sd.series.BlockTree(8, EPSILON, base=base, pan_private=pan_private)
        tree.extend(stream[:seen_at])
        return {name: value for name, value in vars(tree).items() if name not in ("_open", "_released")}

    streams = list(product((0, 5), repeat=8))[::7]
    assert all(state(stream, True) == state(streams[0], True) for stream in streams)
    assert any(state(stream, False) != state(streams[0], False) for stream in streams), "the control"


def test_a_pan_private_tree_keeps_no_names():
    tree = sd.series.BlockTree(8, EPSILON, pan_private=True)
    with pytest.raises(sd.ParameterError, match="keeps no names"):
        tree.push(1, ids=["a"])
    with pytest.raises(sd.PrivateDataError, match="every change"):
        tree.push(2**58)
    assert tree.time == 0


@pytest.mark.parametrize(("horizon", "base"), CASES)
@pytest.mark.parametrize("kind", ["plain", "subtraction", "pan"])
def test_trees_in_rho_cost_what_they_say(horizon, base, kind):
    """A shift v of independent discrete Gaussian numbers costs |v|²/(2σ²): the least one that hides a change."""
    rho = Fraction(1, 2)
    if kind == "subtraction" and base == 2:
        base = 3

    def make():
        if kind == "subtraction":
            return sd.series.SubtractionTree(horizon, rho=rho, base=base)
        return sd.series.BlockTree(horizon, rho=rho, base=base, pan_private=kind == "pan")

    tree = make()
    worst = 0.0
    for seen_at in range(1, horizon + 1) if kind == "pan" else [None]:
        observe = observe_totals(make, seen_at=seen_at)
        matrix = read_noise_matrix(observe, [0] * horizon)
        plain = np.array(observe([0] * horizon, PlantedNoise()))
        for place in range(horizon):
            stream = [int(time == place) for time in range(horizon)]
            moved = np.array(observe(stream, PlantedNoise())) - plain
            shift = np.rint(np.linalg.lstsq(matrix, moved, rcond=None)[0]) if kind == "plain" else None
            if shift is None:
                shift = find_sparse_shift(matrix, moved)
            assert np.allclose(matrix @ shift, moved)
            worst = max(worst, float(shift @ shift))
    cost = worst / (2 * float(tree.noise.sigma_squared))
    assert cost <= float(rho) * (1 + 1e-12)
    if kind == "plain" and tree.levels > 1:
        assert cost * tree.levels / (tree.levels - 1) > float(rho), "a share for one level less would not do"


def find_sparse_shift(matrix, moved):
    """A shift by whole numbers: the vertex that a linear programme finds; its squares sum up to an upper bound."""
    from scipy.optimize import linprog

    draws = matrix.shape[1]
    found = linprog(np.ones(2 * draws), A_eq=np.hstack([matrix, -matrix]), b_eq=moved, bounds=(0, None))
    assert found.status == 0
    return np.rint(found.x[:draws] - found.x[draws:])


@pytest.mark.parametrize("base", [2, 3, "auto"])
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": Fraction(1, 2)}])
def test_doubling_trees_cost_what_they_say(base, loss):
    """Each time is in one tree, whose noise is its own: what a change moves in all blocks, by their rates."""
    horizon = 15
    plan = sd.series.DoublingTree(base=base, **loss)
    for place in range(1, horizon + 1):
        number = place.bit_length() - 1
        tree = plan._look_at(number)
        inside = place - (1 << number) + 1
        blocks = {block for time in range(1, (1 << number) + 1) for block in tree.blocks(time)}
        moved = sum(block.first <= inside <= block.last for block in blocks)
        cost = (
            moved * tree.noise.rate if "epsilon" in loss else Fraction(moved) / (2 * tree.noise.sigma_squared)
        )
        assert cost <= next(iter(loss.values()))
    quiet = sd.series.DoublingTree(base=base, epsilon=1e9)
    changes = [1 << place for place in range(horizon)]
    assert quiet.extend(changes).value.tolist() == np.cumsum(changes).tolist()
