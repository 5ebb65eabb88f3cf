"""Reading a question about values: the same SELECT, with filters on protected columns as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sordino.core import SordinoError, UnsupportedError
from sordino.engines import Table
from sordino.sql.aggregates import Measure, RowCount
from sordino.sql.policy import Policy
from sordino.sql.question import GroupKey, JoinQuestion, Statement
from sordino.sql.reading.groups import check_number, is_partition, read_group_key
from sordino.sql.reading.names import Scope, check_clauses
from sordino.sql.reading.ordering import read_cut, read_having, read_order
from sordino.sql.reading.released import ReleasedReader
from sordino.sql.reading.select_list import read_outputs
from sordino.sql.reading.syntax import parse_statement, silence_parser
from sordino.sql.text import Text, check_parts
from sordino.sql.values.aggregates import make_aggregates
from sordino.sql.values.filters import Filters
from sordino.sql.values.scope import ValueNames, ValueScope

_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")
_ASK = "ask COUNT(*), SUM(x), AVG(x), MIN(x) or MAX(x)"


@dataclass(frozen=True, slots=True)
class ValueQuestion:
    """A statement whose measures are `ValueMeasure`, and what its bounds need.

    ``smoothed``: whether a filter is not exact.
    """

    statement: Statement
    filters: Filters
    smoothed: bool


def read_value_question(
    text: str, *, policy: Policy, catalogue: Mapping[str, Table], dialect: str, filters: Filters
) -> ValueQuestion:
    """Understand one SELECT; refusals have their place, and nothing here reads rows."""
    shown = Text(text, dialect)
    with silence_parser():
        try:
            tree = parse_statement(text, dialect)
            found = _read(tree, shown, policy, catalogue, filters)
            canonical = tree.sql(dialect=dialect, comments=False)
            return replace(found, statement=replace(found.statement, canonical=canonical))
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


def _read(
    root: exp.Expr, text: Text, policy: Policy, catalogue: Mapping[str, Table], filters: Filters
) -> ValueQuestion:
    if not isinstance(root, exp.Select):
        text.refuse(type(root).__name__.upper(), "questions only read: ask one SELECT", keyword=None)
    check_clauses(text, root, _CLAUSES)
    names = ValueNames(text, policy, catalogue)
    scope = names.read_sources(root, {})
    values = ValueScope.of(names, scope, policy, filters)
    if not values.norms:
        raise UnsupportedError(
            "the question reads public tables only: nothing in it is protected, ask the database"
        )
    keys = _read_keys(root, scope, names, policy)
    for key in keys:
        if key.spread:
            values.passes.append(values.translator.group_of(key))
    measures: dict[Measure, int] = {}
    reader = ReleasedReader(names.expressions(scope), keys, measures, make_aggregates(values))
    outputs = read_outputs(root.expressions, reader)
    having, order = read_having(root, reader), read_order(root, reader, outputs)
    if not measures:
        text.refuse("SELECT", f"no aggregate is asked; {_ASK}", keyword="SELECT", at=root.expressions[0])
    limit, offset = read_cut(root, reader)
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), RowCount())
    statement = Statement(
        text=text.text,
        join=join,
        measures=tuple(measures),
        keys=tuple(keys),
        outputs=outputs,
        having=having,
        order=order,
        limit=limit,
        offset=offset,
        partitions=is_partition(join.occurrences, tuple(keys)),
    )
    return ValueQuestion(statement, filters, values.translator.smoothed)


def _read_keys(select: exp.Select, scope: Scope, names: ValueNames, policy: Policy) -> list[GroupKey]:
    clause = select.args.get("group")
    if clause is None:
        return []
    text = names.text
    check_parts(text, clause, ("expressions",), "GROUP BY takes columns")
    keys: list[GroupKey] = []
    for node in clause.expressions:
        if not isinstance(node, exp.Column):
            text.refuse(node, "questions about values are grouped by public columns", keyword="GROUP")
        expressions = names.expressions(scope)
        value = expressions.value(node)
        spread = ""
        if names.is_protected(node, expressions):
            column = names.look(value)
            if column is None or column.kind != "is":
                text.refuse(
                    node,
                    "it is protected, and no category: ask one question per range, with WHERE",
                    keyword="GROUP",
                )
            spread = _name_groups(len(keys), names)
        key = read_group_key(
            text, node, node.name, value,
            occurrences=names.occurrences, conditions=names.conditions, policy=policy,
        )  # fmt: skip
        key = replace(key, spread=spread)
        if any(other.column == key.column for other in keys):
            text.wrong(node, "the column is grouped by twice")
        keys.append(key)
    check_number(text, keys)
    return keys


def _name_groups(place: int, names: ValueNames) -> str:
    """A table that is none of the question's."""
    name = f"groups_{place}"
    while any(occurrence.alias.casefold() == name for occurrence in names.occurrences):
        name += "_"
    return name
