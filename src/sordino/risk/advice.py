"""RiskAdvice: the ε that keeps an attacker's gain within bounds, and the gain that an ε allows, with the reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, Secret
from sordino.core.parameters import positive, whole
from sordino.risk.goal import Goal, JointGuess
from sordino.risk.guessing import (
    GuessingGoal,
    Worst,
    allow_unknown,
    bound_unknown,
    check_advantage,
    find_advantage_at,
    find_epsilon_at,
    find_largest_advantage,
    find_least_epsilon,
)
from sordino.risk.priors import Prior, UnknownPrior
from sordino.risk.regions import Leaf, Named
from sordino.sensitivity.norms import Norm

Floats = NDArray[np.float64]
Priors = Mapping[str, Prior]


@dataclass(frozen=True, slots=True)
class RiskAdvice:
    """What was found: ``epsilon`` per release, and the belief in the worst target before and after all ``uses``.

    ``target`` and ``region`` are those that decide; None where the prior is not known. In a column of categories the
    region is all values, None. ``denied``: what decides is the belief that the guess is wrong. An ε of infinity says
    that whatever is released keeps to the advantage.
    """

    epsilon: float
    advantage: float
    uses: int
    prior: float | None = None
    target: tuple[tuple[str, Any], ...] | None = None
    region: tuple[tuple[str, tuple[float, float] | None], ...] | None = None
    denied: bool = False

    @property
    def posterior(self) -> float | None:
        """What is believed at most after all uses; None where the prior is not known."""
        return None if self.prior is None else min(1.0, self.prior + self.advantage)

    def __str__(self) -> str:
        each = f" in each of {self.uses} releases" if self.uses > 1 else ""
        if self.prior is None or self.target is None:
            gain = f"no belief rises by more than {self.advantage:.4g}, whatever it was before"
            return f"ε = {self.epsilon:.6g}{each}: {gain}"
        where = ", ".join(
            f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value!r}"
            for name, value in self.target
        )
        if math.isinf(self.epsilon):
            return f"any ε: even certainty raises no belief by more than {self.advantage:.4g}"
        among = [f"{name} in [{ends[0]:.6g}, {ends[1]:.6g}]" for name, ends in self.region or () if ends]
        blurred = f", told apart from {' and '.join(among)}" if among and not self.denied else ""
        return (
            f"ε = {self.epsilon:.6g}{each}: no belief rises by more than {self.advantage:.4g}; in the worst case "
            f"({'not ' if self.denied else ''}{where}{blurred}) from {self.prior:.4g} to {self.posterior:.4g}"
        )

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "epsilon": self.epsilon,
            "advantage": self.advantage,
            "uses": self.uses,
            "prior": self.prior,
            "posterior": self.posterior,
            "target": None if self.target is None else dict(self.target),
            "region": None if self.region is None else dict(self.region),
            "denied": self.denied,
        }


def advise_epsilon(
    goal: str | Goal,
    prior: Priors,
    advantage: float,
    *,
    norm: str | Norm | None = None,
    units: int = 1,
    uses: int = 1,
    where: Mapping[str, Any] | None = None,
) -> RiskAdvice:
    """The largest ε with which no attacker of this prior gains more than ``advantage`` in belief.

    ``prior``: of every column of the goal, independent of one another. ``norm``: what one unit of the guarantee's
    distance is, for guarantees per unit of a norm; without it two records are ``units`` apart whatever they hold: 1
    where a record is replaced, 2 where it is removed and another added. ``uses``: how often the same is released.
    ``where``: one target; without it, the worst of all that the priors allow, since the true one is private.

    **Guarantee**: the posterior of a right guess after all uses is at most its prior plus the advantage, for every
    target and every output (`guessing.allow_epsilon`).
    **Requires**: the prior is the attacker's, its columns are independent of one another, and the record is of all
    other records.

    >>> import sordino as sd
    >>> found = sd.risk.advise_epsilon("x within 5", {"x": sd.risk.RangePrior.of([0, 100])}, 0.3, norm="x")
    >>> round(found.epsilon, 5)
    0.02007
    """
    advantage = check_advantage(advantage)
    uses = whole("uses", uses, least=1)
    parsed = _Question.of(goal, prior, norm, units)
    if parsed.unknown:
        return RiskAdvice(allow_unknown(advantage, parsed.widest()) / uses, advantage, uses)
    found = [
        find_least_epsilon(sought, advantage)
        if where is None
        else find_epsilon_at(sought, parsed.place(where), advantage)
        for sought in parsed.goals()
    ]
    least = min(one.value for one in found)
    return parsed.tell(found, least, least / uses, advantage, uses)


def bound_guessing(
    goal: str | Goal,
    prior: Priors,
    epsilon: float,
    *,
    norm: str | Norm | None = None,
    units: int = 1,
    uses: int = 1,
    where: Mapping[str, Any] | None = None,
) -> RiskAdvice:
    """How much an attacker can gain in belief where every release has this ε: `advise_epsilon` the other way round.

    >>> import sordino as sd
    >>> found = sd.risk.bound_guessing("is(ill)", {"ill": sd.risk.UnknownPrior()}, 1.0)
    >>> round(found.advantage, 4)
    0.2449
    """
    epsilon, uses = positive("epsilon", epsilon), whole("uses", uses, least=1)
    parsed = _Question.of(goal, prior, norm, units)
    if parsed.unknown:
        return RiskAdvice(epsilon, bound_unknown(epsilon * uses, parsed.widest()), uses)
    found = [
        find_largest_advantage(sought, epsilon * uses)
        if where is None
        else find_advantage_at(sought, parsed.place(where), epsilon * uses)
        for sought in parsed.goals()
    ]
    largest = max(one.value for one in found)
    return parsed.tell(found, largest, epsilon, largest, uses)


def advise_for_rows(
    goal: str | Goal,
    prior: Priors,
    advantage: float,
    rows: Mapping[str, Sequence[Any]],
    *,
    norm: str | Norm | None = None,
    units: int = 1,
    uses: int = 1,
) -> Secret[RiskAdvice]:
    """The ε that suffices for the rows that there are: for the owner's eyes, since it depends on them.

    ``rows``: the columns of the goal. Values outside the range of their prior count as its nearest end.
    """
    parsed = _Question.of(goal, prior, norm, units)
    if parsed.unknown:
        raise ParameterError("without a prior all rows are alike: take advise_epsilon")
    columns = [list(rows[column]) for column in parsed.columns if column in rows]
    if len(columns) < len(parsed.columns) or len({len(column) for column in columns}) != 1 or not columns[0]:
        raise ParameterError(
            f"rows must hold the columns {', '.join(parsed.columns)}, with one entry per row each"
        )
    check_advantage(advantage), whole("uses", uses, least=1)  # what is not the rows' fault is said as ever
    targets = [dict(zip(parsed.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    try:
        places = {parsed.place(target): target for target in targets}
    except (ParameterError, TypeError):
        raise PrivateDataError(
            f"some rows hold what the prior of {', '.join(parsed.columns)} does not know: numbers, or values of its "
            "set, are needed in all of them"
        ) from None
    found = [
        advise_epsilon(goal, prior, advantage, norm=norm, units=units, uses=uses, where=target)
        for target in places.values()
    ]
    return Secret(min(found, key=lambda advice: advice.epsilon))


@dataclass(frozen=True, slots=True)
class _Question:
    """A goal with its leaves, or with the widths of the columns whose prior is not known."""

    columns: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    every: bool
    norm: Norm | None
    units: int
    unknown: tuple[UnknownPrior, ...]

    @classmethod
    def of(cls, goal: str | Goal, prior: Priors, norm: str | Norm | None, units: int) -> _Question:
        parsed = Goal.parse(goal) if isinstance(goal, str) else goal
        read = Norm.parse(norm) if isinstance(norm, str) else norm
        units = whole("units", units, least=1)
        if read is not None:
            _check_norm(read, parsed)
        unknown = [prior[column] for column in parsed.columns if isinstance(prior.get(column), UnknownPrior)]
        every = parsed.joined == "AND"
        if unknown and len(unknown) == len(parsed.columns):
            found = tuple(one for one in unknown if isinstance(one, UnknownPrior))
            return cls(parsed.columns, (), every, read, units, found)
        return cls(parsed.columns, parsed.find_leaves(prior), every, read, units, ())

    def goals(self) -> list[GuessingGoal]:
        """The goal, and, for categories, its denial: who learns that it is not so has learned something too."""
        sought = GuessingGoal(self.leaves, self.every, self.measure)
        is_named = all(isinstance(leaf, Named) for leaf in self.leaves)
        return [sought, replace(sought, denied=True)] if is_named else [sought]

    def measure(self, moves: Sequence[Floats]) -> Floats:
        """The distance between two records whose columns are so far apart."""
        if self.norm is None:
            return np.full_like(moves[0], float(self.units))
        return np.asarray(self.norm(dict(zip(self.columns, moves, strict=True))), dtype=np.float64)

    def widest(self) -> float:
        """The largest distance between two records, where only ranges are known."""
        if self.norm is None:
            return float(self.units)
        widths = []
        for column, one in zip(self.columns, self.unknown, strict=True):
            width = 1.0 if self.norm.kinds[column] == "is" else one.high - one.low
            if not width:
                raise ParameterError(
                    f"how far two values of {column!r} can be apart is not known: give UnknownPrior.of_range(low, high)"
                )
            widths.append(np.full(1, width))
        return float(self.measure(widths)[0])

    def place(self, where: Mapping[str, Any]) -> tuple[float, ...]:
        """A target as numbers: places of categories, numbers within their range."""
        missing = [column for column in self.columns if column not in where]
        if missing:
            raise ParameterError(f"where must name {', '.join(map(repr, missing))}")
        return tuple(
            place
            for leaf in self.leaves
            for place in leaf.find_place([where[column] for column in leaf.columns])
        )

    def tell(
        self, found: Sequence[Worst], deciding: float, epsilon: float, advantage: float, uses: int
    ) -> RiskAdvice:
        """What was found, in the words of the columns; of a guess and a denial that are as bad, the guess."""
        pairs = zip(found, self.goals(), strict=True)
        worst, goal = next(
            (one, goal)
            for one, goal in pairs
            if one.value == deciding or abs(one.value - deciding) <= 1e-9 * abs(deciding)
        )
        extent = worst.extent if goal.every and not goal.denied else 1.0
        values: list[Any] = []
        regions: list[Any] = []
        start = 0
        for leaf in self.leaves:
            place = worst.target[start : start + len(leaf.columns)]
            values += leaf.describe(place)
            regions += leaf.describe_region(place, extent)
            start += len(leaf.columns)
        return RiskAdvice(
            epsilon,
            advantage,
            uses,
            worst.prior,
            tuple(zip(self.columns, values, strict=True)),
            tuple(zip(self.columns, regions, strict=True)),
            goal.denied,
        )


def _check_norm(norm: Norm, goal: Goal) -> None:
    if norm.shared:
        raise ParameterError(f"the norm {norm} has a column twice: write each column once")
    if set(norm.columns) != set(goal.columns):
        raise ParameterError(
            f"the norm {norm} measures {', '.join(norm.columns)}, and the goal is about {', '.join(goal.columns)}: "
            "both need the same columns"
        )
    for guess in goal.guesses:
        wanted = "value" if isinstance(guess, JointGuess) or guess.radius is not None else "is"
        for column in guess.columns:
            kind = norm.kinds[column]
            if (kind == "is") != (wanted == "is") or kind == "log":
                raise ParameterError(
                    f"the norm measures {column!r} by {kind!r}, and the goal asks for {wanted!r}"
                )
