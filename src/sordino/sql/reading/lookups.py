"""Public tables that are joined by a key of theirs become columns of the private rows that find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from sordino.core import EngineError
from sordino.engines import Snapshot
from sordino.sql.lookups import OWN, PUBLIC, Lookup, count_most_alike
from sordino.sql.question import GroupKey, Occurrence, OuterJoin, Statement
from sordino.sql.reading.groups import Place, find_equal_places, is_partition

# Of these kinds two values are equal if and only if they are grouped together.
_KINDS = ("integer", "text", "boolean", "date")
_CHANGED = "a public table had a key when the question was planned, and now two of its rows share it"

# Whether no two rows of a public table share the values of some columns.
IsKey = Callable[[str, tuple[str, ...]], bool]


def read_lookups(statement: Statement, snapshot: Snapshot) -> Statement:
    """The statement with every public table that is joined by a key as columns of private rows.

    **Guarantee**: the answer to every group is the same, and one row of a private table is at most one row of its
    occurrences. Whether columns are a key is read from the public table, before anything is paid for; `check_lookups`
    looks again in the snapshot that is answered from.
    """
    if not has_candidates(statement):
        return statement
    known: dict[tuple[str, tuple[str, ...]], bool] = {}

    def is_key(table: str, columns: tuple[str, ...]) -> bool:
        if (table, columns) not in known:
            known[table, columns] = _most_alike(snapshot, table, columns) <= 1
        return known[table, columns]

    return absorb_lookups(statement, is_key)


def check_lookups(statement: Statement, snapshot: Snapshot) -> None:
    """Raise if what was a key is none in this snapshot; depends on public tables alone."""
    keys = {
        (lookup.table, tuple(key for _, key in lookup.on))
        for occurrence in statement.join.everyone
        for lookup in occurrence.lookups
    }
    if any(_most_alike(snapshot, table, columns) > 1 for table, columns in sorted(keys)):
        raise EngineError(_CHANGED)


def has_candidates(statement: Statement) -> bool:
    """Whether a public table is joined to a private one by equality, or left joined at all."""
    return any(
        _tied(public, statement) for public in statement.join.occurrences if not public.private
    ) or any(not join.occurrence.private for join in statement.join.outer)


def absorb_lookups(statement: Statement, is_key: IsKey) -> Statement:
    """The same where ``is_key`` knows the public tables."""
    names: dict[tuple[str, tuple[tuple[str, str], ...], str], str] = {}
    while True:
        for public in statement.join.occurrences:
            if public.private:
                continue
            found = {
                alias: tuple(on)
                for alias, on in _tied(public, statement).items()
                if is_key(public.table, tuple(key for _, key in on))
            }
            if found:
                statement = _absorb(statement, public, found, names)
                break
        else:
            return absorb_outer_lookups(statement, is_key)


def absorb_outer_lookups(statement: Statement, is_key: IsKey) -> Statement:
    """The same for public tables behind LEFT JOIN: a row that finds nothing stays as it is.

    One row of the private table is then one row of its occurrence, whatever the public table holds.
    """
    while True:
        for join in statement.join.outer:
            host = None if join.occurrence.private else _find_host(statement, join, is_key)
            if host is not None:
                statement = _absorb_outer(statement, join, *host)
                break
        else:
            return statement


def _find_host(
    statement: Statement, join: OuterJoin, is_key: IsKey
) -> tuple[Occurrence, tuple[tuple[str, str], ...], tuple[exp.Expr, ...]] | None:
    """The private occurrence whose rows find at most one row each, by which columns, and what else is asked of it."""
    public = join.occurrence
    for host in statement.join.everyone:
        if not host.private or any(not _aliases(part) <= {host.alias, public.alias} for part in join.on):
            continue
        pairs: dict[str, str] = {}
        others = []
        for part in join.on:
            pair = _find_pair(part, host, public)
            if pair is not None and pair[1] not in pairs:
                pairs[pair[1]] = pair[0]
            else:
                others.append(part)
        on = tuple((own, key) for key, own in sorted(pairs.items()))
        if on and is_key(public.table, tuple(key for _, key in on)):
            return host, on, tuple(others)
    return None


def _find_pair(part: exp.Expr, host: Occurrence, public: Occurrence) -> tuple[str, str] | None:
    """(own column, public column) of a condition that they are equal."""
    sides = [part.this, part.expression] if isinstance(part, exp.EQ) else []
    columns = {side.table: side.name for side in sides if isinstance(side, exp.Column)}
    if set(columns) != {host.alias, public.alias}:
        return None
    own, key = columns[host.alias], columns[public.alias]
    kind = public.columns[key]
    return (own, key) if kind in _KINDS and host.columns[own] == kind else None


def _absorb_outer(
    statement: Statement,
    join: OuterJoin,
    host: Occurrence,
    on: tuple[tuple[str, str], ...],
    others: tuple[exp.Expr, ...],
) -> Statement:
    public, before = join.occurrence, statement.join
    taken = {name.casefold() for occurrence in before.everyone for name in occurrence.columns}
    told = {column: _free_name(taken) for column in sorted(_columns_used(statement, public.alias, join))}
    place = {(host.alias, name): (OWN, name) for name in host.columns}
    place |= {(public.alias, name): (PUBLIC, name) for name in public.columns}
    lookup = Lookup(
        public.table,
        on,
        tuple((name, column) for column, name in told.items()),
        optional=True,
        conditions=tuple(map(_Renaming(place), others)),
    )
    widened = replace(
        host,
        columns={**host.columns, **{name: public.columns[column] for column, name in told.items()}},
        digits={**host.digits, **{n: public.digits[c] for c, n in told.items() if c in public.digits}},
        lookups=(*host.lookups, lookup),
    )
    rename = _Renaming({(public.alias, column): (host.alias, name) for column, name in told.items()})
    outer = tuple(
        replace(
            other,
            occurrence=widened if other.occurrence == host else other.occurrence,
            on=tuple(map(rename, other.on)),
        )
        for other in before.outer
        if other != join
    )
    question = replace(
        before,
        occurrences=tuple(widened if one == host else one for one in before.occurrences),
        conditions=tuple(map(rename, before.conditions)),
        outer=outer,
    )
    keys = tuple(_renamed_key(key, public.alias, rename, ()) for key in statement.keys)
    measures = tuple(
        measure if measure.value is None else measure.with_value(rename(measure.value))
        for measure in statement.measures
    )
    partitions = is_partition(question.everyone, keys)
    return replace(statement, join=question, keys=keys, measures=measures, partitions=partitions)


def _tied(public: Occurrence, statement: Statement) -> dict[str, list[tuple[str, str]]]:
    """Per private occurrence the pairs of a column of its own and a public column that must be equal."""
    by_alias = {occurrence.alias: occurrence for occurrence in statement.join.occurrences}
    conditions = list(statement.join.conditions)
    found: dict[str, list[tuple[str, str]]] = {}
    for key, kind in sorted(public.columns.items()):
        if kind not in _KINDS:
            continue
        for alias, own in sorted(find_equal_places((public.alias, key), by_alias, conditions)):
            pairs = found.setdefault(alias, [])
            if by_alias[alias].private and all(other != key for _, other in pairs):
                pairs.append((own, key))
    return {alias: pairs for alias, pairs in found.items() if pairs}


def _absorb(
    statement: Statement,
    public: Occurrence,
    found: Mapping[str, tuple[tuple[str, str], ...]],
    names: dict[tuple[str, tuple[tuple[str, str], ...], str], str],
) -> Statement:
    """The first of the private occurrences takes the place of the public one; the others find the same row.

    Copies of a table that look up the same call it the same, since the row of one is the row of the other.
    """
    used = sorted(_columns_used(statement, public.alias))
    taken = {name.casefold() for occurrence in statement.join.everyone for name in occurrence.columns}
    occurrences = []
    renamed: dict[str, dict[Place, Place]] = {}
    for occurrence in statement.join.occurrences:
        if occurrence.alias == public.alias:
            continue
        on = found.get(occurrence.alias)
        if on is not None:
            for column in used:
                if (public.table, on, column) not in names:
                    names[public.table, on, column] = _free_name(taken)
            told = {column: names[public.table, on, column] for column in used}
            renamed[occurrence.alias] = {
                (public.alias, column): (occurrence.alias, name) for column, name in told.items()
            }
            occurrence = _widened(occurrence, public, on, told)
        occurrences.append(occurrence)
    first, *others = found
    rename = _Renaming(renamed[first])
    further = [_Renaming(renamed[alias]) for alias in others]
    conditions = [rename(condition) for condition in statement.join.conditions]
    # The public row that another one finds is the same row: what is asked of it alone is asked there too.
    alone = [c for c in statement.join.conditions if _aliases(c) == {public.alias}]
    conditions += [again(condition) for again in further for condition in alone]
    keys = tuple(_renamed_key(key, public.alias, rename, further) for key in statement.keys)
    outer = tuple(replace(join, on=tuple(map(rename, join.on))) for join in statement.join.outer)
    join = replace(statement.join, occurrences=tuple(occurrences), conditions=tuple(conditions), outer=outer)
    measures = tuple(
        measure if measure.value is None else measure.with_value(rename(measure.value))
        for measure in statement.measures
    )
    return replace(
        statement, join=join, keys=keys, measures=measures, partitions=is_partition(join.everyone, keys)
    )


def _widened(
    occurrence: Occurrence, public: Occurrence, on: tuple[tuple[str, str], ...], told: Mapping[str, str]
) -> Occurrence:
    """The occurrence with the columns that it looks up; what it has looked up already it has."""
    fresh = {column: name for column, name in told.items() if name not in occurrence.columns}
    before = [lookup for lookup in occurrence.lookups if (lookup.table, lookup.on) == (public.table, on)]
    known = before[0].columns if before else ()
    lookup = Lookup(public.table, on, (*known, *((name, column) for column, name in fresh.items())))
    digits = {name: public.digits[column] for column, name in fresh.items() if column in public.digits}
    return replace(
        occurrence,
        columns={**occurrence.columns, **{name: public.columns[column] for column, name in fresh.items()}},
        digits={**occurrence.digits, **digits},
        lookups=tuple(lookup if one in before else one for one in occurrence.lookups)
        if before
        else (*occurrence.lookups, lookup),
    )


class _Renaming:
    """A tree with other names for some columns."""

    def __init__(self, names: Mapping[Place, Place]) -> None:
        self._names = names

    def __call__(self, tree: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=tree.copy())
        for column in list(holder.find_all(exp.Column)):
            place = self._names.get((column.table, column.name))
            if place is not None:
                column.replace(exp.column(place[1], table=place[0], quoted=True))
        inner: exp.Expr = holder.this
        return inner


def _renamed_key(key: GroupKey, alias: str, rename: _Renaming, further: Sequence[_Renaming]) -> GroupKey:
    mine = [column for column in (key.column, *key.equals) if _aliases(column) == {alias}]
    copies = [again(column) for again in further for column in mine]
    equals = dict.fromkeys([*map(rename, key.equals), *copies])
    return replace(key, column=rename(key.column), equals=tuple(equals))


def _columns_used(statement: Statement, alias: str, apart: OuterJoin | None = None) -> set[str]:
    """The columns of an occurrence that are named anywhere but in the ON of ``apart``."""
    trees: list[exp.Expr] = [*statement.join.conditions]
    trees += [part for join in statement.join.outer if join != apart for part in join.on]
    trees += [measure.value for measure in statement.measures if measure.value is not None]
    trees += [column for key in statement.keys for column in (key.column, *key.equals)]
    return {column.name for tree in trees for column in tree.find_all(exp.Column) if column.table == alias}


def _aliases(tree: exp.Expr) -> set[str]:
    return {column.table for column in tree.find_all(exp.Column)}


def _free_name(taken: set[str]) -> str:
    name = next(f"looked_up_{number}" for number in count() if f"looked_up_{number}" not in taken)
    taken.add(name)
    return name


def _most_alike(snapshot: Snapshot, table: str, columns: tuple[str, ...]) -> int:
    return int(snapshot.aggregate(count_most_alike(table, columns)).column(0)[0].as_py())
