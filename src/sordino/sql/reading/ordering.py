"""ORDER BY: the released rows in another order. Post-processing: it sees public keys and released numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.sql.question import GroupKey, Order, Output, Statement
from sordino.sql.reading.names import Names, Scope
from sordino.sql.text import check_parts

_TAKES = "ORDER BY takes group keys and columns of the answer; it sorts the released rows, after the noise"


def read_order(
    select: exp.Select, scope: Scope, names: Names, keys: Sequence[GroupKey], outputs: Sequence[Output]
) -> tuple[Order, ...]:
    """The items of ORDER BY: names of the answer first, as SQL has it, then keys, places and repeated expressions."""
    clause = select.args.get("order")
    if clause is None:
        return ()
    check_parts(names.text, clause, ("expressions",), _TAKES)
    found = []
    for item in clause.expressions:
        if not isinstance(item, exp.Ordered):
            names.text.refuse(item, _TAKES, keyword="ORDER")
        check_parts(names.text, item, ("this", "desc", "nulls_first"), _TAKES)
        key, output = _meant(item.this, select, scope, names, keys)
        if output is not None and outputs[output].key is not None:
            key, output = outputs[output].key, None
        found.append(Order(key, output, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(found)


def _meant(
    node: exp.Expr, select: exp.Select, scope: Scope, names: Names, keys: Sequence[GroupKey]
) -> tuple[int | None, int | None]:
    text, columns = names.text, select.expressions
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        if not 1 <= int(node.this) <= len(columns):
            text.wrong(node, f"the SELECT has {len(columns)} columns", keyword="ORDER")
        return None, int(node.this) - 1
    if isinstance(node, exp.Column) and not node.table:
        named = [i for i, column in enumerate(columns) if column.alias.casefold() == node.name.casefold()]
        if len(named) > 1:
            text.wrong(node, "two columns of the answer have this name")
        if named:
            return None, named[0]
    same = [i for i, column in enumerate(columns) if column.unalias() == node]
    if same:
        return None, same[0]
    if not isinstance(node, exp.Column):
        text.refuse(node, _TAKES, keyword="ORDER")
    value = names.expressions(scope).value(node)
    for place, key in enumerate(keys):
        if value.expression == key.column:
            return place, None
    text.refuse(node, _TAKES)


def sort_rows(
    statement: Statement, rows: Sequence[tuple[tuple[Any, ...], dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Rows of the answer, each with its group, sorted as was asked.

    Text goes by code points, NULL where the engine puts it by default or the text says; rows that tie stay in the order
    of the policy.
    """
    found = list(rows)
    for order in reversed(statement.order):

        def value(pair: tuple[tuple[Any, ...], dict[str, Any]], order: Order = order) -> Any:
            group, row = pair
            return (
                group[order.key] if order.key is not None else row[statement.outputs[order.output or 0].name]
            )

        nothing = [pair for pair in found if value(pair) is None]
        something = [pair for pair in found if value(pair) is not None]
        something.sort(key=value, reverse=order.descending)
        found = nothing + something if order.nulls_first else something + nothing
    return [row for _, row in found]
