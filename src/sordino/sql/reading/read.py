"""Reading: from an analyst's text and the owner's policy to a `Statement`, or to a refusal that names the clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from sordino.core import SordinoError, UnsupportedError
from sordino.engines import Table
from sordino.sql.aggregates import RowCount
from sordino.sql.policy import Policy
from sordino.sql.question import GroupKey, JoinQuestion, Statement
from sordino.sql.reading.groups import check_number, is_partition, read_group_key, read_public_keys
from sordino.sql.reading.names import Names, Scope, check_clauses
from sordino.sql.reading.ordering import read_order
from sordino.sql.reading.select_list import read_outputs
from sordino.sql.reading.syntax import parse_statement, silence_parser
from sordino.sql.text import Text, check_parts

_CLAUSES = ("expressions", "from_", "joins", "where", "group", "with_", "order")


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
        text.refuse(word, "ask each SELECT by itself and combine the released numbers", keyword=word, at=root)
    if not isinstance(root, exp.Select):
        text.refuse(type(root).__name__.upper(), "questions only read: ask one SELECT", keyword=None)
    check_clauses(text, root, _CLAUSES)
    names = Names(text, policy, catalogue)
    scope = names.read_sources(root, {})
    keys = _keys(root, scope, names, policy)
    outputs, measures = read_outputs(root.expressions, names.expressions(scope), keys)
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), RowCount())
    return Statement(
        text=text.text,
        join=join,
        measures=measures,
        keys=tuple(keys),
        outputs=outputs,
        order=read_order(root, scope, names, keys, outputs),
        partitions=is_partition(join.occurrences, join.conditions, tuple(keys)),
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
        column = _grouped(node, select, scope, names)
        value = names.expressions(scope).value(column)
        key = read_group_key(
            text, column, column.name or "key", value,
            occurrences=names.occurrences, conditions=names.conditions, policy=policy,
        )  # fmt: skip
        if any(other.column == key.column for other in keys):
            text.wrong(node, "the column is grouped by twice")
        keys.append(key)
    check_number(text, keys)
    return keys


def _grouped(node: exp.Expr, select: exp.Select, scope: Scope, names: Names) -> exp.Expr:
    """A column, or the place or the name of one in the SELECT list; a column of FROM goes before a name there."""
    text = names.text
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Column) and not node.table and not names.knows(node, scope):
        named = [column for column in select.expressions if column.alias.casefold() == node.name.casefold()]
        if len(named) > 1:
            text.wrong(node, "two columns of the answer have this name")
        node = named[0].unalias() if named else node
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this)
        if not 1 <= place <= len(select.expressions):
            text.wrong(
                f"GROUP BY {place}", f"the SELECT has {len(select.expressions)} columns", keyword="GROUP"
            )
        node = select.expressions[place - 1].unalias()
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column):
        text.refuse(
            node, "groups are columns with a declared domain, or columns of a public table", keyword="GROUP"
        )
    return node


__all__ = ["read_public_keys", "read_statement"]
