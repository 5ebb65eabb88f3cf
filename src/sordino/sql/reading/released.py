"""Expressions over aggregates: the SELECT list, HAVING and ORDER BY, read into trees over released numbers.

What stands inside an aggregate is calculated by the engine, row by row (`sordino.sql.expressions`); what stands around
it is calculated here, from numbers that were released, by the one set of rules of `sordino.sql.known`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from sqlglot import exp

from sordino.core import SordinoError
from sordino.sql import known
from sordino.sql.aggregates import Aggregate, Measure, find_aggregate
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.dates import read_day, read_time
from sordino.sql.known import Known
from sordino.sql.question import GroupKey
from sordino.sql.reading.spellings import write_plainly
from sordino.sql.released import Aggregated, Applied, Constant, KeyValue, Released, ReleasedKind
from sordino.sql.text import check_parts

ASK = (
    "ask COUNT(*), COUNT(x), SUM(x), AVG(x), VARIANCE(x), VAR_POP(x), STDDEV(x), STDDEV_POP(x), MIN(x), MAX(x), "
    "MEDIAN(x) or QUANTILE(x, 0.9)"
)
_ACCEPTED = (
    "between aggregates + - * /, ROUND, FLOOR, CEIL, ABS, GREATEST, LEAST, COALESCE, NULLIF, CASE, comparisons, AND, "
    "OR, NOT, IS NULL, BETWEEN and IN (literals) are understood; they are calculated from released numbers"
)
MOST_PARTS = 1000
MOST_DEPTH = 50
_MOST_PLACES = 15
_ORDERS: dict[type, Callable[[Any, Any], bool]] = {
    exp.LT: operator.lt, exp.LTE: operator.le, exp.GT: operator.gt, exp.GTE: operator.ge,
}  # fmt: skip
_COMPARISONS = {exp.EQ: operator.eq, exp.NEQ: operator.ne, **_ORDERS}
_FRACTIONS = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT, exp.DataType.Type.DECIMAL)


class ReleasedReader:
    """Reads expressions of one SELECT; ``measures`` collects what they need, each once.

    ``named``: expressions that were given a name in the SELECT list, which HAVING and ORDER BY may use; None where
    several have that name. ``aggregates``: those that can be asked, where they are not the usual ones.
    """

    def __init__(
        self,
        expressions: Expressions,
        keys: Sequence[GroupKey],
        measures: dict[Measure, int],
        aggregates: Sequence[Aggregate] | None = None,
    ) -> None:
        self._by_node = (
            None if aggregates is None else {node: one for one in aggregates for node in one.nodes}
        )
        self.expressions, self.text = expressions, expressions.text
        self._keys, self._measures = keys, measures
        self.named: dict[str, Released | None] = {}
        self._depth = self._parts = 0

    def read(self, node: exp.Expr) -> Released:
        """The expression, with a type."""
        while isinstance(node, exp.Paren):
            node = node.this
        self._depth += 1
        self._count(node, 1)
        if self._depth > MOST_DEPTH:
            self.text.refuse("this nesting", f"expressions over aggregates may be nested {MOST_DEPTH} deep")
        found = self._read(node)
        self._depth -= 1
        return found

    def give_name(self, name: str, found: Released) -> None:
        """Let later expressions use the name of a column of the answer."""
        self.named[name.casefold()] = None if name.casefold() in self.named else found

    def find_named(self, node: exp.Expr) -> Released | None:
        """The column of the answer that a bare name means, if it is one."""
        if not isinstance(node, exp.Column) or node.table or node.name.casefold() not in self.named:
            return None
        found = self.named[node.name.casefold()]
        if found is None:
            self.text.wrong(node, "two columns of the answer have this name")
        self._count(node, sum(1 for _ in found.walk()))
        return found

    def condition(self, node: exp.Expr) -> Released:
        """A truth value."""
        return self._of_kind(node, self.read(node), "boolean", "a condition")

    def number(self, node: exp.Expr) -> Released:
        """A number."""
        return self._of_kind(node, self.read(node), "number", "a number")

    def _of_kind(self, node: exp.Expr, found: Released, kind: ReleasedKind, wanted: str) -> Released:
        if found.kind not in (kind, "null"):
            self.text.wrong(node, f"{wanted} is needed here, this is of type {found.kind}")
        return found

    def _find(self, node: exp.Expr) -> Aggregate | None:
        return find_aggregate(node) if self._by_node is None else self._by_node.get(type(node))

    def _read(self, node: exp.Expr) -> Released:
        node = write_plainly(node)
        aggregate = self._find(node)
        if aggregate is not None:
            parts = aggregate.read(node, self.expressions)
            places = (self._measures.setdefault(part, len(self._measures)) for part in parts)
            return Aggregated(aggregate, tuple(places), aggregate.kind)
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            self.text.refuse(node, f"rows are never shown; {ASK}", keyword="SELECT")
        key = self._key(node)
        if key is not None:
            return key
        if isinstance(node, exp.Column):
            found = self.find_named(node)
            if found is None:
                self.text.refuse(node, "a column outside an aggregate must be in GROUP BY")
            return found
        if type(node) not in _RULES:
            self._refuse(node)
        rule, parts_read = _RULES[type(node)]
        check_parts(self.text, node, parts_read, f"this form of it is not understood; {_ACCEPTED}")
        return rule(self, node)

    def _key(self, node: exp.Expr) -> Released | None:
        """A group key, written in any way that means the same."""
        plain = isinstance(node, exp.Column)
        if not plain and (not self._keys or node.find(exp.Column) is None or node.find(exp.AggFunc)):
            return None
        try:
            found = self.expressions.value(node).expression
        except SordinoError:
            if plain and (node.text("table") or node.name.casefold() not in self.named):
                raise
            return None
        for place, key in enumerate(self._keys):
            if key.column.unnest() == found:
                return KeyValue(place, key.kind)
        return None

    def _count(self, node: exp.Expr, parts: int) -> None:
        self._parts += parts
        if self._parts > MOST_PARTS:
            self.text.refuse(node, f"a question may have {MOST_PARTS} parts around its aggregates")

    def _refuse(self, node: exp.Expr) -> NoReturn:
        text = self.text
        if node.find(exp.Window) is not None:
            text.refuse(
                node, "windows are not answered; group by a column with a declared domain", keyword="OVER"
            )
        if isinstance(node, exp.Filter):
            text.refuse(node, "FILTER follows an aggregate of one expression, such as SUM(x) FILTER (WHERE y > 0)",
                        keyword="FILTER")  # fmt: skip
        if node.find(exp.Select) is not None:
            text.refuse(node, "sub-queries stand in FROM only; ask each number by itself")
        text.refuse(node, f"{ASK}; {_ACCEPTED}")


def _literal(read: ReleasedReader, node: exp.Literal | exp.Boolean | exp.Null) -> Released:
    value = read.expressions.value(node)
    if value.kind == "null":
        return Constant(None, "null")
    constant = value.constant
    if isinstance(constant, str | bool):
        return Constant(constant, "text" if isinstance(constant, str) else "boolean")
    return Constant(constant, "number")


def _unary(rule: Callable[[Known], Known]) -> Callable[[ReleasedReader, exp.Expr], Released]:
    def read_one(read: ReleasedReader, node: exp.Expr) -> Released:
        return Applied(lambda parts: rule(parts[0]), (read.number(node.this),), "number")

    return read_one


def _binary(rule: Callable[[Known, Known], Known]) -> Callable[[ReleasedReader, exp.Expr], Released]:
    def read_two(read: ReleasedReader, node: exp.Expr) -> Released:
        sides = (read.number(node.this), read.number(node.expression))
        return Applied(lambda parts: rule(parts[0], parts[1]), sides, "number")

    return read_two


def _round(read: ReleasedReader, node: exp.Round) -> Released:
    places: Any = 0
    if node.args.get("decimals") is not None:
        said = read.expressions.value(node.args["decimals"])
        places = said.constant
        if not isinstance(places, int) or abs(places) > _MOST_PLACES:
            read.text.wrong(node, f"ROUND(x, n) takes a literal n from -{_MOST_PLACES} to {_MOST_PLACES}")
    rule = known.round_to(places)
    return Applied(lambda parts: rule(parts[0]), (read.number(node.this),), "number")


def _cast(read: ReleasedReader, node: exp.Cast) -> Released:
    if node.to.this not in _FRACTIONS or node.to.expressions:
        read.text.refuse(
            node, "a released number can be cast to DOUBLE; write ROUND, FLOOR or CEIL for whole numbers"
        )
    return Applied(lambda parts: known.as_fraction(parts[0]), (read.number(node.this),), "number")


def _extreme(rule: Callable[[Sequence[Known]], Known]) -> Callable[[ReleasedReader, exp.Expr], Released]:
    def read_all(read: ReleasedReader, node: exp.Expr) -> Released:
        return Applied(rule, tuple(read.number(part) for part in (node.this, *node.expressions)), "number")

    return read_all


def _coalesce(read: ReleasedReader, node: exp.Coalesce) -> Released:
    parts = _alike(read, node, *(read.read(part) for part in (node.this, *node.expressions)))
    return Applied(known.coalesce, tuple(parts), _kind_of(parts))


def _nullif(read: ReleasedReader, node: exp.Nullif) -> Released:
    left, right = _alike(read, node, read.read(node.this), read.read(node.expression))
    return Applied(known.nullif, (left, right), left.kind)


def _case(read: ReleasedReader, node: exp.Case | exp.If) -> Released:
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    whens = []
    for branch in branches:
        if isinstance(node, exp.Case) and node.this:
            whens.append(_compared(read, node, exp.EQ, read.read(node.this), read.read(branch.this)))
        else:
            whens.append(read.condition(branch.this))
    other = node.args.get("default" if isinstance(node, exp.Case) else "false")
    default = read.read(other) if other is not None else Constant(None, "null")
    *values, default = _alike(read, node, *(read.read(branch.args["true"]) for branch in branches), default)
    pairs = [part for pair in zip(whens, values, strict=True) for part in pair]
    return Applied(known.choose, (*pairs, default), _kind_of([*values, default]))


def _comparison(read: ReleasedReader, node: exp.Binary) -> Released:
    return _compared(read, node, type(node), read.read(node.this), read.read(node.expression))


def _compared(
    read: ReleasedReader, node: exp.Expr, relation: type[exp.Expr], left: Released, right: Released
) -> Released:
    left, right = _alike(read, node, left, right)
    if relation in _ORDERS and {left.kind, right.kind} & {"text", "boolean", "list"}:
        read.text.refuse(node, "texts, truth values and lists have no order here; compare with =, <> or IN")
    holds = _COMPARISONS[relation]
    return Applied(lambda parts: known.compare(holds, parts[0], parts[1]), (left, right), "boolean")


def _between(read: ReleasedReader, node: exp.Between) -> Released:
    inner, low, high = (read.read(node.args[name]) for name in ("this", "low", "high"))
    above = _compared(read, node, exp.GTE, inner, low)
    below = _compared(read, node, exp.LTE, inner, high)
    return Applied(known.both, (above, below), "boolean")


def _in(read: ReleasedReader, node: exp.In) -> Released:
    if node.args.get("query") or not node.expressions:
        read.text.refuse(node, "IN takes a list of literals, such as IN (1, 2)", keyword="IN")
    inner = read.read(node.this)
    found = [_compared(read, node, exp.EQ, inner, read.read(item)) for item in node.expressions]
    return Applied(known.either, tuple(found), "boolean")


def _connected(rule: Callable[[Sequence[Known]], Known]) -> Callable[[ReleasedReader, exp.Expr], Released]:
    def read_all(read: ReleasedReader, node: exp.Expr) -> Released:
        return Applied(rule, tuple(read.condition(part) for part in node.flatten()), "boolean")

    return read_all


def _not(read: ReleasedReader, node: exp.Not) -> Released:
    return _negated(read.condition(node.this))


def _is(read: ReleasedReader, node: exp.Is) -> Released:
    asked = node.expression
    if isinstance(asked, exp.Null):
        found = Applied(lambda parts: known.is_null(parts[0]), (read.read(node.this),), "boolean")
    elif isinstance(asked, exp.Boolean):
        rule = known.is_truth(bool(asked.this))
        found = Applied(lambda parts: rule(parts[0]), (read.condition(node.this),), "boolean")
    else:
        read.text.refuse(node, "IS [NOT] NULL, TRUE and FALSE are understood", keyword="IS")
    return _negated(found) if node.args.get("negate") else found


def _negated(inner: Released) -> Released:
    return Applied(lambda parts: known.opposite(parts[0]), (inner,), "boolean")


def _alike(read: ReleasedReader, node: exp.Expr, *parts: Released) -> list[Released]:
    """The parts in one type; a literal text beside a date or timestamp is one too."""
    kinds = {part.kind for part in parts} - {"null"}
    if len(kinds) == 2 and "text" in kinds and kinds & {"date", "timestamp"}:
        reads = read_day if "date" in kinds else read_time
        kind: ReleasedKind = "date" if "date" in kinds else "timestamp"
        parts = tuple(
            Constant(reads(read.expressions, node, part.value).constant, kind)
            if isinstance(part, Constant) and isinstance(part.value, str)
            else part
            for part in parts
        )
        kinds = {part.kind for part in parts} - {"null"}
    if len(kinds) > 1:
        read.text.wrong(node, f"types {' and '.join(sorted(kinds))} do not fit together")
    return list(parts)


def _kind_of(parts: Sequence[Released]) -> ReleasedKind:
    return next((part.kind for part in parts if part.kind != "null"), "null")


_PLAIN = ("this", "expression")
_LISTED = ("this", "expressions", "ignore_nulls")
_RULES: dict[type, tuple[Callable[[ReleasedReader, Any], Released], tuple[str, ...]]] = {
    exp.Literal: (_literal, ("this", "is_string")),
    exp.Boolean: (_literal, _PLAIN),
    exp.Null: (_literal, _PLAIN),
    exp.Neg: (_unary(known.negate), _PLAIN),
    exp.Abs: (_unary(known.absolute), _PLAIN),
    exp.Floor: (_unary(known.floor), _PLAIN),
    exp.Ceil: (_unary(known.ceil), _PLAIN),
    exp.Round: (_round, ("this", "decimals")),
    **dict.fromkeys((exp.Cast, exp.TryCast), (_cast, ("this", "to", "safe"))),
    exp.Add: (_binary(known.add), _PLAIN),
    exp.Sub: (_binary(known.subtract), _PLAIN),
    exp.Mul: (_binary(known.multiply), _PLAIN),
    exp.Div: (_binary(known.divide), ("this", "expression", "typed", "safe")),
    exp.Greatest: (_extreme(known.greatest), _LISTED),
    exp.Least: (_extreme(known.least), _LISTED),
    exp.Coalesce: (_coalesce, ("this", "expressions")),
    exp.Nullif: (_nullif, _PLAIN),
    exp.Case: (_case, ("this", "ifs", "default")),
    exp.If: (_case, ("this", "true", "false")),
    **dict.fromkeys(_COMPARISONS, (_comparison, _PLAIN)),
    exp.Between: (_between, ("this", "low", "high")),
    exp.In: (_in, ("this", "expressions", "query")),
    exp.And: (_connected(known.both), _PLAIN),
    exp.Or: (_connected(known.either), _PLAIN),
    exp.Not: (_not, _PLAIN),
    exp.Is: (_is, ("this", "expression", "negate")),
}
