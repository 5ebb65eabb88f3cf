"""The percentile's profile against brute force, and the laws of percentiles and quantiles over all neighbours."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import LogLaw, check_profile, check_smooth, prove
from sordino.core import add_remove_row, replace_row
from sordino.mechanisms.selection import selection_law
from sordino.stats import order_statistic_bound, percentile_question, quantile_law
from tests.oracles import percentile, selection_laws
from tests.oracles.universe import multisets_add_remove, multisets_replace


def percent_of(k: int, n: int) -> Fraction:
    """A percentage whose rank is k."""
    return Fraction(100 * k, n + 1)


def refuse_a_mutant(law, space, worst):
    """Spend just past the slack; where the loss is not linear in ε, a little further."""
    proofs = [
        prove(law(factor / worst), space.databases, space.neighbours, 1.0) for factor in (1.02, 1.2, 1.5)
    ]
    assert any(not proof.holds for proof in proofs)


@pytest.mark.parametrize(("n", "top"), [(1, 4), (2, 8), (3, 4), (4, 4), (5, 2)])
def test_percentile_profile_equals_brute_force_at_every_distance(n, top):
    for k in range(1, n + 1):
        space, utility, exact = percentile.percentile_sensitivity(n, top, k)
        for i, x in enumerate(space.databases):
            scores, profile = percentile_question(x, percent_of(k, n), bounds=(0, top))
            assert scores.tolist() == utility[i].tolist()
            for t in range(exact.shape[1]):
                assert profile.at(t).tolist() == exact[i, t].tolist()


def test_a_profile_one_step_too_small_is_refused():
    space = percentile.percentile_sensitivity(3, 3, 2)[0]

    class Late:
        """The right profile, one step late."""

        def __init__(self, profile):
            self.profile = profile

        def at(self, t):
            return self.profile.at(max(0, t - 1))

    def scores(x):
        return percentile_question(x, 50, bounds=(0, 3))[0]

    def profile(x):
        return percentile_question(x, 50, bounds=(0, 3))[1]

    arguments = (space.databases, space.neighbours, scores)
    assert check_profile(profile, *arguments, horizon=4, exact=True).holds
    assert not check_profile(lambda x: Late(profile(x)), *arguments, horizon=4).holds


@pytest.mark.parametrize(
    "mechanism", ["local_dampening", "shifted_dampening", "inverse_sensitivity", "exponential"]
)
@pytest.mark.parametrize("percent", [50, 90])
def test_records_at_percentiles_are_private(mechanism, percent):
    space = percentile.percentile_sensitivity(4, 3, 2)[0]

    def law(spent):
        def of(x):
            scores, profile = percentile_question(x, percent, bounds=(0, 3))
            return LogLaw(
                selection_law(scores, profile=profile, epsilon=spent, mechanism=mechanism, log=True)
            )

        return of

    proof = prove(law(1.0), space.databases, space.neighbours, 1.0)
    assert proof.holds
    assert proof.pairs == 256 * 12
    refuse_a_mutant(law, space, proof.worst_epsilon)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", "inverse_sensitivity", "winner"])
def test_quantiles_are_private_when_a_record_is_replaced(q, mechanism):
    space = multisets_replace(5, 4)
    _prove_quantile(space, q, mechanism, replace_row())


@pytest.mark.parametrize("q", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_quantiles_are_private_when_a_record_is_added(q, mechanism):
    _prove_quantile(multisets_add_remove(5, 3, fewest=0), q, mechanism, add_remove_row())


def _prove_quantile(space, q, mechanism, distance):
    top = max(max(x, default=0) for x in space.databases)

    def law(spent):
        def of(x):
            options = {"bounds": (0, top), "step": 1, "mechanism": mechanism, "distance": distance}
            return quantile_law(x, q, epsilon=spent, **options)[1]

        return of

    proof = prove(law(1.0), space.databases, space.neighbours, 1.0)
    assert proof.holds
    refuse_a_mutant(law, space, proof.worst_epsilon)


@pytest.mark.parametrize("q", [0.2, 0.5])
def test_inverse_sensitivity_counts_the_replacements_exactly(q):
    n, top = 4, 3
    space = multisets_replace(n, top)
    k = int(np.ceil(q * n))
    changes = percentile.changes_to_make(space, lambda _: k, range(top + 1))
    survives = percentile.changes_to_move(space, lambda _: k) - 1
    for i, x in enumerate(space.databases):
        law = quantile_law(x, q, bounds=(0, top), step=1, epsilon=2.0, mechanism="inverse_sensitivity")[1]
        signed = np.where(changes[i] == 0, -survives[i], changes[i])
        expected = selection_laws.permute_and_flip_law((-signed).astype(int).tolist(), epsilon=2)
        np.testing.assert_allclose(law, expected, rtol=1e-9)


@pytest.mark.parametrize("beta", [0.1, 0.7])
def test_order_statistic_bound_is_smooth_and_the_smallest_such(beta):
    for n, top in ((3, 4), (4, 3)):
        space = percentile.labelled_values(n, top)
        for k in range(1, n + 1):
            value = percentile.order_statistics(space, lambda _, k=k: k)
            local = percentile.order_statistic_local_sensitivity(space, lambda _, k=k: k)
            decay = np.exp(-beta * np.arange(local.shape[1]))
            smallest = (local * decay).max(axis=1)

            def bound(x, k=k, top=top):
                return order_statistic_bound(np.sort(np.asarray(x, dtype=float)), k, float(top))

            for i, x in enumerate(space.databases):
                assert bound(x).at(beta) == pytest.approx(smallest[i], rel=1e-10)

            def exact(x, factor=1.0, value=value, space=space):
                return factor * value[space.position[x]]

            arguments = (bound, space.databases, space.neighbours)
            assert check_smooth(*arguments, exact, beta).holds
            assert not check_smooth(*arguments, lambda x, exact=exact: exact(x, 1.01), beta).holds
