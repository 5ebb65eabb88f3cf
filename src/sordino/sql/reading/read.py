"""Reading: from an analyst's text and the owner's policy to a `Statement`, or to a refusal that names the clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from sordino.core import SordinoError, UnsupportedError
from sordino.engines import Table
from sordino.sql.aggregates import Measure, RowCount
from sordino.sql.policy import Policy
from sordino.sql.question import GroupKey, JoinQuestion, Statement
from sordino.sql.reading.counted import is_counted, read_counted
from sordino.sql.reading.group_clause import find_grouped
from sordino.sql.reading.grouped_rows import read_grouped_rows
from sordino.sql.reading.groups import check_number, is_partition, read_group_key, read_public_keys
from sordino.sql.reading.names import Names, Scope, check_clauses
from sordino.sql.reading.ordering import read_cut, read_having, read_order
from sordino.sql.reading.outer_joins import settle_outer_joins
from sordino.sql.reading.released import ASK, ReleasedReader
from sordino.sql.reading.select_list import read_outputs
from sordino.sql.reading.syntax import parse_statement, silence_parser
from sordino.sql.text import Text, check_parts

_CLAUSES = ("expressions", "from_", "joins", "where", "group", "with_", "having",
            "order", "limit", "offset")  # fmt: skip


def read_statement(text: str, *, policy: Policy, catalogue: Mapping[str, Table], dialect: str) -> Statement:
    """Understand one SELECT in the engine's dialect.

    Raises `UnsupportedError` for what is refused and `ParameterError` for what is wrong, both with the place in
    the text. Nothing here reads rows: everything is decided by the text, the policy and the catalogue.
    """
    shown = Text(text, dialect)
    with silence_parser():
        try:
            tree = parse_statement(text, dialect)
            statement = _read(tree, shown, policy, catalogue)
            return replace(statement, canonical=tree.sql(dialect=dialect, comments=False))
        except SordinoError:
            raise
        except RecursionError:
            raise UnsupportedError.at(
                shown.here(), "the query is nested too deeply here: write it flatter"
            ) from None
        except Exception as error:  # a text that nobody foresaw; the cause tells our tests of the defect
            raise UnsupportedError.at(
                shown.here(), "the query is not understood here: write it simpler"
            ) from error


def _read(root: exp.Expr, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> Statement:
    while isinstance(root, exp.Subquery):
        check_parts(text, root, ("this",), "ask the SELECT without the brackets")
        root = root.this
    if isinstance(root, exp.SetOperation):
        word = type(root).__name__.upper()
        text.refuse(
            word,
            "count its rows, SELECT COUNT(*) FROM (... UNION ...), or ask each SELECT by itself",
            keyword=word,
            at=root,
        )
    if not isinstance(root, exp.Select):
        text.refuse(type(root).__name__.upper(), "questions only read: ask one SELECT", keyword=None)
    if is_counted(root, users=bool(policy.users)):
        return read_counted(root, text, policy, catalogue)
    check_clauses(text, root, _CLAUSES)
    names = Names(text, policy, catalogue, read_grouped_rows)
    scope = names.read_sources(root, {})
    settle_outer_joins(names.occurrences, names.conditions, names.outer)
    keys = _keys(root, scope, names, policy)
    measures: dict[Measure, int] = {}
    reader = ReleasedReader(names.expressions(scope), keys, measures)
    outputs = read_outputs(root.expressions, reader)
    having, order = read_having(root, reader), read_order(root, reader, outputs)
    if not measures:
        text.refuse("SELECT", f"no aggregate is asked; {ASK}", keyword="SELECT", at=root.expressions[0])
    limit, offset = read_cut(root, reader)
    if settle_outer_joins(names.occurrences, names.conditions, names.outer, tuple(measures)):
        keys = _keys(root, scope, names, policy)  # more columns must be equal now
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), RowCount(), tuple(names.outer))
    return Statement(
        text=text.text,
        join=join,
        measures=tuple(measures),
        keys=tuple(keys),
        outputs=outputs,
        having=having,
        order=order,
        limit=limit,
        offset=offset,
        partitions=is_partition(join.everyone, tuple(keys)),
    )


# --- GROUP BY


def _keys(select: exp.Select, scope: Scope, names: Names, policy: Policy) -> list[GroupKey]:
    clause = select.args.get("group")
    if clause is None:
        return []
    text = names.text
    check_parts(text, clause, ("expressions",), "GROUP BY takes columns")
    keys: list[GroupKey] = []
    for node in clause.expressions:
        column = find_grouped(node, select, scope, names)
        value = names.expressions(scope).value(column)
        key = read_group_key(
            text, column, column.name or "key", value,
            occurrences=names.everyone, conditions=names.conditions, policy=policy,
            outer={join.occurrence.alias for join in names.outer},
        )  # fmt: skip
        if any(other.column == key.column for other in keys):
            text.wrong(node, "the column is grouped by twice")
        keys.append(key)
    check_number(text, keys)
    return keys


__all__ = ["read_public_keys", "read_statement"]
