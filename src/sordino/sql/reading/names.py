"""Names: which column of which table a name means, with sub-selects and CTEs written out in place.

A sub-select that projects, renames, joins and filters is the same as its tables and conditions written in the outer
query, because every expression is deterministic and cannot raise. So what comes out is one flat list of
occurrences of tables and one flat list of conditions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from sordino.engines import Column, Table
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.conditions import compare_values
from sordino.sql.expressions.decimals import Digits
from sordino.sql.expressions.value import NUMBERS, Range, Value
from sordino.sql.policy import ColumnPolicy, Policy, match_name, suggest_name
from sordino.sql.question import Occurrence
from sordino.sql.text import Text, check_parts

MOST_OCCURRENCES = 16
MOST_CONDITIONS = 500
_INNER = "FROM takes tables, inner joins, and sub-selects that project, rename and filter"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")

# What stands in a SELECT beside the parts that are read, and what to ask in its place.
INSTEAD = {
    "distinct": "repeated rows cannot be dropped; count rows with COUNT(*), or group by a declared domain",
    "having": "every group is released, small ones with their noise; choose among the released groups afterwards",
    "qualify": "every group is released; choose among the released groups afterwards",
    "windows": "windows are not answered; ask one aggregate, or group by a column with a declared domain",
    "limit": "all groups are released; take the first ones afterwards",
    "offset": "all groups are released; take the ones you want afterwards",
    "fetch": "all groups are released; take the first ones afterwards",
    "sort": "write ORDER BY: it sorts the released rows",
    "laterals": "LATERAL is not answered; write a join with ON",
    "locks": "questions only read; leave the lock out",
    "into": "questions only read; leave INTO out",
    "pivots": "write GROUP BY over a column with a declared domain",
    "sample": "samples are not answered; ask about all rows",
}
_OUTERMOST = "aggregates stand in the outermost SELECT only"
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


class Names:
    """Collects the occurrences and conditions of a whole statement."""

    def __init__(self, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> None:
        self.text, self._policy, self._catalogue = text, policy, catalogue
        self.occurrences: list[Occurrence] = []
        self.conditions: list[exp.Expr] = []
        self._used: set[int] = set()

    def expressions(self, scope: Scope) -> Expressions:
        """The translator for one SELECT."""
        return Expressions(self.text, lambda column: self._resolve(column, scope))

    def read_sources(self, select: exp.Select, visible: Mapping[str, Definition]) -> Scope:
        """FROM, JOIN, WHERE and WITH of a SELECT."""
        visible = self._definitions(select, visible)
        scope = Scope()
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
        table = self._policy.table_named(name)
        found = None if table is None else match_name(table.name, self._catalogue)
        if table is None or found is None:
            hint = suggest_name(name, self._policy.tables, "the tables")
            self.text.wrong(node, f"there is no table {name!r} that may be asked about: {hint}")
        if len(self.occurrences) >= MOST_OCCURRENCES:
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
        self.occurrences.append(Occurrence(alias, found, weight, types, digits))
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
        taken = {occurrence.alias.casefold() for occurrence in self.occurrences}
        base = wanted if _PLAIN_NAME.fullmatch(wanted) else "t"
        alias, number = base, 2
        while alias.casefold() in taken:
            alias, number = f"{base}_{number}", number + 1
        return alias

    # --- JOIN

    def _join(self, join: exp.Join, scope: Scope, visible: Mapping[str, Definition]) -> None:
        if join.args.get("side") or join.args.get("kind") not in (None, "", "INNER", "CROSS"):
            word = str(join.args.get("side") or join.args.get("kind"))
            self.text.refuse(
                f"{word} JOIN",
                "outer, semi and anti joins are not answered; write an inner JOIN ... ON",
                keyword=word,
            )
        if join.args.get("method"):
            word = str(join.args["method"])
            self.text.refuse(f"{word} JOIN", "write JOIN ... USING (column) or ON", keyword=word)
        check_parts(self.text, join, ("this", "kind", "on", "using"), _INNER)
        before = Scope(list(scope.sources), dict(scope.merged))
        self._source(join.this, scope, visible)
        added = Scope(scope.sources[len(before.sources) :])
        for name in join.args.get("using") or []:
            column = exp.Column(this=name.copy())
            column.this.meta.update(name.meta)
            left, right = self._resolve(column, before), self._resolve(column, added)
            equal = compare_values(self.expressions(scope), column, exp.EQ, left, right)
            self._add_condition(equal.expression)
            scope.merged[name.name.casefold()] = left
        if join.args.get("on") is not None:
            self._add_conditions(join.args["on"], scope)

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
                name, "a question is SELECT ... FROM ... JOIN ... WHERE ... GROUP BY ... ORDER BY"
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
    low, high = known.bounds if known is not None and known.bounds is not None else (None, None)
    missing = ([] if low is not None else [f"{path}.bounds"]) + (
        [] if step is not None else [f"{path}.granularity"]
    )
    return Range(low, high, step, tuple(missing))


def _copied(value: Value) -> Value:
    return replace(value, expression=value.expression.copy())


def _keyword(node: exp.Expr) -> str | None:
    return type(node).__name__.upper() if isinstance(node, exp.SetOperation) else None
