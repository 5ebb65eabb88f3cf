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
    """Whether a script has a model; ``model``: a value for every constant that matters, by its name without bars.

    ``units``: how much work it was. ``stopped``: it is unknown since time or memory came to their end, or somebody
    stopped it; False where the script alone, and the units that were allowed, decide that it is unknown.
    """

    verdict: Literal["sat", "unsat", "unknown"]
    model: Mapping[str, int | Fraction | bool]
    units: int = 0
    stopped: bool = False


def has_solver() -> bool:
    """Whether z3 is installed."""
    try:
        return find_spec("z3") is not None
    except ValueError:  # it is being replaced
        return False


def solve(script: str, *, seconds: float, units: int | None = None) -> Verdict:
    """Ask z3 for at most so long and so much work; late, it says unknown, never a verdict.

    The plain solver is asked: the one that z3 chooses by the shape of a script tries some ways for so many seconds
    each, so that the same script could get another verdict on a busy machine.
    """
    try:
        import z3
    except ImportError:
        raise MissingExtraError(
            "the solver needs z3, which is not installed: pip install 'sordino[solver]'"
        ) from None
    if seconds <= 0:
        return Verdict("unknown", {}, stopped=True)
    if units is not None and units <= 0:
        return Verdict("unknown", {})
    context = z3.Context()
    solver = z3.SimpleSolver(ctx=context)
    solver.set("timeout", max(1, int(seconds * 1000)))
    if units is not None:
        solver.set("rlimit", units)
    try:
        solver.from_string(script)
        before = _count_units(solver)
        verdict = str(solver.check())
        spent = _count_units(solver) - before
    except z3.Z3Exception:  # out of memory, or of some other resource
        return Verdict("unknown", {}, stopped=True)
    if verdict == "unsat":
        return Verdict("unsat", {}, spent)
    if verdict != "sat":
        ended = units is not None and spent >= units
        return Verdict(
            "unknown", {}, spent, stopped=not ended and "incomplete" not in solver.reason_unknown()
        )
    model = solver.model()
    values = {decl.name(): _plain(model[decl], z3) for decl in model.decls() if decl.arity() == 0}
    return Verdict("sat", values, spent)


def _count_units(solver: Any) -> int:
    """What z3 has done so far, in the units of its ``rlimit``, which do not depend on the machine."""
    found = solver.statistics()
    return int(found.get_key_value("rlimit count")) if "rlimit count" in found.keys() else 0  # noqa: SIM118


def _plain(value: Any, z3: Any) -> int | Fraction | bool:
    if z3.is_true(value) or z3.is_false(value):
        return bool(z3.is_true(value))
    if z3.is_int_value(value):
        return int(value.as_long())
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
