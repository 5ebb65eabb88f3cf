"""Entries: log entries of several owners in the order of the rule, by time and then by position in the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import choice
from sordino.logs.log_file import find_line, read_log
from sordino.logs.time_keys import order_keys, parse_times

Log = Any
"""A data frame of any kind, an Arrow table, or the path of a CSV or Parquet file."""

NORMALISATIONS: dict[str, Callable[[Any], Any]] = {"lower": pc.utf8_lower, "strip": pc.utf8_trim_whitespace}
_RESERVED = ("place", "time", "owner", "chain", "position")


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries in order. ``table`` has the columns time, owner and the values as text; rows are places 1, 2, …

    ``owner_of`` is by place in ``owners``, ``keys`` sort as the times do, ``rows`` are the positions in the input.
    """

    owners: tuple[str, ...]
    values: tuple[str, ...]
    table: pa.Table
    owner_of: NDArray[np.int64]
    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    normalise: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<{len(self)} entries of {len(self.owners)} owners>"

    def compared(self, column: str) -> pa.ChunkedArray:
        """A value column as it is compared."""
        texts = self.table.column(column)
        for name in self.normalise:
            texts = NORMALISATIONS[name](texts)
        return texts

    def of(self, owner: str) -> Entries:
        """The entries of one owner alone."""
        return self.take(np.flatnonzero(self.owner_of == self.owners.index(owner)), (owner,))

    def take(self, places: NDArray[np.int64], owners: tuple[str, ...] | None = None) -> Entries:
        """Some of the entries, in the same order."""
        kept = self.owners if owners is None else owners
        renumbered = np.array([kept.index(name) if name in kept else -1 for name in self.owners])
        return Entries(
            kept,
            self.values,
            self.table.take(pa.array(places)),
            renumbered[self.owner_of[places]],
            self.keys[places],
            self.rows[places],
            self.normalise,
        )


def make_entries(
    logs: Log | Mapping[str, Log],
    *,
    values: Sequence[str],
    owners: Sequence[str] | None = None,
    time: str = "time",
    owner: str = "owner",
    normalise: Sequence[str] = (),
    require_sorted: bool = False,
) -> Entries:
    """Read logs: one with a column that names the owner of each entry, or a mapping from owner to log.

    ``owners``: who takes part, all that occur unless given; an entry of anybody else is an error.
    ``require_sorted`` refuses a log whose times go backwards.
    """
    names = _check_names(values, normalise)
    if isinstance(logs, Entries):
        raise ParameterError("logs must be data frames, Arrow tables or paths, got Entries")
    if isinstance(logs, Mapping):
        if not logs:
            raise ParameterError("give at least one log")
        if len(set(map(str, logs))) < len(logs):
            raise ParameterError("every owner must be named once, as text")
        parts = [_read(log, str(name), names, time, None, require_sorted) for name, log in logs.items()]
    else:
        parts = [_read(logs, "the log", names, time, owner, require_sorted)]
    table = _concatenate(parts)
    found = tuple(dict.fromkeys(table.column("owner").unique().to_pylist()))
    chosen = tuple(map(str, logs)) if isinstance(logs, Mapping) else found
    if owners is not None:
        chosen = _check_owners(owners, chosen)
    keys = order_keys(table.column("time"))
    order = np.argsort(keys, kind="stable")
    table = table.take(pa.array(order))
    owner_of = np.asarray(pc.index_in(table.column("owner"), pa.array(chosen, pa.string())).to_numpy())
    return Entries(chosen, names, table, owner_of.astype(np.int64), keys[order], order, tuple(normalise))


def _check_names(values: Sequence[str], normalise: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not values:
        raise ParameterError(
            f"values must be the names of the columns to match, such as ['ip'], got {values!r}"
        )
    if len(set(values)) < len(values):
        raise ParameterError(f"values names a column twice: {', '.join(values)}")
    for name in values:
        if name in _RESERVED:
            raise ParameterError(
                f"a value column may not be called {name!r}: results have a column of that name"
            )
    for name in normalise:
        choice("normalise", name, tuple(NORMALISATIONS))
    return tuple(values)


def _check_owners(owners: Sequence[str], found: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(owners, str) or len(set(owners)) < len(owners):
        raise ParameterError(f"owners must be distinct names, such as ['a', 'b'], got {owners!r}")
    if strangers := [name for name in found if name not in owners]:
        raise ParameterError(f"owners leaves out {len(strangers)} owners that have entries in the logs")
    return tuple(owners)


def _read(
    log: Log, name: str, values: tuple[str, ...], time: str, owner: str | None, require_sorted: bool
) -> pa.Table:
    path = log if isinstance(log, str | Path) else None
    table = read_log(path) if path is not None else _to_arrow(log, name)
    source = str(path) if path is not None else name

    def line_of(row: int) -> str:
        return find_line(path, row) if path is not None else f"row {row + 1} of {source}"

    for column in (time, *values, *(() if owner is None else (owner,))):
        if table.column_names.count(column) != 1:
            raise ParameterError(f"{source} must have one column {column!r}; {_describe(table.column_names)}")
    times = parse_times(table.column(time), time, line_of)
    if require_sorted and len(backwards := np.flatnonzero(np.diff(order_keys(times)) < 0)):
        raise PrivateDataError(f"{line_of(int(backwards[0]) + 1)}: the time {time!r} is before that above it")
    if owner is None:
        who = pa.chunked_array([pa.array([name], pa.string()).take(pa.array(np.zeros(len(times), np.int64)))])
    else:
        who = _as_text(table.column(owner), owner)
        if who.null_count:
            missing = int(np.flatnonzero(pc.is_null(who).to_numpy())[0])
            raise PrivateDataError(f"{line_of(missing)}: the owner {owner!r} is missing")
    texts = {column: _as_text(table.column(column), column) for column in values}
    return pa.table({"time": times, "owner": who, **texts})


def _describe(header: list[str]) -> str:
    """The columns there are, unless the first line is a record, which no message may show."""
    if any(name.replace(".", "", 1).isdigit() for name in header):
        return "its first line must name the columns; it looks like a record"
    return f"it has {', '.join(header)}"


def _to_arrow(log: Log, name: str) -> pa.Table:
    if isinstance(log, pa.Table):
        return log
    if isinstance(log, pa.RecordBatch):
        return pa.Table.from_batches([log])
    import narwhals as nw

    try:
        frame = nw.from_native(log)
    except TypeError:
        raise ParameterError(
            f"{name} must be a data frame, an Arrow table or the path of a file, got {type(log).__name__}"
        ) from None
    return frame.lazy().collect().to_arrow()


def _as_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind):
        raise ParameterError(f"column {name!r} must hold plain values, its type is {kind}")
    if pa.types.is_floating(kind):
        numbers = column.to_numpy()
        column = pc.if_else(pc.is_nan(column), None, column)
        if (whole := numbers[np.isfinite(numbers)]).size and (whole == np.round(whole)).all():
            with suppress(pa.ArrowInvalid):  # beyond 64 bits
                column = column.cast(pa.int64())  # 5.0 is what a frame with gaps makes of 5
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ParameterError(
            f"column {name!r} must hold values that can be written as text, its type is {kind}"
        ) from None


def _concatenate(parts: list[pa.Table]) -> pa.Table:
    kinds = {part.column("time").type for part in parts if part.num_rows}
    if {pa.types.is_timestamp(kind) for kind in kinds} == {True, False} or (
        len(kinds) > 1 and any(pa.types.is_timestamp(kind) for kind in kinds)
    ):
        raise ParameterError(
            f"the times of the logs are of different kinds: {', '.join(sorted(map(str, kinds)))}"
        )
    kind = next(iter(kinds)) if len(kinds) == 1 else pa.float64() if kinds else pa.int64()
    try:
        return _stack(parts, kind)
    except pa.ArrowInvalid:  # its text quotes the value
        raise PrivateDataError(
            "the times of one log are whole numbers beyond 2**53 and those of another floats, which cannot tell them "
            "apart: write all as whole numbers"
        ) from None


def _stack(parts: list[pa.Table], kind: pa.DataType) -> pa.Table:
    return pa.concat_tables(
        [
            part.set_column(
                0, "time", part.column("time").cast(kind) if part.num_rows else pa.array([], kind)
            )
            for part in parts
        ]
    )
