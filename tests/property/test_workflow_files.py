"""Whatever stands in a process or a workflow, it is read or refused in words: no other error leaves."""

from __future__ import annotations

import copy
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import SordinoError
from sordino.demo.example_files import SHOP_WORKFLOW_TEXT
from sordino.workflow import FiniteSpace, LinearSpace, Process, Workflow

LOGS = yaml.safe_load(
    (Path(__file__).parents[2] / "examples/log_correlation.yaml").read_text(encoding="utf-8")
)
SHOP = yaml.safe_load(SHOP_WORKFLOW_TEXT)
SPACE = {"distances": [[0, 1], [1, 0]], "names": ["a", "b"], "values": [1, 2], "rho": [["a"], ["b"]]}
EQUATIONS = {"A": [[1, 1, 1]], "norm": 1, "c": [1, 2, 3], "fixed": [0], "moved": {0: 1}}
JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        float("nan"),
        float("inf"),
        "",
        [],
        {},
        "x",
        ["x"],
        {"x": 1},
        [[1]],
        10**400,
        "1e999",
        {1: 2},
    ]
)


def places(content: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    return [*([way] if way else []), *(place for key, value in inner for place in places(value, (*way, key)))]


@st.composite
def spoiled(draw, content):
    changed = copy.deepcopy(content)
    *way, last = draw(st.sampled_from(places(content)))
    at = changed
    for key in way:
        at = at[key]
    at[last] = copy.deepcopy(draw(JUNK))
    return changed


def read_or_refused(read, content) -> None:
    with suppress(SordinoError):  # anything else fails the test
        read(content)


def all_tables(content: Any) -> None:
    process = Process.load(content)
    for table in (process.disclosure(), process.dependencies(), process.leaks()):
        assert str(table)
        assert table.to_csv()


@settings(max_examples=150, deadline=None)
@given(spoiled(LOGS), spoiled(SHOP), spoiled(SPACE), spoiled(EQUATIONS))
def test_spoiled_files_are_read_or_refused(logs, shop, space, equations):
    read_or_refused(all_tables, logs)
    read_or_refused(lambda content: str(Workflow.load(content).cost()), shop)
    read_or_refused(
        lambda content: FiniteSpace(content["distances"], names=content["names"]).constants(
            content["values"], content["rho"]
        ),
        space,
    )
    read_or_refused(
        lambda content: LinearSpace(content["A"], norm=content["norm"]).sensitivity(
            content["c"], content["fixed"]
        ),
        equations,
    )
    read_or_refused(lambda content: LinearSpace(content["A"]).class_distance(content["moved"]), equations)
