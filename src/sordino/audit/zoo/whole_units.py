"""Users with all their rows: limits that do not limit, bounds and names that the data give away."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import DiscreteLaplace, tabulate_discrete_laplace
from sordino.audit.zoo.specimen import Specimen

Units = tuple[str, ...]

_EPSILON = 1.0
_HUB, _LEAVES = "h", "abcdef"
_EVERYBODY = _HUB + _LEAVES


def _add_or_remove(units: Units) -> Iterator[Units]:
    for unit in _EVERYBODY:
        yield tuple(u for u in _EVERYBODY if (u in units) != (u == unit))


# ---- results that a hub shares with every leaf ---------------------------------------------------------------


def _above(*, gained: bool) -> Proof:
    """Leaves own 2 each and share 1 with the hub: units above τ = 2, or what twice τ would gain, in quarters of 2τ.

    The largest sum with at most τ per unit is 2 per leaf at τ = 2, since each leaf is full by its own, and at 4 the hub
    lets four of the shared results in.
    """

    def law(units: Units) -> DiscreteLaplace:
        leaves = len([unit for unit in units if unit != _HUB])
        shared = leaves if _HUB in units else 0
        if gained:
            return DiscreteLaplace(
                min(shared, 4), 4 / _EPSILON
            )  # one unit moves (f(4) − f(2))/4 by at most 1
        return DiscreteLaplace(shared + (shared > 2), 1 / _EPSILON)

    return _prove_star(law)


def _capped(*, each_owner: bool) -> Proof:
    """The hub has 9 results with every leaf; at most τ = 2 are counted of each pair, or of each owner."""

    def law(units: Units) -> DiscreteLaplace:
        pairs = len(units) - 1 if _HUB in units else 0
        return DiscreteLaplace(min(2, 9 * pairs) if each_owner else 2 * pairs, 2 / _EPSILON)

    return _prove_star(law)


def _prove_star(law: Callable[[Units], DiscreteLaplace]) -> Proof:
    everyone = chain.from_iterable(combinations(_EVERYBODY, size) for size in range(len(_EVERYBODY) + 1))
    return prove(law, everyone, _add_or_remove, _EPSILON)


UNITS_ABOVE_WITH_SHARED_RESULTS = Specimen(
    name="units above a limit that share results",
    claim="the number of units that contribute more than τ moves by one with one unit",
    flaw="a result of two owners leaves both when one of them goes: everybody beside a hub falls below τ with it",
    source="truncation for one owner per result, used for joins of two entities",
    refute=lambda: _above(gained=False),
    repaired=lambda: _above(gained=True),
)

PAIRS_CAPPED = Specimen(
    name="a limit on pairs of owners",
    claim="at most τ results of each pair of owners bound what one owner contributes by τ",
    flaw="an owner with many partners contributes τ with each of them",
    source="the limit per (customer, supplier) that one GROUP BY gives",
    refute=lambda: _capped(each_owner=False),
    repaired=lambda: _capped(each_owner=True),
)

# ---- a bound read from the data ------------------------------------------------------------------------------

_LARGEST, _USERS = 4, 3


def _summed(*, public: bool) -> Proof:
    def law(contributions: tuple[int, ...]) -> DiscreteLaplace:
        bound = _LARGEST if public else max(contributions, default=1)
        return DiscreteLaplace(sum(contributions), bound / _EPSILON)

    def near(contributions: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for i in range(len(contributions)):
            yield (*contributions[:i], *contributions[i + 1 :])
        if len(contributions) < _USERS:
            for value in range(1, _LARGEST + 1):
                yield tuple(sorted((*contributions, value)))

    sets = (combinations_with_replacement(range(1, _LARGEST + 1), size) for size in range(_USERS + 1))
    return prove(law, chain.from_iterable(sets), near, _EPSILON)


BOUND_READ_FROM_DATA = Specimen(
    name="a contribution bound read from the data",
    claim="noise for the largest contribution that there is covers every user",
    flaw="the scale of the noise follows the user with the most, and is narrow without that one",
    source="clipping bounds taken as the maximum of the column",
    refute=lambda: _summed(public=False),
    repaired=lambda: _summed(public=True),
)

# ---- keys of groups ------------------------------------------------------------------------------------------

_DELTA = 0.05
_MOST_UNITS = 6


def _step(units: int) -> Iterator[int]:
    yield from (n for n in (units - 1, units + 1) if 0 <= n <= _MOST_UNITS)


def _chance(units: int, epsilon: float, delta: float) -> float:
    """The largest chance of showing a key of so many units."""
    chance = 0.0
    for _ in range(units):
        chance = min(math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - delta), 1.0)
    return chance


def _several_keys(*, divided: bool) -> Proof:
    """Every unit holds the same three keys, each shown by a coin of its own."""
    keys = 3
    share = keys if divided else 1

    def law(units: int) -> list[float]:
        shown = _chance(units, _EPSILON / share, _DELTA / share)
        return [math.comb(keys, k) * shown**k * (1 - shown) ** (keys - k) for k in range(keys + 1)]

    return prove(law, range(_MOST_UNITS + 1), _step, _EPSILON, _DELTA)


DELTA_PER_KEY = Specimen(
    name="δ for every key of a unit",
    claim="keys shown at (ε, δ) each are (ε, δ)-DP together",
    flaw="one unit may be the only holder of several keys, and any of them gives it away",
    source="thresholded group keys without a bound on the keys of a unit",
    refute=lambda: _several_keys(divided=False),
    repaired=lambda: _several_keys(divided=True),
)


def _one_group(*, coin: bool) -> Proof:
    """A group's noisy number of units, or that there is no such group."""
    low, high = -20, 30

    def law(units: int) -> dict[str, float]:
        shown = _chance(units, _EPSILON / 2, _DELTA) if coin else float(units > 0)
        numbers = tabulate_discrete_laplace((2 if coin else 1) / _EPSILON, units, low, high)
        outcomes = {str(low + i): shown * float(mass) for i, mass in enumerate(numbers)}
        return outcomes | {"no such group": 1 - shown}

    return prove(law, range(_MOST_UNITS + 1), _step, _EPSILON, _DELTA)


KEYS_THAT_EXIST = Specimen(
    name="group keys shown because they exist",
    claim="a GROUP BY with noise on every count is private",
    flaw="a group of one unit has a row in the answer or has none, whatever the noise beside it",
    source="noise added to the result of GROUP BY",
    refute=lambda: _one_group(coin=False),
    repaired=lambda: _one_group(coin=True),
)

# ---- averages ------------------------------------------------------------------------------------------------

_ROWS = 3


def _average(*, noisy: bool) -> Proof:
    """Ones and zeros: the noisy sum over their number, or beside their noisy number."""
    low, high = -30, 33

    def law(counts: tuple[int, int]) -> dict[Fraction | tuple[int, int], float]:
        total, ones = sum(counts), counts[1]
        sums = tabulate_discrete_laplace((2 if noisy else 1) / _EPSILON, ones, low, high)
        shown: dict[Fraction | tuple[int, int], float] = {}
        if not noisy:
            for i, mass in enumerate(sums.tolist()):
                value = Fraction(low + i, max(1, total))
                shown[value] = shown.get(value, 0.0) + mass
            return shown
        numbers = tabulate_discrete_laplace(2 / _EPSILON, total, low, high)
        for i, mass in enumerate(sums.tolist()):
            shown |= {(i, j): mass * other for j, other in enumerate(numbers.tolist())}
        return shown

    def near(counts: tuple[int, int]) -> Iterator[tuple[int, int]]:
        for zeros, ones in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            moved = (counts[0] + zeros, counts[1] + ones)
            if min(moved) >= 0 and sum(moved) <= _ROWS:
                yield moved

    universe = [(z, o) for z in range(_ROWS + 1) for o in range(_ROWS + 1 - z)]
    return prove(law, universe, near, _EPSILON)


EXACT_DENOMINATOR = Specimen(
    name="an average with an exact denominator",
    claim="a sum with noise, divided by the number of units, is private",
    flaw="the quotient is a multiple of one over that number: halves do not come from three units",
    source="AVG answered as noisy sum over exact count",
    refute=lambda: _average(noisy=False),
    repaired=lambda: _average(noisy=True),
)
