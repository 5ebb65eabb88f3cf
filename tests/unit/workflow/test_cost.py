"""Workflow files: the specification's example, losses of other kinds, queries, and what is refused."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pytest

from sordino.core import Loss, ParameterError, UnsupportedError
from sordino.workflow import Workflow

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/workflow.json").read_text())["workflow_cost"]
SHOP = {
    "inputs": {"orders": "row", "customers": "row"},
    "steps": {
        "join": {"from": ["orders", "customers"], "sensitivity": {"orders": 1, "customers": 12}},
        "count": {"from": ["join"], "sensitivity": {"join": 1}},
        "noisy": {"from": ["count"], "epsilon": 0.1},
        "report": {"from": ["noisy"], "sensitivity": "post-processing"},
    },
    "independent": [["orders", "customers"]],
    "release": ["noisy"],
}


def changed(path, value):
    content = copy.deepcopy(SHOP)
    *way, last = path
    place = content
    for name in way:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return content


def test_the_example():
    cost = Workflow.load(SHOP).cost()
    assert cost.per_input["orders"].epsilon == GOLDEN["orders"]
    assert cost.per_input["customers"].epsilon == GOLDEN["customers"]
    assert cost.either.epsilon == GOLDEN["either"]
    assert Workflow.load(changed(["independent"], None)).cost().either.epsilon == GOLDEN["either_undeclared"]


def test_post_processing_costs_nothing_more():
    assert Workflow.load(changed(["release"], ["noisy", "report"])).cost() == Workflow.load(SHOP).cost()


def test_what_is_released_without_noise_costs_everything():
    cost = Workflow.load(changed(["release"], ["count"])).cost()
    assert cost.per_input["orders"].epsilon == math.inf
    assert json.loads(json.dumps(cost.to_dict() | {"x": None}))["x"] is None


def test_other_losses():
    rho = Workflow.load(changed(["steps", "noisy"], {"from": ["count"], "rho": 0.01})).cost()
    assert rho.per_input["customers"].rho == pytest.approx(1.44)
    assert rho.either.rho == pytest.approx(1.44)
    approximate = Workflow.load(
        changed(["steps", "noisy"], {"from": ["count"], "loss": Loss(epsilon=0.1, delta=1e-9)})
    ).cost()
    twelve = Loss(epsilon=0.1, delta=1e-9).for_changes(12)
    assert approximate.per_input["customers"].epsilon == pytest.approx(1.2, rel=1e-15)
    assert approximate.per_input["customers"].delta == twelve.delta
    assert approximate.per_input["orders"].epsilon >= 0.1
    assert approximate.either.delta == twelve.delta


def test_what_was_drawn_from_a_seed_is_not_private():
    loss = Loss(epsilon=0.1, private=False)
    cost = Workflow.load(changed(["steps", "noisy"], {"from": ["count"], "loss": loss})).cost()
    assert not cost.per_input["orders"].private
    assert not cost.either.private


def test_a_query_of_a_step_that_comes_later_is_told_to_name_it():
    content = changed(["steps", "join"], {"from": ["orders"], "sql": "SELECT …"})
    content["steps"]["late"] = {"from": ["join"], "sensitivity": 1}
    with pytest.raises(ParameterError, match="step 'join' reads the table 'late': name it under 'from'"):
        Workflow.load(content).cost(sql_sensitivity=lambda queries: {"join": {"late": 1}})


def test_three_inputs_of_which_two_may_change_together():
    steps = {name: {"from": [name[0]], "epsilon": int(name[1])} for name in ("a1", "b5", "c3")}
    workflow = {
        "inputs": ["a", "b", "c"],
        "steps": steps,
        "release": list(steps),
        "independent": [["a", "b"], ["b", "c"]],
    }
    cost = Workflow.load(workflow).cost()
    assert cost.either.epsilon == 5
    assert cost.together == ("b",)
    steps["b5"]["epsilon"] = 2
    cost = Workflow.load(workflow).cost()
    assert (cost.either.epsilon, cost.together) == (4, ("a", "c"))


def test_queries_take_their_sensitivity_from_what_is_passed_in():
    content = changed(["steps", "join"], {"from": ["orders", "customers"], "sql": "SELECT …"})
    with pytest.raises(ParameterError, match="step 'join' is given as SQL"):
        Workflow.load(content).cost()
    asked = []

    def solve(queries):
        asked.append(dict(queries))
        return {"join": {"orders": 1, "customers": None}}

    cost = Workflow.load(content).cost(sql_sensitivity=solve)
    assert asked == [{"join": "SELECT …"}]
    assert cost.per_input["orders"].epsilon == 0.1
    assert cost.per_input["customers"].epsilon == math.inf
    with pytest.raises(ParameterError, match="table 'shops', which is no input"):
        Workflow.load(content).cost(sql_sensitivity=lambda queries: {"join": {"shops": 1}})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["steps", "count"], {"from": ["report"], "sensitivity": 1}, "a cycle: steps 'count'"),
        (
            ["steps", "count"],
            {"from": ["joint"]},
            "step 'count' reads 'joint', which is missing; did you mean 'join'",
        ),
        (["steps", "join", "sensitivity", "orders"], -1, "step 'join': sensitivity to orders must be >= 0"),
        (["steps", "join", "sensitivity", "orders"], "many", "sensitivity to orders must be a number"),
        (
            ["steps", "join", "sensitivity", "orders"],
            None,
            "step 'join' reads 'orders' and states no sensitivity",
        ),
        (["steps", "join", "sensitivity", "shops"], 1, "sensitivity to 'shops', which it does not read"),
        (["steps", "noisy", "epsilon"], -0.1, "step 'noisy': epsilon must be >= 0"),
        (["steps", "noisy", "epsilom"], 1, "unknown field 'epsilom'.*did you mean 'epsilon'"),
        (["steps", "noisy", "rho"], 1, "step 'noisy': a loss states either epsilon or rho"),
        (["steps", "report", "from"], ["count"], "step 'report' reads 'count', which is not released yet"),
        (["steps", "report", "epsilon"], 1, "post-processing and costs nothing"),
        (
            ["steps", "count", "sensitivity"],
            None,
            "'join', which is not released, and no sensitivity is given",
        ),
        (["release"], ["nosy"], "'nosy' is missing; did you mean 'noisy'"),
        (["release"], None, "release must name a step"),
        (["independent"], [["orders", "shops"]], "'shops' is no input"),
        (["inputs"], {}, "inputs must name"),
        (["steps"], {}, "steps must be a mapping"),
        (["steps", "orders"], {"from": ["customers"], "sensitivity": 1}, "name of an input"),
    ],
)
def test_what_is_wrong_is_said_with_the_step(path, value, message):
    with pytest.raises(ParameterError, match=message):
        Workflow.load(changed(path, value)).cost()


@pytest.mark.parametrize(
    ("written", "epsilon"), [("010", 10), ("1e-3", 0.001), ("0.1", 0.1), ("1_000", 1000), ("2", 2)]
)
def test_numbers_of_a_file_are_what_people_read(written, epsilon):
    """YAML would take 010 for eight and 1:30 for ninety."""
    text = "inputs: [a]\nsteps: {n: {from: [a], epsilon: %s}}\nrelease: [n]\n"
    assert Workflow.load(text % written).cost().either.epsilon == epsilon


@pytest.mark.parametrize("written", ["1:30", "0x10", ".inf", "1e-999999999", "1e-400", "1e999999999", "0b1"])
def test_numbers_that_nobody_writes_are_refused(written):
    text = f"inputs: [a]\nsteps: {{n: {{from: [a], epsilon: {written}}}}}\nrelease: [n]\n"
    with pytest.raises(ParameterError, match="step 'n': epsilon must be"):
        Workflow.load(text).cost()


def test_rho_and_delta_do_not_add_up():
    content = changed(["steps", "more"], {"from": ["count"], "rho": 0.1})
    content["steps"]["noisy"]["delta"] = 1e-9
    content["release"] = ["noisy", "more"]
    with pytest.raises(UnsupportedError, match="do not add up"):
        Workflow.load(content).cost()
