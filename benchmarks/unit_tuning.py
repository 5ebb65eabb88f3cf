"""How the limit of one unit's contribution is chosen: exact expected errors over public families of histograms.

Nothing is drawn, and no data are read: the families are made by fixed recipes. An error is divided by that of the best
limit there is, known for free, with the whole budget spent on the noise; the table shows geometric means over the
families and the worst of them. `python benchmarks/unit_tuning.py` prints it; docs/decisions/units.md says what was
decided by it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from report import Report
from scipy.special import ndtri

from sordino.units import GaussianPerLimit, LaplacePerLimit, LimitChoice, LimitNoise, SparseVector, Truncation
from sordino.units.truncation import list_limits

MOST = 10**6
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(3))
FINE = list_limits(MOST, base=Fraction(21, 20))


@dataclass(frozen=True)
class Histogram:
    """How much each unit contributes, sorted."""

    name: str
    values: NDArray[np.int64]
    known: dict[tuple[int, ...], tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)

    def read(self, limits: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Units above every limit, and what it takes away."""
        if limits not in self.known:
            self.known[limits] = self._read(limits)
        return self.known[limits]

    def _read(self, limits: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        places = np.searchsorted(self.values, limits, side="right")
        sums = np.append(0, np.cumsum(self.values))
        above = len(self.values) - places
        return above, sums[-1] - sums[places] - above * np.array(limits)


def families() -> Iterator[Histogram]:
    """Each recipe at three scales, so that no grid is favoured by meeting its values."""
    for units in (10**2, 10**4, 10**6):
        u = (np.arange(units) + 0.5) / units
        recipes = {
            "equal": np.full(units, 30.0),
            "geometric": np.log1p(-u) / math.log(0.9),
            "uniform": 20 * u,
            "wide uniform": 1000 * u,
            "Zipf 1.2": (1 - u) ** (-1 / 1.2),
            "Zipf 1.6": (1 - u) ** (-1 / 1.6),
            "Zipf 2.5": (1 - u) ** (-1 / 2.5),
            "log-normal": np.exp(6 + ndtri(u)),
            "few outliers": np.where(np.arange(units) < units - max(3, units // 1000), 10.0, 1000.0),
            "one giant": np.where(np.arange(units) < units - 1, 10.0, 1e5),
        }
        for name, values in recipes.items():
            for scale in (1.0, 1.37, 1.9):
                whole = np.clip(np.ceil(values * scale), 1, MOST).astype(np.int64)
                yield Histogram(f"{name} ×{scale:g}, {units:g} units", np.sort(whole))
    yield Histogram("ones", np.ones(10**4, dtype=np.int64))


def errors(
    noise: LimitNoise, limits: Sequence[int], lost: NDArray[np.int64], numbers: int
) -> NDArray[np.float64]:
    """The mean error of each limit, over ``numbers`` groups that share what is lost evenly."""
    return np.array(
        [noise.mean_error(limit, int(b) // numbers) for limit, b in zip(limits, lost, strict=True)]
    )


@dataclass(frozen=True)
class Contender:
    """A way to choose, and the noise that its budget leaves."""

    name: str
    limits: tuple[int, ...]
    choice: LimitChoice | SparseVector
    noise: LimitNoise

    def error(self, histogram: Histogram, numbers: int) -> float:
        above, lost = histogram.read(self.limits)
        chances = np.exp(self.choice.law(above.tolist()).log_probabilities)
        return float(chances @ errors(self.noise, self.limits, lost, numbers))


def handicapped(
    epsilon: Fraction, *, base: Fraction, share: Fraction, slope: int, name: str = ""
) -> Contender:
    limits = list_limits(MOST, base=base)
    choice = LimitChoice.of(limits, epsilon=epsilon * share, slope=slope)
    label = name or f"base {float(base):g}, share {float(share):g}, slope {slope}"
    return Contender(label, limits, choice, LaplacePerLimit(epsilon * (1 - share)))


def shipped(epsilon: Fraction, numbers: int) -> Contender:
    truncation = Truncation.of(epsilon=epsilon, most=MOST, numbers=numbers)
    return Contender("as shipped", truncation.grid, truncation.choice, truncation.noise)


def sparse(
    epsilon: Fraction, *, base: Fraction, share: Fraction, part: Fraction, threshold: Fraction
) -> Contender:
    """``part`` of the share for the threshold; the threshold itself in units of 1/ε."""
    limits = list_limits(MOST, base=base)
    first = epsilon * share * part
    choice = SparseVector.of(
        threshold=round(threshold / epsilon), threshold_epsilon=first, query_epsilon=epsilon * share - first
    )
    label = f"sparse vector, base {float(base):g}, share {float(share):g}, threshold {float(threshold):g}/ε"
    return Contender(label, limits, choice, LaplacePerLimit(epsilon * (1 - share)))


def concentrated(rho: Fraction, numbers: int, share: Fraction | None = None) -> Contender:
    truncation = Truncation.of_rho(rho=rho, most=MOST, numbers=numbers)
    if share is None:
        return Contender("as shipped", truncation.grid, truncation.choice, truncation.noise)
    epsilon = Fraction(math.sqrt(8 * rho * share))
    factor = epsilon / truncation.choice.epsilon
    handicaps = tuple(round(h / factor) for h in truncation.choice.handicaps)
    choice = replace(truncation.choice, epsilon=epsilon, handicaps=handicaps)
    return Contender(f"share {float(share):g}", truncation.grid, choice, GaussianPerLimit(rho * (1 - share)))


def compare(
    contenders: Sequence[Contender], histograms: Sequence[Histogram], best: NDArray[np.float64], numbers: int
) -> list[tuple[str, float, float]]:
    """Geometric mean and worst ratio to the best error."""
    rows = []
    for contender in contenders:
        ratios = np.array([contender.error(h, numbers) for h in histograms]) / best
        rows.append((contender.name, float(np.exp(np.log(ratios).mean())), float(ratios.max())))
    return rows


def list_pure(epsilon: Fraction, numbers: int, quick: bool) -> list[Contender]:
    """The shipped choice, its neighbours, and the sparse vector at its best."""
    slope = 1 + math.isqrt(4 * numbers)
    own = Fraction(1, 4) if numbers < 10 else Fraction(3, 20)
    fine = Fraction(6, 5)
    found = [shipped(epsilon, numbers)]
    if quick:
        return found
    found += [handicapped(epsilon, base=b, share=own, slope=slope) for b in (Fraction(3, 2), Fraction(2))]
    found += [
        handicapped(epsilon, base=fine, share=s, slope=slope)
        for s in (Fraction(3, 20), Fraction(1, 4), Fraction(7, 20))
        if s != own
    ]
    found += [handicapped(epsilon, base=fine, share=own, slope=s) for s in (slope - 1, slope + 1, 3 * slope)]
    if numbers == 1:
        found += [
            sparse(epsilon, base=b, share=s, part=Fraction(7, 10), threshold=Fraction(t))
            for b, s in (
                (Fraction(23, 20), Fraction(1, 4)),
                (Fraction(23, 20), Fraction(2, 5)),
                (fine, Fraction(2, 5)),
            )
            for t in (6, 10)
        ]
    return found


def run(quick: bool = False) -> Report:
    histograms = [h for h in families() if not quick or len(h.values) < 10**4]
    rows: list[list[str]] = []
    raw: dict[str, float] = {}
    for numbers in (1, 10, 100):
        table: dict[str, list[str]] = {}
        for epsilon in EPSILONS:
            noise = LaplacePerLimit(epsilon)
            best = np.array([errors(noise, FINE, h.read(FINE)[1], numbers).min() for h in histograms])
            for name, mean, worst in compare(list_pure(epsilon, numbers, quick), histograms, best, numbers):
                table.setdefault(name, []).append(f"{mean:.2f} ({worst:.0f})")
                raw[f"{numbers} numbers, ε = {float(epsilon):g}, {name}"] = mean
        rows += [[str(numbers), name, *cells] for name, cells in table.items()]
    for numbers in (1, 100):
        table = {}
        for epsilon in EPSILONS:
            rho = epsilon**2 / 2
            best = np.array(
                [errors(GaussianPerLimit(rho), FINE, h.read(FINE)[1], numbers).min() for h in histograms]
            )
            shares = () if quick else (Fraction(1, 50), Fraction(1, 5))
            contenders = [concentrated(rho, numbers, share) for share in (None, *shares)]
            for name, mean, worst in compare(contenders, histograms, best, numbers):
                table.setdefault(f"ρ = ε²/2, {name}", []).append(f"{mean:.2f} ({worst:.0f})")
        rows += [[str(numbers), name, *cells] for name, cells in table.items()]
    header = ["numbers", "choice", *(f"ε = {float(e):g}" for e in EPSILONS)]
    return Report("unit-tuning", header, rows, raw=raw)


if __name__ == "__main__":
    print(run(quick="--quick" in sys.argv).markdown())
