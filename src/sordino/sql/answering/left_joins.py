"""LEFT JOIN of two private tables, or of a public and a private one, where single rows are protected.

Let every row l of the left table have m(l) partners. What is asked is Σ_l [Σ_partners w(l, r) + (w₀(l) if there is
none)], where w and w₀ are 0 or what l adds (a count, or a value of l itself), or w₀ is 0 and w a value of the partner.

* One row r of the right table more: each of its M(r) partners l gets w(l, r) and may lose w₀(l), so the number moves
  by no more than the inner join does where each of the M(r) pairs counts in full.
* One row l of the left table more: Σ over its m(l) partners, or w₀(l) alone: no more than the inner join, or one row.

So the bounds of the inner join under the conditions of ON and those on the left table alone, and for the left table at
least what one row adds, bound the LEFT JOIN, at every distance.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.sql.expressions.absence import is_null_without
from sordino.sql.question import JoinQuestion, Statement

_INSTEAD = (
    "count what is there, COUNT(column of the right table), write JOIN, or protect users with all their rows"
)


def bound_by_inner_join(statement: Statement) -> Statement:
    """The statement whose analysis bounds this one; the same where nothing is left joined. Refuses what is not proved.

    **Guarantee**: one row changes a number of ``statement`` by at most what it can change the number of the returned
    one, or, if it is a row of the left table, by what one joined row adds.
    """
    if not statement.join.outer:
        return statement
    join, *others = statement.join.outer
    right, lefts = join.occurrence, statement.join.occurrences
    where = f"LEFT JOIN {right.table}"
    if not right.private:
        raise UnsupportedError.at(
            join.place,
            f"{where}: a public table is left joined to private rows by equal columns that no two of its rows share "
            "(ON private.column = public.key); write JOIN, or join it by such columns",
        )
    if others or len(lefts) != 1 or lefts[0].table == right.table:
        raise UnsupportedError.at(
            join.place,
            f"{where}: where rows are protected, rows without a partner are counted for two different tables and no "
            f"more; {_INSTEAD}",
        )
    for measure in statement.measures:
        value = measure.value
        if value is not None and right.alias in _aliases(value) and not is_null_without(value, {right.alias}):
            raise UnsupportedError.at(
                join.place,
                f"{where}: {measure.text} adds something where there is no partner, and one row may take it away; "
                "leave COALESCE out (what is NULL adds nothing), or protect users with all their rows",
            )
    if any(right.alias in _aliases(key.column) for key in statement.keys):
        raise UnsupportedError.at(
            join.place, f"{where}: group by columns of {lefts[0].table}, the table on the left, or write JOIN"
        )
    alone = tuple(part for part in statement.join.conditions if right.alias not in _aliases(part))
    inner = JoinQuestion((*lefts, right), (*alone, *join.on), statement.join.measure)
    return replace(statement, join=inner, partitions=False)


def find_least_changes(statement: Statement, measure: int) -> dict[str, int]:
    """What a row of the left table changes even without partners, in steps, by its table."""
    if not statement.join.outer:
        return {}
    reach = statement.measures[measure].reach
    return {left.table: reach for left in statement.join.occurrences if left.private}


def _aliases(tree: exp.Expr) -> set[str]:
    return {column.table for column in tree.find_all(exp.Column)}
