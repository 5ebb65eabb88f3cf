"""The only file that knows z3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, Literal

from sordino.core import MissingExtraError


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a script has a model; ``model``: a value for every constant that matters, by its name without bars."""

    verdict: Literal["sat", "unsat", "unknown"]
    model: Mapping[str, int | Fraction | bool]


def has_solver() -> bool:
    """Whether z3 is installed."""
    try:
        return find_spec("z3") is not None
    except ValueError:  # it is being replaced
        return False


def solve(script: str, *, seconds: float) -> Verdict:
    """Ask z3 for at most so long; late, it says unknown, never a verdict."""
    try:
        import z3
    except ImportError:
        raise MissingExtraError(
            "the solver needs z3, which is not installed: pip install 'sordino[solver]'"
        ) from None
    if seconds <= 0:
        return Verdict("unknown", {})
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("timeout", max(1, int(seconds * 1000)))
    solver.from_string(script)
    try:
        verdict = str(solver.check())
    except z3.Z3Exception:  # out of memory, or of some other resource
        verdict = "unknown"
    if verdict != "sat":
        return Verdict("unsat" if verdict == "unsat" else "unknown", {})
    model = solver.model()
    return Verdict(
        "sat", {decl.name(): _plain(model[decl], z3) for decl in model.decls() if decl.arity() == 0}
    )


def _plain(value: Any, z3: Any) -> int | Fraction | bool:
    if z3.is_true(value) or z3.is_false(value):
        return bool(z3.is_true(value))
    if z3.is_int_value(value):
        return int(value.as_long())
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
