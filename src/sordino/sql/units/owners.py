"""Owners: for every joined row, the entities that it belongs to, as expressions of the question's own tables.

Every private table in FROM reaches its entities along the ways of the policy (`OwnerPath`). A joined row belongs to
the owners of all its private rows, so removing an entity with all its rows removes exactly the joined rows it owns:
inner joins are monotone. Two ways that the question's own conditions force to one entity are one owner.

**Keys that do not hold.** A row that leads to nobody is left out, whatever else it joins with. Where a key on the way
is not known to be unique, a row may lead to two entities; such a row is left out too, by a lookup that keeps the
values with one owner. Both are decided by rows that vanish together with the row itself, so neighbours agree on it: a
row that stays when an entity goes did not lead there, and keeps all the owners that it had.

**LEFT JOIN.** A public table behind it owns nothing. A private one is allowed where its conditions force all owners of
its rows to be owners of the row on the left: an entity then takes its rows away together with all that they are joined
to, so that a row which stays keeps the partners that it had, or still has none. Elsewhere a row could lose its partner
and appear as one without: refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.engines import Table
from sordino.sql.aggregates.measure import is_there
from sordino.sql.answering.exact import write_join
from sordino.sql.lookups import Numbering, make_table
from sordino.sql.policy import ColumnName, OwnerPath, Policy, match_name
from sordino.sql.question import JoinQuestion, Occurrence, OuterJoin
from sordino.sql.reading.groups import find_equal_places

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner of every joined row: an entity, and the expression of its key."""

    entity: ColumnName
    key: exp.Expr


@dataclass(frozen=True, slots=True)
class Owners:
    """The owners of the joined rows, with what FROM and WHERE need so that they can be named.

    ``lookups``: derived tables, each with a name; ``conditions``: how they are joined, and that every row has an owner.
    ``join``: what is asked, where private rows behind LEFT JOIN that nobody owns are left out. ``numbered``: tables
    whose rows have numbers. ``nested``: other protected rows may lie inside an owner, so that a part of what it adds
    can go by itself.
    """

    owners: tuple[Owner, ...]
    lookups: tuple[tuple[str, exp.Select], ...]
    conditions: tuple[exp.Expr, ...]
    join: JoinQuestion
    numbered: tuple[tuple[str, Numbering], ...] = ()
    nested: bool = False


def find_owners(
    join: JoinQuestion,
    policy: Policy,
    catalogue: Mapping[str, Table],
    owned: Mapping[str, Sequence[tuple[ColumnName, str]]] | None = None,
) -> Owners:
    """Who owns the joined rows of a question; ``owned``: aliases whose rows name their owners in a column."""
    private = [occurrence for occurrence in join.occurrences if occurrence.private]
    if not any(occurrence.private for occurrence in join.everyone):
        raise UnsupportedError(
            "the question reads public tables only: nothing in it is protected, ask the database itself"
        )
    search = _Search(policy, catalogue, join.occurrences, join.conditions, owned or {})
    search.follow(private)
    owners, lookups, conditions = tuple(search.owners), tuple(search.lookups), tuple(search.conditions)
    outer = tuple(search.own_outer(one) for one in join.outer)
    return Owners(owners, lookups, conditions, replace(join, outer=outer))


def is_same_column(
    value: exp.Expr, key: exp.Expr, occurrences: Sequence[Occurrence], conditions: Sequence[exp.Expr]
) -> bool:
    """Whether a value is an owner's key, or a column that the question's own conditions force to equal it."""
    by_alias = {occurrence.alias: occurrence for occurrence in occurrences}
    if not isinstance(value, exp.Column) or _place(key)[0] not in by_alias:
        return False
    return _place(value) in find_equal_places(_place(key), by_alias, list(conditions))


@dataclass(slots=True)
class _Search:
    policy: Policy
    catalogue: Mapping[str, Table]
    occurrences: Sequence[Occurrence]
    given: Sequence[exp.Expr]
    owned: Mapping[str, Sequence[tuple[ColumnName, str]]] = field(default_factory=dict)
    lookups: list[tuple[str, exp.Select]] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)
    # (alias, way) → the owner that it leads to
    known: dict[tuple[str, OwnerPath], int] = field(default_factory=dict)
    owners: list[Owner] = field(default_factory=list)
    # what holds wherever a row behind LEFT JOIN is joined, and the names that its lookups have
    joined_by: dict[str, tuple[exp.Expr, ...]] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def follow(self, private: Sequence[Occurrence]) -> None:
        """All ways of some occurrences."""
        for occurrence in private:
            for entity, name in self.owned.get(occurrence.alias, ()):
                self._owner(entity, _column(occurrence, name))
        private = [occurrence for occurrence in private if occurrence.alias not in self.owned]
        ways = [(occurrence, path) for occurrence in private for path in self._paths(occurrence)]
        # short ways first: longer ones may end at a table whose owners are known by then
        for occurrence, path in sorted(ways, key=lambda way: len(way[1].hops)):
            self._follow(occurrence, path)

    def own_outer(self, join: OuterJoin) -> OuterJoin:
        """The LEFT JOIN over rows with owners, which must be those that are known already.

        What holds for its rows holds where they are joined, so its conditions are given there; those of an earlier one
        too, if it can only be joined to a row of that.
        """
        right = join.occurrence
        before = (self.occurrences, self.given, len(self.owners), len(self.lookups), len(self.conditions))
        occurrences, given, owners, lookups, conditions = before
        met = {alias for part in join.on for alias in _find_met(part, right.alias)}
        self.given = [*given, *join.on, *(part for a in met for part in self.joined_by.get(a, ()))]
        self.occurrences = [*occurrences, right]
        if right.private:
            self.follow([right])
            own, needed = self.lookups[lookups:], self.conditions[conditions:]
            del self.lookups[lookups:], self.conditions[conditions:]
            apart = {right.alias, *(name for name, _ in own)}
            if len(self.owners) > owners or any(not _tables(part) <= apart for part in needed):
                raise UnsupportedError.at(
                    join.place,
                    f"LEFT JOIN {right.table}: whoever owns a row of {right.table} must own the row that it is joined "
                    "to, or that row would appear without a partner when they leave; join by the key that leads to "
                    f"the owner, count what is there with COUNT(column of {right.table}), or write JOIN",
                )
            if needed:
                everything = exp.Column(this=exp.Star(), table=exp.to_identifier(right.alias, quoted=True))
                rows = write_join([everything], [right], needed, own)
                join = replace(join, occurrence=replace(right, rows=rows))
            self.taken += [name for name, _ in own]
        self.joined_by[right.alias] = tuple(self.given[len(given) :])
        self.given = given
        return join

    def _paths(self, occurrence: Occurrence) -> tuple[OwnerPath, ...]:
        table = self.policy.table_named(occurrence.table)
        if table is None:
            raise UnsupportedError(f"table {occurrence.table!r} is not in the policy")
        return self.policy.owner_paths(table.name)

    def _follow(self, occurrence: Occurrence, path: OwnerPath) -> int:
        """The owner at the end of a way, by its place among the owners."""
        if (occurrence.alias, path) in self.known:
            return self.known[occurrence.alias, path]
        place = self._follow_new(occurrence, path)
        self.known[occurrence.alias, path] = place
        return place

    def _follow_new(self, occurrence: Occurrence, path: OwnerPath) -> int:
        if not path.hops:
            column = _column(occurrence, path.entity.column)
            self.conditions.append(is_there(column))
            return self._owner(path.entity, column)
        hop = path.hops[0]
        own = _column(occurrence, hop.column)
        for other, rest in self._joined(occurrence, path):
            place = self._follow(other, rest)
            # The row that it is joined with is one of those that its key leads to.
            if not rest.hops or self._is_key(hop.to):
                return place
            self._look_up(own, path)
            return place
        if len(path.hops) == 1:
            self.conditions.append(is_there(own))
            if not self._is_enforced(occurrence, path):
                keys = _all_keys(self._entity_table(path), path)
                self.conditions.append(exp.In(this=own.copy(), query=keys.subquery()))
            return self._owner(path.entity, own)
        for (alias, way), place in self.known.items():
            # A key that the question forces to be the same leads to the same owner.
            if way.hops and (way.hops[0].to, way.after_first_hop()) == (hop.to, path.after_first_hop()):
                other = next(found for found in self.occurrences if found.alias == alias)
                if _place(_column(other, way.hops[0].column)) in self._same(own):
                    return place
        return self._owner(path.entity, self._look_up(own, path))

    def _joined(self, occurrence: Occurrence, path: OwnerPath) -> list[tuple[Occurrence, OwnerPath]]:
        """The tables in FROM that the question joins by this very key."""
        hop, by_alias = path.hops[0], {other.alias: other for other in self.occurrences}
        same = find_equal_places(
            (occurrence.alias, _column(occurrence, hop.column).name), by_alias, list(self.given)
        )
        rest = path.after_first_hop()
        found = []
        for alias, column in sorted(same):
            other = by_alias[alias]
            table = self.policy.table_named(other.table)
            if (
                table is not None
                and table.name == hop.to.table
                and column.casefold() == hop.to.column.casefold()
            ):
                found.append((other, rest))
        return found

    def _owner(self, entity: ColumnName, key: exp.Expr) -> int:
        """The owner with this key; one that the conditions force to equal a known one is that one."""
        place = _place(key)
        for number, owner in enumerate(self.owners):
            if owner.entity == entity and place in self._same(owner.key):
                return number
        self.owners.append(Owner(entity, key))
        return len(self.owners) - 1

    def _same(self, key: exp.Expr) -> set[Place]:
        by_alias = {other.alias: other for other in self.occurrences}
        place = _place(key)
        return find_equal_places(place, by_alias, list(self.given)) if place[0] in by_alias else {place}

    def _look_up(self, own: exp.Expr, path: OwnerPath) -> exp.Expr:
        """A derived table from the values of a key to their one owner, joined with the row that holds the key."""
        taken = {*self.taken, *(occurrence.alias.casefold() for occurrence in self.occurrences)}
        number = len(self.lookups) + 1
        while f"owner_{number}" in taken:
            number += 100
        name = f"owner_{number}"
        self.lookups.append((name, self._lookup(path)))
        self.conditions.append(exp.EQ(this=own.copy(), expression=exp.column("k", table=name, quoted=True)))
        return exp.column("o", table=name, quoted=True)

    def _lookup(self, path: OwnerPath) -> exp.Select:
        """SELECT of the values ``k`` of the column that the first hop leads to, each with its one owner ``o``."""
        to, rest = path.hops[0].to, path.after_first_hop()
        table = self._occurrence(to.table, "t")
        search = _Search(self.policy, self.catalogue, [table], ())
        place = search._follow(table, rest)
        key, owner = _column(table, to.column), search.owners[place].key
        query = write_join([], [table], search.conditions, search.lookups)
        if self._is_key(to):
            return query.select(_named(key, "k"), _named(owner, "o"), copy=False)
        first, last = exp.Min(this=owner.copy()), exp.Max(this=owner.copy())
        query.select(_named(key, "k"), _named(first, "o"), copy=False)
        query.group_by(key.copy(), copy=False)
        return query.having(exp.EQ(this=first.copy(), expression=last), copy=False)

    def _occurrence(self, table: str, alias: str) -> Occurrence:
        found = self.catalogue[match_name(table, self.catalogue) or table]
        return Occurrence(alias, found.name, None, {column.name: column.type for column in found.columns})

    def _entity_table(self, path: OwnerPath) -> Occurrence:
        return self._occurrence(path.entity.table, "e")

    def _is_key(self, name: ColumnName) -> bool:
        """Whether no two rows share a value: the engine enforces it, or the owner promises it."""
        declared = self.policy.tables[name.table]
        promised = declared.key_enforced and _fold(declared.key) == _fold((name.column,))
        table = self.catalogue[match_name(name.table, self.catalogue) or name.table]
        return promised or any(_fold(key) == _fold((name.column,)) for key in table.keys)

    def _is_enforced(self, occurrence: Occurrence, path: OwnerPath) -> bool:
        """Whether the engine sees to it that the key leads to a row of the entity."""
        hop = path.hops[0]
        return any(
            _fold(reference.columns) == _fold((hop.column,))
            and _fold((reference.table, *reference.to))
            == _fold((self._entity_table(path).table, hop.to.column))
            for reference in self.catalogue[occurrence.table].references
        )


def _tables(condition: exp.Expr) -> set[str]:
    """The tables of a condition on owners; the columns of a sub-query are its own."""
    shown = condition.this if isinstance(condition, exp.In) else condition
    return {column.table for column in shown.find_all(exp.Column)}


def _find_met(part: exp.Expr, alias: str) -> set[str]:
    """The other table of a condition that a column here equals one there: where it is TRUE, both have a row."""
    if not isinstance(part, exp.EQ):
        return set()
    columns = [side.table for side in (part.this, part.expression) if isinstance(side, exp.Column)]
    return set(columns) - {alias} if len(columns) == 2 and alias in columns else set()


def _all_keys(entity: Occurrence, path: OwnerPath) -> exp.Select:
    """SELECT of the entity's keys."""
    key = _column(entity, path.entity.column)
    return exp.select(key).from_(make_table(entity.table, entity.alias)).where(is_there(key))


def _column(occurrence: Occurrence, name: str) -> exp.Column:
    found = match_name(name, occurrence.columns) or name
    return exp.column(found, table=occurrence.alias, quoted=True)


def _place(column: exp.Expr) -> Place:
    return str(column.args["table"].name), column.name


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression.copy(), name, quoted=True)


def _fold(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)
