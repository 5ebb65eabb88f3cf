"""Distances of distributions against all pairings of grains, and lifted losses against true ones."""

from __future__ import annotations

import itertools
import random

import pytest

from sordino.core import UnsupportedError
from sordino.workflow import (
    Family,
    bottleneck,
    declared,
    emd,
    emd_1d,
    emd_front,
    lifted_epsilon,
    linear,
    parallel_with_identity,
    piecewise_linear,
)
from tests.oracles import transports as oracle

GRAINS = 5


def share(dice, places, grains=GRAINS):
    cuts = sorted(dice.randrange(grains + 1) for _ in range(places - 1))
    return [b - a for a, b in itertools.pairwise([0, *cuts, grains])]


def parts(whole):
    return [count / sum(whole) for count in whole]


def test_transports_are_those_of_all_pairings():
    dice = random.Random(1)
    for _ in range(150):
        p, q = share(dice, 3), share(dice, 4)
        costs = [[dice.randrange(6) for _ in range(4)] for _ in range(3)]
        assert emd(parts(p), parts(q), costs) == pytest.approx(oracle.mean_cost(p, q, costs), abs=1e-9)
        assert bottleneck(parts(p), parts(q), costs) == oracle.largest_cost(p, q, costs)
        points = [dice.randrange(10) for _ in range(4)]
        r = share(dice, 4)
        line = [[abs(one - other) for other in points] for one in points]
        assert emd_1d(points, parts(q), parts(r)) == pytest.approx(oracle.mean_cost(q, r, line), abs=1e-12)


def test_a_tiny_weight_is_not_rounded_away_by_the_bottleneck():
    """10⁻¹¹ of the mass must go far; whatever ignores it promises too small a loss."""
    tiny = 1e-11
    assert bottleneck([1 - tiny, tiny], [1, 0], [[0, 9], [9, 0]]) == 9


@pytest.mark.parametrize("count", [2, 3])
def test_fronts_are_those_of_all_pairings(count):
    dice = random.Random(count)
    sizes = set()
    for _ in range(25):
        p, q = share(dice, 3), share(dice, 3)
        several = [[[dice.randrange(6) for _ in range(3)] for _ in range(3)] for _ in range(count)]
        front = emd_front(parts(p), parts(q), several)
        reached = oracle.reached(p, q, several)
        sizes.add(len(front))
        for vertex in front:  # every vertex is reached by a pairing
            assert min(max(abs(a - b) for a, b in zip(vertex, one, strict=True)) for one in reached) < 1e-9
        for _ in range(30):  # and nothing is below the front, in any direction
            weights = [dice.random() for _ in range(count)]
            lowest = min(sum(w * v for w, v in zip(weights, one, strict=True)) for one in reached)
            ours = min(sum(w * v for w, v in zip(weights, one, strict=True)) for one in front)
            assert ours == pytest.approx(lowest, abs=1e-8)
    assert len(sizes) > 2


def test_distances_satisfy_the_triangle_inequality():
    dice = random.Random(3)
    points = [0, 1, 3, 4]
    line = [[abs(one - other) for other in points] for one in points]
    for _ in range(60):
        p, q, r = (parts(share(dice, 4)) for _ in range(3))
        for distance in (emd, bottleneck):
            assert distance(p, r, line) <= distance(p, q, line) + distance(q, r, line) + 1e-9


def test_no_lifted_mechanism_loses_more_than_its_epsilon():
    dice = random.Random(4)
    tight = 0.0
    for _ in range(200):
        laws = []
        for _ in range(3):
            raw = [dice.random() ** 2 + 0.01 for _ in range(3)]
            laws.append([value / sum(raw) for value in raw])
        losses = [[oracle.privacy_loss(one, other) for other in laws] for one in laws]
        p, q = parts(share(dice, 3)), parts(share(dice, 3))
        mixed = [
            [sum(w * law[y] for w, law in zip(weights, laws, strict=True)) for y in range(3)]
            for weights in (p, q)
        ]
        true, claimed = oracle.privacy_loss(*mixed), lifted_epsilon(p, q, losses)
        assert true <= claimed + 1e-12
        if claimed:
            tight = max(tight, true / claimed)
    assert tight > 0.99  # attained: no smaller claim would do


def random_family(dice):
    return Family(
        [[(dice.randrange(4), dice.randrange(4)) for _ in range(dice.randint(1, 2))] for _ in range(2)]
    )


def test_families_are_worth_what_their_formulas_say():
    """For monotone losses: join is max, addition adds, multiplication swaps max of min; pruning changes nothing."""
    dice = random.Random(5)
    for _ in range(200):
        weights = (dice.random(), dice.random())

        def loss(v, weights=weights):
            return weights[0] * v[0] + weights[1] * v[1]

        raw = [[(dice.randrange(4), dice.randrange(4)) for _ in range(3)] for _ in range(3)]
        assert Family(raw).value(loss) == min(max(map(loss, one)) for one in raw)
        one, other = random_family(dice), random_family(dice)
        assert one.join(other).value(loss) == max(one.value(loss), other.value(loss))
        assert one.add(other).value(loss) == pytest.approx(one.value(loss) + other.value(loss))
        outer = [[random_family(dice) for _ in range(2)] for _ in range(2)]
        expected = min(max(inner.value(loss) for inner in members) for members in outer)
        assert Family.multiply(outer).value(loss) == expected
        assert one.map(lambda v: (2 * v[0], v[0] + v[1])).value(loss) == min(
            max(loss((2 * v[0], v[0] + v[1])) for v in members) for members in one.sets
        )


def joint(dice):
    """Grains on pairs (x, y) of {0, 1}²."""
    return share(dice, 4, 4)


PLACES = list(itertools.product(range(2), repeat=2))


def test_emd_beside_an_identity_holds_for_concave_sensitivities():
    """f moves x by a random channel; C is its exact slope. Fronts after are never above those before."""
    dice = random.Random(6)
    for _ in range(25):
        chance = [dice.randrange(5) / 4 for _ in range(2)]  # f(x) is 1 with this chance
        slope = abs(chance[0] - chance[1])
        rule = parallel_with_identity(linear(slope), ("emd", "emd"))
        phi, psi = joint(dice), joint(dice)
        by_x = [[abs(a[0] - b[0]) for b in PLACES] for a in PLACES]
        by_y = [[abs(a[1] - b[1]) for b in PLACES] for a in PLACES]
        before = emd_front(parts(phi), parts(psi), [by_x, by_y])

        def push(whole, chance=chance):
            found = dict.fromkeys(PLACES, 0.0)
            for (x, y), count in zip(PLACES, whole, strict=True):
                found[1, y] += count * chance[x] / 4
                found[0, y] += count * (1 - chance[x]) / 4
            return list(found.values())

        after = emd_front(push(phi), push(psi), [by_x, by_y])
        for bound in rule(before):
            for weights in ((1, 0), (0, 1), (1, 1), (1, 3), (3, 1)):
                lowest = min(sum(w * v for w, v in zip(weights, one, strict=True)) for one in after)
                assert lowest <= sum(w * float(v) for w, v in zip(weights, bound, strict=True)) + 1e-9


def test_the_counterexample_to_propositions_3_50_and_3_51():
    """Uniform on {(0,0), (1,1)} and on {(0,1), (1,0)}."""
    phi, psi = [0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0]
    for place in range(2):  # no coordinate tells them apart, so the product of both losses is (0, 0)
        marginals = [
            [sum(w for w, at in zip(one, PLACES, strict=True) if at[place] == value) for value in range(2)]
            for one in (phi, psi)
        ]
        assert oracle.privacy_loss(*marginals) == 0
    discrete = [[int(a[0] != b[0]) for b in PLACES] for a in PLACES]
    both = [[int(a != b) for b in PLACES] for a in PLACES]
    assert emd(phi, psi, both) == pytest.approx(1)  # 3.50: (0, 0) is no distance of different distributions
    # 3.51 with f the identity and C(ε) = tanh(ε/2) would bound by (C(0), u): both parts 0 for some u that couples y
    front = emd_front(phi, psi, [discrete, [[int(a[1] != b[1]) for b in PLACES] for a in PLACES]])
    assert min(x + y for x, y in front) == pytest.approx(1)
    with pytest.raises(UnsupportedError, match=r"Prop. 3.51 is refuted"):
        parallel_with_identity(declared(lambda v: v), ("dp", "emd"))


def test_what_else_is_not_on_the_list_is_refused():
    convex = piecewise_linear([(0, 0), (1, 1)], 2)
    with pytest.raises(UnsupportedError, match="concave"):
        parallel_with_identity(convex, ("emd", "emd"))
    with pytest.raises(UnsupportedError, match="must be a DistanceMap"):
        parallel_with_identity(lambda v: v, ("emd", "emd"))
    for source, target in (("dp", "set-of-sets"), ("emd", "set-of-sets"), ("set-of-sets", "emd")):
        with pytest.raises(UnsupportedError, match="no sound rule"):
            parallel_with_identity(linear(1), (source, target))
    assert parallel_with_identity(lambda v: 2 * v, ("emd", "dp"))([(1, 3)]) == {(2, 3)}
