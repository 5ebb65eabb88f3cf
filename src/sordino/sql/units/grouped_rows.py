"""Sub-selects with GROUP BY where users are protected: every group must belong to the owners that are among its keys.

**Sensitivity.** All joined rows of a group have the owners that its keys name, so what is counted and summed of them is
a function of these owners' rows alone: an owner that goes takes its groups along, and changes no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.engines import Table
from sordino.sql.answering.exact import write_join
from sordino.sql.policy import ColumnName, Policy
from sordino.sql.question import GroupedRows, JoinQuestion, Occurrence
from sordino.sql.units.owners import Owners, find_owners, is_same_column

# Per alias, the columns that name owners, each with the entity.
Owned = dict[str, tuple[tuple[ColumnName, str], ...]]


def find_all_owners(join: JoinQuestion, policy: Policy, catalogue: Mapping[str, Table]) -> Owners:
    """Who owns the joined rows of a question, whose sub-selects with GROUP BY are written out first."""
    owned: Owned = {}

    def written(occurrence: Occurrence) -> Occurrence:
        if occurrence.grouped is None:
            return occurrence
        found, owned[occurrence.alias] = _write_out(occurrence, occurrence.grouped, policy, catalogue)
        return found

    whole = replace(
        join,
        occurrences=tuple(map(written, join.occurrences)),
        outer=tuple(replace(one, occurrence=written(one.occurrence)) for one in join.outer),
    )
    return find_owners(whole, policy, catalogue, owned)


def _write_out(
    occurrence: Occurrence, grouped: GroupedRows, policy: Policy, catalogue: Mapping[str, Table]
) -> tuple[Occurrence, tuple[tuple[ColumnName, str], ...]]:
    owners = find_all_owners(grouped.join, policy, catalogue)
    join, found = owners.join, []
    for owner in owners.owners:
        name = next((name for name, key in grouped.keys if _is_owner(key, owner.key, join)), None)
        if name is None:
            raise UnsupportedError.at(
                grouped.place,
                f"GROUP BY inside a sub-select must name the owner of its rows, {owner.entity}, or a column that its "
                "conditions force to be equal to that: a group of several owners would change with each of them",
            )
        found.append((owner.entity, name))
    columns = [exp.alias_(part.copy(), name, quoted=True) for name, part in (*grouped.keys, *grouped.numbers)]
    rows = write_join(
        columns, join.occurrences, (*join.conditions, *owners.conditions), owners.lookups, join.outer
    )
    rows.group_by(*dict.fromkeys(key.copy() for _, key in grouped.keys), copy=False)
    names = tuple(name for _, name in found)
    naming = [key for name, key in grouped.keys if name in names]
    once = all(key in naming for _, key in grouped.keys)
    return replace(occurrence, rows=rows, key=names if once else ()), tuple(found)


def _is_owner(key: exp.Expr, owner: exp.Expr, join: JoinQuestion) -> bool:
    return key == owner or is_same_column(key, owner, join.occurrences, join.conditions)
