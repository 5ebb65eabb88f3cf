"""Ordered sizes: bounds on the sensitivity of join queries, slowly and from their definition.

As in `sql_bounds`: B_0, B_1, … with B_k at least the change by one row, over the row's weight, in every database within
distance k, and B_{k+w}(x) >= B_k(y) when x and y differ in a row of weight w.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.oracles.joins import (
    And,
    Column,
    Compare,
    Database,
    IsNull,
    JoinQuery,
    Not,
    Row,
    Sum,
    Table,
    Value,
    columns_of,
    conjuncts,
    rows_of,
    truth,
)
from tests.oracles.sql_bounds import allocations, equality_classes, strengthened, subsets

Positions = tuple[int, ...]
Orders = Callable[[Positions], Iterable[Positions]]
ORDERS: dict[str, Orders] = {
    "first": lambda component: [component],  # as the query lists its tables
    "all": itertools.permutations,
}


@dataclass(frozen=True, slots=True)
class Factor:
    """One component under one order: how many combinations it has, how they grow, what one of them may add."""

    count: float
    sizes: tuple[float, ...]
    tables: tuple[Table, ...]
    reach: int

    def product(self, rows: Sequence[int]) -> float:
        return math.prod(m + new for m, new in zip(self.sizes, rows, strict=True))


class OrderedBounds:
    """Largest counts of the components that a row leaves, and sizes of positions that are reached in an order.

    One row of a table sits at the positions X. The others fall into components; C_J is the largest number (of a SUM
    over columns of J alone: the largest sum of absolute values) of combinations at J for one value of J's key, m_j the
    largest number of rows at j that agree in the classes which X or a position earlier in the order has a cell of.
    Combinations with new rows exactly at the non-empty set E are at most the product of the new rows at E and of m_j at
    J - E: when j is reached, all the cells that its size asks for are known.

    `orders` gives the orders of a component; of several the least A_X(k) is taken. `growth`:
    whole — the product of C_J, plus the reach times (product of all m_j + new rows, less the product of all m_j);
    factors — every component grows so by itself, and the product is taken last.
    """

    def __init__(self, query: JoinQuery, *, orders: str | Orders = "first", growth: str = "whole") -> None:
        self.query, self.growth = query, growth
        self.orders = ORDERS[orders] if isinstance(orders, str) else orders
        self.position = {alias: i for i, (alias, _) in enumerate(query.occurrences)}
        self.classes = equality_classes(query)
        tied = set().union(*(columns for columns, _ in self.classes))
        self.demands = (*strengthened(query), *(Not(IsNull(c)) for c in sorted(tied, key=str)))
        self.split = {X: self.components(X) for t in query.private for X in self.sets(t)}
        self._combinations: dict[tuple[Positions, frozenset[int]], list] = {}

    # what depends on the query alone

    def sets(self, table: Table) -> list[Positions]:
        """The sets X at which one row of the table can sit at once."""
        return subsets(self.query.copies(table.name))

    def at(self, columns: Iterable[Column]) -> set[int]:
        return {self.position[c.alias] for c in columns}

    def components(self, X: Positions) -> list[Positions]:
        """What is connected outside X once the cells of one row at X are constants.

        A condition other than an equality connects all its positions outside X, also when it names X too.
        """
        links = [self.at(columns) for columns, constants in self.classes if not constants]
        links = [link for link in links if not link & set(X)]
        for part in conjuncts(self.query.condition):
            if not (isinstance(part, Compare) and part.op == "="):
                links.append(self.at(columns_of(part)) - set(X))
        parts = [{j} for j in range(len(self.position)) if j not in X]
        for link in filter(None, links):
            touched = [part for part in parts if part & link]
            parts = [part for part in parts if not part & link] + [set().union(*touched)]
        return sorted(tuple(sorted(part)) for part in parts)

    def known(self, X: Positions, order: Positions, i: int) -> frozenset[int]:
        """The positions whose rows are given when the i-th of the order is reached."""
        return frozenset(X) | frozenset(order[:i])

    def measured_in(self, J: Positions) -> bool:
        """Do all columns of the SUM lie in J? A SUM of a constant has none and is measured nowhere."""
        if not isinstance(self.query.aggregate, Sum):
            return False
        where = self.at(column for _, column in self.query.aggregate.terms)
        return bool(where) and where <= set(J)

    def combinations(
        self, J: Positions, known: frozenset[int]
    ) -> list[tuple[tuple[Row, ...], tuple[Value, ...], int]]:
        """All possible rows at J that satisfy what is demanded of J alone, their key and their value."""
        if (J, known) not in self._combinations:
            self._combinations[J, known] = list(self._walk(J, known))
        return self._combinations[J, known]

    def _walk(self, J: Positions, known: frozenset[int]) -> Iterator[tuple]:
        inside = And(tuple(p for p in self.demands if self.at(columns_of(p)) <= set(J)))
        key = [
            next(c for c in sorted(columns, key=str) if self.position[c.alias] in J)
            for columns, constants in self.classes
            if not constants and self.at(columns) & set(J) and self.at(columns) & known
        ]
        names = [(self.query.occurrences[j][0], self.query.table_at(j).columns) for j in J]
        for rows in itertools.product(*(rows_of(self.query.table_at(j)) for j in J)):
            cells = {
                Column(alias, name): value
                for (alias, columns), row in zip(names, rows, strict=True)
                for name, value in zip(columns, row, strict=True)
            }
            if truth(inside, cells.__getitem__) is True:
                yield rows, tuple(cells[c] for c in key), self._value(cells) if self.measured_in(J) else 1

    def _value(self, cells: dict[Column, Value]) -> int:
        aggregate = self.query.aggregate
        exact = aggregate.constant + sum(factor * cells[c] for factor, c in aggregate.terms)
        return abs(min(max(exact, aggregate.low), aggregate.high))

    # what depends on the database

    def largest(
        self, J: Positions, known: frozenset[int], database: Database, *, values: bool = False
    ) -> float:
        """The largest number (or sum of values) of combinations at J that agree in the classes tied to `known`."""
        totals: Counter = Counter()
        tables = [database[self.query.occurrences[j][1]] for j in J]
        for rows, key, value in self.combinations(J, known):
            copies = math.prod(table[row] for table, row in zip(tables, rows, strict=True))
            totals[key] += copies * (value if values else 1)
        return max(totals.values(), default=0)

    def size(self, X: Positions, order: Positions, i: int, database: Database) -> float:
        return self.largest((order[i],), self.known(X, order, i), database)

    def factors(self, X: Positions, database: Database) -> Iterator[list[Factor]]:
        """The components with their counts and sizes, once for every choice of orders."""
        choices = []
        for J in self.split[X]:
            measured = self.measured_in(J)
            count = self.largest(J, frozenset(X), database, values=measured)
            choices.append(
                [
                    Factor(
                        count,
                        tuple(self.size(X, order, i, database) for i in range(len(order))),
                        tuple(map(self.query.table_at, order)),
                        self.query.bound if measured else 1,
                    )
                    for order in self.orders(J)
                ]
            )
        yield from map(list, itertools.product(*choices))

    def purses(self, factors: list[Factor]) -> tuple[list[int], list[list[int]]]:
        """The weights of what can be bought, and which purchase serves each position; -1 for a public table."""
        tables = list(dict.fromkeys(t for f in factors for t in f.tables if t.private))
        return [t.weight for t in tables], [
            [tables.index(t) if t.private else -1 for t in f.tables] for f in factors
        ]

    def grown(self, X: Positions, factors: list[Factor], most: int) -> list[float]:
        """A_X(0..most): the most that whole new rows within distance k can make of the factors."""
        inside = any(map(self.measured_in, self.split[X]))
        outside = 1 if inside else self.query.bound
        weights, serves = self.purses(factors)
        result = [0.0] * (most + 1)
        for spent in allocations(most, weights):
            new = [[spent[p] if p >= 0 else 0 for p in serve] for serve in serves]
            none = [[0] * len(serve) for serve in serves]
            if self.growth == "factors":
                value = outside * math.prod(
                    f.count + f.reach * (f.product(rows) - f.product(zero))
                    for f, rows, zero in zip(factors, new, none, strict=True)
                )
            else:
                after, before = (
                    math.prod(f.product(rows) for f, rows in zip(factors, chosen, strict=True))
                    for chosen in (new, none)
                )
                value = outside * math.prod(f.count for f in factors) + self.query.bound * (after - before)
            k = sum(w * rows for w, rows in zip(weights, spent, strict=True))
            result[k] = max(result[k], value)
        return list(itertools.accumulate(result, max))

    def sequence(self, database: Database, most: int) -> list[float]:
        result = [0.0] * (most + 1)
        for table in self.query.private:
            total = [0.0] * (most + 1)
            for X in self.sets(table):
                per_order = [self.grown(X, factors, most) for factors in self.factors(X, database)]
                total = [a + min(values) for a, *values in zip(total, *per_order, strict=True)]
            result = [max(a, b / table.weight) for a, b in zip(result, total, strict=True)]
        return result
