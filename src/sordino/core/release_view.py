"""How a Release looks: as HTML, as columns, as a chart. Its publishable part only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from sordino.core.errors import ParameterError, missing_package
from sordino.core.loss import NOT_PRIVATE
from sordino.core.parameters import choice
from sordino.display.charts import Bars, draw_bars
from sordino.display.html import (
    Html,
    join_html,
    render_facts,
    render_heading,
    render_note,
    render_table,
)

if TYPE_CHECKING:
    from sordino.core.release import Release

_ERROR = "_error"
NOT_IN_ERROR = "is not in the error"  # how a note ends that names what the radius leaves out


def render_release(release: Release) -> str:
    """The value with what its errors mean, the mechanism and the guarantee."""
    parts: list[Html] = [] if release.private else [render_note(NOT_PRIVATE, warning=True)]
    value = _plain_value(release)
    if isinstance(value, list):
        if _is_table(value):
            columns = {name: _short(name, column) for name, column in list_columns(release).items()}
            parts.append(render_table(list(columns), list(zip(*columns.values(), strict=True))))
        else:
            parts.append(render_table(["", "value"], list(enumerate(value))))
    else:
        parts.append(render_heading(value))
    parts += [render_note(line) for line in (*list_meanings(release), *release.notes)]
    parts.append(render_facts([("mechanism", release.mechanism), ("guarantee", release.guarantee)]))
    return join_html(*parts)


def _short(name: str, column: list[Any]) -> list[Any]:
    """A column to be read: of a radius a few digits are enough."""
    if not name.endswith(_ERROR):
        return column
    return [float(f"{value:.6g}") if isinstance(value, float) else value for value in column]


def say_error(release: Release, radius: float, of: str = "") -> str:
    """What a radius of 95 % means, of the answer or of a column."""
    what = "value" if of else "answer"
    return f"95 % of draws{of and f' of {of}'} lie within ±{radius:g} of the exact {what}{say_cut(release)}"


def say_cut(release: Release) -> str:
    """What a sentence about the error ends with where a limit cut something off, as the notes then say."""
    return ", apart from what a limit cuts off" if any(map(_is_cut, release.notes)) else ""


def _is_cut(note: str) -> bool:
    return note.endswith(NOT_IN_ERROR)


def list_meanings(release: Release) -> list[str]:
    """One sentence per radius that is known."""
    value = _plain_value(release)
    if not _is_table(value):
        return [] if release.error is None else [say_error(release, release.error)]
    said = []
    for name in _measures(release):
        radius = (release.errors or {}).get(name)
        if name + _ERROR in value[0]:
            said.append(
                f"95 % of draws of {name} lie within ±{name}{_ERROR} of the exact value{say_cut(release)}, row by row"
            )
        elif radius is not None:
            said.append(say_error(release, radius, name))
    if not said and release.error is not None:
        said.append(f"{say_error(release, release.error)}, each number by itself")
    return said


def list_columns(release: Release) -> dict[str, list[Any]]:
    """The value as named columns: a row per group, per item of a list, or one row."""
    value = _plain_value(release)
    if _is_table(value):
        return {name: [row[name] for row in value] for name in value[0]}
    if isinstance(value, list):
        return {"value": value}
    columns = {"value": [value]}
    return columns if release.error is None else columns | {"error": [release.error]}


def plot_release(release: Release, column: str | None = None) -> Any:
    """A chart per column that holds noise, with whiskers where radii are known."""
    value = _plain_value(release)
    if _is_table(value):
        charts = _table_charts(release, value, column)
    elif column is not None:
        raise ParameterError(f"column is for tables, and this release is none; got {column!r}")
    else:
        numbers = value if isinstance(value, list) else [value]
        if not all(map(_is_number, numbers)):
            raise ParameterError(
                f"only numbers can be plotted, and {release.mechanism} released something else"
            )
        names = list(map(str, range(len(numbers)))) if isinstance(value, list) else [""]
        charts = [Bars(release.mechanism, names, numbers, [release.error] * len(numbers))]
    note = "; ".join(list_meanings(release))
    try:
        return draw_bars(charts, note=note, warning="" if release.private else NOT_PRIVATE)
    except ModuleNotFoundError as error:
        raise missing_package(error) from None


def _table_charts(release: Release, rows: Sequence[Mapping[str, Any]], column: str | None) -> list[Bars]:
    measures = _measures(release)
    shown = measures if column is None else [choice("column", column, tuple(measures))]
    names = [", ".join(str(row[name]) for name in row if not _is_measured(name, measures)) for row in rows]
    charts = []
    for name in shown:
        radius = (release.errors or {}).get(name, release.error if len(measures) == 1 else None)
        charts.append(
            Bars(name, names, [row[name] for row in rows], [row.get(name + _ERROR, radius) for row in rows])
        )
    return charts


def _measures(release: Release) -> list[str]:
    """The columns of a table that hold noise; without `Release.errors`, those of numbers except a leading key."""
    if release.errors is not None:
        return list(release.errors)
    rows = _plain_value(release)
    numbers = [name for name in rows[0] if all(row[name] is None or _is_number(row[name]) for row in rows)]
    if len(numbers) == len(rows[0]) > 1:
        numbers = numbers[1:]
    return [name for name in numbers if not (name.endswith(_ERROR) and name.removesuffix(_ERROR) in numbers)]


def _is_measured(name: str, measures: Sequence[str]) -> bool:
    return name in measures or (name.endswith(_ERROR) and name.removesuffix(_ERROR) in measures)


def _plain_value(release: Release) -> Any:
    value = release.to_dict()["value"]
    return list(value) if isinstance(value, tuple) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
