"""Costs of workflows against the exact laws of what they release, on all pairs of small inputs."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from sordino.core import Loss
from sordino.workflow import Workflow

VALUES = range(3)
OUTCOMES = range(4)


def noise_law(weight):
    """P(y | s) over y = 0 … 3, and its exact loss per unit of s."""
    laws = {}
    for s in range(0, 7):
        weights = [math.exp(-weight * abs(y - s / 2)) for y in OUTCOMES]
        laws[s] = [one / sum(weights) for one in weights]
    per_unit = max(
        abs(math.log(laws[one][y] / laws[other][y])) / abs(one - other)
        for one, other in itertools.permutations(laws, 2)
        for y in OUTCOMES
    )
    return laws, per_unit


def sensitivity_of(table, place):
    """How far a table f(a, b) → whole number moves per unit of one argument, by trying all pairs."""
    return max(
        abs(table[one] - table[other]) / abs(one[place] - other[place])
        for one, other in itertools.permutations(table, 2)
        if one[place] != other[place] and one[1 - place] == other[1 - place]
    )


def worst_ratio(law, pairs):
    return max(abs(math.log(law(*one)[y] / law(*other)[y])) for one, other in pairs for y in law(*one))


def one_step_apart(place):
    for a, b in itertools.product(VALUES, repeat=2):
        if (a if place == 0 else b) + 1 in VALUES:
            yield (a, b), ((a + 1, b) if place == 0 else (a, b + 1))


@pytest.mark.parametrize("seed", range(12))
def test_no_workflow_loses_more_than_its_cost(seed):
    """Two tables, two noisy releases; the second looks at the first release and picks another table by it."""
    dice = random.Random(seed)
    inputs = list(itertools.product(VALUES, repeat=2))
    first = {key: dice.randrange(4) for key in inputs}
    choices = [{key: dice.randrange(5) for key in inputs} for _ in range(2)]
    laws, per_unit = noise_law(dice.choice([0.2, 0.5, 0.9]))

    def law(a, b):
        found = {}
        for y in OUTCOMES:
            second = choices[y % 2][a, b]
            for z in OUTCOMES:
                found[y, z] = laws[first[a, b]][y] * laws[second][z]
        return found

    def stated(tables, place):
        return max(sensitivity_of(table, place) for table in tables)

    both = {name: stated(choices, place) for place, name in enumerate("ab")}
    workflow = Workflow.load(
        {
            "inputs": {"a": "unit", "b": "unit"},
            "steps": {
                "count": {"from": ["a", "b"], "sensitivity": {"a": stated([first], 0), "b": stated([first], 1)}},
                "noisy": {"from": ["count"], "loss": Loss(epsilon=per_unit)},
                "chosen": {"from": ["a", "b", "noisy"], "sensitivity": both},
                "again": {"from": ["chosen"], "loss": Loss(epsilon=per_unit)},
                "report": {"from": ["noisy", "again"], "sensitivity": "post-processing"},
            },
            "independent": [["a", "b"]] if seed % 2 else [],
            "release": ["report", "noisy"],
        }
    )  # fmt: skip
    cost = workflow.cost()
    for place, name in enumerate("ab"):
        assert worst_ratio(law, list(one_step_apart(place))) <= cost.per_input[name].epsilon + 1e-12
    # noisy is released twice, and paid for once
    assert cost.per_input["a"].epsilon == pytest.approx(
        per_unit * (stated([first], 0) + stated(choices, 0)), rel=1e-9
    )
    if seed % 2:
        assert cost.either == max(cost.per_input.values(), key=lambda loss: loss.epsilon)
    else:
        diagonal = [((a, b), (a + 1, b + 1)) for a, b in inputs if a + 1 in VALUES and b + 1 in VALUES]
        assert worst_ratio(law, diagonal) <= cost.either.epsilon + 1e-12
        assert cost.either.epsilon == pytest.approx(
            sum(one.epsilon for one in cost.per_input.values()), rel=1e-9
        )


def test_a_cost_that_forgets_a_release_is_refuted():
    """s = a, released twice with independent noise: half the cost is not enough."""
    laws, per_unit = noise_law(0.5)

    def law(a, b):
        return {(y, z): laws[a][y] * laws[a][z] for y in OUTCOMES for z in OUTCOMES}

    steps = {name: {"from": ["a"], "loss": Loss(epsilon=per_unit)} for name in ("one", "two")}
    found = (
        Workflow.load({"inputs": ["a"], "steps": steps, "release": ["one", "two"]})
        .cost()
        .per_input["a"]
        .epsilon
    )
    assert worst_ratio(law, list(one_step_apart(0))) <= found + 1e-12
    assert worst_ratio(law, list(one_step_apart(0))) > 0.9 * found


def test_distances_are_sums_over_all_paths():
    """Random graphs: the product along each path, added up over paths, by walking them."""
    for seed in range(100):
        dice = random.Random(seed)
        steps, known = {}, ["x", "y"]
        for number in range(6):
            reads = dice.sample(known, dice.randint(1, min(3, len(known))))
            steps[f"s{number}"] = {"from": reads, "sensitivity": {name: dice.randrange(4) for name in reads}}
            known.append(f"s{number}")
        steps["noisy"] = {"from": ["s5"], "epsilon": 1}

        def walk(name, source, steps=steps):
            if name == source:
                return 1
            step = steps.get(name)
            if step is None:
                return 0
            return sum(step["sensitivity"][read] * walk(read, source) for read in step["from"])

        cost = Workflow.load({"inputs": ["x", "y"], "steps": steps, "release": ["noisy"]}).cost()
        for source in ("x", "y"):
            assert cost.per_input[source].epsilon == walk("s5", source)
