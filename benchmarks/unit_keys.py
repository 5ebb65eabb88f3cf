"""Groups that nobody declared: how many holders a key needs, and how many keys are shown, beside thresholded Laplace.

Exact: nothing is drawn. Thresholded Laplace adds noise of scale 1/ε to the number of holders of every key that has one
and shows the keys above 1 + ln(1/(2δ))/ε; with discrete noise and its own least threshold it is stronger, and that is
what stands here. Every customer holds one key. The Zipf families have as many customers as the table says, the k-th
most frequent key having a share of 1/k. Thresholded Laplace shows the noisy number with the key; a question that is
asked here spends a third of ε on the keys and the rest on the numbers, and the third column is for that third.
"""

from __future__ import annotations

import math
from fractions import Fraction

import duckdb
import numpy as np
from numpy.typing import NDArray
from report import Check, Report
from sql_data import shop
from unit_peers import UPPER

from sordino.sql.units.plan import KEYS_SHARE, MOST_ROWS, UNKNOWN_GROUPS
from sordino.units import KeyRelease, Truncation

PAIRS = ((0.1, 1e-5), (0.1, 1e-6), (0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-6))
CUSTOMERS = (10_000, 1_000_000)


def run(quick: bool = False) -> list[Report]:
    return [compare_chances(quick), compare_limits()]


def compare_limits() -> Report:
    """The numbers of groups that were shown: limits chosen for as many as there are, or for a hundred."""
    with duckdb.connect(str(shop()), read_only=True) as connection:
        sql = "SELECT city, COUNT(*) AS n, SUM(amount) AS s FROM sales GROUP BY customer_id, city"
        found = connection.execute(sql).fetchnumpy()
    cities, places = np.unique(found["city"].astype(str), return_inverse=True)
    rows, raw = [], {}
    for name, column, natural in (("COUNT(*)", "n", 1), ("SUM(amount)", "s", UPPER)):
        added = found[column].astype(np.int64)
        errors = [_expect_error(added, places, natural, numbers) for numbers in (UNKNOWN_GROUPS, len(cities))]
        rows.append([name, *(f"{error:,.0f}" for error in errors)])
        raw[name] = errors
    header = ["question", f"limits for {UNKNOWN_GROUPS} groups", f"for the {len(cities)} that are shown"]
    return Report("unit-shown-groups", header, rows, raw=raw)


def _expect_error(added: NDArray[np.int64], places: NDArray[np.int64], natural: int, numbers: int) -> float:
    """The mean error of a group's number under the exact law, every customer being in one group."""
    plan = Truncation.of(epsilon=1 - KEYS_SHARE, most=MOST_ROWS * natural, numbers=numbers, natural=natural)
    chances = np.exp(plan.choice.law([int((added > limit).sum()) for limit in plan.grid]).log_probabilities)
    total = 0.0
    for limit, chance in zip(plan.grid, chances, strict=True):
        lost = np.bincount(places, added - np.minimum(added, limit)).astype(np.int64)
        total += chance * sum(plan.noise.mean_error(limit, int(b)) for b in lost) / len(lost)
    return float(total)


def compare_chances(quick: bool) -> Report:
    rows, checks, raw = [], [], {}
    behind = []
    for epsilon, delta in PAIRS:
        release = KeyRelease.of(epsilon=Fraction(str(epsilon)), delta=Fraction(str(delta)))
        threshold = find_threshold(epsilon, delta)
        theirs = next(n for n in range(1, 10_000) if show_by_threshold(n, epsilon, threshold) >= 0.5)
        ours = release.units_needed()
        shown = []
        for customers in CUSTOMERS[:1] if quick else CUSTOMERS:
            held = list_zipf(customers)
            mine = sum(float(release.probability(n)) for n in held)
            others = sum(show_by_threshold(n, epsilon, threshold) for n in held)
            shown += [f"{mine:,.1f}", f"{others:,.1f}"]
            behind.append(mine / others)
        third = KeyRelease.of(epsilon=Fraction(str(epsilon)) * KEYS_SHARE, delta=Fraction(str(delta)))
        needed = [str(ours), str(theirs), str(third.units_needed())]
        rows.append([f"{epsilon:g}", f"{delta:g}", *needed, *shown])
        raw[f"{epsilon}, {delta}"] = {"ours": ours, "theirs": theirs}
    told = f"{min(behind):.3f} to {max(behind):.2f} times as many"
    checks.append(Check("at least as many keys as thresholded Laplace", told, min(behind) >= 1))
    header = ["ε", "δ", "holders for an even chance", "thresholded", "keys at ε/3"]
    for customers in CUSTOMERS[:1] if quick else CUSTOMERS:
        header += [f"keys shown of {customers:,} customers", "thresholded"]
    return Report("unit-keys", header, rows, checks, raw)


def list_zipf(customers: int) -> list[int]:
    """Holders of the k-th key: a share of 1/k, as long as that is somebody."""
    harmonic = sum(1 / k for k in range(1, customers + 1))
    return [held for k in range(1, customers + 1) if (held := round(customers / harmonic / k)) >= 1]


def find_threshold(epsilon: float, delta: float) -> int:
    """The least t such that one holder's key, with discrete Laplace noise, reaches it with a chance of at most δ."""
    return next(t for t in range(1, 100_000) if show_by_threshold(1, epsilon, t) <= delta)


def show_by_threshold(holders: int, epsilon: float, threshold: int) -> float:
    """P(holders + K ≥ threshold) for discrete Laplace noise K: P(K ≥ x) = r^x/(1 + r) for x ≥ 1, r = e^(−ε)."""
    missing, r = threshold - holders, math.exp(-epsilon)
    tail = r ** max(missing, 1 - missing) / (1 + r)
    return tail if missing >= 1 else 1 - tail
