"""Joined rows that one row is part of: the formula Φ, and Ψ, which tells them apart by what is selected of them."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.sql.solver.conditions import write_or
from sordino.sql.solver.encoded import Encoded
from sordino.sql.solver.query import JoinLeaf, Shapes
from sordino.sql.solver.script import JoinWriter, RowNames, Script, sort_of_term, spell_name


@dataclass(frozen=True, slots=True)
class TuplesThroughRow:
    """N different combinations of rows that satisfy the condition, each with a row y of ``table`` somewhere in it.

    ``by_output``: they differ in what is selected, not only somewhere.

    **Guarantee**: Φ(N), ``by_output`` False, has a model iff some database that obeys keys and checks has a row y of
    the table whose removal takes N rows out of the join; provided that every table has a key, or only ``table`` lacks
    one and stands in FROM once. Ψ(N), ``by_output`` True: iff N different outputs have a combination through y.
    That is what DISTINCT loses with y where the table stands in FROM once (take y as the only row of the table), and an
    upper bound otherwise; and the number of groups that y is part of, always.
    **Source**: NAPLES report §3.3.13, whose pages on the rest of Φ and on Ψ are lost; checked against all relations on
    two values.
    """

    leaf: JoinLeaf
    table: str
    shapes: Shapes
    by_output: bool = False
    values: tuple[int, ...] | None = None
    most: int | None = None

    def encode(self, number: int, terms: int | None = None) -> Encoded:
        """Φ(number) or Ψ(number)."""
        script = Script(self.shapes, values=self.values, most_terms=terms)
        row = script.row("y", self.table)
        script.obey_keys(row)
        others: list[tuple[str | None, RowNames]] = []
        members = []
        for n in range(1, number + 1):
            rows = self.join(script, row, f"x{n}")
            script.require(self.leaf.condition.write(JoinWriter(script, rows)))
            others += [(None, other) for other in rows if other is not row]
            if self.by_output:
                writer = JoinWriter(script, rows)
                members.append([(sort_of_term(term), term.write(writer)) for term in self.leaf.outputs])
            else:
                members.append(
                    [pair for other in rows if other is not row for pair in script.fields_of(other)]
                )
        script.order(members)
        return Encoded(script, row, tuple(others))

    def join(
        self, script: Script, row: RowNames, label: str, *, place: int | None = None
    ) -> tuple[RowNames, ...]:
        """New rows at all positions, with y at ``place`` or at one of the table's."""
        places = self.leaf.positions(self.table)
        if place is None and len(places) == 1:
            place = places[0]
        rows = tuple(
            row if j == place else script.row(f"{label}.{spell_name(alias)}", table)
            for j, (table, alias) in enumerate(zip(self.leaf.tables, self.leaf.aliases, strict=True))
        )
        if place is None:
            script.require(write_or([script.same(rows[j], row) for j in places]))
        for other in rows:
            if other is not row:
                script.obey_keys(other)
        return rows
