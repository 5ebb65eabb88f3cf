"""How many exact draws of noise on a public lattice per second?"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

from report import Check, Report, interleaved, medians

from sordino.sampling.lattice import draw_many_on_lattice
from sordino.sampling.shapes import GeneralisedCauchy, Laplace, LaplaceLogNormal, Shape, StudentT

SHAPES: dict[str, Shape] = {
    "Student-t(3)": StudentT(3),
    "generalised Cauchy(4)": GeneralisedCauchy(4),
    "Laplace": Laplace(),
    "Laplace-log-normal(½)": LaplaceLogNormal(0.5),
}
STEPS = {"coarse (scale = 10 steps)": Fraction(1, 10), "fine (scale = 10⁶ steps)": Fraction(1, 10**6)}


def run(quick: bool = False) -> Report:
    size = 1000 if quick else 10_000
    speeds: dict[tuple[str, str], float] = {}
    for label, step in STEPS.items():

        def draws(shape: Shape, step: Fraction = step) -> Callable[[], float]:
            def timed() -> float:
                start = time.perf_counter()
                draw_many_on_lattice(shape, Fraction(1, 3), Fraction(1), step, size)
                return time.perf_counter() - start

            return timed

        times = medians(
            interleaved({name: draws(shape) for name, shape in SHAPES.items()}, 2 if quick else 5)
        )
        speeds |= {(name, label): size / seconds for name, seconds in times.items()}
    rows = [[name, *(f"{speeds[name, label]:,.0f}".replace(",", " ") for label in STEPS)] for name in SHAPES]
    checks = []
    for name in ("Student-t(3)", "generalised Cauchy(4)"):
        slowest = min(speeds[name, label] for label in STEPS)
        found = f"{slowest:,.0f}".replace(",", " ")
        checks.append(Check(f"10 000 exact {name} draws per second", f"at least {found}", slowest >= 10_000))
    raw = {f"{name}, {label}": value for (name, label), value in speeds.items()}
    return Report("noise-speed", ["noise", *(f"draws/s, {label}" for label in STEPS)], rows, checks, raw)
