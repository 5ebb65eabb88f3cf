"""Small pieces of HTML for notebooks. Whatever text goes in is escaped: nothing else can make an `Html`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from numbers import Number
from typing import Any, NewType

Html = NewType("Html", str)

_MOST_ROWS = 100
_CELL = "padding:2px 10px;text-align:{side}"
_QUIET = "opacity:0.75"
_WARNING = "color:#b00020;font-weight:bold"


def render_text(value: Any) -> Html:
    """A value as text; nothing where it is None."""
    return Html("" if value is None else escape(str(value)))


def render_heading(value: Any) -> Html:
    """What the whole is about, in large letters."""
    return Html(f'<div style="font-size:1.5em">{render_text(value)}</div>')


def render_note(text: str, *, warning: bool = False) -> Html:
    """One line of small print, or of warning."""
    return Html(f'<div style="{_WARNING if warning else _QUIET}">{render_text(text)}</div>')


def render_table(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Html:
    """A table whose numbers stand to the right; of a long one the beginning, and how many rows are left out."""
    head = "".join(f'<th style="{_CELL.format(side="left")}">{render_text(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_render_cell, row))}</tr>" for row in rows[:_MOST_ROWS])
    left_out = len(rows) - _MOST_ROWS
    more = render_note(f"… and {left_out:,} more rows") if left_out > 0 else ""
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}")


def render_facts(facts: Iterable[tuple[str, Any]]) -> Html:
    """Names and values, one pair per line; pairs without a value are left out."""
    rows = "".join(
        f'<tr><th style="{_CELL.format(side="left")}">{render_text(name)}</th>'
        f'<td style="{_CELL.format(side="left")}">{render_text(value)}</td></tr>'
        for name, value in facts
        if value is not None
    )
    return Html(f"<table><tbody>{rows}</tbody></table>")


def render_bar(share: float, label: str) -> Html:
    """A bar that is filled to this share of its width, and what it shows."""
    filled = 100 * min(max(share, 0.0), 1.0)
    return Html(
        '<div style="width:20em;height:0.9em;border:1px solid #888;border-radius:3px;overflow:hidden">'
        f'<div style="width:{filled:.1f}%;height:100%;background:#4c78a8"></div></div>{render_text(label)}'
    )


def join_html(*parts: Html) -> str:
    """The pieces below one another."""
    return f"<div>{''.join(parts)}</div>"


def _render_cell(value: Any) -> str:
    is_number = isinstance(value, Number) and not isinstance(value, bool)
    return f'<td style="{_CELL.format(side="right" if is_number else "left")}">{render_text(value)}</td>'
