"""Bounds on the sensitivity of join queries at distance k, slowly and from their definitions.

Three analyses over the tiny model of `joins`: patterns (NAPLES report §3.3.7.3 with its repairs), elastic sensitivity
(FLEX) and residual sensitivity; `ordered_bounds` has a fourth. Each gives B_0, B_1, …; B_k bounds the change by one
row, over its weight, in every database within distance k, and B_{k+w}(x) >= B_k(y) when x and y differ in a row of
weight w.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from tests.oracles.joins import (
    TRUE_,
    And,
    Column,
    Compare,
    Database,
    JoinQuery,
    Predicate,
    Sum,
    Table,
    aliases_of,
    bind,
    columns_of,
    conjuncts,
    counts,
    interval,
    rows_of,
)


def equality_classes(query: JoinQuery) -> list[tuple[set[Column], set[int]]]:
    """Columns and constants that the conjunct equalities make equal, by transitive closure."""
    classes: list[tuple[set[Column], set[int]]] = []
    for part in conjuncts(query.condition):
        if not (isinstance(part, Compare) and part.op == "="):
            continue
        columns = columns_of(part)
        constants = set() if isinstance(part.right, Column) else {part.right}
        apart = []
        for cs, ks in classes:
            if (
                cs & columns
            ):  # a constant alone does not join classes: `a = 1 AND b = 1` is found by the constants
                columns, constants = columns | cs, constants | ks
            else:
                apart.append((cs, ks))
        classes = [*apart, (columns, constants)]
    return classes


def strengthened(query: JoinQuery) -> tuple[Predicate, ...]:
    """The conjuncts with every equality that they imply."""
    implied: list[Predicate] = []
    for columns, constants in equality_classes(query):
        implied += [Compare("=", a, b) for a, b in itertools.combinations(sorted(columns, key=str), 2)]
        implied += [Compare("=", c, k) for c in columns for k in constants]
    return tuple(dict.fromkeys((*conjuncts(query.condition), *implied)))


# --- how far a count can grow --------------------------------------------------------------------------------------


def allocations(budget: int, weights: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to spend at most the budget on whole rows of the given weights."""
    if not weights:
        yield ()
        return
    for first in range(budget // weights[0] + 1):
        for rest in allocations(budget - first * weights[0], weights[1:]):
            yield (first, *rest)


def water_fill(n: Sequence[float], groups: Sequence[int], weights: Sequence[float], k: float) -> list[float]:
    """The real rows per group that maximise the product of n_j + rows[group of j] under Σ weight·rows = k.

    Group -1 is public and gets none. The slopes (1/G) Σ 1/(n_j + rows) of all groups that get rows are equal.
    """
    low, high = 1e-300, 1e300
    for _ in range(2200):
        middle = math.sqrt(low) * math.sqrt(high)
        spent = sum(g * _rows_at(n, groups, t, g, middle) for t, g in enumerate(weights))
        low, high = (middle, high) if spent > k else (low, middle)
        if high / low < 1 + 1e-15:
            break
    return [_rows_at(n, groups, t, g, high) for t, g in enumerate(weights)]


def _rows_at(n: Sequence[float], groups: Sequence[int], t: int, weight: float, slope: float) -> float:
    """The rows of group t at which (1/weight) Σ 1/(n_j + rows) has come down to the slope."""
    members = [v for v, group in zip(n, groups, strict=True) if group == t]
    if not members:
        return 0.0
    least = min(members)
    if least > 0 and sum(1 / v for v in members) <= weight * slope:
        return 0.0
    # 1/(least + rows) <= Σ <= m/(least + rows)
    low, high = max(0.0, 1 / (weight * slope) - least), max(0.0, len(members) / (weight * slope) - least)
    for _ in range(200):
        if high - low <= 1e-15 * high:
            break
        middle = (low + high) / 2
        if least + middle == 0 or sum(1 / (v + middle) for v in members) > weight * slope:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def grown_product(n: Sequence[float], groups: Sequence[int], rows: Sequence[float]) -> float:
    return math.prod(v + (rows[t] if t >= 0 else 0.0) for v, t in zip(n, groups, strict=True))


@cache
def smooth_count(
    count: float,
    n: tuple[float, ...],
    groups: tuple[int, ...],
    weights: tuple[float, ...],
    beta: float,
    bound: float = 1.0,
) -> tuple[float, float]:
    """(s, value): the maximum over real k of e^(-βk) (count + bound (max product after k - product)) and where.

    The logarithm is concave in k; its slope is λ·P/(P-C) - β, where λ is the slope shared by the groups.
    """
    product = math.prod(n)
    C = product - count / bound
    live = [t for t in range(len(weights)) if t in groups]
    if not live:
        return 0.0, count
    zeros = any(v == 0 and t >= 0 for v, t in zip(n, groups, strict=True))
    if zeros:
        top = math.inf
    else:
        top = max(sum(1 / v for v, g in zip(n, groups, strict=True) if g == t) / weights[t] for t in live)
        if any(v == 0 for v in n):  # an empty public table: nothing can ever join
            return 0.0, count
    if any(v == 0 and t < 0 for v, t in zip(n, groups, strict=True)):
        return 0.0, count
    if count > 0 and not math.isinf(top) and top * product <= beta * (product - C):
        return 0.0, count

    def at(slope: float) -> tuple[float, float]:
        rows = [_rows_at(n, groups, t, g, slope) if t in live else 0.0 for t, g in enumerate(weights)]
        return sum(g * r for g, r in zip(weights, rows, strict=True)), grown_product(n, groups, rows)

    low, high = math.log(beta) - 80, math.log(min(top, beta))
    for _ in range(200):
        middle = (low + high) / 2
        _, P = at(math.exp(middle))
        growing = P <= C or math.exp(middle) * P > beta * (P - C)
        low, high = (low, middle) if growing else (middle, high)
        if high - low < 1e-15:
            break
    k, P = at(math.exp(high))
    return k, math.exp(-beta * k) * bound * (P - C)


# --- patterns ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exposure:
    """What a row of a table meets when it sits at the positions `at` at once, for all rows of the table."""

    table: Table
    at: tuple[int, ...]
    others: tuple[int, ...]
    groups: tuple[int, ...]  # of each other position: which budget, -1 for a public table
    budgets: tuple[Table, ...]
    possible: np.ndarray  # rows for which the predicate can hold at all
    touches: tuple[np.ndarray, ...]  # per other position: [row, its row] may meet
    joins: np.ndarray  # [row, rows of the others…]: largest contribution
    tables: tuple[Table, ...]  # of the other positions
    bound: int

    def vectors(self, database: Database) -> tuple[np.ndarray, np.ndarray]:
        """cnt[row] and n[row, other position]."""
        count = self.joins
        for j in reversed(range(len(self.others))):
            count = count @ counts(self.tables[j], database)
        n = [touch @ counts(t, database) for touch, t in zip(self.touches, self.tables, strict=True)]
        shape = (len(self.possible), len(self.others))
        return count, np.array(n).T.reshape(shape)

    def grown_by(self, count: np.ndarray, n: np.ndarray, rows: dict[str, int]) -> np.ndarray:
        """cnt + bound · (product of n_j + new rows of its table - product of n_j)."""
        extra = np.array([rows[t.name] if t.private else 0 for t in self.tables], dtype=float)
        return count + self.bound * ((n + extra).prod(axis=1) - n.prod(axis=1))

    def grown(self, count: np.ndarray, n: np.ndarray, most: int) -> np.ndarray:
        """A(k) as [k, row]: the largest of `grown_by` over whole rows within distance k = 0..most."""
        result = np.zeros((most + 1, len(count)))
        for spent in allocations(most, [t.weight for t in self.budgets]):
            rows = {t.name: r for t, r in zip(self.budgets, spent, strict=True)}
            k = sum(t.weight * rows[t.name] for t in self.budgets)
            result[k] = np.maximum(result[k], self.grown_by(count, n, rows))
        return np.maximum.accumulate(result, axis=0)

    def smooth(self, count: float, n: Sequence[float], beta: float) -> float:
        weights = tuple(float(t.weight) for t in self.budgets)
        return smooth_count(
            float(count), tuple(map(float, n)), self.groups, weights, beta, float(self.bound)
        )[1]


@lru_cache(maxsize=256)
def expose(query: JoinQuery, at: tuple[int, ...], *, whole_rows: bool) -> Exposure:
    """With whole rows every cell is bound; else only the cells that equalities tie to other positions or constants."""
    table = query.table_at(at[0])
    others = tuple(j for j in range(len(query.occurrences)) if j not in at)
    aliases = [alias for alias, _ in query.occurrences]
    mine = {aliases[i] for i in at}
    tied = set(table.columns)
    if not whole_rows:
        tied = set()
        for columns, constants in equality_classes(query):
            if constants or any(c.alias not in mine for c in columns):
                tied |= {c.name for c in columns if c.alias in mine}
    predicate = And(strengthened(query))

    def binding(axes: dict[int, int], dimensions: int):
        cells = {aliases[j]: bind(query.table_at(j), axis, dimensions) for j, axis in axes.items()}
        row = {name: cell for name, cell in bind(table, 0, dimensions).items() if name in tied}
        return lambda c: row.get(c.name) if c.alias in mine else cells.get(c.alias, {}).get(c.name)

    size = len(rows_of(table))
    shape = tuple(len(rows_of(query.table_at(j))) for j in others)
    possible = np.broadcast_to(interval(predicate, binding({}, 1))[1] == TRUE_, (size,))
    touches = tuple(
        np.broadcast_to(interval(predicate, binding({j: 1}, 2))[1] == TRUE_, (size, width)).astype(float)
        for j, width in zip(others, shape, strict=True)
    )
    lookup = binding({j: axis + 1 for axis, j in enumerate(others)}, len(others) + 1)
    holds = np.broadcast_to(interval(predicate, lookup)[1] == TRUE_, (size, *shape))
    budgets = tuple(dict.fromkeys(query.table_at(j) for j in others if query.table_at(j).private))
    groups = tuple(budgets.index(query.table_at(j)) if query.table_at(j).private else -1 for j in others)
    joins = np.where(holds, _largest_contribution(query, lookup), 0.0)
    tables = tuple(query.table_at(j) for j in others)
    return Exposure(table, at, others, groups, budgets, possible, touches, joins, tables, query.bound)


def _largest_contribution(query: JoinQuery, lookup) -> np.ndarray | float:
    """|clipped expression| where all its columns are bound, else the public bound."""
    if not isinstance(query.aggregate, Sum):
        return 1.0
    cells = [(factor, lookup(column)) for factor, column in query.aggregate.terms]
    if any(cell is None for _, cell in cells):
        return float(query.bound)
    value = sum((factor * cell[0] for factor, cell in cells), query.aggregate.constant)
    return np.abs(np.clip(value, query.aggregate.low, query.aggregate.high)).astype(float)


def subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    return [s for size in range(1, len(items) + 1) for s in itertools.combinations(items, size)]


class PatternBounds:
    """The repaired pattern analysis.

    The jump of one row is the sum, over the non-empty sets X of positions of its table, of the combinations in which it
    sits exactly at X. `variant`:
    rows — every row of the domain, all cells bound, every X with the same new rows (for counts exact at k = 0);
    merged — obtained patterns, and for all other rows the candidate with count 0 and the largest n_j; every X grows
    by itself, summed per row;
    apart — the same, but the largest of every X is taken first;
    corner — for every X the largest count and the largest n_j together.
    """

    def __init__(self, query: JoinQuery, variant: str = "rows") -> None:
        self.query, self.variant = query, variant
        whole = variant == "rows"
        self.exposed = {
            t.name: [expose(query, at, whole_rows=whole) for at in subsets(query.copies(t.name))]
            for t in query.private
        }

    def sequence(self, database: Database, most: int) -> list[float]:
        result = np.zeros(most + 1)
        for exposures in filter(None, self.exposed.values()):
            vectors = [e.vectors(database) for e in exposures]
            if self.variant == "rows":
                total = self._rows(exposures, vectors, most)
            else:
                parts = [self._values(e, *v, most) for e, v in zip(exposures, vectors, strict=True)]
                merged = self.variant == "merged"
                total = sum(parts).max(axis=1) if merged else sum(p.max(axis=1) for p in parts)
            result = np.maximum(result, total / exposures[0].table.weight)
        return result.tolist()

    def _rows(self, exposures: list[Exposure], vectors: list, most: int) -> np.ndarray:
        """The best over all ways to spend k = 0..most; every X sees the same new rows."""
        tables = [t for t in self.query.private if self.query.copies(t.name)]
        best = np.zeros(most + 1)
        for spent in allocations(most, [t.weight for t in tables]):
            rows = {t.name: r for t, r in zip(tables, spent, strict=True)}
            total = sum(
                np.where(e.possible, e.grown_by(count, n, rows), 0.0)
                for e, (count, n) in zip(exposures, vectors, strict=True)
            )
            k = sum(t.weight * rows[t.name] for t in tables)
            best[k] = max(best[k], total.max())
        return np.maximum.accumulate(best)

    def _values(self, exposure: Exposure, count: np.ndarray, n: np.ndarray, most: int) -> np.ndarray:
        """A(k) as [k, row], unobtained rows under the candidate of count 0."""
        if not exposure.possible.any():
            return np.zeros((most + 1, len(count)))
        highest = n.max(axis=0, keepdims=True)
        if self.variant == "corner":
            return exposure.grown(count.max(keepdims=True), highest, most)
        unseen = exposure.grown(np.zeros(1), highest, most)
        obtained = np.where(count > 0, exposure.grown(count, n, most), 0.0)
        return np.where(exposure.possible, np.maximum(obtained, unseen), 0.0)

    def smooth_slope(self, database: Database, beta: float) -> float:
        """The β-smooth bound of the derivative over the weight: single positions only, real k, summed per row."""
        result = 0.0
        for exposures in self.exposed.values():
            total = 0.0
            for e in (e for e in exposures if len(e.at) == 1):
                count, n = e.vectors(database)
                unseen = e.smooth(0.0, n.max(axis=0), beta) if self.variant != "rows" else 0.0
                value = np.array(
                    [
                        0.0 if not p else e.smooth(c, m, beta) if self.variant == "rows" or c > 0 else unseen
                        for p, c, m in zip(e.possible, count, n, strict=True)
                    ]
                )
                total = total + np.maximum(value, np.where(e.possible, unseen, 0.0))
            if exposures:
                result = max(result, float(np.max(total)) / exposures[0].table.weight)
        return result

    def smooth_jump(self, database: Database, beta: float) -> float:
        """The slope bound times (e^(βG) - 1)/(βG): what one whole row can do while the slope grows along it."""
        step = beta * max((t.weight for t in self.query.private), default=1)
        return self.smooth_slope(database, beta) * math.expm1(step) / step


# --- elastic sensitivity -------------------------------------------------------------------------------------------


class ElasticBounds:
    """Joins from left to right; the column None stands for 'any row', so that products have a key too."""

    def __init__(self, query: JoinQuery, *, per_table: bool = True) -> None:
        self.query, self.per_table = query, per_table
        parts = strengthened(query)
        self.keys: list[list[tuple[Column | None, Column | None]]] = []
        self.filters: list[list[Predicate]] = []
        seen: set[str] = set()
        for alias, _ in query.occurrences:
            self.filters.append([p for p in parts if aliases_of(p) == {alias}])
            pairs: list[tuple[Column | None, Column | None]] = [(None, None)]
            for p in parts:
                if isinstance(p, Compare) and p.op == "=" and isinstance(p.right, Column):
                    left, right = p.left, p.right
                    if right.alias in seen:
                        left, right = right, left
                    if left.alias in seen and right.alias == alias:
                        pairs.append((left, right))
            self.keys.append(pairs)
            seen.add(alias)

    def sequence(self, database: Database, most: int) -> list[float]:
        tables = self.query.private
        start = [self._frequencies(database, i) for i in range(len(self.query.occurrences))]
        if self.per_table:
            per = [[self._at(start, k, (t,)) / t.weight for k in range(most + 1)] for t in tables]
            return [max(values) for values in zip(*per, strict=True)]
        return [self._at(start, k, tables) for k in range(most + 1)]

    def _at(self, start: list[dict], k: int, changed: Sequence[Table]) -> float:
        total: dict[Column | None, float] = {}
        stability, used = 0.0, set()
        for position, pairs in enumerate(self.keys):
            table = self.query.table_at(position)
            grown = k // table.weight if table.private else 0
            mf = {c: v + grown for c, v in start[position].items()}
            own = 1.0 if table in changed else 0.0
            if not total:
                total, stability, used = mf, own, {table.name}
                continue
            left = min(total[a] for a, _ in pairs)
            right = min(mf[b] for _, b in pairs)
            if table in changed and table.name in used:
                stability = left * own + right * stability + stability * own
            else:
                stability = max(left * own, right * stability)
            total = {c: v * right for c, v in total.items()} | {
                c: v * left for c, v in mf.items() if c is not None
            }
            used.add(table.name)
        return stability * self.query.bound

    def _frequencies(self, database: Database, position: int) -> dict[Column | None, float]:
        alias, name = self.query.occurrences[position]
        table = self.query.table(name)
        cells = bind(table, 0, 1)
        holds = interval(And(tuple(self.filters[position])), lambda c: cells[c.name])[1] == TRUE_
        kept = np.where(holds, counts(table, database), 0.0)
        result: dict[Column | None, float] = {None: kept.sum()}
        for i, column in enumerate(table.columns):
            frequency: Counter = Counter()
            for row, copies in zip(rows_of(table), kept, strict=True):
                if row[i] is not None:
                    frequency[row[i]] += copies
            result[Column(alias, column)] = max(frequency.values())
        return result


# --- residual sensitivity ------------------------------------------------------------------------------------------


class ResidualBounds:
    """T_E for every set of positions; one row may serve several copies of its table at once."""

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        parts = strengthened(query)
        classes = [columns for columns, _ in equality_classes(query)]
        self.positions = range(len(query.occurrences))
        self.pieces = {
            E: [self._piece(piece, parts, classes) for piece in self._components(E, parts)]
            for E in [(), *subsets(self.positions)]
        }

    def _components(self, E: tuple[int, ...], parts: Sequence[Predicate]) -> list[tuple[int, ...]]:
        aliases = {self.query.occurrences[i][0]: i for i in E}
        components = [{i} for i in E]
        for p in parts:
            if (names := aliases_of(p)) and names <= aliases.keys():
                touched = {aliases[a] for a in names}
                merged = set().union(*(c for c in components if c & touched))
                components = [c for c in components if not c & touched] + [merged]
        return [tuple(sorted(c)) for c in components]

    def _piece(self, E: tuple[int, ...], parts: Sequence[Predicate], classes: Sequence[set[Column]]):
        """The combinations of rows that satisfy what E alone decides, and the group of each by its boundary."""
        aliases = [self.query.occurrences[i][0] for i in E]
        bound = {
            a: bind(self.query.table_at(i), axis, len(E))
            for axis, (a, i) in enumerate(zip(aliases, E, strict=True))
        }
        inside = And(tuple(p for p in parts if aliases_of(p) <= set(aliases)))
        shape = tuple(len(rows_of(self.query.table_at(i))) for i in E)
        holds = np.broadcast_to(interval(inside, lambda c: bound[c.alias][c.name])[1] == TRUE_, shape)
        key = np.zeros(shape, dtype=np.int64)
        for columns in classes:
            if any(c.alias not in aliases for c in columns):
                for c in (c for c in columns if c.alias in aliases):
                    values, null = bound[c.alias][c.name]
                    key = key * 10 + values
                    holds = holds & ~null  # a NULL meets nothing outside
        chosen = np.nonzero(holds)
        _, groups = np.unique(key[chosen], return_inverse=True)
        return E, chosen, groups.ravel()

    def largest(self, database: Database) -> dict[tuple[int, ...], float]:
        """T_E; of several pieces their product."""
        result = {}
        copies_of = [counts(table, database) for table in map(self.query.table_at, self.positions)]
        for E, pieces in self.pieces.items():
            value = 1.0
            for positions, chosen, groups in pieces:
                copies = np.ones(len(groups))
                for i, where in zip(positions, chosen, strict=True):
                    copies = copies * copies_of[i][where]
                value *= np.bincount(groups, copies).max() if len(groups) else 0.0
            result[E] = float(value)
        return result

    def sequence(self, database: Database, most: int) -> list[float]:
        T = self.largest(database)
        tables = [t for t in self.query.private if self.query.copies(t.name)]
        result = []
        for k in range(most + 1):
            best = 0.0
            for spent in allocations(k, [t.weight for t in tables]):
                rows = {t.name: r for t, r in zip(tables, spent, strict=True)}
                for t in tables:
                    best = max(best, self._change(T, rows, t) / t.weight)
            result.append(best * self.query.bound)
        return result

    def _change(self, T: dict[tuple[int, ...], float], rows: dict[str, int], table: Table) -> float:
        """Σ over non-empty sets X of copies of the table of T̂ of the other positions."""
        total = 0.0
        for X in subsets(self.query.copies(table.name)):
            rest = tuple(j for j in self.positions if j not in X)
            for new in [(), *subsets(rest)]:
                factor = math.prod(rows.get(self.query.occurrences[j][1], 0) for j in new)
                if factor:
                    total += factor * T[tuple(j for j in rest if j not in new)]
        return total


def smooth_maximum(sequence: Sequence[float], beta: float) -> float:
    return max(math.exp(-beta * k) * value for k, value in enumerate(sequence))
