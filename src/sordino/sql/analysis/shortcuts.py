"""Numbers of counts where something is known of the whole tables: some are decided, some are seen on few groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sordino.engines import Snapshot
from sordino.sql.analysis.counting import Counted, CountedRows, Flat, Link
from sordino.sql.analysis.some_groups import are_value, keep_groups
from sordino.sql.analysis.statement import (
    Asked,
    Row,
    read_number_rows,
    split_asked,
    write_largest_group,
    write_numbers,
)
from sordino.sql.analysis.wholes import Wholes, has_values

# A number this small is that of many groups, if of any: then a few groups show it.
_SMALL = 16
_MANY_ROWS = 1 << 22
# Of a place: which of its numbers is read and how many it has, the others being one; None: all are read.
_Wanted = tuple[int, tuple[int, int] | None]


def read_with_wholes(
    snapshot: Snapshot, asking: Mapping[Asked, int], wholes: Wholes
) -> Iterator[tuple[int, Row]]:
    """The rows of every place, but for rows that another row of the place exceeds or equals in every number.

    * What asks for nothing but values is known of the whole table.
    * Of counts side by side of which all but one are one wherever there are rows, the largest of that one is enough.
    * Where no group exceeds small numbers, some of the groups come first. If one has them, no other matters.
    * Rows that must also meet one row of another table are no more. If the largest group has as many of them, no other
      group has more (`_read_largest_first`).

    **Guarantee**: the undominated rows are those of `write_numbers`, and bounds increase in every number.
    """
    wanted: dict[Asked, list[_Wanted]] = {}
    for asked, place in asking.items():
        known = wholes.decide(asked.counts[0]) if len(asked.counts) == 1 else None
        if known is not None:
            yield place, (known,)
        else:
            one, shape = _make_single(asked, wholes) or (asked, None)
            wanted.setdefault(one, []).append((place, shape))
    samples = {sample: asked for asked in wanted if (sample := _sample(asked, wanted, wholes)) is not None}
    for sample, rows in _read(snapshot, samples, wholes):
        most = _find_bounds(sample, wholes)
        if most in rows:
            yield from _list_rows(wanted.pop(samples[sample]), [most])
    for asked in [one for one in wanted if len(one.counts) == 1 and isinstance(one.counts[0], Flat)]:
        # A join that needs much memory is made a part at a time.
        parts = wholes.list_parts(asked.counts[0], _MANY_ROWS)
        found = [_read(snapshot, [replace(asked, counts=(part,))], wholes) for part in parts]
        if found:
            most = max(row for part in found for _, rows in part for row in rows)
            yield from _list_rows(wanted.pop(asked), [most])
    for asked, number in _read_largest_first(snapshot, list(wanted), wholes):
        yield from _list_rows(wanted.pop(asked), [(number,)])
    for asked, rows in _read(snapshot, wanted, wholes):
        yield from _list_rows(wanted[asked], rows)


def _read(snapshot: Snapshot, asked: Iterable[Asked], wholes: Wholes) -> Iterator[tuple[Asked, list[Row]]]:
    places = {one: place for place, one in enumerate(asked)}
    if not places:
        return
    rows: dict[int, list[Row]] = {}
    for place, _, row in read_number_rows(snapshot.aggregate(write_numbers(places, wholes=wholes)), 0):
        rows.setdefault(place, []).append(row)
    for one, place in places.items():
        yield one, [row[: len(one.counts)] for row in rows.get(place, [])]


def _read_largest_first(
    snapshot: Snapshot, wanted: Sequence[Asked], wholes: Wholes
) -> Iterator[tuple[Asked, int]]:
    """Numbers of counts that are wanted with and without rows of which a row meets one at the most.

    Every group of the former has no more than the same group of the latter. So if the largest of these has as many of
    those, it is the largest of both.
    """
    loose: dict[Asked, list[Asked]] = {}
    for asked in wanted:
        looser = _loosen(asked, wholes)
        if looser is not None and looser in wanted:
            loose.setdefault(looser, []).append(asked)
    for looser, stricter in loose.items():
        *values, most = _find_largest_group(snapshot, looser.counts[0], wholes) or (0,)
        yield looser, most
        if not most:
            yield from ((asked, 0) for asked in stricter)
            continue
        group = {asked: _keep_group(asked, values) for asked in stricter}
        found = dict(_read(snapshot, group.values(), wholes))
        yield from ((asked, most) for asked in stricter if found[group[asked]] == [(most,)])


def _loosen(asked: Asked, wholes: Wholes) -> Asked | None:
    """The same without the links by which a row meets one row at the most; None: there is nothing to see by that."""
    counted = asked.counts[0]
    if len(asked.counts) > 1 or isinstance(counted, Flat) or counted.measure is not None or not counted.keys:
        return None
    kept = tuple(link for link in counted.links if not wholes.is_met_once(link))
    if kept == counted.links or not has_values(counted):
        return None
    if any((counted.table, key) not in wholes.integers for key in counted.keys):
        return None
    looser = replace(counted, links=kept)
    bound = wholes.bound(looser)
    return None if bound is not None and bound <= 1 else replace(asked, counts=(looser,))


def _find_largest_group(snapshot: Snapshot, counted: Counted, wholes: Wholes) -> list[int] | None:
    """The keys of a largest group and its number; None: there are no groups."""
    found = snapshot.aggregate(write_largest_group(counted, wholes))
    return [int(column[0].as_py()) for column in found.columns] if found.num_rows else None


def _keep_group(asked: Asked, values: Sequence[int]) -> Asked:
    counted = asked.counts[0]
    for key, value in enumerate(values):
        counted = keep_groups(counted, key, are_value(value))
    return replace(asked, counts=(counted,))


def _list_rows(wanted: Iterable[_Wanted], rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
    for place, shape in wanted:
        for row in rows:
            if shape is None:
                yield place, row
            elif row[0]:
                at, width = shape
                yield place, tuple(row[0] if number == at else 1 for number in range(width))


def _make_single(asked: Asked, wholes: Wholes) -> tuple[Asked, tuple[int, int]] | None:
    """One count that says all of several side by side; and which of them it is, of how many."""
    counts = [counted for counted in asked.counts if isinstance(counted, CountedRows)]
    if len(asked.counts) == 1 or len(counts) < len(asked.counts):
        return None
    larger = [place for place, counted in enumerate(counts) if (wholes.bound(counted) or 2) > 1]
    root = larger[0] if larger else 0
    if len(larger) > 1 or set(asked.classes[root]) != set(asked.classes[0]):
        return None
    home = dict(zip(asked.classes[root], counts[root].keys, strict=True))
    links = [*counts[root].links]
    for place, (counted, classes) in enumerate(zip(counts, asked.classes, strict=True)):
        if place != root:
            links.append(Link(counted, tuple(home[number] for number in classes)))
    links.sort(key=lambda link: (link.counted.table, link.counted.keys, link.columns))
    return Asked((replace(counts[root], links=tuple(links)),), ((),)), (root, len(counts))


def _find_bounds(asked: Asked, wholes: Wholes) -> Row | None:
    bounds = [wholes.bound(counted) for counted in asked.counts]
    known = tuple(bound for bound in bounds if bound is not None)
    return known if len(known) == len(bounds) else None


def _sample(asked: Asked, wanted: Iterable[Asked], wholes: Wholes) -> Asked | None:
    """The same of some groups, where the bounds are small and all groups are not made in any case."""
    first, *others = asked.counts
    bounds, key = _find_bounds(asked, wholes), wholes.find_integer_key(first)
    if bounds is None or key is None or not 1 < max(bounds) <= _SMALL:
        return None
    summed = [counted for other in wanted for counted in other.counts if counted.measure is not None]
    if any(replace(counted, measure=None) == first for counted in summed):
        return None
    some = wholes.find_some(first, key)
    counts = [keep_groups(first, key, some)]
    places = () if not others else _places(asked)
    for counted, at in zip(others, places, strict=True):
        counts.append(keep_groups(counted, at.index(key), some) if key in at else counted)
    return replace(asked, counts=tuple(counts))


def _places(asked: Asked) -> tuple[tuple[int, ...], ...]:
    vectors = split_asked(asked)
    return () if vectors is None else vectors.places
