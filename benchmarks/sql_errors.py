"""Expected errors of one join, from the bounds of its analyses: with the noise of today, with others, as published.

Nothing is drawn; the rounding to whole numbers is left out.
"""

from __future__ import annotations

import math
from statistics import mean, median
from typing import Any

from mean_radius import mean_radius

from sordino.mechanisms.noise.beta_grid import BetaGrid
from sordino.sampling.shapes import GeneralisedCauchy
from sordino.sensitivity import SmoothBound
from sordino.sql.analysis import Analysis
from sordino.sql.answering.cell_noise import CellNoise, ConstantNoise, GridNoise
from sordino.sql.answering.measured import Measured
from sordino.sql.answering.plan import AnswerPlan

# FLEX is (ε, δ): what its noise is compared at. The others spend no δ.
DELTA = 1e-6
OLD = "cauchy"


def further_betas(epsilon: float) -> tuple[float, ...]:
    """The β of the noises that today's is compared with."""
    return (*(point.beta for point in _old(epsilon).points), _residual_beta(epsilon), _flex_beta(epsilon))


def compare_errors(plan: AnswerPlan, cell: Measured, epsilon: float) -> dict[str, float]:
    """By each analysis and all with today's noise, by all with the old one, by two as they were published."""
    noise, analysis = plan.noises[cell.measure], cell.analysis
    if not isinstance(noise, GridNoise) or analysis is None:
        raise SystemExit("errors are compared for joins")
    names = dict.fromkeys(name for by_name in analysis.per_table.values() for name in by_name)
    found = {name: _grid_error(noise.grid, _alone(analysis, name)) for name in names}
    found["all"] = _grid_error(noise.grid, analysis.smooth_bound())
    found["old"] = _grid_error(_old(epsilon), analysis.smooth_bound())
    found["all, 95 %"] = _grid_radius(noise.grid, analysis.smooth_bound())
    found["old, 95 %"] = _grid_radius(_old(epsilon), analysis.smooth_bound())
    # Dong & Yi 2021: generalised Cauchy noise of exponent 4 and scale 10·RS/ε, RS smooth at β = ε/10.
    residual = 10 * analysis.at(_residual_beta(epsilon), analysis="residual") / epsilon
    found["residual, published"] = residual * mean_radius(GeneralisedCauchy(4.0))
    # Johnson, Near, Song 2018: Laplace noise of scale 2·S/ε, S smooth at β = ε/(2 ln(2/δ)).
    found["elastic, published"] = 2 * analysis.at(_flex_beta(epsilon), analysis="elastic") / epsilon
    # No noise follows it: it tells how much of the error is paid for rows that are not there.
    found["local"] = float(analysis.bounds[0]) / epsilon
    step = float(plan.statement.measures[cell.measure].step)
    return {name: error * step for name, error in found.items()} | {"exact": cell.exact * step}


def summarise_errors(plan: AnswerPlan, cells: list[Measured]) -> dict[str, Any]:
    """Over all numbers of an answer: the mean expected error, and the median number."""
    steps = [float(measure.step) for measure in plan.statement.measures]
    errors = [_error(plan.noises[cell.measure], cell) * steps[cell.measure] for cell in cells]
    return {
        "numbers": len(cells),
        "exact": median(cell.exact * steps[cell.measure] for cell in cells),
        "error": mean(errors),
        "composition": plan.composition(),
    }


def _error(noise: CellNoise, cell: Measured) -> float:
    if isinstance(noise, ConstantNoise):
        # E|X| of the two-sided geometric law P(X = x) ∝ e^(−|x|/w)
        return 1 / math.sinh(float(1 / noise.width))
    if isinstance(noise, GridNoise) and cell.analysis is not None:
        return _grid_error(noise.grid, cell.analysis.smooth_bound())
    raise SystemExit(f"no expected error is known for {noise.name}")


def _alone(analysis: Analysis, name: str) -> SmoothBound:
    return SmoothBound(
        lambda beta: analysis.at(beta, analysis=name), analysis.distance, beta_min=analysis.beta
    )


def _grid_error(grid: BetaGrid, bound: SmoothBound) -> float:
    return float(grid.scale(bound)) * mean_radius(grid.noise.shape)


def _grid_radius(grid: BetaGrid, bound: SmoothBound) -> float:
    return float(grid.scale(bound)) * grid.noise.shape.radius(0.95)


def _old(epsilon: float) -> BetaGrid:
    return BetaGrid.of(OLD, epsilon=epsilon)


def _residual_beta(epsilon: float) -> float:
    return epsilon / 10


def _flex_beta(epsilon: float) -> float:
    return epsilon / (2 * math.log(2 / DELTA))
