"""HAVING, ORDER BY, LIMIT and OFFSET: which released rows are shown, and in which order.

Post-processing: they see public keys and released numbers only, after the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.sql.question import Order, Output, Statement
from sordino.sql.reading.released import ReleasedReader
from sordino.sql.released import Released, ReleasedRow
from sordino.sql.text import check_parts

_TAKES = (
    "ORDER BY takes expressions over group keys and aggregates; it sorts the released rows, after the noise"
)
_MOST_ROWS = 2**31


def read_having(select: exp.Select, read: ReleasedReader) -> Released | None:
    """The condition that a released row has to meet."""
    clause = select.args.get("having")
    if clause is None:
        return None
    check_parts(read.text, clause, ("this",), "HAVING takes a condition over aggregates and group keys")
    return read.condition(clause.this)


def read_order(select: exp.Select, read: ReleasedReader, outputs: Sequence[Output]) -> tuple[Order, ...]:
    """The items of ORDER BY: places and names of the answer first, as SQL has it, then expressions."""
    clause = select.args.get("order")
    if clause is None:
        return ()
    check_parts(read.text, clause, ("expressions",), _TAKES)
    found = []
    for item in clause.expressions:
        if not isinstance(item, exp.Ordered):
            read.text.refuse(item, _TAKES, keyword="ORDER")
        check_parts(read.text, item, ("this", "desc", "nulls_first"), _TAKES)
        expression = _meant(item.this, read, outputs)
        found.append(Order(expression, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(found)


def _meant(node: exp.Expr, read: ReleasedReader, outputs: Sequence[Output]) -> Released:
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        if not 1 <= int(node.this) <= len(outputs):
            read.text.wrong(node, f"the SELECT has {len(outputs)} columns", keyword="ORDER")
        return outputs[int(node.this) - 1].expression
    return read.find_named(node) or read.read(node)


def read_cut(select: exp.Select, read: ReleasedReader) -> tuple[int | None, int]:
    """How many released rows are shown, None for all, and how many are left out before."""
    return _whole(select, read, "limit"), _whole(select, read, "offset") or 0


def _whole(select: exp.Select, read: ReleasedReader, name: str) -> int | None:
    clause, word = select.args.get(name), name.upper()
    if clause is None:
        return None
    takes = f"write {word} and a whole number: it cuts the released rows"
    if isinstance(clause, exp.Fetch):
        word, options = "FETCH", clause.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            read.text.refuse(clause, takes, keyword=word)
        said = clause.args.get("count")
    else:
        check_parts(read.text, clause, ("expression",), takes)
        said = clause.expression
    number = (
        int(said.this)
        if isinstance(said, exp.Literal) and not said.is_string and str(said.this).isdigit()
        else None
    )
    if number is None or number > _MOST_ROWS:
        read.text.refuse(clause, takes, keyword=word)
    return number


def arrange_rows(statement: Statement, rows: Sequence[ReleasedRow]) -> list[ReleasedRow]:
    """The rows that are shown, in their order.

    Only those for which HAVING is true. Text is sorted by code points, NULL stands where the engine puts it by default
    or the text says; rows that tie stay in the order of the policy.
    """
    having = statement.having
    found = [row for row in rows if having is None or having.evaluate(row).value is True]
    for order in reversed(statement.order):
        keyed: list[tuple[Any, ReleasedRow]] = [(order.expression.evaluate(row).value, row) for row in found]
        nothing = [row for value, row in keyed if value is None]
        something = [pair for pair in keyed if pair[0] is not None]
        something.sort(key=lambda pair: pair[0], reverse=order.descending)
        sorted_ = [row for _, row in something]
        found = nothing + sorted_ if order.nulls_first else sorted_ + nothing
    end = None if statement.limit is None else statement.offset + statement.limit
    return found[statement.offset : end]


def list_notes(statement: Statement) -> tuple[str, ...]:
    """What a reader of the answer should know of how it was cut."""
    if (statement.limit is None and not statement.offset) or statement.order or not statement.keys:
        return ()
    return ("LIMIT without ORDER BY cuts released rows in the policy's order of groups",)
