"""Names: which column of which table a name means, with sub-selects and CTEs written out in place.

A sub-select that projects, renames, joins and filters is the same as its tables and conditions written in the outer
query, because every expression is deterministic and cannot raise. So what comes out is one flat list of
occurrences of tables and one flat list of conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.engines import Column, Table
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.absence import is_null_without
from sordino.sql.expressions.conditions import compare_values
from sordino.sql.expressions.decimals import Digits
from sordino.sql.expressions.value import NUMBERS, Range, Value
from sordino.sql.policy import (
    ColumnPolicy,
    Policy,
    find_promised_checks,
    find_promised_key,
    match_name,
    suggest_name,
)
from sordino.sql.question import GroupedRows, Occurrence, OuterJoin
from sordino.sql.text import Text, check_parts

MOST_OCCURRENCES = 16
MOST_CONDITIONS = 500
_INNER = "FROM takes tables, JOIN, LEFT JOIN, RIGHT JOIN, and sub-selects that project, rename and filter"
_ONE_SIDE = "the side that may be missing must be one table"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")
# How many occurrences, conditions and LEFT JOINs there were.
Mark = tuple[int, int, int]
# Reads a sub-select with GROUP BY, by names of its own; its columns by name.
ReadGrouped = Callable[
    ["Names", exp.Select, "Mapping[str, Definition]", exp.Expr], tuple[GroupedRows, dict[str, Value]]
]

# What stands in a SELECT beside the parts that are read, and what to ask in its place.
INSTEAD = {
    "distinct": "repeated rows cannot be dropped here; count rows with COUNT(*), those without repeats with "
    "SELECT COUNT(*) FROM (SELECT DISTINCT ...), or group by a declared domain",
    "qualify": "windows are not answered; choose among the released groups with HAVING",
    "windows": "windows are not answered; ask one aggregate, or group by a column with a declared domain",
    "sort": "write ORDER BY: it sorts the released rows",
    "laterals": "LATERAL is not answered; write a join with ON",
    "locks": "questions only read; leave the lock out",
    "into": "questions only read; leave INTO out",
    "pivots": "write GROUP BY over a column with a declared domain",
    "sample": "samples are not answered; ask about all rows",
}
_OUTERMOST = (
    "aggregates stand in the outermost SELECT only; groups of a sub-select are read where users are protected with all "
    "their rows, a group for each of them"
)
_CUT = "which rows a sub-select cuts off is not defined, and one row may push out another; leave it out"
# The same inside a sub-select, which makes rows and not groups.
INSTEAD_INSIDE = INSTEAD | {
    "group": _OUTERMOST,
    "having": _OUTERMOST,
    "qualify": "windows are not answered; filter with WHERE",
    "limit": _CUT,
    "offset": _CUT,
    "fetch": _CUT,
    "order": "the order of a sub-select's rows changes nothing; leave it out",
    "sort": "the order of a sub-select's rows changes nothing; leave it out",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """A CTE and the CTEs that it may name itself."""

    query: exp.CTE
    visible: Mapping[str, Definition]


@dataclass(slots=True)
class FromItem:
    """Something in FROM: a name, the columns that can be asked of it, and those that cannot, each with the reason."""

    name: str
    columns: dict[str, Value]
    ambiguous: set[str] = field(default_factory=set)
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """What the names in one SELECT mean. ``merged``: columns joined by USING, which need no table in front."""

    sources: list[FromItem] = field(default_factory=list)
    merged: dict[str, Value] = field(default_factory=dict)
    began: Mark = (0, 0, 0)


class Names:
    """Collects the occurrences, conditions and LEFT JOINs of a whole statement."""

    def __init__(
        self, text: Text, policy: Policy, catalogue: Mapping[str, Table], read_grouped: ReadGrouped
    ) -> None:
        self.text, self.policy, self._catalogue, self._read_grouped = text, policy, catalogue, read_grouped
        self.occurrences: list[Occurrence] = []
        self.conditions: list[exp.Expr] = []
        self.outer: list[OuterJoin] = []
        self._used: set[int] = set()

    @property
    def everyone(self) -> list[Occurrence]:
        """All occurrences, those behind LEFT JOIN last."""
        return [*self.occurrences, *(join.occurrence for join in self.outer)]

    def expressions(self, scope: Scope) -> Expressions:
        """The translator for one SELECT."""
        filled = frozenset((o.alias, column) for o in self.occurrences for column in o.filled)
        return Expressions(self.text, lambda column: self._resolve(column, scope), filled)

    def read_sources(self, select: exp.Select, visible: Mapping[str, Definition]) -> Scope:
        """FROM, JOIN, WHERE and WITH of a SELECT."""
        visible = self._definitions(select, visible)
        scope = Scope(began=self._mark())
        origin = select.args.get("from_")
        if origin is None:
            self.text.refuse(select, "a question needs FROM with a table of the policy", keyword="SELECT")
        self._source(origin.this, scope, visible)
        for join in select.args.get("joins") or []:
            self._join(join, scope, visible)
        where = select.args.get("where")
        if where is not None:
            self._add_conditions(where.this, scope)
        self._check_used(select)
        return scope

    # --- WITH

    def _definitions(self, select: exp.Select, visible: Mapping[str, Definition]) -> Mapping[str, Definition]:
        clause = select.args.get("with_")
        if clause is None:
            return visible
        if clause.args.get("recursive"):
            self.text.refuse("WITH RECURSIVE", "write the join out", keyword="WITH")
        check_parts(self.text, clause, ("expressions",), "write WITH name AS (SELECT ...)")
        known = dict(visible)
        for query in clause.expressions:
            check_parts(self.text, query, ("this", "alias"), "write WITH name AS (SELECT ...)")
            known[query.alias.casefold()] = Definition(query, dict(known))
        return known

    def _check_used(self, select: exp.Select) -> None:
        clause = select.args.get("with_")
        for query in clause.expressions if clause is not None else ():
            if id(query) not in self._used:
                self.text.refuse(query, f"{query.alias!r} is never used; leave it out", keyword="WITH")

    # --- FROM

    def _source(self, node: exp.Expr, scope: Scope, visible: Mapping[str, Definition]) -> None:
        if isinstance(node, exp.Table):
            self._table(node, scope, visible)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not node.alias:
            check_parts(self.text, node, ("this", "joins"), _INNER)
            self._source(node.this, scope, visible)
        elif isinstance(node, exp.Subquery):
            check_parts(self.text, node, ("this", "alias", "joins"), _INNER)
            self._select(node.this, node, scope, visible)
        else:
            keyword = type(node).__name__.upper()
            self.text.refuse(node, f"only tables of the policy can be asked; {_INNER}", keyword=keyword)
        for join in node.args.get("joins") or []:
            self._join(join, scope, visible)

    def _table(self, node: exp.Table, scope: Scope, visible: Mapping[str, Definition]) -> None:
        if not isinstance(node.this, exp.Identifier):
            self.text.refuse(node, "table functions and files cannot be asked; name a table of the policy",
                             keyword=node.name.upper() or None)  # fmt: skip
        sample = node.args.get("sample")
        if sample is not None:
            self.text.refuse(sample, INSTEAD["sample"], keyword="TABLESAMPLE")
        check_parts(self.text, node, ("this", "db", "alias", "joins"), _INNER)
        defined = None if node.args.get("db") else visible.get(node.name.casefold())
        if defined is not None:
            self._used.add(id(defined.query))
            self._select(defined.query.this, node, scope, defined.visible, outer=defined.query)
            return
        name = f"{node.args['db'].name}.{node.name}" if node.args.get("db") else node.name
        table = self.policy.table_named(name)
        found = None if table is None else match_name(table.name, self._catalogue)
        if table is None or found is None:
            hint = suggest_name(name, self.policy.tables, "the tables")
            self.text.wrong(node, f"there is no table {name!r} that may be asked about: {hint}")
        if len(self.everyone) >= MOST_OCCURRENCES:
            self.text.refuse(node, f"a question may join {MOST_OCCURRENCES} tables")
        alias = self._free_alias(node.alias or node.name)
        catalogued = self._catalogue[found].columns
        types = {column.name: column.type for column in catalogued}
        weight = table.weight if table.private else None
        digits = {
            column.name: Digits(column.digits - column.scale, column.scale)
            for column in catalogued
            if column.type == "decimal" and column.digits is not None and column.scale is not None
        }
        key, checks = find_promised_key(table, types), find_promised_checks(table, types, alias)
        required = frozenset(column.name for column in catalogued if not column.nullable)
        self.occurrences.append(
            Occurrence(alias, found, weight, types, digits, key=key, checks=checks, required=required)
        )
        declared = {column.casefold(): policy for column, policy in table.columns.items()}
        columns, left_out = {}, dict(self._catalogue[found].left_out)
        for column in catalogued:
            name, kind = column.name, column.type
            known = declared.get(name.casefold())
            if known is not None and known.hidden:
                left_out[name] = "the policy keeps this column from questions"
                continue
            path = f"tables.{table.name}.columns.{name}"
            window = None if kind == "float" else (1.0, 3.5e38)
            columns[name] = Value(
                exp.column(name, table=alias, quoted=True),
                kind,
                window if kind in NUMBERS else None,
                _declared_range(known, column, path),
                column=(alias, name),
                digits=column.digits,
                scale=column.scale,
                period=None if known is None else known.period,
            )
        self._add_source(node, scope, FromItem(node.alias or node.name, columns, left_out=left_out))

    def _select(
        self,
        query: exp.Expr,
        node: exp.Expr,
        scope: Scope,
        visible: Mapping[str, Definition],
        *,
        outer: exp.CTE | None = None,
    ) -> None:
        query = query.unnest() if isinstance(query, exp.Subquery) else query
        if not isinstance(query, exp.Select):
            self.text.refuse(query, "a sub-select may project, rename and filter", keyword=_keyword(query))
        if query.args.get("group") is not None and self.policy.users:
            self._grouped(query, node, scope, visible, outer)
            return
        check_clauses(self.text, query, ("expressions", "from_", "joins", "where", "with_"), INSTEAD_INSIDE)
        inner = self.read_sources(query, visible)
        source = FromItem(node.alias or (outer.alias if outer is not None else ""), {})
        translate = self.expressions(inner)
        for projection in query.expressions:
            for name, value in self._projected(projection, inner, translate):
                if match_name(name, source.columns) is not None:
                    source.ambiguous.add(name.casefold())
                source.columns[name] = value
        if outer is not None:
            self._rename(outer, source)
        self._add_source(node, scope, source)

    def _grouped(
        self,
        query: exp.Select,
        node: exp.Expr,
        scope: Scope,
        visible: Mapping[str, Definition],
        outer: exp.CTE | None,
    ) -> None:
        """A sub-select with GROUP BY is one occurrence, whose rows are made of others."""
        name = node.alias or (outer.alias if outer is not None else "")
        inside = Names(self.text, self.policy, self._catalogue, self._read_grouped)
        inside._used = self._used
        rows, found = self._read_grouped(inside, query, visible, node)
        alias = self._free_alias(name or "t")
        types = {column: value.kind for column, value in found.items() if value.kind != "null"}
        self.occurrences.append(Occurrence(alias, "a sub-select", Fraction(1), types, grouped=rows))
        columns = {
            column: replace(
                value, expression=exp.column(column, table=alias, quoted=True), column=(alias, column)
            )
            for column, value in found.items()
        }
        source = FromItem(name, columns)
        if outer is not None:
            self._rename(outer, source)
        self._add_source(node, scope, source)

    def find_domain(self, value: Value) -> tuple[Any, ...] | None:
        """The declared domain of a column."""
        if value.column is None:
            return None
        occurrence = next(one for one in self.everyone if one.alias == value.column[0])
        table = self.policy.table_named(occurrence.table)
        declared = None if table is None else match_name(value.column[1], table.columns)
        return None if table is None or declared is None else table.columns[declared].domain

    def _projected(self, node: exp.Expr, scope: Scope, translate: Expressions) -> list[tuple[str, Value]]:
        if isinstance(node, exp.Star):
            check_parts(self.text, node, (), "name the columns")
            return [pair for source in scope.sources for pair in source.columns.items()]
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            check_parts(self.text, node.this, (), "name the columns")
            return list(self._source_named(node, scope).columns.items())
        if isinstance(node, exp.Alias):
            return [(node.alias, translate.value(node.this))]
        if not isinstance(node, exp.Column):
            self.text.refuse(node, "give it a name: expression AS name")
        return [(node.name, translate.value(node))]

    def _add_source(self, node: exp.Expr, scope: Scope, source: FromItem) -> None:
        if source.name and any(other.name.casefold() == source.name.casefold() for other in scope.sources):
            self.text.wrong(
                node, f"the name {source.name!r} is given twice in FROM: write {source.name} AS other"
            )
        self._rename(node, source)
        scope.sources.append(source)

    def _rename(self, node: exp.Expr, source: FromItem) -> None:
        """Column names behind an alias: ``t AS x (a, b)``."""
        alias = node.args.get("alias")
        if alias is None or not isinstance(alias, exp.TableAlias):
            return
        check_parts(self.text, alias, ("this", "columns"), "write table AS name (column, ...)")
        for column in alias.args.get("columns") or []:
            check_parts(self.text, column, ("this", "quoted"), "write table AS name (column, ...)")
        names = [column.name for column in alias.args.get("columns") or []]
        if len(names) > len(source.columns):
            self.text.wrong(alias, f"there are {len(source.columns)} columns to name")
        if names:
            old = list(source.columns)
            values = list(source.columns.values())
            new = [*names, *old[len(names) :]]
            if len({name.casefold() for name in new}) < len(new):
                self.text.wrong(alias, "two columns would have one name")
            source.columns = dict(zip(new, values, strict=True))
            source.ambiguous = set()

    def _free_alias(self, wanted: str) -> str:
        taken = {occurrence.alias.casefold() for occurrence in self.everyone}
        base = wanted if _PLAIN_NAME.fullmatch(wanted) else "t"
        alias, number = base, 2
        while alias.casefold() in taken:
            alias, number = f"{base}_{number}", number + 1
        return alias

    # --- JOIN

    def _join(self, join: exp.Join, scope: Scope, visible: Mapping[str, Definition]) -> None:
        side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
        if side not in ("", "LEFT", "RIGHT") or kind not in ("", "INNER", "CROSS", *["OUTER"] * bool(side)):
            word = side if side not in ("", "LEFT", "RIGHT") else kind
            self.text.refuse(
                f"{word} JOIN",
                "full, semi and anti joins are not answered; write JOIN ... ON or LEFT JOIN ... ON",
                keyword=word,
            )
        if join.args.get("method"):
            word = str(join.args["method"])
            self.text.refuse(f"{word} JOIN", "write JOIN ... USING (column) or ON", keyword=word)
        check_parts(self.text, join, ("this", "side", "kind", "on", "using"), _INNER)
        if side and join.args.get("on") is None and not join.args.get("using"):
            self.text.refuse(f"{side} JOIN", "it needs ON or USING (column)", keyword=side, at=join)
        before = Scope(list(scope.sources), dict(scope.merged))
        began = self._mark()
        self._source(join.this, scope, visible)
        added = Scope(scope.sources[len(before.sources) :])
        first = len(self.conditions)
        for name in join.args.get("using") or []:
            column = exp.Column(this=name.copy())
            column.this.meta.update(name.meta)
            left, right = self._resolve(column, before), self._resolve(column, added)
            equal = compare_values(self.expressions(scope), column, exp.EQ, left, right)
            self._add_condition(equal.expression)
            scope.merged[name.name.casefold()] = right if side == "RIGHT" else left
        if join.args.get("on") is not None:
            self._add_conditions(join.args["on"], scope)
        if side:
            on = self.conditions[first:]
            del self.conditions[first:]
            left_side = side == "LEFT"
            missing = (began, self._mark()) if left_side else (scope.began, began)
            self._left_join(join, (added if left_side else before).sources, missing, on)

    def _left_join(
        self, join: exp.Join, sources: list[FromItem], marks: tuple[Mark, Mark], on: list[exp.Expr]
    ) -> None:
        """Take the one table between two marks out of the inner join; what was asked of it alone is asked in ON."""
        (o, c, j), (o_end, c_end, j_end) = marks
        word = str(join.args["side"])
        if o_end - o != 1 or j_end != j:
            self.text.refuse(f"{word} JOIN", f"{_ONE_SIDE}: join the others before, or behind it by LEFT JOIN",
                             keyword=word, at=join)  # fmt: skip
        occurrence = self.occurrences.pop(o)
        own = self.conditions[c:c_end]
        del self.conditions[c:c_end]
        for source in sources:
            for name, value in source.columns.items():
                if not is_null_without(value.expression, {occurrence.alias}):
                    self.text.refuse(f"{word} JOIN", f"{name!r} of the sub-select is not NULL where there is no "
                                     "partner; calculate it in the outer query", keyword=word, at=join)  # fmt: skip
        place = self.text.place(f"{word} JOIN", keyword=word, at=join)
        self.outer.append(OuterJoin(occurrence, (*own, *on), place))

    def _mark(self) -> Mark:
        return len(self.occurrences), len(self.conditions), len(self.outer)

    # --- conditions

    def _add_conditions(self, node: exp.Expr, scope: Scope) -> None:
        node = node.unnest() if isinstance(node, exp.Paren) else node
        if isinstance(node, exp.And):
            for part in node.flatten():
                self._add_conditions(part, scope)
            return
        self._add_condition(self.expressions(scope).condition(node))

    def _add_condition(self, condition: exp.Expr) -> None:
        condition = condition.unnest() if isinstance(condition, exp.Paren) else condition
        if isinstance(condition, exp.And):
            for part in condition.flatten():
                self._add_condition(part)
            return
        if isinstance(condition, exp.Boolean) and condition.this:
            return
        if len(self.conditions) >= MOST_CONDITIONS:
            self.text.refuse("WHERE", f"a question may have {MOST_CONDITIONS} conditions", keyword="WHERE")
        self.conditions.append(condition.copy())

    # --- columns

    def knows(self, column: exp.Column, scope: Scope) -> bool:
        """Whether a name without a table is a column of FROM, perhaps of several tables."""
        return any(match_name(column.name, source.columns) is not None for source in scope.sources)

    def _resolve(self, column: exp.Column, scope: Scope) -> Value:
        if column.args.get("db"):
            self.text.refuse(column, "write table.column, with the table's alias")
        if not isinstance(column.this, exp.Identifier):
            self.text.refuse(column, "name the columns")
        if column.args.get("table"):
            sources = [self._source_named(column, scope)]
        else:
            sources = scope.sources
            merged = scope.merged.get(column.name.casefold())
            if merged is not None:
                return _copied(merged)
        found = []
        for source in sources:
            name = match_name(column.name, source.columns)
            if name is not None:
                if name.casefold() in source.ambiguous:
                    self.text.wrong(column, "two columns of the sub-select have this name")
                found.append(source.columns[name])
        if len(found) > 1:
            owners = ", ".join(s.name for s in sources if match_name(column.name, s.columns) is not None)
            self.text.wrong(
                column, f"the column is in several tables; write one of {owners} and a dot before it"
            )
        if not found:
            for source in sources:
                if (name := match_name(column.name, source.left_out)) is not None:
                    self.text.refuse(column, source.left_out[name])
            known = {name: None for source in sources for name in source.columns}
            self.text.wrong(
                column,
                f"there is no column {column.name!r} here: {suggest_name(column.name, known, 'the columns')}",
            )
        return _copied(found[0])

    def _source_named(self, column: exp.Column, scope: Scope) -> FromItem:
        wanted = column.args["table"].name
        for source in scope.sources:
            if source.name.casefold() == wanted.casefold():
                return source
        known = {source.name: None for source in scope.sources}
        self.text.wrong(
            column, f"there is no table {wanted!r} in FROM: {suggest_name(wanted, known, 'the tables')}"
        )


def check_clauses(
    text: Text, select: exp.Select, allowed: tuple[str, ...], advice: Mapping[str, str] = INSTEAD
) -> None:
    """Refuse every clause of a SELECT that is not read."""
    for name, part in select.args.items():
        if part and name not in allowed:
            what = part[0] if isinstance(part, list) else part
            word = {"order": "ORDER", "sort": "SORT", "locks": "FOR", "pivots": None}.get(name, name.upper())
            word = "FETCH" if isinstance(what, exp.Fetch) else word
            instead = advice.get(
                name,
                "a question is SELECT ... FROM ... JOIN ... WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT",
            )
            shown: exp.Expr | str = what if isinstance(what, exp.Expr) else name.strip("_").upper()
            if isinstance(what, exp.Distinct | exp.Lock):
                # Not every dialect writes a lock, and DISTINCT would bring its columns along.
                shown = "DISTINCT" if isinstance(what, exp.Distinct) else "FOR UPDATE"
            text.refuse(shown, instead, keyword=word, at=select)


def _declared_range(known: ColumnPolicy | None, column: Column, path: str) -> Range:
    """What the policy says, and of the step, if it says nothing, what the type does: both are public."""
    if column.type not in NUMBERS:
        return Range()
    step = known.granularity if known is not None else None
    if step is None and column.type == "integer":
        step = Fraction(1)
    if step is None and column.scale is not None:
        step = Fraction(1, 10**column.scale)
    low, high = known.ends if known is not None and known.ends is not None else (None, None)
    missing = ([] if low is not None else [f"{path}.bounds"]) + (
        [] if step is not None else [f"{path}.granularity"]
    )
    return Range(low, high, step, tuple(missing))


def _copied(value: Value) -> Value:
    return replace(value, expression=value.expression.copy())


def _keyword(node: exp.Expr) -> str | None:
    return type(node).__name__.upper() if isinstance(node, exp.SetOperation) else None
