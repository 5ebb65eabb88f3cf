"""Reading: from an analyst's text and the owner's policy to a `Statement`, or to a refusal that names the clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from sordino.core import ParameterError, UnsupportedError
from sordino.engines import Table
from sordino.sql.expressions import Expressions
from sordino.sql.groups import check_number, group_key, partition, with_public_keys
from sordino.sql.names import Names, Scope, check_clauses
from sordino.sql.policy import Policy
from sordino.sql.question import GroupKey, JoinQuestion, Measure, Output, Statement
from sordino.sql.refusals import Text, only, place_of
from sordino.sql.value import Range, as_double

LONGEST_TEXT = 20_000
# A row's contribution in steps stays exact in doubles, with room for the half that rounding adds.
MOST_STEPS = 2**50
_CLAUSES = ("expressions", "from_", "joins", "where", "group", "with_")
_ASK = "ask COUNT(*), COUNT(x), SUM(x) or AVG(x) and calculate with the released numbers"


def read_statement(text: str, *, policy: Policy, catalogue: Mapping[str, Table], dialect: str) -> Statement:
    """Understand one SELECT in the engine's dialect.

    Raises `UnsupportedError` for what is refused and `ParameterError` for what is wrong, both with the place in
    the text. Nothing here reads rows: everything is decided by the text, the policy and the catalogue.
    """
    try:
        return _read(_parsed(text, dialect), Text(text, dialect), policy, catalogue)
    except RecursionError:
        raise UnsupportedError("the query is nested too deeply: write it flatter") from None


def _parsed(text: str, dialect: str) -> exp.Expr:
    if not isinstance(text, str) or not text.strip():
        raise ParameterError("the query is empty: ask SELECT COUNT(*) FROM ...")
    if len(text) > LONGEST_TEXT:
        raise ParameterError(f"the query is {len(text)} characters long: {LONGEST_TEXT} are read")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ParameterError("the query is not Unicode text: it holds half of a surrogate pair")
    if "\0" in text:
        raise ParameterError(f"{place_of(text, text.index(chr(0)))}: the query holds a zero character")
    try:
        statements = [found for found in sqlglot.parse(text, dialect=dialect) if found is not None]
    except ParseError as error:
        raise ParameterError(_syntax(text, error)) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, LookupError):
        raise ParameterError("the query cannot be read: check quotes and brackets") from None
    if len(statements) > 1:
        second = next((found.meta["start"] for found in statements[1].walk() if "start" in found.meta), None)
        where = "" if second is None else f"{place_of(text, second)}: "
        raise UnsupportedError(f"{where}several statements are refused: ask one SELECT at a time")
    if not statements:
        raise ParameterError("the query is empty: ask SELECT COUNT(*) FROM ...")
    return statements[0]


def _syntax(text: str, error: ParseError) -> str:
    detail = error.errors[0] if error.errors else {}
    what = str(detail.get("description") or "it cannot be parsed").partition(" but got <")[0]
    what = what.partition(" for <class")[0].rstrip(".")
    line, column, near = detail.get("line"), detail.get("col"), str(detail.get("highlight") or "")[:40]
    where = f"line {line}, column {column}: " if line else ""
    return f"{where}syntax error{f' at {near!r}' if near else ''}: {what}"


def _read(root: exp.Expr, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> Statement:
    while isinstance(root, exp.Subquery):
        only(text, root, ("this",), "ask the SELECT without the brackets")
        root = root.this
    if isinstance(root, exp.SetOperation):
        word = type(root).__name__.upper()
        text.refuse(word, "ask each SELECT by itself and combine the released numbers", keyword=word)
    if not isinstance(root, exp.Select):
        text.refuse(type(root).__name__.upper(), "questions only read: ask one SELECT", keyword=None)
    check_clauses(text, root, _CLAUSES)
    names = Names(text, policy, catalogue)
    scope = names.read_sources(root, {})
    keys = _keys(root, scope, names, policy)
    measures: list[Measure] = []
    outputs = [_output(node, names.expressions(scope), keys, measures, text) for node in root.expressions]
    if not measures:
        text.refuse("SELECT", f"no aggregate is asked; {_ASK}", keyword="SELECT")
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), Measure("count"))
    return Statement(
        text=text.text,
        join=join,
        measures=tuple(measures),
        keys=tuple(keys),
        outputs=_named(outputs),
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
        column = _grouped(node, select, text)
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


def _grouped(node: exp.Expr, select: exp.Select, text: Text) -> exp.Expr:
    """A column, or the place of one in the SELECT list."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this)
        if not 1 <= place <= len(select.expressions):
            text.wrong(
                f"GROUP BY {place}", f"the SELECT has {len(select.expressions)} columns", keyword="GROUP"
            )
        node = select.expressions[place - 1].unalias()
    if not isinstance(node, exp.Column):
        text.refuse(
            node, "groups are columns with a declared domain, or columns of a public table", keyword="GROUP"
        )
    return node


# --- SELECT


def _output(
    node: exp.Expr, expressions: Expressions, keys: list[GroupKey], measures: list[Measure], text: Text
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
        value = measures[total].value
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
        text.refuse(inner, "sub-queries stand in FROM only; write a join")
    text.refuse(inner, f"each column of the answer is one aggregate; {_ASK}")


def _argument(node: exp.Count | exp.Sum | exp.Avg, text: Text) -> exp.Expr:
    only(text, node, ("this", "big_int"), f"{type(node).__name__.upper()} takes one expression")
    if node.this is None or node.this == "":
        text.refuse(node, f"{type(node).__name__.upper()} takes one expression")
    inner: exp.Expr = node.this
    if isinstance(inner, exp.Distinct):
        text.refuse(node, "distinct values cannot be counted; group by a column with a declared domain and count rows",
                    keyword="DISTINCT")  # fmt: skip
    return inner


def _count(node: exp.Count, expressions: Expressions, measures: list[Measure], text: Text) -> int:
    inner = _argument(node, text)
    if isinstance(inner, exp.Star):
        only(text, inner, (), "write COUNT(*)")
        return _place(Measure("count", text="COUNT(*)"), measures)
    value = expressions.value(inner)
    if value.kind == "null":
        text.wrong(node, "COUNT(NULL) is always 0; write COUNT(*)")
    counted = None if value.constant is not None else value.expression
    return _place(Measure("count", counted, text=f"COUNT({inner.sql()})"), measures)


def _sum(node: exp.Sum | exp.Avg, expressions: Expressions, measures: list[Measure], text: Text) -> int:
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


def _place(measure: Measure, measures: list[Measure]) -> int:
    """Its place among the measures; one that is asked twice is measured once."""
    if measure not in measures:
        measures.append(measure)
    return measures.index(measure)


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
