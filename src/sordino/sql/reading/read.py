"""Reading: from an analyst's text and the owner's policy to a `Statement`, or to a refusal that names the clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from sordino.core import SordinoError, UnsupportedError
from sordino.engines import Table
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import Range, as_double
from sordino.sql.policy import Policy
from sordino.sql.question import GroupKey, JoinQuestion, Measure, Output, Statement
from sordino.sql.reading.groups import check_number, group_key, partition, with_public_keys
from sordino.sql.reading.names import Names, Scope, check_clauses
from sordino.sql.reading.ordering import read_order
from sordino.sql.reading.syntax import parsed, quietly
from sordino.sql.text import Text, only

# A row's contribution in steps stays exact in doubles, with room for the half that rounding adds.
MOST_STEPS = 2**50
_CLAUSES = ("expressions", "from_", "joins", "where", "group", "with_", "order")
_ASK = "ask COUNT(*), COUNT(x), SUM(x) or AVG(x) and calculate with the released numbers"
_QUANTILES = "`sordino quantile` or sordino.quantile"
# Aggregates that exist elsewhere, or that people expect, and what to ask in their place.
_OTHER_AGGREGATES: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    ((exp.Min, exp.Max),
     "the least and the greatest value are those of one row, which noise cannot hide; "
     f"ask for a low or high quantile with {_QUANTILES}, or count the rows beyond a limit with COUNT(*) and WHERE"),
    ((exp.Median, exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc, exp.WithinGroup),
     f"medians and quantiles are not asked in SQL; use {_QUANTILES} on the column"),
)  # fmt: skip


def read_statement(text: str, *, policy: Policy, catalogue: Mapping[str, Table], dialect: str) -> Statement:
    """Understand one SELECT in the engine's dialect.

    Raises `UnsupportedError` for what is refused and `ParameterError` for what is wrong, both with the place in
    the text. Nothing here reads rows: everything is decided by the text, the policy and the catalogue.
    """
    shown = Text(text, dialect)
    with quietly():
        try:
            tree = parsed(text, dialect)
            statement = _read(tree, shown, policy, catalogue)
            return replace(statement, canonical=tree.sql(dialect=dialect, comments=False))
        except SordinoError:
            raise
        except RecursionError:
            raise UnsupportedError(
                f"{shown.here()}the query is nested too deeply here: write it flatter"
            ) from None
        except Exception as error:  # a text that nobody foresaw; the cause tells our tests of the defect
            raise UnsupportedError(
                f"{shown.here()}the query is not understood here: write it simpler"
            ) from error


def _read(root: exp.Expr, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> Statement:
    while isinstance(root, exp.Subquery):
        only(text, root, ("this",), "ask the SELECT without the brackets")
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
    measures: dict[Measure, int] = {}
    outputs = [_output(node, names.expressions(scope), keys, measures, text) for node in root.expressions]
    if not measures:
        text.refuse("SELECT", f"no aggregate is asked; {_ASK}", keyword="SELECT", at=root.expressions[0])
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), Measure("count"))
    return Statement(
        text=text.text,
        join=join,
        measures=tuple(measures),
        keys=tuple(keys),
        outputs=_named(outputs),
        order=read_order(root, scope, names, keys, outputs),
        partitions=partition(join.occurrences, join.conditions, tuple(keys)),
    )


# --- GROUP BY


def _keys(select: exp.Select, scope: Scope, names: Names, policy: Policy) -> list[GroupKey]:
    clause = select.args.get("group")
    if clause is None:
        return []
    text = names.text
    only(text, clause, ("expressions",), "GROUP BY takes columns")
    keys: list[GroupKey] = []
    for node in clause.expressions:
        column = _grouped(node, select, scope, names)
        value = names.expressions(scope).value(column)
        key = group_key(
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


# --- SELECT


def _output(
    node: exp.Expr, expressions: Expressions, keys: list[GroupKey], measures: dict[Measure, int], text: Text
) -> Output:
    name = node.alias if isinstance(node, exp.Alias) else ""
    inner = node.unalias()
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Count):
        return Output(name or "count", "count", measures=(_count(inner, expressions, measures, text),))
    if isinstance(inner, exp.Sum):
        return Output(name or "sum", "sum", measures=(_sum(inner, expressions, measures, text),))
    if isinstance(inner, exp.Avg):
        total = _sum(inner, expressions, measures, text)
        value = list(measures)[total].value
        rows = _place(Measure("count", value, text=f"COUNT({inner.this.sql()})"), measures)
        return Output(name or "avg", "avg", measures=(total, rows))
    if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
        text.refuse(inner, f"rows are never shown; {_ASK}", keyword="SELECT")
    if isinstance(inner, exp.Column):
        column = expressions.value(inner)
        for place, key in enumerate(keys):
            if key.column == column.expression:
                return Output(name or inner.name, "key", key=place)
        text.refuse(inner, "a column outside an aggregate must be in GROUP BY")
    if inner.find(exp.Window) is not None:
        text.refuse(
            inner, "windows are not answered; group by a column with a declared domain", keyword="OVER"
        )
    if isinstance(inner, exp.Filter):
        text.refuse(inner, "write COUNT(CASE WHEN condition THEN 1 END) or SUM(CASE WHEN condition THEN x END)",
                    keyword="FILTER")  # fmt: skip
    if inner.find(exp.Select) is not None:
        text.refuse(inner, "sub-queries stand in FROM only; ask each number by itself")
    for kinds, instead in _OTHER_AGGREGATES:
        if inner.find(*kinds) is not None or _is_quantile(inner, kinds):
            text.refuse(inner, instead)
    text.refuse(inner, f"each column of the answer is one aggregate; {_ASK}")


def _is_quantile(node: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    """Whether it is a quantile that the parser has no node for."""
    said = node.name.upper() if isinstance(node, exp.Anonymous) else ""
    return exp.Median in kinds and said.startswith(("QUANTILE", "PERCENTILE", "MEDIAN", "APPROX_PERCENTILE"))


def _argument(node: exp.Count | exp.Sum | exp.Avg, text: Text) -> exp.Expr:
    only(text, node, ("this", "big_int"), f"{type(node).__name__.upper()} takes one expression")
    if node.this is None or node.this == "":
        text.refuse(node, f"{type(node).__name__.upper()} takes one expression")
    inner: exp.Expr = node.this
    if isinstance(inner, exp.Distinct):
        text.refuse(node, "distinct values cannot be counted; group by a column with a declared domain and count rows",
                    keyword="DISTINCT")  # fmt: skip
    return inner


def _count(node: exp.Count, expressions: Expressions, measures: dict[Measure, int], text: Text) -> int:
    inner = _argument(node, text)
    if isinstance(inner, exp.Star):
        only(text, inner, (), "write COUNT(*)")
        return _place(Measure("count", text="COUNT(*)"), measures)
    value = expressions.value(inner)
    if value.kind == "null":
        text.wrong(node, "COUNT(NULL) is always 0; write COUNT(*)")
    counted = None if value.constant is not None else value.expression
    return _place(Measure("count", counted, text=f"COUNT({inner.sql()})"), measures)


def _sum(node: exp.Sum | exp.Avg, expressions: Expressions, measures: dict[Measure, int], text: Text) -> int:
    inner = _argument(node, text)
    value = expressions.number(inner)
    if value.kind == "null":
        text.wrong(node, "the sum of NULL is always NULL; sum a column")
    low, high, step = _lattice(node, value.range, text)
    # Whole numbers stay in the engine's integers; the rest are doubles, as in all arithmetic here.
    number = value if value.kind == "integer" else as_double(value)
    whole = value.kind == "integer"
    return _place(Measure("sum", number.expression, low, high, step, whole, f"SUM({inner.sql()})"), measures)


def _lattice(node: exp.Expr, known: Range, text: Text) -> tuple[Fraction, Fraction, Fraction]:
    if known.low is None or known.high is None or known.step is None:
        fields = ", ".join(known.missing)
        declare = (
            f"declare {fields} in the policy" if fields else "use + - *, CASE, COALESCE over bounded columns"
        )
        clip = "" if known.step is None else ", or clip: SUM(LEAST(GREATEST(x, 0), 100))"
        lacks = "bounds" if known.low is None or known.high is None else "granularity"
        text.wrong(node, f"a sum needs public {lacks}: {declare}{clip}")
    step = known.step or Fraction(1)
    low, high = (known.low // step) * step, -((-known.high) // step) * step
    if low == high == 0:
        text.wrong(node, "this sum is always 0")
    if max(abs(low), abs(high)) / step > MOST_STEPS or max(step.numerator, step.denominator) > MOST_STEPS:
        text.wrong(node, f"one row may add up to {max(abs(low), abs(high))} in steps of {step}: that is more than 2^50 "
                   "steps; declare narrower bounds or a coarser granularity")  # fmt: skip
    return low, high, step


def _place(measure: Measure, measures: dict[Measure, int]) -> int:
    """Its place among the measures; one that is asked twice is measured once."""
    return measures.setdefault(measure, len(measures))


def _named(outputs: list[Output]) -> tuple[Output, ...]:
    taken: set[str] = set()
    result = []
    for output in outputs:
        name, number = output.name, 2
        while name.casefold() in taken:
            name, number = f"{output.name}_{number}", number + 1
        taken.add(name.casefold())
        result.append(replace(output, name=name))
    return tuple(result)


__all__ = ["read_statement", "with_public_keys"]
