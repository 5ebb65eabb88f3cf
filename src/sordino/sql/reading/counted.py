"""COUNT(*) over rows without repeats: SELECT DISTINCT, GROUP BY and set operations in FROM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from sqlglot import exp

from sordino.engines import Table
from sordino.sql.aggregates import Measure, RowCount
from sordino.sql.aggregates.distinct import COUNTED_KINDS
from sordino.sql.expressions.value import Value
from sordino.sql.policy import Policy
from sordino.sql.question import (
    CountedOperation,
    CountedRows,
    CountedSelect,
    JoinQuestion,
    Occurrence,
    Operator,
    Statement,
)
from sordino.sql.reading.names import INSTEAD_INSIDE, Names, Scope, check_clauses
from sordino.sql.reading.outer_joins import settle_outer_joins
from sordino.sql.reading.released import ReleasedReader
from sordino.sql.reading.select_list import read_outputs
from sordino.sql.text import Text, check_parts

_OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}
_ONLY_COUNT = "of rows without repeats COUNT(*) is answered, and what is calculated from it"
MOST_SELECTS = 6


def is_counted(root: exp.Select, *, users: bool) -> bool:
    """Whether the only thing in FROM is a sub-select that drops repeats; of groups, if only their number is asked.

    ``users``: numbers of the groups of a user are asked in another way (`sordino.sql.reading.grouped_rows`).
    """
    origin = root.args.get("from_")
    source = None if origin is None else origin.this
    if not isinstance(source, exp.Subquery) or root.args.get("joins") or root.args.get("with_"):
        return False
    inner = source.unnest()
    if isinstance(inner, exp.Select) and inner.args.get("group"):
        return not users and [_is_count(node) for node in root.expressions] == [True]
    return isinstance(inner, exp.SetOperation) or (
        isinstance(inner, exp.Select) and bool(inner.args.get("distinct"))
    )


def _is_count(node: exp.Expr) -> bool:
    inner = node.unalias()
    return isinstance(inner, exp.Count) and isinstance(inner.this, exp.Star)


def read_counted(root: exp.Select, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> Statement:
    """A SELECT over such a sub-select; only the number of its rows can be asked."""
    check_clauses(text, root, ("expressions", "from_"))
    source = root.args["from_"].this
    check_parts(text, source, ("this", "alias"), "COUNT(*) over one sub-select is answered")
    counted = _Selects(text, policy, catalogue).read(source.this)
    if sum(1 for _ in counted.selects()) > MOST_SELECTS:
        text.refuse("FROM", f"set operations may combine {MOST_SELECTS} SELECTs", keyword="FROM")
    for part in (part for node in root.expressions for part in node.find_all(exp.AggFunc)):
        if not _is_count(part):
            text.refuse(part, _ONLY_COUNT)
    names = Names(text, policy, catalogue, _refuse_groups)
    measures: dict[Measure, int] = {}
    reader = ReleasedReader(names.expressions(Scope()), [], measures)
    outputs = read_outputs(root.expressions, reader)
    if list(measures) != [RowCount()]:
        text.refuse("SELECT", _ONLY_COUNT, keyword="SELECT", at=root.expressions[0])
    occurrences: dict[str, Occurrence] = {}
    for select in counted.selects():
        for occurrence in select.occurrences:
            occurrences.setdefault(occurrence.table, replace(occurrence, alias=f"t{len(occurrences)}"))
    return Statement(
        text=text.text,
        join=JoinQuestion(tuple(occurrences.values()), (), RowCount()),
        measures=tuple(measures),
        keys=(),
        outputs=outputs,
        partitions=False,
        counted=counted,
    )


def _refuse_groups(names: Names, query: exp.Select, *_: Any) -> NoReturn:
    """Groups inside a SELECT that is counted."""
    names.text.refuse("GROUP BY", "groups are counted by themselves: SELECT COUNT(*) FROM (SELECT ... GROUP BY ...)",
                      keyword="GROUP", at=query)  # fmt: skip


class _Selects:
    """Reads the tree below COUNT(*)."""

    def __init__(self, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> None:
        self._text, self._policy, self._catalogue = text, policy, catalogue

    def read(self, node: exp.Expr) -> CountedRows:
        """A SELECT or a set operation."""
        while isinstance(node, exp.Subquery):
            check_parts(self._text, node, ("this", "alias"), "leave the brackets out")
            node = node.this
        if isinstance(node, exp.Select):
            return self._select(node)
        if type(node) not in _OPERATORS:
            self._text.refuse(node, "rows come from SELECT, UNION, INTERSECT and EXCEPT", keyword=None)
        operator = _OPERATORS[type(node)]
        word = operator.upper()
        if not node.args.get("distinct"):
            advice = f"write {word}, which drops repeats, or ask each SELECT by itself"
            self._text.refuse(f"{word} ALL", advice, keyword=word, at=node)
        check_parts(self._text, node, ("this", "expression", "distinct"), "leave it out")
        left, right = self.read(node.this), self.read(node.expression)
        self._check_alike(node, word, next(left.selects()), next(right.selects()))
        return CountedOperation(operator, left, right)

    def _check_alike(self, node: exp.Expr, word: str, left: CountedSelect, right: CountedSelect) -> None:
        if len(left.outputs) != len(right.outputs):
            problem = f"one side has {len(left.outputs)} columns, the other {len(right.outputs)}"
            self._text.wrong(word, problem, keyword=word, at=node)
        for one, other in zip(left.outputs, right.outputs, strict=True):
            if one.kind != other.kind:
                problem = f"types {one.kind} and {other.kind} do not fit together; write a CAST"
                self._text.wrong(word, problem, keyword=word, at=node)
            if (one.digits, one.scale) != (other.digits, other.scale) and one.kind == "decimal":
                problem = "decimals of different digits do not fit together; write a CAST"
                self._text.wrong(word, problem, keyword=word, at=node)

    def _select(self, select: exp.Select) -> CountedSelect:
        grouped = select.args.get("group")
        allowed = ("expressions", "from_", "joins", "where", "distinct", "group")
        check_clauses(self._text, select, allowed, INSTEAD_INSIDE)
        distinct = select.args.get("distinct")
        if distinct is not None:
            check_parts(self._text, distinct, (), "write SELECT DISTINCT")
        names = Names(self._text, self._policy, self._catalogue, _refuse_groups)
        scope = names.read_sources(select, {})
        settle_outer_joins(names.occurrences, names.conditions, names.outer)
        if names.outer:
            self._text.refuse("LEFT JOIN", "rows without repeats are counted over inner joins; write JOIN",
                              keyword="LEFT", at=select)  # fmt: skip
        nodes = select.expressions
        if grouped is not None:
            if distinct is not None:
                self._text.refuse("DISTINCT", "GROUP BY gives each group once; leave DISTINCT out",
                                  keyword="DISTINCT", at=select)  # fmt: skip
            check_parts(self._text, grouped, ("expressions",), "GROUP BY takes columns")
            nodes = grouped.expressions
            for node in select.expressions:
                if not isinstance(node.unalias(), exp.AggFunc) and node.unalias() not in nodes:
                    self._text.wrong(node, "it is neither grouped by nor an aggregate")
        translate = names.expressions(scope)
        outputs = tuple(self._output(node, translate.value(node.unalias())) for node in nodes)
        return CountedSelect(tuple(names.occurrences), tuple(names.conditions), outputs)

    def _output(self, node: exp.Expr, value: Value) -> Value:
        if value.kind not in COUNTED_KINDS:
            self._text.refuse(node, f"values of type {value.kind} differ in other ways on other engines; count "
                              f"those of type {', '.join(COUNTED_KINDS)}")  # fmt: skip
        return value
