"""DISTINCT and set operations: the formula that N rows of the result come or go with one row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

from sordino.sql.solver.conditions import write_and, write_or
from sordino.sql.solver.encoded import Encoded
from sordino.sql.solver.query import JoinLeaf, SetQuery, Shapes
from sordino.sql.solver.script import JoinWriter, RowNames, Script, sort_of_term
from sordino.sql.solver.terms import write_as

# So many combinations of rows are written out at most.
MOST_COMBINATIONS = 6_000


@dataclass(frozen=True, slots=True)
class ChangedMembers:
    """N result rows z₁ … z_N that are in the result with y, or without y, and not both.

    **Guarantee**: it has a model iff some database that obeys keys and checks has a row y of ``table`` whose removal
    changes the membership of N rows. Leaves are monotone in the database. Of every z_n and every leaf keep one
    derivation: one that avoids y if there is one, else one through y, else none. In the database of these rows and y
    every z_n is in a leaf, with y and without, exactly as before: what could be derived still can, and what could not
    cannot from fewer rows. So N rows change in some database iff they do in one of N · Σ positions + 1 rows, and the
    formula looks for that one: rows X[n, leaf] with a flag each, and over all combinations of flagged rows whether z_n
    is derived with y and without.
    **Source**: our own; the report's Ψ (`TuplesThroughRow`) holds only where the table stands in FROM once.
    """

    query: SetQuery
    table: str
    shapes: Shapes
    values: tuple[int, ...] | None = None

    @property
    def most(self) -> int:
        """Until there are too many combinations."""
        number = 0
        while self.combinations(number + 1) <= MOST_COMBINATIONS:
            number += 1
        return number

    def combinations(self, number: int) -> int:
        """How many are written for N rows."""
        leaves = self.query.leaves()

        def pool(table: str) -> int:
            return number * sum(len(leaf.positions(table)) for leaf in leaves) + (table == self.table)

        return sum(prod(pool(table) for table in leaf.tables) for leaf in leaves) * (number + 1)

    def encode(self, number: int, terms: int | None = None) -> Encoded:
        """Ψ(number) of the whole tree."""
        script = Script(self.shapes, values=self.values, most_terms=terms)
        leaves = self.query.leaves()
        row = script.row("y", self.table)
        script.obey_keys(row)
        pools: dict[str, list[tuple[str, RowNames]]] = {self.table: [("true", row)]}
        others: list[tuple[str | None, RowNames]] = []
        for n in range(1, number + 1):
            for place, leaf in enumerate(leaves):
                flag = script.declare(f"|use{n}.{place}|", (), "Bool")
                for j, table in enumerate(leaf.tables):
                    other = script.row(f"x{n}.{place}.{j}", table, where=flag)
                    script.obey_keys(other, where=flag)
                    pools.setdefault(table, []).append((flag, other))
                    others.append((flag, other))
        results = [self._result(script, n) for n in range(1, number + 1)]
        derived = [self._derivations(script, place, leaf, pools, row) for place, leaf in enumerate(leaves)]
        for result in results:
            inside, without = {}, {}
            for place, leaf in enumerate(leaves):
                ways = [
                    (self._selects(leaf, joined, result), holds, avoids)
                    for joined, holds, avoids in derived[place]
                ]
                inside[place] = write_or([write_and([holds, equal]) for equal, holds, _ in ways])
                without[place] = write_or(
                    [write_and([holds, equal, avoids]) for equal, holds, avoids in ways]
                )
            script.require(f"(not (= {self.query.member(inside)} {self.query.member(without)}))")
        script.order(results)
        return Encoded(script, row, tuple(others))

    def _result(self, script: Script, n: int) -> list[tuple[str, str]]:
        kinds = [sort_of_term(term) for term in self.query.leaves()[0].outputs]
        for k in range(len(kinds)):
            if any(leaf.outputs[k].kind == "real" for leaf in self.query.leaves()):
                kinds[k] = "Real"
        return [(sort, script.declare(f"|z{n}.{k}|", (), sort)) for k, sort in enumerate(kinds)]

    def _derivations(
        self,
        script: Script,
        place: int,
        leaf: JoinLeaf,
        pools: dict[str, list[tuple[str, RowNames]]],
        row: RowNames,
    ) -> list[tuple[JoinWriter, str, str]]:
        """Every combination of rows: who writes its terms, that it is there and satisfies, and that y is not in it."""
        found = []
        for number, combination in enumerate(product(*(pools[table] for table in leaf.tables))):
            rows = tuple(other for _, other in combination)
            writer = JoinWriter(script, rows)
            flags = [flag for flag in dict.fromkeys(flag for flag, _ in combination) if flag != "true"]
            holds = script.declare(f"|holds{place}.{number}|", (), "Bool")
            script.require(f"(= {holds} {write_and([*flags, leaf.condition.write(writer)])})")
            if any(rows[j] is row for j in leaf.positions(self.table)):
                found.append((writer, holds, "false"))
                continue
            avoids = [f"(not {script.same(rows[j], row)})" for j in leaf.positions(self.table)]
            found.append((writer, holds, write_and(avoids)))
        return found

    def _selects(self, leaf: JoinLeaf, writer: JoinWriter, result: list[tuple[str, str]]) -> str:
        equal = []
        for term, (sort, name) in zip(leaf.outputs, result, strict=True):
            kind = "real" if sort == "Real" else term.kind
            equal.append(f"(= {write_as(term, kind, writer)} {name})")
        writer.script.count_terms(equal)
        return write_and(equal)
