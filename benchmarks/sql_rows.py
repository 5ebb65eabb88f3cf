"""Where rows are protected: expected errors by smooth bounds and by truncation, without and with enforced keys."""

from __future__ import annotations

from typing import Any

from report import Report
from sql_data import facebook, tpch, triangles
from sql_measure import EPSILON, Worker
from sql_questions import GRAPH, TPCH, TRIANGLE, Question

SCALE = "0.1"
LIMIT = 120.0
SHORT = ("path of 2 edges", "triangle")
WAYS = {
    "smooth bounds": ("smooth_bound", False),
    "smooth bounds, keys": ("smooth_bound", True),
    "truncation": ("truncation", False),
    "truncation, keys": ("truncation", True),
}


def run(quick: bool = False) -> list[Report]:
    joins = tuple(question for question in TPCH if question.tables > 1)
    found = _ask(tpch("0.01" if quick else SCALE), joins[:3] if quick else joins)
    cyclic: dict[str, dict[str, Any]] = {}
    for kind in ("scattered", "dangling"):
        cyclic |= _ask(triangles(kind), (TRIANGLE,), f"empty triangle join, {kind} rows")
    graph = None if quick else facebook()
    if graph is not None:
        cyclic |= _ask(graph, tuple(question for question in GRAPH if question.name in SHORT))
    return [_table("sql-rows", found), _table("sql-rows-cyclic", cyclic)]


def _ask(file: Any, questions: tuple[Question, ...], name: str = "") -> dict[str, dict[str, Any]]:
    with Worker(file, limit=LIMIT) as worker:
        return {
            name or question.name: {
                way: worker.ask(op="rows", sql=question.sql, epsilon=EPSILON, keys=keys, mechanism=mechanism)
                for way, (mechanism, keys) in WAYS.items()
            }
            for question in questions
        }


def _table(marker: str, found: dict[str, dict[str, Any]]) -> Report:
    header = ["question", *(f"{way}: error" for way in WAYS), *(f"{way}: time" for way in WAYS)]
    rows = [
        [name, *(_error(ways[way]) for way in WAYS), *(_time(ways[way]) for way in WAYS)]
        for name, ways in found.items()
    ]
    return Report(marker, header, rows, raw={"found": found})


def _error(answer: dict[str, Any]) -> str:
    if "error" not in answer:
        return "late" if "late" in answer else "too many results"
    owners = f" ({answer['owners']} owner{'s' if answer['owners'] > 1 else ''})" if "owners" in answer else ""
    return f"{answer['error']:.4g}{owners}"


def _time(answer: dict[str, Any]) -> str:
    if "late" in answer:
        return f"> {answer['late']:g} s"
    return f"{answer['seconds']:.1f} s" if "seconds" in answer else "–"
