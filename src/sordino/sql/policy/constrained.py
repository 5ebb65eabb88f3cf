"""Constraints of columns, written in a policy in the words of a constraint file: ``constraint: range 0 10``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError
from sordino.sensitivity.interval import Interval
from sordino.sql.constraint_files.file import read_mapping_of_constraints
from sordino.sql.policy.places import field_error


def add_constraint(path: str, fields: Mapping[str, Any], grain: Fraction | None) -> dict[str, Any]:
    """The fields of a column with what its constraint says: bounds of a range, the domain of a set, or public.

    Bounds go outwards to the granularity, so that the whole range is within them. Priors are for estimates of risk; no
    guarantee rests on them.
    """
    text = fields.get("constraint")
    if text is None:
        return dict(fields)
    if not isinstance(text, str):
        raise field_error(f"{path}.constraint", f" is a text such as 'range 0 10', got {type(text).__name__}")
    try:
        constraint = read_mapping_of_constraints({"t.c": text})["t", "c"]
    except ParameterError as error:
        problem = str(error).partition(": ")[2]  # the place is one of a text that nobody wrote
        raise field_error(f"{path}.constraint", f": {problem}") from None
    possible = constraint.possible
    if constraint.kind == "exact":
        said: dict[str, Any] = {"public": True}
    elif isinstance(possible, Interval):
        said = {"bounds": _outwards(possible, grain)}
    elif possible.values is None:
        said = {}
    else:
        said = {"domain": [_as_category(item) for item in constraint.items]}
    for name in said:
        if fields.get(name) is not None:
            raise field_error(f"{path}.constraint", f" says what {name} says: leave one of them out")
    return {**fields, **said}


def _outwards(inside: Interval, grain: Fraction | None) -> list[Any]:
    low, high = Fraction(str(inside.low)), Fraction(str(inside.high))
    if grain is not None:
        low, high = (low // grain) * grain, -((-high) // grain) * grain
    return [int(end) if end.denominator == 1 else str(float(end)) for end in (low, high)]


def _as_category(item: Any) -> Any:
    return int(item) if isinstance(item, float) and item.is_integer() else item
