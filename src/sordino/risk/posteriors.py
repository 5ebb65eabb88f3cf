"""P_Y, P_C and P_P: what a realistic attacker believes of a person after a noisy count was released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import probability
from sordino.risk.grid_posterior import CountNoise, GridPosterior
from sordino.risk.histogram_model import HistogramModel
from sordino.risk.laplace_posterior import LaplacePosterior
from sordino.risk.number_model import NumberModel

Floats = NDArray[np.float64]


def posterior_given_output(
    model: HistogramModel | NumberModel,
    outputs: Any,
    epsilon: float | None = None,
    *,
    noise: CountNoise | None = None,
) -> Floats:
    """P_Y: the belief that the guess is right, after each of these outputs by itself.

    >>> from scipy.stats import binom
    >>> from sordino.risk import HistogramModel, posterior_given_output
    >>> model = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))
    >>> posterior_given_output(model, [5, -2], 1.0).round(6).tolist()
    [0.427804, 0.13619]
    """
    return _choose(model, epsilon, noise).given_output(outputs)


def posterior_given_outputs(
    model: HistogramModel | NumberModel,
    outputs: Sequence[float],
    epsilon: float | None = None,
    *,
    noise: CountNoise | None = None,
) -> float:
    """The belief after *all* of these outputs of one count, each with noise of its own: their likelihoods multiply.

    Outputs that do not depend on the guess, given this count, change nothing: leave them out.

    >>> from scipy.stats import binom
    >>> from sordino.risk import HistogramModel, posterior_given_outputs
    >>> model = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))
    >>> round(posterior_given_outputs(model, [5, 6], 1.0), 6)
    0.500295
    """
    if not len(outputs):
        raise ParameterError("outputs must hold at least one number")
    chosen = _choose(model, epsilon, noise)
    drawn = CountNoise.laplace(chosen.epsilon) if isinstance(chosen, LaplacePosterior) else chosen.noise
    return GridPosterior(model, drawn).given_outputs_together(outputs)


def posterior_given_count(
    model: HistogramModel | NumberModel, epsilon: float | None = None, *, noise: CountNoise | None = None
) -> Floats:
    """P_C: the belief to expect after a release, for every true count 0 … people, or at a number's ``values``.

    >>> from scipy.stats import binom
    >>> from sordino.risk import HistogramModel, posterior_given_count
    >>> model = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))
    >>> posterior_given_count(model, 1.0)[[0, 10]].round(6).tolist()
    [0.159996, 0.534991]
    """
    return _choose(model, epsilon, noise).given_count()


def posterior_expected(
    model: HistogramModel | NumberModel, epsilon: float | None = None, *, noise: CountNoise | None = None
) -> float:
    """P_P: the belief to expect where the guess is right; never below the prior where the belief is reality.

    >>> from scipy.stats import binom
    >>> from sordino.risk import HistogramModel, posterior_expected
    >>> model = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))
    >>> round(posterior_expected(model, 1.0), 6)
    0.337672
    """
    return _choose(model, epsilon, noise).expected()


def guessing_precision(posteriors: Any, truth: Any, *, confidence: float = 0.9) -> tuple[float | None, int]:
    """The share of right guesses among those made with a posterior of at least ``confidence``, and how many are made.

    Without a guess there is no share: None.

    >>> from sordino.risk import guessing_precision
    >>> guessing_precision([0.95, 0.99, 0.2], [True, False, True])
    (0.5, 2)
    """
    probability("confidence", confidence)
    believed, true = np.asarray(posteriors, dtype=np.float64), np.asarray(truth)
    if believed.shape != true.shape or true.dtype != np.bool_:
        raise ParameterError("truth must hold one True or False for each posterior")
    made = believed >= confidence
    guesses = int(made.sum())
    return (float(true[made].mean()) if guesses else None), guesses


def _choose(
    model: HistogramModel | NumberModel, epsilon: float | None, noise: CountNoise | None
) -> LaplacePosterior | GridPosterior:
    if (epsilon is None) == (noise is None):
        raise ParameterError(
            "give epsilon, for Laplace noise of scale 1/epsilon, or noise: exactly one of them"
        )
    if isinstance(model, NumberModel):
        return GridPosterior(model, CountNoise.laplace(epsilon or 0.0) if noise is None else noise)
    if noise is None:
        return LaplacePosterior.of(model, epsilon or 0.0)
    if noise.rate is not None:
        return LaplacePosterior.of(model, noise.rate, whole_steps=noise.whole_steps)
    return GridPosterior(model, noise)
