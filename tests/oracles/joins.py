"""Join queries over tiny databases: answers, neighbours and local sensitivity, from their definitions.

A database maps each table to a multiset of rows over a small domain; NULL is None. A query is a list of occurrences of
tables, a predicate with SQL's three truth values and one aggregate; `answer` walks all combinations of rows. Neighbours
differ in one row of one private table, where a row may hold any value of the table's domain, also values that no row
has. `TensorQuery` gives the same answers for many databases at once, so that all databases within a few changes can be
walked through.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

Value = int | None
Row = tuple[Value, ...]
Database = dict[str, Counter]


@dataclass(frozen=True, slots=True)
class Table:
    """Every column ranges over `values`; a row of a private table costs `weight` in the distance."""

    name: str
    columns: tuple[str, ...]
    values: tuple[Value, ...]
    private: bool = True
    weight: int = 1


@cache
def rows_of(table: Table) -> tuple[Row, ...]:
    return tuple(itertools.product(table.values, repeat=len(table.columns)))


@cache
def _row_positions(table: Table) -> dict[Row, int]:
    return {row: i for i, row in enumerate(rows_of(table))}


# --- predicates ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    alias: str
    name: str


@dataclass(frozen=True, slots=True)
class Compare:
    op: str  # one of = <> < <=
    left: Column
    right: Column | int


@dataclass(frozen=True, slots=True)
class IsNull:
    column: Column


@dataclass(frozen=True, slots=True)
class Not:
    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Predicate, ...]


Predicate = Compare | IsNull | Not | And | Or
TRUE = And(())


def columns_of(predicate: Predicate) -> set[Column]:
    match predicate:
        case Compare(_, left, right):
            return {left, right} if isinstance(right, Column) else {left}
        case IsNull(column):
            return {column}
        case Not(part):
            return columns_of(part)
        case And(parts) | Or(parts):
            return set().union(*(columns_of(part) for part in parts))
    raise TypeError(predicate)


def aliases_of(predicate: Predicate) -> set[str]:
    return {column.alias for column in columns_of(predicate)}


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    if isinstance(predicate, And):
        return tuple(itertools.chain.from_iterable(conjuncts(part) for part in predicate.parts))
    return (predicate,)


def truth(predicate: Predicate, cell: Callable[[Column], Value]) -> bool | None:
    """SQL's three-valued logic, None for unknown."""
    match predicate:
        case Compare(op, left, right):
            a = cell(left)
            b = cell(right) if isinstance(right, Column) else right
            if a is None or b is None:
                return None
            return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b}[op]
        case IsNull(column):
            return cell(column) is None
        case Not(part):
            inner = truth(part, cell)
            return None if inner is None else not inner
        case And(parts):
            inner = [truth(part, cell) for part in parts]
            return False if False in inner else None if None in inner else True
        case Or(parts):
            inner = [truth(part, cell) for part in parts]
            return True if True in inner else None if None in inner else False
    raise TypeError(predicate)


def predicate_sql(predicate: Predicate) -> str:
    match predicate:
        case Compare(op, left, right):
            other = f"{right.alias}.{right.name}" if isinstance(right, Column) else str(right)
            return f"{left.alias}.{left.name} {op} {other}"
        case IsNull(column):
            return f"{column.alias}.{column.name} IS NULL"
        case Not(part):
            return f"NOT ({predicate_sql(part)})"
        case And(parts):
            return " AND ".join(f"({predicate_sql(part)})" for part in parts) if parts else "1 = 1"
        case Or(parts):
            return " OR ".join(f"({predicate_sql(part)})" for part in parts) if parts else "1 = 0"
    raise TypeError(predicate)


# --- predicates over partly bound rows, for whole arrays at once ---------------------------------------------------

FALSE_, UNKNOWN_, TRUE_ = 0, 1, 2
Cells = tuple[np.ndarray, np.ndarray]  # values (0 where NULL) and where they are NULL
_COMPARE = {"=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal}


def interval(predicate: Predicate, cells: Callable[[Column], Cells | None]) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest truth value in the order false < unknown < true when unbound columns may hold anything."""
    match predicate:
        case Compare(op, left, right):
            a = cells(left)
            b = cells(right) if isinstance(right, Column) else (np.int64(right), np.bool_(False))
            if a is None or b is None:
                return np.int8(FALSE_), np.int8(TRUE_)
            known = np.where(_COMPARE[op](a[0], b[0]), TRUE_, FALSE_)
            exact = np.where(a[1] | b[1], UNKNOWN_, known).astype(np.int8)
            return exact, exact
        case IsNull(column):
            a = cells(column)
            if a is None:
                return np.int8(FALSE_), np.int8(TRUE_)
            exact = np.where(a[1], TRUE_, FALSE_).astype(np.int8)
            return exact, exact
        case Not(part):
            low, high = interval(part, cells)
            return TRUE_ - high, TRUE_ - low
        case And(parts):
            low, high = np.int8(TRUE_), np.int8(TRUE_)
            for part in parts:
                l, h = interval(part, cells)  # noqa: E741
                low, high = np.minimum(low, l), np.minimum(high, h)
            return low, high
        case Or(parts):
            low, high = np.int8(FALSE_), np.int8(FALSE_)
            for part in parts:
                l, h = interval(part, cells)  # noqa: E741
                low, high = np.maximum(low, l), np.maximum(high, h)
            return low, high
    raise TypeError(predicate)


def bind(table: Table, axis: int, dimensions: int) -> dict[str, Cells]:
    """The columns of all rows of a table, laid along one axis of an array of so many dimensions."""
    shape = [1] * dimensions
    shape[axis] = len(rows_of(table))
    result = {}
    for position, name in enumerate(table.columns):
        values = [row[position] for row in rows_of(table)]
        null = np.array([v is None for v in values]).reshape(shape)
        result[name] = (np.array([0 if v is None else v for v in values]).reshape(shape), null)
    return result


# --- queries -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """COUNT(*), or COUNT(column)."""

    column: Column | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """SUM of a linear integer expression clipped to [low, high]; rows where it is NULL do not count."""

    terms: tuple[tuple[int, Column], ...]
    constant: int
    low: int
    high: int

    @property
    def bound(self) -> int:
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class JoinQuery:
    tables: tuple[Table, ...]
    occurrences: tuple[tuple[str, str], ...]
    where: Predicate = TRUE
    aggregate: Count | Sum = Count()

    def table(self, name: str) -> Table:
        return next(t for t in self.tables if t.name == name)

    def table_at(self, position: int) -> Table:
        return self.table(self.occurrences[position][1])

    @property
    def private(self) -> tuple[Table, ...]:
        return tuple(t for t in self.tables if t.private)

    def copies(self, name: str) -> tuple[int, ...]:
        return tuple(i for i, (_, table) in enumerate(self.occurrences) if table == name)

    @property
    def condition(self) -> Predicate:
        """The predicate together with what the aggregate skips."""
        if isinstance(self.aggregate, Sum):
            needed = [column for _, column in self.aggregate.terms]
        else:
            needed = [] if self.aggregate.column is None else [self.aggregate.column]
        return And((self.where, *(Not(IsNull(column)) for column in dict.fromkeys(needed))))

    @property
    def bound(self) -> int:
        """The largest contribution of one combination of rows."""
        return self.aggregate.bound if isinstance(self.aggregate, Sum) else 1

    def sql(self) -> str:
        """The query as SQL text. The clipping is written out: LEAST and GREATEST skip NULLs in some engines."""
        if isinstance(self.aggregate, Sum):
            a = self.aggregate
            terms = [f"{factor} * {column.alias}.{column.name}" for factor, column in a.terms]
            text = " + ".join([*terms, str(a.constant)])
            clipped = f"CASE WHEN {text} < {a.low} THEN {a.low} WHEN {text} > {a.high} THEN {a.high} ELSE {text} END"
            select = f"COALESCE(SUM({clipped}), 0)"
        elif self.aggregate.column is None:
            select = "COUNT(*)"
        else:
            select = f"COUNT({self.aggregate.column.alias}.{self.aggregate.column.name})"
        tables = ", ".join(f"{table} AS {alias}" for alias, table in self.occurrences)
        return f"SELECT {select} FROM {tables} WHERE {predicate_sql(self.where)}"

    def answer(self, database: Database) -> int:
        """By nested loops over the rows of every occurrence."""
        aliases = [alias for alias, _ in self.occurrences]
        names = [self.table_at(i).columns for i in range(len(aliases))]
        total = 0
        for rows in itertools.product(*(database[table].items() for _, table in self.occurrences)):
            cells = {
                (alias, name): value
                for alias, columns, (row, _) in zip(aliases, names, rows, strict=True)
                for name, value in zip(columns, row, strict=True)
            }
            here = cells.copy()
            if truth(self.where, lambda c, here=here: here[c.alias, c.name]) is not True:
                continue
            times = int(np.prod([copies for _, copies in rows]))
            total += times * self._contribution(here)
        return total

    def _contribution(self, cells: dict[tuple[str, str], Value]) -> int:
        if isinstance(self.aggregate, Count):
            column = self.aggregate.column
            return int(column is None or cells[column.alias, column.name] is not None)
        parts = [(factor, cells[c.alias, c.name]) for factor, c in self.aggregate.terms]
        if any(value is None for _, value in parts):
            return 0
        exact = self.aggregate.constant + sum(factor * value for factor, value in parts)
        return min(max(exact, self.aggregate.low), self.aggregate.high)


def neighbours(query: JoinQuery, database: Database) -> Iterator[tuple[Table, Database]]:
    """All databases with one row more or less in one private table."""
    for table in query.private:
        for row in rows_of(table):
            for step in (1, -1):
                if database[table.name][row] + step >= 0:
                    changed = database[table.name].copy()
                    changed[row] += step
                    yield table, {**database, table.name: +changed}


def local_sensitivity_by_walk(query: JoinQuery, database: Database, most: int) -> list[float]:
    """LS_k = max over y within distance k and z next to y of |q(y) - q(z)| / weight, straight from the definition."""
    frozen = lambda db: tuple(frozenset(db[t.name].items()) for t in query.tables)  # noqa: E731
    reached: list[dict] = [{frozen(database): database}]
    distance = {frozen(database): 0}
    for k in range(1, most + 1):
        layer = {}
        for back in {t.weight for t in query.private}:
            for x in reached[k - back].values() if k >= back else ():
                for table, y in neighbours(query, x):
                    if table.weight == back and frozen(y) not in distance:
                        distance[frozen(y)] = k
                        layer[frozen(y)] = y
        reached.append(layer)
    result, largest = [], 0.0
    for layer in reached:
        for y in layer.values():
            here = query.answer(y)
            for table, z in neighbours(query, y):
                largest = max(largest, abs(query.answer(z) - here) / table.weight)
        result.append(largest)
    return result


# --- the same for many databases at once ---------------------------------------------------------------------------


def counts(table: Table, database: Database) -> np.ndarray:
    """Multiplicities in the order of `rows_of`."""
    result = np.zeros(len(rows_of(table)))
    positions = _row_positions(table)
    for row, copies in database[table.name].items():
        result[positions[row]] = copies
    return result


def contribution_tensor(query: JoinQuery) -> np.ndarray:
    """What each combination of possible rows adds to the answer, one axis per occurrence."""
    dimensions = len(query.occurrences)
    bound = {
        alias: bind(query.table(table), axis, dimensions)
        for axis, (alias, table) in enumerate(query.occurrences)
    }
    _, high = interval(query.condition, lambda c: bound[c.alias][c.name])
    shape = tuple(len(rows_of(query.table_at(i))) for i in range(dimensions))
    holds = np.broadcast_to(high == TRUE_, shape)
    if isinstance(query.aggregate, Count):
        return holds.astype(float)
    value = np.zeros(shape) + query.aggregate.constant
    for factor, column in query.aggregate.terms:
        value = value + factor * bound[column.alias][column.name][0]
    return np.where(holds, np.clip(value, query.aggregate.low, query.aggregate.high), 0.0)


@dataclass(frozen=True, slots=True)
class Ball:
    """All integer vectors of 1-norm up to `radius`, and the pairs that differ by one in one coordinate."""

    vectors: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    coordinate: np.ndarray


@cache
def ball(coordinates: int, radius: int) -> Ball:
    index: dict[tuple[int, ...], int] = {(0,) * coordinates: 0}
    layer = list(index)
    for size in range(1, radius + 1):
        following = []
        for vector in layer:
            for p, step in itertools.product(range(coordinates), (1, -1)):
                moved = (*vector[:p], vector[p] + step, *vector[p + 1 :])
                if moved not in index and sum(map(abs, moved)) == size:
                    index[moved] = len(index)
                    following.append(moved)
        layer = following
    pairs = [
        (i, index[up], p)
        for vector, i in index.items()
        for p in range(coordinates)
        if (up := (*vector[:p], vector[p] + 1, *vector[p + 1 :])) in index
    ]
    lower, upper, coordinate = np.array(pairs).T
    return Ball(np.array(list(index)), lower, upper, coordinate)


class TensorQuery:
    """A query compiled for answering many databases that differ in private rows only.

    ``obeys``: which rows of multiplicities (of all possible rows of the private tables) are databases at all.
    """

    def __init__(self, query: JoinQuery, obeys: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        self.query, self.obeys = query, obeys
        self.tensor = contribution_tensor(query)
        starts = np.cumsum([0, *(len(rows_of(t)) for t in query.private)])
        self.slices = {t.name: slice(starts[i], starts[i + 1]) for i, t in enumerate(query.private)}
        self.coordinates = int(starts[-1])
        self.owner = [t for t in query.private for _ in rows_of(t)]
        self.weights = np.array([t.weight for t in self.owner])

    def vector(self, database: Database) -> np.ndarray:
        return np.concatenate([counts(t, database) for t in self.query.private])

    def answers(self, database: Database, private: np.ndarray) -> np.ndarray:
        """The answers for each row of private multiplicities; public tables as in the database."""
        rest, axes = self.tensor, []
        for i in reversed(range(self.tensor.ndim)):
            table = self.query.table_at(i)
            if table.private:
                axes.insert(0, self.slices[table.name])
            else:
                rest = np.tensordot(rest, counts(table, database), axes=(i, 0))
        if not axes:
            return np.full(len(private), float(rest))
        rest = private[:, axes[0]] @ rest.reshape(rest.shape[0], -1)
        for part in axes[1:]:
            block = private[:, part]
            rest = np.einsum("nd,ndr->nr", block, rest.reshape(len(private), block.shape[1], -1))
        return rest[:, 0]

    def local_sensitivity(self, database: Database, most: int) -> dict[str | None, np.ndarray]:
        """LS_0..LS_most over every database within reach; under None, and per private table of the last step."""
        near = ball(self.coordinates, most + 1)
        start = self.vector(database)
        candidates = near.vectors + start
        valid = (candidates >= 0).all(axis=1)
        if self.obeys is not None:
            valid &= self.obeys(candidates)
        values = np.full(len(candidates), np.nan)
        values[valid] = self.answers(database, candidates[valid])
        distance = np.abs(near.vectors) @ self.weights
        both = valid[near.lower] & valid[near.upper]
        lower, upper, coordinate = near.lower[both], near.upper[both], near.coordinate[both]
        jump = np.abs(values[lower] - values[upper]) / self.weights[coordinate]
        at = np.minimum(distance[lower], distance[upper])
        result: dict[str | None, np.ndarray] = {}
        for name in (None, *self.slices):
            mine = np.ones(len(jump), dtype=bool)
            if name is not None:
                mine = (coordinate >= self.slices[name].start) & (coordinate < self.slices[name].stop)
            result[name] = np.array([jump[mine & (at <= k)].max(initial=0.0) for k in range(most + 1)])
        return result

    def reach(self, most_work: float = 6e6) -> int:
        """How far (0, 1 or 2) the walk stays cheap: databases within one step more, times combinations of rows."""
        moves = self.coordinates + 6
        sizes = {1: moves**2 / 2, 2: moves**3 / 6}
        return max(
            [0, *(k for k, size in sizes.items() if size * self.tensor.size <= most_work and size < 8000)]
        )


# --- what a bound must satisfy -------------------------------------------------------------------------------------

Bounds = Callable[[Database], Sequence[float]]
TOLERANCE = 1e-9


def check_bounds(
    bounds: Bounds,
    query: JoinQuery,
    databases: Iterable[Database],
    *,
    most: int | None = None,
    stride: int = 1,
) -> list[str]:
    """Violations of B_k >= LS_k and of B_{k+w}(x) >= B_k(y) for y one row of weight w away from x.

    Every `stride`-th neighbour of each database is visited.
    """
    compiled = TensorQuery(query)
    reach = compiled.reach() if most is None else most
    problems = []
    for x in databases:
        mine = list(bounds(x))
        problems += _below_local_sensitivity(compiled, x, mine, reach)
        for table, y in itertools.islice(neighbours(query, x), None, None, stride):
            problems += inadmissible_pair(query, x, y, mine, list(bounds(y)), table.weight)
    return problems


def inadmissible_pair(
    query: JoinQuery, x: Database, y: Database, at_x: Sequence[float], at_y: Sequence[float], weight: int
) -> list[str]:
    """B_{k+w}(x) >= B_k(y) and the same with x and y exchanged."""
    problems = []
    for a, b, first, second in ((x, y, at_x, at_y), (y, x, at_y, at_x)):
        for k in range(min(len(first) - weight, len(second))):
            if first[k + weight] < second[k] * (1 - TOLERANCE) - TOLERANCE:
                problems.append(
                    f"B_{k + weight}(x) = {first[k + weight]} < B_{k}(y) = {second[k]}\n"
                    f"  {query.sql()}\n  x={a}\n  y={b}"
                )
    return problems


def _below_local_sensitivity(
    compiled: TensorQuery, x: Database, bounds: Sequence[float], reach: int
) -> list[str]:
    true = compiled.local_sensitivity(x, min(reach, len(bounds) - 1))[None]
    return [
        f"B_{k} = {bounds[k]} < LS_{k} = {value}\n  {compiled.query.sql()}\n  x={x}"
        for k, value in enumerate(true)
        if bounds[k] < value * (1 - TOLERANCE) - TOLERANCE
    ]


def check_smooth_bound(
    smooth: Callable[[Database], float],
    query: JoinQuery,
    databases: Iterable[Database],
    beta: float,
    *,
    most: int | None = None,
    stride: int = 1,
) -> list[str]:
    """Violations of S(x) >= e^(-beta k) LS_k(x) and of S(x) <= e^(beta w) S(y)."""
    compiled = TensorQuery(query)
    reach = compiled.reach() if most is None else most
    problems = []
    for x in databases:
        here = smooth(x)
        for k, value in enumerate(compiled.local_sensitivity(x, reach)[None]):
            if here < np.exp(-beta * k) * value * (1 - TOLERANCE):
                problems.append(
                    f"S = {here} < e^(-{beta}·{k}) LS_{k}, LS = {value}\n  {query.sql()}\n  x={x}"
                )
        for table, y in itertools.islice(neighbours(query, x), None, None, stride):
            problems += unsmooth_pair(query, x, y, here, smooth(y), beta * table.weight)
    return problems


def unsmooth_pair(
    query: JoinQuery, x: Database, y: Database, at_x: float, at_y: float, step: float
) -> list[str]:
    if max(at_x, at_y) > np.exp(step) * min(at_x, at_y) * (1 + TOLERANCE) + TOLERANCE:
        return [f"S(x) = {at_x}, S(y) = {at_y}: more than e^{step} apart\n  {query.sql()}\n  x={x}\n  y={y}"]
    return []
