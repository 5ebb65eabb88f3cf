"""Costs of a process: where tasks state epsilon and sensitivity, what each object that is made of releases costs."""

from __future__ import annotations

from fractions import Fraction

from sordino.core import Loss
from sordino.core.loss import round_as_written
from sordino.workflow.process_model import ProcessModel
from sordino.workflow.spread import Distances, Spread, price, spread_input, spread_step


def find_object_costs(process: ProcessModel) -> dict[str, dict[str, float]]:
    """Per object and input, the ε of one unit; only where every way to it passes a release and is in numbers."""
    if not any(task.epsilon is not None for task in process.tasks):
        return {}
    spreads = {name: spread_input(name) for name in process.inputs}
    mechanisms: dict[str, tuple[Loss, Distances]] = {}
    for task in process.in_order:
        parts = {one.name: spreads[one.name] for one in task.inputs}
        stated = task.sensitivity or {}
        unit = None if task.epsilon is None else Fraction(1)
        moved = spread_step(parts, {name: stated.get(name, unit) for name in parts})
        if task.epsilon is not None:
            name = f"{task.by}: {task.name}"
            mechanisms[name] = (Loss(epsilon=round_as_written(task.epsilon)), moved.distances)
            moved = Spread({}, moved.releases | {name})
        spreads.update(dict.fromkeys(task.outputs, moved))
    found: dict[str, dict[str, float]] = {}
    for name, spread in spreads.items():
        if not spread.public or not spread.releases:
            continue
        costs = {source: price([spread], mechanisms, (source,)).epsilon or 0.0 for source in process.inputs}
        found[name] = {source: cost for source, cost in costs.items() if cost < float("inf")}
    return found
