"""What the defaults of `select` and `add_noise` are measured by: exact expected errors, on questions of all kinds.

Nothing is drawn: every number is an expectation under the exact law. The questions are made by fixed recipes, so that
the tables need no data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from mean_radius import mean_radius
from report import Check, Report

import sordino as sd
from sordino.graphs.metrics import METRICS, EgoBetweenness
from sordino.mechanisms.noise.beta_grid import BetaGrid, best_grid_noise
from sordino.mechanisms.noise.registry import NOISES, default_beta, noise_names
from sordino.mechanisms.selection import MECHANISMS

Sizes = tuple[float, float]  # the mean and the 95 % radius
Question = tuple[str, np.ndarray, sd.Profile | float, sd.Distance | None, tuple[float, ...]]

_RANKED = [name for name, entry in MECHANISMS.items() if entry.traits.ranks]
_LARGE = 1e6
_REACH = 1 << 14


def questions(quick: bool) -> Iterator[Question]:
    """(name, scores, profile, distance, every ε)."""
    rng = np.random.default_rng(5)
    votes = np.sort(rng.multinomial(3000, rng.dirichlet(np.ones(30))))[::-1].astype(float)
    yield "votes of 3000, 30 candidates", votes, 1.0, None, (0.01, 0.1, 1.0)
    readme = sd.Profile.from_table([[4, 8, 16], [3, 6, 12], [2, 4, 8], [2, 4, 8], [1, 2, 4]], bound=100)
    yield "five scores, profiles that double", np.array([52.0, 31, 12, 9, 3]), readme, None, (0.5, 1.0, 5.0)
    scores = rng.lognormal(3, 1, 200)
    relative = np.minimum(np.cumsum(np.full((200, 8), 0.05) * scores[:, None], axis=1), 200)
    yield (
        "200 scores that move by 5 % of themselves",
        scores,
        sd.Profile.from_table(relative, bound=200),
        None,
        (1, 5, 20),
    )
    shared = sd.Profile.from_table([1.0, 2, 4, 8, 16], bound=200)
    yield "200 scores, one profile for all", scores, shared, None, (1, 5, 20)
    values = rng.lognormal(3, 0.5, 100 if quick else 300).clip(0, 200)
    for p in (50, 90):
        asked, profile = sd.percentile_question(values, p, bounds=(0, 200))
        yield f"record at p = {p}", asked, profile, None, (5, 20, 50)
    graph = sd.graphs.Graph.of(rng.zipf(1.7, size=(600, 2)) % 60)
    metrics = {name: METRICS[name] for name in ("ego_betweenness", "triangles", "clustering")}
    metrics["ego_betweenness (profile by degree)"] = EgoBetweenness(by_codegree=False)
    for name, metric in metrics.items():
        profile = metric.profile(graph, graph.nodes - 1)
        yield f"node with the largest {name}", metric.scores(graph), profile, sd.flip_edge(), (0.5, 2, 10)


def selections(quick: bool) -> Report:
    """Errors of all that rank. Regret is what one loses against the best, as a part of a uniform choice's error."""
    rows, raw = [], {}
    regrets: dict[str, list[float]] = {name: [] for name in (*_RANKED, "auto")}
    for name, scores, profile, distance, epsilons in questions(quick):
        for epsilon in epsilons[:1] if quick else epsilons:
            asked = {"profile": profile, "epsilon": epsilon, "distance": distance}
            errors = {
                mechanism: sd.expected_error(scores, mechanism=mechanism, **asked) for mechanism in _RANKED
            }
            chosen = sd.select(scores, **asked).mechanism
            if name.startswith("record"):  # which has a default of its own
                chosen = "inverse_sensitivity"
            uniform, best = float(np.mean(scores.max() - scores)), min(errors.values())
            for mechanism in regrets:
                error = errors[chosen if mechanism == "auto" else mechanism]
                regrets[mechanism].append((error - best) / uniform)
            raw[f"{name}, {epsilon}"] = errors
            rows.append(
                [name, f"{epsilon:g}", f"{uniform:.3g}", *(_cell(errors[m], m == chosen) for m in _RANKED)]
            )
    means = {mechanism: float(np.mean(lost)) for mechanism, lost in regrets.items()}
    told = ", ".join(
        f"{mechanism} {mean:.1%}" for mechanism, mean in sorted(means.items(), key=lambda item: item[1])
    )
    target = "the default has the least mean regret, in parts of a uniform choice's error"
    least = Check(target, told, means["auto"] <= min(means.values()))
    return Report("default-mechanism", ["question", "ε", "at random", *_RANKED], rows, [least], raw)


def _cell(error: float | None, taken: bool) -> str:
    if error is None:
        return ""
    return f"**{error:.3g}**" if taken else f"{error:.3g}"


PROFILES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "1 at every distance": lambda t: np.ones(len(t)),
    "1 + t/10": lambda t: 1 + t / 10,
    "1 + t": lambda t: 1.0 + t,
    "1 + t²": lambda t: 1.0 + t * t,
    "1, then 1000 from t = 100": lambda t: np.where(t < 100, 1.0, 1000.0),
}


def noises(quick: bool) -> Report:
    names = noise_names(constant=False)
    steps = np.arange(1 << 17, dtype=float)
    rows, raw, pure_best = [], {}, True
    for epsilon, delta in ((0.1, 0.0), (1.0, 0.0), (0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-3)):
        for label, profile in PROFILES.items():
            errors: dict[str, float] = {}
            for name in names:
                if not NOISES[name].traits.serves(constant=False, delta=delta):
                    continue
                beta = default_beta(name, "tight", epsilon, delta)
                entry = NOISES[name]
                noise = entry.fitted("tight", epsilon, delta, beta)
                smooth = float((np.exp(-beta * steps) * np.minimum(profile(steps), _LARGE)).max())
                errors[name] = smooth / noise.alpha(epsilon, delta, beta) * mean_radius(noise.shape)
            chosen = best_grid_noise(epsilon)
            pure = [errors[name] for name in noise_names(constant=False, pure=True)]
            pure_best &= errors[chosen] <= min(pure)
            raw[f"{label}, {epsilon}, {delta}"] = errors
            cells = [
                "" if n not in errors else f"**{errors[n]:.3g}**" if n == chosen else f"{errors[n]:.3g}"
                for n in names
            ]
            rows.append([label, f"{epsilon:g}", f"{delta:g}", *cells])
        if quick:
            break
    check = Check(
        "the default is the best pure noise for every profile",
        "in every row" if pure_best else "not in all",
        pure_best,
    )
    return Report("default-noise", ["local sensitivity at distance t", "ε", "δ", *names], rows, [check], raw)


# The shapes that polynomial and piecewise Laplace noise may have: its exponent, and the part of ε that its β takes.
EXPONENTS = (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0)
SHARES = (0.05, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4)

# What one more row can change in joins k rows away, as their analyses find it; they grow for ever.
JOINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "7 + k": lambda k: 7 + k,
    "39 + k": lambda k: 39 + k,
    "36 + 7k": lambda k: 36 + 7 * k,
    "(10 + k)(7 + k)": lambda k: (10 + k) * (7 + k),
    "(40 + k)(30 + k)": lambda k: (40 + k) * (30 + k),
    "(1045 + k)²": lambda k: (1045 + k) ** 2,
    "(30 + k)³": lambda k: (30 + k) ** 3,
}


def joins(quick: bool) -> list[Report]:
    """E|noise| and its 95 % radius, in parts of what Laplace noise with the sensitivity at hand would have.

    That is not private. Polynomial and piecewise Laplace noise are no noises of the library: they stand here as the
    laws that were not taken.
    """
    names = [name for name in noise_names(constant=False, pure=True) if NOISES[name].traits.one_shape]
    tables: dict[str, list[list[str]]] = {"smooth-noise": [], "smooth-noise-radius": []}
    raw: dict[str, dict[str, Sizes]] = {}
    behind: dict[str, list[str]] = {marker: [] for marker in tables}
    for epsilon in (1.0,) if quick else (0.1, 1.0):
        chosen, exponent = best_grid_noise(epsilon), find_best_shape(EXPONENTS, polynomial_sizes, epsilon)
        share = find_best_shape(SHARES, piecewise_sizes, epsilon)
        for label, profile in JOINS.items():
            bounds = profile(np.arange(20_000, dtype=float))
            found = {name: grid_sizes(name, epsilon, bounds) for name in names}
            found["polynomial"] = polynomial_sizes(exponent, epsilon, bounds)
            found["piecewise"] = piecewise_sizes(share, epsilon, bounds)
            local = bounds[0] / epsilon, bounds[0] * math.log(20) / epsilon
            raw[f"{label}, {epsilon}"] = found
            for place, marker in enumerate(tables):
                parts = {name: sizes[place] / local[place] for name, sizes in found.items()}
                first = min(parts, key=lambda name: parts[name])
                if first != chosen:
                    lead = f"{first} at {parts[first] / parts[chosen]:.2f}×"
                    behind[marker].append(f"{label} at ε = {epsilon:g} ({lead})")
                cells = (_cell(part, name == chosen) for name, part in parts.items())
                tables[marker].append([label, f"{epsilon:g}", *cells])
    header = ["what one row can change, k rows away", "ε", *names, "polynomial", "piecewise Laplace"]
    words = {"smooth-noise": "the least expected error", "smooth-noise-radius": "the least 95 % error"}
    return [
        Report(
            marker,
            header,
            rows,
            [
                Check(
                    f"the default has {words[marker]} of all on every one",
                    "in every row" if not behind[marker] else f"behind in {'; '.join(behind[marker])}",
                    not behind[marker],
                )
            ],
            {label: {name: sizes[place] for name, sizes in found.items()} for label, found in raw.items()},
        )
        for place, (marker, rows) in enumerate(tables.items())
    ]


def grid_sizes(name: str, epsilon: float, bounds: np.ndarray) -> Sizes:
    """With the best β of the public grid."""
    grid = BetaGrid.of(name, epsilon=epsilon)
    scale = float(grid.scale(sd.SmoothBound(lambda beta: smooth(bounds, beta))))
    return scale * mean_radius(grid.noise.shape), scale * grid.noise.shape.radius(0.95)


def smooth(bounds: np.ndarray, beta: float) -> float:
    return float((np.exp(-beta * np.arange(len(bounds))) * bounds).max())


def polynomial_sizes(exponent: float, epsilon: float, bounds: np.ndarray) -> Sizes:
    """Of noise with density ∝ (1 + |x|/s)^(−a), at its best β.

    With u = |x|/s, moving the value by S and the scale by e^β changes the logarithm of the density, along a path, by
    at most a·S/(s(1 + u)) + |1 − a·u/(1 + u)|·β, which is convex in 1/(1 + u): the worst are u = 0 and u = ∞. So
    β ≤ ε/(a − 1) and s = a·S/(ε − β). The mean size is s/(a − 2), and P(|X| > x) = (1 + x/s)^(1 − a).
    """
    betas = np.linspace(0.02, 1, 50) * min(epsilon / (exponent - 1), 0.99 * epsilon)
    scale = min(exponent * smooth(bounds, beta) / (epsilon - beta) for beta in betas)
    return scale / (exponent - 2), scale * math.expm1(math.log(20) / (exponent - 1))


def find_best_shape(
    shapes: Sequence[float], sizes: Callable[[float, float, np.ndarray], Sizes], epsilon: float
) -> float:
    """That with the least mean of all parts below: a shape is public, so it is one for every profile."""
    steps = np.arange(20_000, dtype=float)
    profiles = [profile(steps) for profile in JOINS.values()]

    def mean_part(shape: float) -> float:
        return float(np.mean([sizes(shape, epsilon, one)[0] * epsilon / one[0] for one in profiles]))

    return min(shapes, key=mean_part)


def piecewise_sizes(share: float, epsilon: float, bounds: np.ndarray) -> Sizes:
    """Of noise whose density falls by e^{-(ε - β)} along each piece, as wide as the bound k rows away.

    A row moves an outcome by at most one piece, since pieces k + 1 rows from its neighbour are no narrower. Pieces are
    smoothed to grow by at most e^β, so that the constant in front changes by no more; with pieces of
    any widths it may change by as much as the exponent, and the density has to fall by e^{-ε/2}. In steps it is the
    smooth ladder.
    """
    beta = share * epsilon
    widths = bounds.copy()
    for place in range(len(widths) - 2, -1, -1):
        widths[place] = max(widths[place], math.exp(-beta) * widths[place + 1])
    rate = epsilon - beta
    mass = np.exp(-rate * np.arange(len(widths))) * widths
    inside = (1 - (1 + rate) * math.exp(-rate)) / rate / (1 - math.exp(-rate))  # of a rung, on average
    start = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    # the rung in which a twentieth is left: inside it the density falls by the same rate
    left = np.cumsum(mass[::-1])[::-1] / mass.sum()
    rung = int(np.searchsorted(-left, -0.05, side="left")) - 1
    part = (left[rung] - 0.05) / (left[rung] - left[rung + 1]) * -math.expm1(-rate)
    radius = start[rung] + widths[rung] * -math.log1p(-part) / rate
    return float(mass @ (start + inside * widths) / mass.sum()), float(radius)


def constant(quick: bool) -> Report:
    """E|released − value| for a constant bound, averaged over where the value lies between two lattice points."""
    rows, raw, never = [], {}, True
    for epsilon in (1.0,) if quick else (0.1, 1.0, 3.0):
        for bound in (1, 10):
            errors = {
                name: float(np.mean([law_error(place / 8, name, epsilon, bound) for place in range(8)]))
                for name in ("discrete_laplace", "laplace", "student_t")
            }
            raw[f"{epsilon}, {bound}"] = errors
            never &= errors["discrete_laplace"] <= min(errors.values()) * 1.0001
            rows.append([f"{epsilon:g}", str(bound), *(f"{error:.4g}" for error in errors.values())])
    found = "in every row" if never else "not in every row"
    check = Check("discrete Laplace noise on the rounded value is never worse", found, never)
    header = ["ε", "bound in steps", "discrete_laplace (the default)", "laplace", "student_t"]
    return Report("default-constant-noise", header, rows, [check], raw)


def law_error(value: float, noise: str, epsilon: float, bound: int) -> float:
    law = sd.noise_law(value, bound, epsilon=epsilon, noise=noise, step=1)
    window = law.window()
    first, last = max(window[0], -_REACH), min(window[1], _REACH)
    return float(np.exp(law.log_masses(first, last)) @ np.abs(np.arange(first, last + 1) - value))


def run(quick: bool = False) -> list[Report]:
    return [selections(quick), noises(quick), *joins(quick), constant(quick)]
