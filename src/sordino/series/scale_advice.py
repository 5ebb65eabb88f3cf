"""advise_scale: whether noise that follows the data, with its scale hidden or revealed, beats global noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sordino.core import CalibrationError, ParameterError
from sordino.core.parameters import non_negative, positive, probability
from sordino.series.revealed_scale import plan_reveal

WEAKER = (
    "a (1 − δ)-quantile of sensitivities bounds those of most inputs: it gives ε with probability 1 − δ over the "
    "distribution of inputs, which is weaker than (ε, δ)-differential privacy"
)


@dataclass(frozen=True, slots=True)
class ScaleAdvice:
    """Scales of Laplace noise, for the owner: they follow the data. ``hidden`` is None where no budget reaches it.

    ``quantile``: noise by a (1 − δ)-quantile of sensitivities over inputs; ``note`` says what that does not guarantee.
    """

    hidden: float | None
    revealed: float
    quantile: float
    best: str
    note: str = WEAKER

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "hidden": self.hidden,
            "revealed": self.revealed,
            "quantile": self.quantile,
            "best": self.best,
            "note": self.note,
        }

    def __str__(self) -> str:
        hidden = "not achievable" if self.hidden is None else f"{self.hidden:.6g}"
        return (
            f"scale hidden {hidden}, scale revealed {self.revealed:.6g} (median), by quantile {self.quantile:.6g}; "
            f"best: {self.best}\n{self.note}"
        )


def advise_scale(
    bound: Any, *, epsilon: Any, delta: Any, beta: Any, quantile_sensitivity: Any
) -> ScaleAdvice:
    """Compare c/(ε − nβ), the median revealed scale, and c_q/ε. NOT PRIVATE: ``bound`` follows the data.

    At the best β = ε/(2n) the smooth ways cost about 2 and 2e times what c itself would, so they win where the bound is
    below c_q/2 or c_q/(2e).

    >>> import sordino as sd
    >>> sd.series.advise_scale(1, epsilon=1, delta=1e-6, beta=0.01, quantile_sensitivity=100).best
    'hidden'
    """
    size = positive("bound", bound)
    plan = plan_reveal(epsilon=epsilon, delta=delta, beta=beta)
    worst = non_negative("quantile_sensitivity", quantile_sensitivity) / plan.epsilon
    revealed = plan.median_scale(size)
    try:
        hidden = plan.hidden_scale(size)
    except CalibrationError:
        hidden = None
    scales = {"revealed": revealed, "quantile": worst} | ({} if hidden is None else {"hidden": hidden})
    return ScaleAdvice(hidden, revealed, worst, min(scales, key=lambda name: scales[name]))


def quantile_sensitivity(sensitivities: Sequence[float], delta: Any) -> float:
    """A conservative (1 − δ)-quantile of sensitivities of sampled inputs: the order statistic ⌈(1 − δ)(m + 1)⌉.

    By exchangeability a further input of the same distribution exceeds it with probability at most δ. The guarantee of
    noise by it is weaker than (ε, δ)-differential privacy: see `WEAKER`.

    >>> import sordino as sd
    >>> sd.series.quantile_sensitivity(range(1, 100), 0.05)
    95.0
    """
    chance = probability("delta", delta)
    ordered = sorted(non_negative("a sensitivity", float(value)) for value in sensitivities)
    place = math.ceil((1 - chance) * (len(ordered) + 1) - 1e-9)
    if not ordered or place > len(ordered):
        raise ParameterError(
            f"{len(ordered)} samples do not tell a quantile of 1 - {chance:g}: at least {math.ceil(1 / chance - 1)} do"
        )
    return ordered[place - 1]
