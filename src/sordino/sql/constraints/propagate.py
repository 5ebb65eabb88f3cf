"""ranges: what the columns of a query's answer can be, from what is known of the columns it reads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import did_you_mean, whole
from sordino.sensitivity.interval import Interval
from sordino.sql.constraint_files.constraint import Constraint, Item, Possible, ValueSet
from sordino.sql.constraint_files.file import (
    Constraints,
    parse_constraints,
    read_mapping_of_constraints,
    write_constraints,
)
from sordino.sql.constraints.cells import CellName, KnownCell, KnownCells
from sordino.sql.constraints.conditions import choose_cells, judge, narrow
from sordino.sql.constraints.evaluate import CellReader
from sordino.sql.constraints.query import OutputColumn, RangeQuery, read_range_query
from sordino.sql.constraints.totals import AGGREGATE_BOUNDS, bound_unknown_rows

MOST_JOINED = 100_000
MOST_BOXES = 4096
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ranges(Mapping[str, "Possible | None"]):
    """A range or a set for each column of the answer; None for what is always NULL.

    ``rows``: the same for each row of the answer that there may be, where tables were given, and whether it must be
    there; for GROUP BY one for each group.
    """

    columns: Mapping[str, Possible | None]
    rows: tuple[tuple[bool, Mapping[str, Possible | None]], ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> Possible | None:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_constraints(self, table: str = "answer") -> str:
        """A constraint file of the answer as a table; columns of which nothing is known are left out."""
        return write_constraints(
            {
                (table, name): found
                for name, possible in self.columns.items()
                if (found := _as_constraint(possible)) is not None
            }
        )


def ranges(
    sql: str,
    constraints: str | Mapping[str, str],
    *,
    tables: Mapping[str, Any] | None = None,
    subdivide: int = 1,
    rows: tuple[float, float] = (0, math.inf),
) -> Ranges:
    """What each column of the answer to ``sql`` can be, if every cell keeps to its constraint and none is NULL.

    ``constraints``: the text of a constraint file, or ``{"table.column": "range 0 10"}``. ``tables``: frames or lists
    of rows; their `exact` columns are public and taken as they are, of all others only the constraint is used.
    ``subdivide``: into how many pieces ranges are cut for narrower results. ``rows``: how many joined rows there are
    before WHERE, where no tables are given.

    **Guarantee**: every answer over exact numbers lies within; what is given may be wider, never narrower.
    **Source**: NAPLES report, §3.3.11, with its MIN and MAX, products and fixed values corrected.

    >>> import sordino as sd
    >>> found = sd.sql.ranges("SELECT x - x AS zero, x * y AS area FROM t", {"t.x": "range 1 3", "t.y": "range -2 1"})
    >>> found["zero"], found["area"]
    (Interval(low=0.0, high=0.0), Interval(low=-6.0, high=3.0))
    """
    whole("subdivide", subdivide, least=1)
    known = (
        parse_constraints(constraints)
        if isinstance(constraints, str)
        else read_mapping_of_constraints(constraints)
    )
    query = read_range_query(sql, {table for table, _ in known}, tuple(known))
    reader = CellReader(query.text, query.resolve, choose_cells)
    if tables is None:
        return _without_rows(query, reader, known, Interval(float(rows[0]), float(rows[1])), subdivide)
    frames = {name: rows_of_frame(name, frame) for name, frame in tables.items()}
    return _with_rows(query, reader, known, frames, subdivide)


# --- one joined row of which only the constraints are known


def _without_rows(
    query: RangeQuery, reader: CellReader, known: Constraints, counted: Interval, subdivide: int
) -> Ranges:
    cells = {
        (alias, column): KnownCell.of(constraint.possible)
        for alias, table in query.tables.items()
        for (owner, column), constraint in known.items()
        if owner.casefold() == table.casefold()
    }
    state = _filter(query, reader, cells, subdivide)
    if state is None:
        return Ranges({output.name: _nothing(output) for output in query.outputs})
    verdict, boxes = state
    found: dict[str, Possible | None] = {}
    for output in query.outputs:
        if output.aggregate is None:
            found[output.name] = _join([reader.possible(output.argument, box) for box in boxes])
            continue
        one = (
            None
            if output.argument is None
            else _hull([reader.number(output.argument, box).interval for box in boxes])
        )
        # how many of the rows are in one group is not known
        sure = verdict == "always" and not query.keys
        found[output.name] = bound_unknown_rows(output.aggregate, one, counted, sure=sure)
    return Ranges(found)


# --- rows


def _with_rows(
    query: RangeQuery, reader: CellReader, known: Constraints, frames: Mapping[str, Rows], subdivide: int
) -> Ranges:
    joined = []
    for cells in _join_rows(query, known, frames):
        state = _filter(query, reader, cells, subdivide)
        if state is not None:
            joined.append(state)
    if not any(output.aggregate for output in query.outputs):
        rows = tuple(
            (
                verdict == "always",
                {
                    output.name: _join([reader.possible(output.argument, box) for box in boxes])
                    for output in query.outputs
                },
            )
            for verdict, boxes in joined
        )
        return Ranges(_over_rows(query, rows), rows)
    groups = tuple(_group(query, reader, key, joined) for key in _keys(query, reader, joined))
    return Ranges(_over_rows(query, groups), groups)


def _keys(
    query: RangeQuery, reader: CellReader, joined: list[tuple[str, list[KnownCells]]]
) -> list[tuple[Item, ...]]:
    """All values that the keys of a group can have."""
    found: set[tuple[Item, ...]] = set()
    for _, boxes in joined:
        for box in boxes:
            options = []
            for key in query.keys:
                cell = box[reader.resolve(key)]
                if cell.values is None:
                    query.text.wrong(key, "GROUP BY needs a column of listed or exact values")
                options.append(cell.values)
            found |= set(itertools.product(*options))
    return sorted(found, key=str) if query.keys else [()]


def _group(
    query: RangeQuery, reader: CellReader, key: tuple[Item, ...], joined: list[tuple[str, list[KnownCells]]]
) -> tuple[bool, dict[str, Possible | None]]:
    """One group: a row whose key may be another one is only maybe in it."""
    sure: list[list[KnownCells]] = []
    maybe: list[list[KnownCells]] = []
    names = [reader.resolve(column) for column in query.keys]
    for verdict, boxes in joined:
        inside: list[KnownCells] = []
        elsewhere = False
        for box in boxes:
            kept: dict[CellName, KnownCell] | None = dict(box)
            for name, value in zip(names, key, strict=True):
                cell = box[name].among(frozenset((value,)))
                elsewhere = elsewhere or cell is None or len(box[name].values or ()) > 1
                kept = None if kept is None or cell is None else kept | {name: cell}
            if kept is not None:
                inside.append(kept)
        if inside:
            (sure if verdict == "always" and not elsewhere else maybe).append(inside)
    found: dict[str, Possible | None] = {}
    for output in query.outputs:
        if output.aggregate is None:
            found[output.name] = ValueSet(frozenset((key[names.index(reader.resolve(output.argument))],)))
            continue
        parts = [[_row_range(reader, output, boxes) for boxes in part] for part in (sure, maybe)]
        found[output.name] = AGGREGATE_BOUNDS[output.aggregate](*parts)
    return bool(sure) or not query.keys, found


def _row_range(reader: CellReader, output: OutputColumn, boxes: list[KnownCells]) -> Interval:
    if output.argument is None:
        return Interval(1.0, 1.0)
    return _hull([reader.number(output.argument, box).interval for box in boxes])


def _join_rows(query: RangeQuery, known: Constraints, frames: Mapping[str, Rows]) -> Iterator[KnownCells]:
    """All combinations of rows, each a set of known cells."""
    named = {name.casefold(): content for name, content in frames.items()}
    parts: list[list[dict[CellName, KnownCell]]] = []
    size = 1
    for alias, table in query.tables.items():
        if table.casefold() not in named:
            raise ParameterError(
                f"tables has no {table!r}: {did_you_mean(table, frames, otherwise=_names(frames))}"
            )
        content = named[table.casefold()]
        own = {
            column: constraint
            for (owner, column), constraint in known.items()
            if owner.casefold() == table.casefold()
        }
        parts.append([_row_cells(alias, table, row, own) for row in content])
        size *= len(content)
    if size > MOST_JOINED:
        raise ParameterError(f"{size} joined rows are too many: {MOST_JOINED} are looked at")
    for combination in itertools.product(*parts):
        yield {name: cell for part in combination for name, cell in part.items()}


def _row_cells(
    alias: str, table: str, row: Mapping[str, Any], known: Mapping[str, Constraint]
) -> dict[CellName, KnownCell]:
    cells = {}
    for column, constraint in known.items():
        value = row.get(column)
        if column not in row:
            raise ParameterError(
                f"table {table!r} has no column {column!r}: {did_you_mean(column, row, otherwise=_names(row))}"
            )
        item = read_item(value)
        if item is None:
            raise PrivateDataError(f"table {table!r} has NULL in column {column!r}")
        possible = KnownCell.of(constraint.possible)
        if constraint.kind == "exact":
            possible = KnownCell.at(item)
        elif possible.among(frozenset((item,))) is None:
            raise PrivateDataError(f"table {table!r} breaks the constraint of column {column!r}")
        cells[alias, column] = possible
    return cells


# --- filters and boxes


def _filter(
    query: RangeQuery, reader: CellReader, cells: KnownCells, subdivide: int
) -> tuple[str, list[KnownCells]] | None:
    """Whether a joined row passes, and the boxes in which it may; None if it never does."""
    boxes = list(_subdivide(query, reader, cells, subdivide))
    kept, verdicts = [], set()
    for box in boxes:
        verdict = "always" if query.condition is None else judge(reader, query.condition, box)
        narrowed = box if query.condition is None else narrow(reader, query.condition, box)
        verdicts.add("never" if narrowed is None else verdict)
        if narrowed is not None and verdict != "never":
            kept.append(narrowed)
    if not kept:
        return None
    return ("always" if verdicts == {"always"} else "maybe"), kept


def _subdivide(query: RangeQuery, reader: CellReader, cells: KnownCells, pieces: int) -> Iterator[KnownCells]:
    """Ranges that the query reads, cut into pieces; the widest first, as long as there are not too many."""
    used = [name for name in query.read_names() if name in cells]
    wide = [
        name
        for name in used
        if cells[name].values is None
        and (inside := cells[name].interval) is not None
        and 0 < inside.width < math.inf
    ]
    wide.sort(key=lambda name: -_width(cells[name]))
    most = 0 if pieces == 1 else int(math.log(MOST_BOXES) / math.log(pieces) + 1e-9)
    chosen = wide[:most]
    for parts in itertools.product(*(_pieces(cells[name], pieces) for name in chosen)):
        yield {**cells, **{name: KnownCell(part) for name, part in zip(chosen, parts, strict=True)}}


def _pieces(cell: KnownCell, pieces: int) -> list[Interval]:
    inside = cell.interval or Interval(0.0, 0.0)
    low, high = Fraction(inside.low), Fraction(inside.high)
    cuts = [float(low + (high - low) * i / pieces) for i in range(pieces + 1)]
    return [Interval(one, two) for one, two in itertools.pairwise(cuts)]


def _width(cell: KnownCell) -> float:
    return cell.interval.width if cell.interval is not None else 0.0


# --- results


def _over_rows(
    query: RangeQuery, rows: Sequence[tuple[bool, Mapping[str, Possible | None]]]
) -> dict[str, Possible | None]:
    found: dict[str, Possible | None] = {}
    for output in query.outputs:
        parts = [part for _, row in rows if (part := row[output.name]) is not None]
        found[output.name] = _join(parts) if parts else _nothing(output)
    return found


def _nothing(output: OutputColumn) -> Possible | None:
    return Interval(0.0, 0.0) if output.aggregate == "COUNT" else None


def _join(parts: Sequence[Possible]) -> Possible:
    if all(isinstance(part, ValueSet) for part in parts):
        listed = [part.values for part in parts if isinstance(part, ValueSet)]
        if any(values is None for values in listed):
            return ValueSet(None)
        return ValueSet(frozenset(value for values in listed for value in values or ()))
    hulls = [part if isinstance(part, Interval) else part.hull() for part in parts]
    if any(hull is None for hull in hulls):
        return ValueSet(None)
    return _hull([hull for hull in hulls if hull is not None])


def _hull(parts: Sequence[Interval]) -> Interval:
    total = parts[0]
    for part in parts[1:]:
        total = total.hull(part)
    return total


def _as_constraint(possible: Possible | None) -> Constraint | None:
    if isinstance(possible, Interval):
        finite = math.isfinite(possible.low) and math.isfinite(possible.high)
        return Constraint("range", (possible.low, possible.high)) if finite else None
    if possible is None or not possible.values:
        return None
    return Constraint("set", tuple(sorted(possible.values, key=str)))


def rows_of_frame(name: str, frame: Any) -> Rows:
    """Rows as mappings, from a frame or a list of them."""
    if isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        return frame
    for method in ("to_pylist", "to_dicts"):
        if hasattr(frame, method):
            found: Rows = getattr(frame, method)()
            return found
    if hasattr(frame, "to_dict"):
        records: Rows = frame.to_dict("records")
        return records
    raise ParameterError(f"table {name!r} must be a frame or a list of rows, got {type(frame).__name__}")


def read_item(value: Any) -> Item | None:
    """A number, a text, or None for what is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return float(value)


def _names(known: Mapping[str, Any]) -> str:
    return f"there are {', '.join(list(known)[:12]) or 'none'}"
