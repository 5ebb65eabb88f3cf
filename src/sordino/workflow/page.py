"""The page of a process: one HTML file with the drawing and all tables, each cell explained."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from sordino.workflow.drawing import Box, boxes_about, boxes_between, draw_process, list_boxes
from sordino.workflow.flow_table import FlowTable
from sordino.workflow.process import Process

_TITLES = {
    "disclosure": "Who sees what",
    "split": "Who sees what, object by object",
    "dependencies": "Whose inputs reach whom",
    "leaks": "When something leaks",
    "columns": "When something leaks, by columns",
}


def write_process_page(process: Process, *, name: str = "process") -> str:
    """A self-contained page; nothing is fetched, and every text of the process is escaped."""
    tables = {
        "disclosure": process.disclosure(),
        "dependencies": process.dependencies(),
        "leaks": process.leaks(),
        "split": process.disclosure(split=True),
    }
    if any(task.flow is not None for task in process.tasks):
        tables["columns"] = process.leaks(columns=True)
    boxes = list_boxes(process)
    warnings = "".join(f"<li>{escape(text)}</li>" for text in process.warnings)
    page = files("sordino.workflow").joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "__TITLE__": escape(process.title or name),
        "__DRAWING__": draw_process(process, boxes),
        "__WARNINGS__": f'<section><h2>Warnings</h2><ul class="warnings">{warnings}</ul></section>'
        if warnings
        else "",
        "__TABLES__": "".join(_section(process, boxes, key, table) for key, table in tables.items()),
    }
    # in one pass, so that a text that looks like a mark stays a text
    pieces = []
    for piece in page.split("@@"):
        pieces.append(parts.get(piece, piece))
    return "".join(pieces)


def _section(process: Process, boxes: list[Box], key: str, table: FlowTable) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    body = []
    for number, (row, cells) in enumerate(table.rows.items()):
        shown = []
        for place, (column, cell) in enumerate(zip(table.columns, cells, strict=True)):
            label = f"{row}, {column}: {cell}. {cell.why}"
            first = ' tabindex="0"' if number == 0 and place == 0 else ' tabindex="-1"'
            lit = " ".join(_highlighted(process, boxes, key, row, column))
            shown.append(
                f'<td{first} class="{_class_of(cell.text)}" data-why="{escape(cell.why)}" data-boxes="{lit}" '
                f'aria-label="{escape(label)}">{escape(str(cell))}</td>'
            )
        body.append(f'<tr><th scope="row">{escape(row)}</th>{"".join(shown)}</tr>')
    return (
        f'<section id="{key}"><h2>{_TITLES[key]}</h2><p class="legend">{escape(table.legend)}</p>'
        f'<div class="scroll"><table role="grid" aria-label="{_TITLES[key]}"><thead><tr>'
        f'<th scope="col">{escape(table.corner)}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div></section>"
    )


def _highlighted(process: Process, boxes: list[Box], key: str, row: str, column: str) -> list[str]:
    """What the drawing lights up with a cell."""
    if key in ("disclosure", "split"):
        names = next((names for names in process.rows if ", ".join(names) == row), (row,))
        return boxes_about(process, boxes, names, column if column in process.parties else None)
    if key == "dependencies":
        seen = [name for name in process.objects if process.cell(row, name) != "-"]
        lit = [box for name in seen for box in boxes_between(process, boxes, column, name)]
        return list(dict.fromkeys(lit))
    target, source = _object_of(process, row), _object_of(process, column)
    return boxes_between(process, boxes, source, target) if target and source else []


def _object_of(process: Process, name: str) -> str | None:
    if name in process.objects:
        return name
    return next((one for one in process.objects if name.startswith(f"{one}.")), None)


def _class_of(text: str) -> str:
    strong, middle, weak = ("V", "O", "D", "always", "MF"), ("I", "if"), ("H", "S")
    return "strong" if text in strong else "middle" if text in middle else "weak" if text in weak else "none"
