"""Which numbers a statement measures, as a text: the same for every way to ask for them and to show them.

Names of tables in FROM, names of columns, HAVING, ORDER BY, LIMIT and arithmetic between aggregates are no part of it,
nor is the order of aggregates and of conditions. So what was paid for once is served again to whoever shows the same
numbers otherwise.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlglot import exp

from sordino.sql.aggregates import Measure
from sordino.sql.question import CountedOperation, CountedRows, Statement


def identify_numbers(statement: Statement) -> str:
    """The join, its conditions, the keys with their public values, and the measures."""
    occurrences = statement.join.everyone
    names = {occurrence.alias: f"t{place}" for place, occurrence in enumerate(occurrences)}
    content: dict[str, Any] = {
        "from": [
            [one.table, repr(one.lookups), "" if one.rows is None else one.rows.sql(comments=False)]
            for one in occurrences
        ],
        "left joins": [sorted(_write(part, names) for part in join.on) for join in statement.join.outer],
        "where": sorted(_write(condition, names) for condition in statement.join.conditions),
        "keys": [
            [_write(key.column, names), _digest([repr(value) for value in key.values])]
            for key in statement.keys
        ],
        "measures": sorted(identify_measure(measure, statement) for measure in statement.measures),
    }
    if statement.counted is not None:
        content["counted"] = _identify_rows(statement.counted)
    return json.dumps(content)


def identify_measure(measure: Measure, statement: Statement) -> str:
    """One measure, as what is summed or chosen in which steps."""
    names = {occurrence.alias: f"t{place}" for place, occurrence in enumerate(statement.join.everyone)}
    written = _write(measure.identity(), names)
    return f"{type(measure).__name__} of {written} from {measure.low} to {measure.high} by {measure.step}"


def _identify_rows(rows: CountedRows) -> list[Any]:
    """Rows without repeats: which operations over which SELECTs."""
    if isinstance(rows, CountedOperation):
        return [rows.operator, _identify_rows(rows.left), _identify_rows(rows.right)]
    names = {occurrence.alias: f"t{place}" for place, occurrence in enumerate(rows.occurrences)}
    return [
        [occurrence.table for occurrence in rows.occurrences],
        sorted(_write(condition, names) for condition in rows.conditions),
        [_write(value.expression, names) for value in rows.outputs],
    ]


def _write(node: exp.Expr, names: dict[str, str]) -> str:
    def renamed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table in names:
            return exp.column(part.name, table=names[part.table], quoted=True)
        return part

    return node.copy().transform(renamed).sql(comments=False)


def _digest(values: list[str]) -> str:
    """Of ten thousand public values, a short text."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
