"""TimedRow: a row that is there from one time to another, and what joined rows are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import non_negative, number, whole

FOREVER = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class TimedRow:
    """``value`` counts from time ``added`` until before time ``removed``.

    ``provenances``: whose contents the value depends on, one name or several; all of them pay for a block that the
    row is in. A row of several names that was not made by `join_rows` counts as one that shares its contents with all
    other rows of these names. ``sensitivity``: how far the value moves when the contents of one of them move by 1;
    public, or with ``smooth`` a β-smooth bound on the derivative at this row. Times, names and which rows are joined
    are public; values, and smooth bounds, are not. A changed row is two rows of one provenance: one removed, one added,
    at the same time.

    Rows are told apart as objects, never by what they contain: which rows move together decides how wide the noise is,
    and that must not follow values. So a row that is joined with several others is one object in all of these joins.
    """

    provenances: frozenset[Hashable]
    added: int
    value: float
    sensitivity: float = 1.0
    removed: float = FOREVER
    smooth: bool = False
    components: frozenset[TimedRow] = frozenset()

    @property
    def sources(self) -> frozenset[TimedRow]:
        """The rows that it is joined of, or itself."""
        return self.components or frozenset([self])

    @classmethod
    def of(
        cls,
        provenance: Hashable | Iterable[Hashable],
        added: int,
        value: Any,
        *,
        sensitivity: Any = 1.0,
        removed: float | None = None,
        smooth: bool = False,
    ) -> TimedRow:
        """A checked row: ``provenance`` may be several names, as a set, a list or a tuple."""
        names = provenance if isinstance(provenance, set | frozenset | list | tuple) else [provenance]
        found = frozenset(names)
        if not found or None in found or "" in found:
            raise ParameterError("every private row needs a provenance: whose budget pays for it")
        start = whole("added", added, least=1)
        end = FOREVER if removed is None or removed == FOREVER else float(whole("removed", removed, least=1))
        if end <= start:
            raise ParameterError(f"removed must be after added, got added {added!r} and removed {removed!r}")
        try:
            size = number("value", value)
        except ParameterError:
            raise PrivateDataError("the value of every row must be a finite number") from None
        return cls(found, start, size, non_negative("sensitivity", sensitivity), end, smooth)


def join_rows(
    components: Sequence[TimedRow], value: Any, *, sensitivity: Any, public: Sequence[tuple[int, float]] = ()
) -> TimedRow | None:
    """The joined row of several: there from the latest addition to the earliest removal, None if that is never.

    ``public``: (added, removed) of the public rows that it is joined with; they pay nothing, and one that comes later
    charges the private rows that it joins.

    >>> import sordino as sd
    >>> a, b = sd.series.TimedRow.of("a", 1, 5), sd.series.TimedRow.of("b", 2, 3, removed=4)
    >>> joined = sd.series.join_rows([a, b], 15, sensitivity=2)
    >>> joined.added, joined.removed, sorted(joined.provenances)
    (2, 4.0, ['a', 'b'])
    """
    if not components:
        raise ParameterError("a joined row needs at least one private component")
    added = max([row.added for row in components] + [start for start, _ in public])
    removed = min([row.removed for row in components] + [float(end) for _, end in public])
    if removed <= added:
        return None
    names = frozenset().union(*(row.provenances for row in components))
    joined = TimedRow.of(
        names,
        added,
        value,
        sensitivity=sensitivity,
        removed=None if removed == FOREVER else int(removed),
        smooth=any(row.smooth for row in components),
    )
    return replace(joined, components=frozenset().union(*(row.sources for row in components)))


def join_by_user(
    rows: Iterable[tuple[Hashable, int, Any]],
    others: Sequence[Iterable[tuple[Hashable, int, Any]]],
    question: Callable[..., tuple[float, float]],
) -> list[TimedRow]:
    """Rows of a growing table joined with private tables by the id of their user: (user, added, contents) each.

    ``question(contents, [contents of the others], …)`` gives value and sensitivity of one user: the sum over the
    joined rows. **Requires**, and checked: a user enters the growing table once, and all rows of a user in the other
    tables are there by then and stay; else a later change would be in a block that was paid for without it.
    """
    by_table: list[dict[Hashable, list[tuple[int, Any]]]] = []
    for table in others:
        by_user: dict[Hashable, list[tuple[int, Any]]] = {}
        for user, added, contents in table:
            by_user.setdefault(user, []).append((added, contents))
        by_table.append(by_user)
    seen: set[Hashable] = set()
    found = []
    for user, added, contents in rows:
        if user in seen:
            raise PrivateDataError(
                "a user enters the growing table twice: combine the rows, or exclude the later one"
            )
        seen.add(user)
        theirs = [by_user.get(user, []) for by_user in by_table]
        if any(start > added for rows_of in theirs for start, _ in rows_of):
            raise PrivateDataError(
                "rows of a user were added to another table after the user entered the growing one"
            )
        value, sensitivity = question(contents, *[[row for _, row in rows_of] for rows_of in theirs])
        found.append(TimedRow.of(user, added, value, sensitivity=sensitivity))
    return found
