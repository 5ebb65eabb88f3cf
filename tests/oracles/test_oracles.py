"""The oracles against printed numbers, hand derivations and one another."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.oracles import densities, selection_laws, universe
from tests.oracles import local_sensitivity as sensitivity
from tests.oracles.integration import integrate

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(file: str, name: str) -> dict:
    return json.loads((GOLDEN / f"{file}.json").read_text())["entries"][name]


def agrees(found: object, entry: dict) -> bool:
    return bool(np.allclose(found, entry["value"], rtol=0, atol=entry["tolerance"] + 1e-15))


# --- universes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "size", "diameter"),
    [
        (lambda: universe.labelled_values(3, 2), 27, 3),
        (lambda: universe.multisets_replace(3, 2), 10, 3),
        (lambda: universe.multisets_add_remove(3, 1), 2 + 3 + 4, 6),
        (lambda: universe.histograms(3, 4), math.comb(7, 3), 8),
        (lambda: universe.histograms_replace(3, 4), math.comb(6, 2), 4),
        (lambda: universe.contingency_tables((2, 2), 3), math.comb(7, 4), 6),
        (lambda: universe.graphs(4), 64, 6),
    ],
)
def test_universes_have_the_size_and_diameter_of_their_kind(build, size, diameter):
    built = build()
    assert len(built) == size
    assert built.diameter == diameter


def test_labelled_distance_is_the_hamming_distance():
    everything = universe.labelled_values(3, 2)
    for i, j in itertools.product(range(27), repeat=2):
        hamming = sum(a != b for a, b in zip(everything.databases[i], everything.databases[j], strict=True))
        assert universe.distances(everything)[i, j] == hamming


def test_add_remove_distance_is_the_size_of_the_difference():
    everything = universe.histograms(2, 4)
    for i, j in itertools.product(range(len(everything)), repeat=2):
        gap = np.abs(np.subtract(everything.databases[i], everything.databases[j])).sum()
        assert universe.distances(everything)[i, j] == gap


@pytest.mark.parametrize("seed", range(20))
def test_random_metric_spaces_are_connected_and_differ(seed):
    space = universe.random_metric_space(np.random.default_rng(seed), 12)
    assert len(space) == 12
    assert space.diameter < 12


# --- sensitivities ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_element_local_sensitivity_is_the_least_admissible_profile(seed):
    rng = np.random.default_rng(seed)
    space = universe.random_metric_space(rng, 9)
    utility = rng.integers(-5, 6, size=(9, 3))
    profile = sensitivity.element_local_sensitivity(space, utility)
    assert sensitivity.is_admissible(space, utility, profile)
    assert (profile[:, -1].max(axis=1) == sensitivity.global_sensitivity(space, utility)).all()
    for t in range(space.diameter):  # one less anywhere before the end breaks some condition
        lowered = profile.copy()
        x, r = rng.integers(9), rng.integers(3)
        lowered[x, t, r] -= 1
        if t == 0 or profile[x, t, r] > profile[x, t - 1, r]:
            assert not sensitivity.is_admissible(space, utility, lowered)


@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_smooth_sensitivity_is_the_smoothed_profile(beta):
    space = universe.multisets_replace(4, 3)
    median = space.table(lambda x: x[1])
    smooth = sensitivity.smooth_sensitivity(space, median, beta)
    by_distance = sensitivity.local_sensitivity(space, median) * np.exp(-beta * np.arange(space.diameter + 1))
    assert np.allclose(smooth, by_distance.max(axis=1))
    assert sensitivity.is_smooth(space, smooth, beta)
    assert not sensitivity.is_smooth(space, smooth, beta / 2)


@pytest.mark.parametrize(
    ("space", "most_rows"),
    [(universe.histograms(3, 8), 8), (universe.histograms(4, 5), 5)],
)
def test_label_counts_change_winner_after_g_additions_or_removals(space, most_rows):
    counts = np.array(space.databases)
    check_label_counts(space, counts, lambda g: g, most_rows)


@pytest.mark.parametrize("space", [universe.histograms_replace(3, 8), universe.histograms_replace(4, 5)])
def test_label_counts_change_winner_after_half_g_replacements(space):
    check_label_counts(space, np.array(space.databases), lambda g: -(-g // 2), None)


def check_label_counts(space, counts, changes, most_rows):
    won, lost = sensitivity.winners(counts), sensitivity.changes_to_lose(space, counts)
    one_hot = (won[:, None] == np.arange(counts.shape[1])).astype(int)
    local = sensitivity.local_sensitivity(space, one_hot)
    checked = 0
    for i, row in enumerate(counts):
        w = won[i]
        g = min(row[w] - row[s] + (w < s) for s in range(len(row)) if s != w)
        assert (local[i] == (np.arange(space.diameter + 1) >= lost[i] - 1)).all()
        if most_rows is None or row.sum() + lost[i] - 1 <= most_rows:  # no shorter way past the cut
            assert lost[i] == changes(g)
            checked += 1
    assert checked > 30


def test_label_counts_of_the_thesis_example():
    entry = golden("selection", "label_count_changes")
    ordered = sorted(entry["inputs"]["votes"], reverse=True)
    g = ordered[0] - ordered[1] + 1
    assert [g, -(-g // 2)] == entry["value"]


def test_changes_to_win_is_zero_for_the_winner_alone():
    space = universe.histograms_replace(3, 4)
    counts = np.array(space.databases)
    needed = sensitivity.changes_to_win(space, counts, tie_order=[2, 1, 0])
    assert ((needed == 0).sum(axis=1) == 1).all()
    assert (np.sort(needed, axis=1)[:, 1] == sensitivity.changes_to_lose(space, counts, [2, 1, 0])).all()


# --- LD Fig. 2a ------------------------------------------------------------------------------------------------


def ego_betweenness(edges: frozenset, nodes: int) -> list[Fraction]:
    near = [{j for e in edges if i in e for j in e if j != i} for i in range(nodes)]
    return [
        sum(
            (
                Fraction(1, 1 + len(near[a] & near[b] & near[c]))
                for a, b in itertools.combinations(sorted(near[c]), 2)
                if b not in near[a]
            ),
            Fraction(0),
        )
        for c in range(nodes)
    ]


def test_figure_2a_scores_and_element_sensitivities():
    graph = frozenset(tuple(e) for e in golden("selection", "fig2a_graph")["value"])
    flips = list(itertools.combinations(range(8), 2))
    scores: dict[frozenset, np.ndarray] = {}

    def score(g: frozenset) -> np.ndarray:
        if g not in scores:
            scores[g] = np.array([float(v) for v in ego_betweenness(g, 8)])
        return scores[g]

    def step(g: frozenset) -> np.ndarray:
        return np.max([np.abs(score(g ^ {e}) - score(g)) for e in flips], axis=0)

    at_zero = step(graph)
    at_one = np.maximum(at_zero, np.max([step(graph ^ {e}) for e in flips], axis=0))
    assert agrees(score(graph), golden("selection", "fig2a_ebc"))
    assert agrees(at_zero, golden("selection", "fig2a_element_sensitivity_0"))
    assert agrees(at_one, golden("selection", "fig2a_element_sensitivity_1"))
    assert agrees([at_zero.max(), at_one.max()], golden("selection", "fig2a_local_sensitivity"))


def test_figure_2a_laws():
    scores = [Fraction(13, 2)] * 2 + [0] * 6
    damped = golden("selection", "fig2a_dampened")
    profile = damped["inputs"]["delta"]
    assert [float(selection_laws.dampening(u, lambda t: profile[t])) for u in scores] == damped["value"]
    law = selection_laws.dampening_law(scores, lambda t, r: profile[t], epsilon=2)
    assert agrees(law, golden("selection", "fig2a_dampening_law"))
    assert agrees(law, golden("selection", "fig2a_dampening_law_exact"))
    delta = Fraction(golden("selection", "fig2a_global_sensitivity")["value"])
    law = selection_laws.exponential_law(scores, epsilon=2, sensitivity=delta)
    assert agrees(law, golden("selection", "fig2a_exponential_law"))
    assert agrees(law, golden("selection", "fig2a_exponential_law_exact"))


# --- dampening -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["example7_dampened", "example8_dampened"])
def test_printed_dampening_examples(name):
    entry = golden("selection", name)
    pairs = zip(entry["inputs"]["scores"], entry["inputs"]["delta"], strict=True)
    assert agrees([float(selection_laws.dampening(u, row.__getitem__)) for u, row in pairs], entry)


def test_example_8_law():
    damped = [Fraction(-1, 6)] * 2 + [-2] * 6
    law = selection_laws.exponential_law(damped, epsilon=2)
    assert agrees(law[[0, 7]], golden("selection", "example8_law"))
    assert agrees(law[[0, 7]], golden("selection", "example8_law_exact"))


def test_dampening_is_zero_at_zero_and_negative_below_even_with_leading_zeros():
    profile = [0, 0, 1, 2]
    values = [selection_laws.dampening(Fraction(u), profile.__getitem__) for u in (-2, -1, 0, 1, 2)]
    assert values == [Fraction(-7, 2), -3, 0, 3, Fraction(7, 2)]


@pytest.mark.parametrize("seed", range(12))
def test_dampening_has_sensitivity_one_and_shifting_has_a_closed_limit(seed):
    rng = np.random.default_rng(seed)
    space = universe.random_metric_space(rng, 7)
    utility = rng.integers(-6, 7, size=(7, 3))
    bound = int(sensitivity.global_sensitivity(space, utility))
    table = sensitivity.element_local_sensitivity(space, utility)
    horizon = table.shape[1]

    def delta(x: int):
        return lambda t, r: int(table[x, t, r]) if t < horizon else bound

    damped = [
        [selection_laws.dampening(int(utility[x, r]), lambda t, r=r, x=x: delta(x)(t, r)) for r in range(3)]
        for x in range(7)
    ]
    assert all(abs(a - b) <= 1 for x, y in space.pairs() for a, b in zip(damped[x], damped[y], strict=True))
    for x, direction in itertools.product(range(7), (1, -1)):
        limit = selection_laws.shifted_dampening(
            utility[x].tolist(), delta(x), bound=bound, horizon=horizon, direction=direction
        )
        gap = [sum(bound - delta(x)(t, r) for t in range(horizon)) for r in range(3)]
        closed = [Fraction(int(utility[x, r]) - direction * gap[r], bound) for r in range(3)]
        assert limit == [value - closed[0] for value in closed]


# --- selection laws --------------------------------------------------------------------------------------------

SCORES = [3, 1, 0, 2.5, -7]


@pytest.mark.parametrize("epsilon", [0.01, 1.3, 20.0])
def test_noisy_max_equals_its_closed_cousins(epsilon):
    gumbel = selection_laws.report_noisy_max_law(SCORES, epsilon=epsilon)
    assert np.allclose(
        gumbel, selection_laws.exponential_law(SCORES, epsilon=epsilon), rtol=1e-10, atol=1e-15
    )
    flipped = selection_laws.permute_and_flip_law(SCORES, epsilon=epsilon)
    one_sided = selection_laws.report_noisy_max_law(SCORES, epsilon=epsilon, noise="exponential")
    assert np.allclose(one_sided, flipped, rtol=1e-10, atol=1e-15)


def test_permute_and_flip_of_three_by_hand():
    entry = golden("selection", "permute_and_flip_three")
    assert agrees(selection_laws.permute_and_flip_law([2, 1, 0], epsilon=2), entry)


def test_laplace_noisy_max_of_two_by_hand():
    entry = golden("selection", "laplace_noisy_max_error")
    kind = densities.laplace()
    law = [selection_laws.noisy_max_law([h, 0], scale=1.0, noise=kind)[1] for h in entry["inputs"]["gaps"]]
    assert agrees(law, entry)


@pytest.mark.parametrize(
    "kind",
    [
        densities.laplace(),
        densities.student_t(3),
        densities.student_t(1),
        densities.one_sided_polynomial(2.0),
        densities.one_sided_polynomial(4.4),
    ],
    ids=lambda kind: kind.name,
)
@pytest.mark.parametrize("smooth", [0.01, 1.0, 50.0])
def test_smooth_noisy_max_law_sums_to_one(kind, smooth):
    law = selection_laws.smooth_noisy_max_law(SCORES, smooth=smooth, alpha=0.5, noise=kind)
    assert abs(law.sum() - 1) < 1e-11
    assert (np.argsort(law) == np.argsort(SCORES)).all()


def stretch_rates(d: int) -> tuple[float, float]:
    """sup over theta = 1/N of d ln P(winner) / d ln theta and of -d ln P(loser) / d ln theta, Student-t(3)."""
    kind = densities.student_t(3)

    def winner(theta: float) -> float:
        return integrate(lambda z: np.exp(kind.log_pdf(z) + (d - 1) * kind.log_cdf(z + theta)), (0.0, -theta))

    def loser(theta: float) -> float:
        return integrate(
            lambda z: np.exp(kind.log_pdf(z) + (d - 2) * kind.log_cdf(z) + kind.log_cdf(z - theta)),
            (0.0, theta),
        )

    def rate(chance, theta: float) -> float:
        return math.log(chance(theta * 1.001) / chance(theta * 0.999)) / math.log(1.001 / 0.999)

    grid = np.geomspace(0.1, 300, 61)
    return max(rate(winner, th) for th in grid), max(-rate(loser, th) for th in grid)


def test_student_t_stretch_rates():
    winner, loser = (
        golden("selection", "student_t3_winner_stretch"),
        golden("selection", "student_t3_loser_stretch"),
    )
    rates = {d: stretch_rates(d) for d in (2, 5, 20, 100, 1000)}
    stated = zip(winner["inputs"]["candidates"], winner["value"], winner["tolerance"], strict=True)
    for d, value, tolerance in stated:
        if d in rates:
            assert abs(rates[d][0] - value) < tolerance
            assert loser["value"][0] - 0.05 < rates[d][1] < loser["value"][1]


def test_one_sided_polynomial_best_exponent():
    entry = golden("selection", "one_sided_polynomial_best_nu")
    for d, value in zip(entry["inputs"]["candidates"], entry["value"], strict=True):
        nu = np.linspace(1.05, 20, 40_000)
        expected = np.array([math.lgamma(1 - 1 / v) - math.lgamma(d - 1 / v) for v in nu]) + math.lgamma(d)
        cost = np.maximum(nu, nu * np.expm1(expected))
        assert abs(nu[np.argmin(cost)] - value) < entry["tolerance"]


def test_one_sided_polynomial_recipe_is_private_on_random_universes():
    worst, epsilon, nu, beta, d = 0.0, 1.0, 2.6, 0.1, 3
    stretch = max(nu, nu * (math.gamma(d) * math.gamma(1 - 1 / nu) / math.gamma(d - 1 / nu) - 1))
    alpha, kind = epsilon - beta * stretch, densities.one_sided_polynomial(nu)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        space = universe.random_metric_space(rng, 7)
        utility = rng.integers(0, 3, size=(7, d)) * rng.integers(1, 40, size=(7, 1))
        smooth = sensitivity.smooth_sensitivity(space, utility, beta)
        law = [
            selection_laws.smooth_noisy_max_law(utility[x], smooth=smooth[x], alpha=alpha, noise=kind)
            for x in range(7)
        ]
        worst = max(worst, *(float(np.abs(np.log(law[x] / law[y])).max()) for x, y in space.pairs()))
    assert 0.3 * epsilon < worst <= epsilon


def test_exponential_mechanism_with_smooth_sensitivity_leaks():
    entry = golden("selection", "smooth_exponential_leaks")
    epsilon = entry["inputs"]["epsilon"]
    chance = [
        selection_laws.exponential_law(
            [1, 0, 0, 0, 0], epsilon=epsilon, sensitivity=math.exp(-epsilon * gap)
        )[2]
        for gap in entry["inputs"]["gaps"]
    ]
    assert agrees(chance, entry)
    assert chance[1] / chance[0] > math.exp(epsilon)
