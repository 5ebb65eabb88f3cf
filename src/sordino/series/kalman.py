"""Kalman: released numbers smoothed over time; post-processing, so no privacy is spent and none is gained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import CalibrationError, ParameterError
from sordino.core.parameters import non_negative, positive

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Estimates of the true series at every time, and the variance that the model gives each."""

    estimates: Floats
    variances: Floats


@dataclass(frozen=True, slots=True)
class Kalman:
    """The filter of a random walk that is seen with noise: x_t = x_{t−1} + step, z_t = x_t + noise.

    **Guarantee**: that of the numbers that go in; the filter looks at nothing else. Wrong variances cost accuracy and
    never privacy. ``step_variance``: of the true change from one time to the next, a public guess. ``noise_variance``:
    of the noise, one number or one per time (`noise_variance_of` has those of the noises here); it must be public, so a
    scale that follows the data has to be released first (`reveal_scale`).
    ``robust``: a measurement that is further from the forecast than so many deviations counts as if it were just there,
    for noise with heavy tails. **Source**: Kalman 1960; Fan and Xiong 2014. Causal, and constant memory.

    >>> import sordino as sd
    >>> smoothed = sd.series.Kalman(step_variance=1, noise_variance=8).filter([10, 12, 11, 15])
    >>> [round(float(x), 6) for x in smoothed.estimates]
    [10.0, 11.058824, 11.035556, 12.392766]
    """

    step_variance: float | Sequence[float]
    noise_variance: float | Sequence[float]
    robust: float | None = None

    def __post_init__(self) -> None:
        for value in np.atleast_1d(np.asarray(self.step_variance, dtype=object)).tolist():
            non_negative("step_variance", value)
        for value in np.atleast_1d(np.asarray(self.noise_variance, dtype=object)).tolist():
            positive("noise_variance", value)
        if self.robust is not None:
            positive("robust", self.robust)

    def filter(self, releases: Sequence[Any]) -> Smoothed:
        """The estimates after each of the numbers (or Releases); None or NaN is a time without one: a forecast only."""
        numbers = [_number(release) for release in releases]
        if not numbers or numbers[0] is None:
            raise ParameterError("there must be numbers to smooth, the first of them not missing")
        steps, noises = (self._per_time(name, len(numbers)) for name in ("step_variance", "noise_variance"))
        estimates, variances = np.empty(len(numbers)), np.empty(len(numbers))
        state, variance = numbers[0], noises[0]
        estimates[0], variances[0] = state, variance
        for time, number in enumerate(numbers[1:], start=1):
            forecast = variance + steps[time]
            if number is None:
                variance = forecast
            else:
                gain = forecast / (forecast + noises[time])
                state += gain * self._innovation(number - state, forecast + noises[time])
                variance = (1 - gain) * forecast
            estimates[time], variances[time] = state, variance
        return Smoothed(estimates, variances)

    def _innovation(self, difference: float, variance: float) -> float:
        if self.robust is None:
            return difference
        most = self.robust * math.sqrt(variance)
        return max(-most, min(most, difference))

    def _per_time(self, name: str, count: int) -> list[float]:
        given = getattr(self, name)
        values = [float(given)] * count if np.ndim(given) == 0 else [float(value) for value in given]
        if len(values) != count:
            raise ParameterError(f"{name} must be one number or one per time, {count}, got {len(values)}")
        return values

    def steady_state(self) -> tuple[float, float]:
        """(variance of the forecast, gain) that the filter settles at, for constant variances."""
        if np.ndim(self.step_variance) or np.ndim(self.noise_variance):
            raise ParameterError("variances that change have no steady state")
        step, noise = float(self.step_variance), float(self.noise_variance)  # type: ignore[arg-type]
        forecast = (step + math.sqrt(step * step + 4 * step * noise)) / 2
        return forecast, forecast / (forecast + noise)


def noise_variance_of(noise: str, scale: Any, *, gamma: float = 4.0) -> float:
    """The variance of a noise of a public scale L: Laplace 2L², generalised Cauchy with γ = 4 exactly L².

    Below γ = 3 and at it there is none, which is refused: smooth with ``robust`` and a variance of your choice.

    >>> import sordino as sd
    >>> sd.series.noise_variance_of("laplace", 2), sd.series.noise_variance_of("cauchy", 3)
    (8.0, 9.0)
    """
    width = positive("scale", scale)
    if noise == "laplace":
        return 2 * width * width
    if noise != "cauchy":
        raise ParameterError(f"noise must be laplace or cauchy, got {noise!r}")
    shape = positive("gamma", gamma)
    if shape <= 3:
        raise CalibrationError(
            f"generalised Cauchy noise has a variance for gamma above 3 only, got {gamma!r}: take gamma 4, or a "
            "robust filter"
        )
    # ∫ x²/(1 + x^γ) dx / ∫ 1/(1 + x^γ) dx = sin(π/γ)/sin(3π/γ), which is 1 at γ = 4.
    return width * width * math.sin(math.pi / shape) / math.sin(3 * math.pi / shape)


def _number(release: Any) -> float | None:
    value = getattr(release, "value", release)
    if value is None:
        return None
    number = float(value)
    if math.isinf(number):
        raise ParameterError("a number to smooth must be finite, or None where it is missing")
    return None if math.isnan(number) else number
