"""From the text of a query to joins, groups and set operations; the rest is refused with its clause and place."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from sqlglot import exp

from sordino.sql.policy import match_name, suggest_name
from sordino.sql.reading.syntax import parse_statement, silence_parser
from sordino.sql.solver.conditions import Compared, Condition, Every
from sordino.sql.solver.query import GroupedLeaf, JoinLeaf, SetQuery, SetTree, SetWord, Shapes, SolverQuery
from sordino.sql.solver.reading import read_condition, read_term
from sordino.sql.solver.terms import RowField, Term
from sordino.sql.text import Text, check_parts

_WORDS: dict[type[exp.Expr], SetWord] = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}
_INNER = "FROM takes tables and inner joins"
_INSTEAD = {
    "having": "HAVING is not modelled; ask without it",
    "limit": "which rows LIMIT keeps is not defined; leave it out",
    "offset": "which rows OFFSET drops is not defined; leave it out",
    "order": "the order of rows changes nothing; leave it out",
    "qualify": "windows are not modelled",
    "windows": "windows are not modelled",
    "with_": "write the query without WITH",
}
MOST_LEAVES = 8
MOST_POSITIONS = 8


def read_query(sql: str, shapes: Shapes, *, dialect: str = "") -> SolverQuery:
    """The query of a text, over the tables of a schema.

    ``SELECT COUNT(*) FROM …`` is read as the rows that it counts; of groups, as one row without repeats for each.
    """
    with silence_parser():
        tree = parse_statement(sql, dialect)
        return _Parser(Text(sql, dialect), shapes).query(tree)


class _Parser:
    def __init__(self, text: Text, shapes: Shapes) -> None:
        self._text, self._shapes = text, shapes

    def query(self, tree: exp.Expr) -> SolverQuery:
        tree = self._without_brackets(tree)
        counted = self._counted(tree)
        if counted is not None:
            rows = self.query(counted)
            # A group that stays counts as before, whatever its aggregates are.
            return replace(rows.leaf, distinct=True) if isinstance(rows, GroupedLeaf) else rows
        if isinstance(tree, exp.SetOperation):
            return self._set_query(tree)
        if not isinstance(tree, exp.Select):
            self._text.refuse(tree, "ask one SELECT, or UNION, INTERSECT and EXCEPT of some", keyword=None)
        if tree.args.get("group"):
            return GroupedLeaf(self._leaf(tree, grouped=True))
        return self._leaf(tree)

    def _without_brackets(self, tree: exp.Expr) -> exp.Expr:
        while isinstance(tree, exp.Subquery):
            check_parts(self._text, tree, ("this", "alias"), "leave the brackets out")
            tree = tree.this
        return tree

    def _counted(self, tree: exp.Expr) -> exp.Expr | None:
        """What SELECT COUNT(*) FROM (…) counts."""
        if not isinstance(tree, exp.Select) or tree.args.get("group") or len(tree.expressions) != 1:
            return None
        count = tree.expressions[0].unalias()
        if not isinstance(count, exp.Count) or not isinstance(count.this, exp.Star):
            return None
        source = tree.args["from_"].this if tree.args.get("from_") else None
        if isinstance(source, exp.Subquery):
            self._check(tree, ("expressions", "from_"))
            return source
        rows = tree.copy()
        rows.set("expressions", [exp.Star()])
        return rows

    def _set_query(self, tree: exp.Expr) -> SetQuery:
        tree = self._without_brackets(tree)
        if isinstance(tree, exp.Select):
            if tree.args.get("group"):
                self._text.refuse("GROUP BY", "set operations take SELECT DISTINCT", keyword="GROUP", at=tree)
            return replace(self._leaf(tree), distinct=True)
        if type(tree) not in _WORDS:
            self._text.refuse(tree, "set operations are UNION, INTERSECT and EXCEPT", keyword=None)
        word = _WORDS[type(tree)]
        if not tree.args.get("distinct"):
            self._text.refuse(
                f"{word.upper()} ALL", f"write {word.upper()}, which drops repeats", keyword=word.upper()
            )
        check_parts(self._text, tree, ("this", "expression", "distinct"), "leave it out")
        left, right = self._set_query(tree.this), self._set_query(tree.expression)
        self._check_alike(tree, left, right, word)
        return SetTree(word, left, right)

    def _check_alike(self, tree: exp.Expr, left: SetQuery, right: SetQuery, word: str) -> None:
        kinds = [[term.kind for term in side.leaves()[0].outputs] for side in (left, right)]
        keyword = word.upper()
        if len(kinds[0]) != len(kinds[1]):
            self._text.wrong(
                keyword, f"one side has {len(kinds[0])} columns, the other {len(kinds[1])}", keyword=keyword
            )
        for a, b in zip(*kinds, strict=True):
            if a != b and not {a, b} <= {"integer", "real"}:
                self._text.wrong(keyword, f"types {a} and {b} do not fit together", keyword=keyword)
        if len(left.leaves()) + len(right.leaves()) > MOST_LEAVES:
            self._text.refuse(keyword, f"a query may combine {MOST_LEAVES} SELECTs", keyword=keyword)

    def _check(self, tree: exp.Select, allowed: tuple[str, ...]) -> None:
        for name, part in tree.args.items():
            if part and name not in allowed:
                word = {"order": "ORDER", "windows": "WINDOW"}.get(name, name.strip("_").upper())
                advice = _INSTEAD.get(name, "it is not modelled; leave it out")
                self._text.refuse(word, advice, keyword=word, at=tree)

    def _leaf(self, tree: exp.Select, *, grouped: bool = False) -> JoinLeaf:
        self._check(
            tree, ("expressions", "from_", "joins", "where", "distinct", *(("group",) if grouped else ()))
        )
        distinct = tree.args.get("distinct")
        if distinct is not None:
            check_parts(self._text, distinct, (), "write SELECT DISTINCT")
        scope = _Scope(self._text, self._shapes)
        conditions: list[Condition] = []
        if tree.args.get("from_") is None:
            self._text.refuse("SELECT", _INNER, keyword="SELECT", at=tree)
        scope.add(tree.args["from_"].this)
        for join in tree.args.get("joins") or []:
            conditions += self._join(join, scope)
        where = tree.args.get("where")
        if where is not None:
            conditions.append(read_condition(where.this, scope.resolve, self._text))
        names, outputs = self._outputs(tree, scope, grouped)
        return JoinLeaf(
            tuple(scope.tables),
            tuple(scope.aliases),
            Every(tuple(conditions)),
            outputs,
            names,
            distinct is not None,
        )

    def _join(self, join: exp.Join, scope: _Scope) -> list[Condition]:
        if join.args.get("side") or join.args.get("kind") not in (None, "", "INNER", "CROSS"):
            word = str(join.args.get("side") or join.args.get("kind"))
            self._text.refuse(
                f"{word} JOIN",
                "outer, semi and anti joins are not modelled; write an inner JOIN",
                keyword=word,
            )
        if join.args.get("method"):
            self._text.refuse(
                f"{join.args['method']} JOIN", "write JOIN ... ON", keyword=str(join.args["method"])
            )
        check_parts(self._text, join, ("this", "kind", "on", "using"), _INNER)
        before = len(scope.tables)
        scope.add(join.this)
        found: list[Condition] = []
        for name in join.args.get("using") or []:
            left = scope.find(name, name.name, range(before))
            right = scope.find(name, name.name, range(before, len(scope.tables)))
            found.append(Compared("=", left, right))
            scope.merged[name.name.casefold()] = left
        if join.args.get("on") is not None:
            found.append(read_condition(join.args["on"], scope.resolve, self._text))
        return found

    def _outputs(
        self, tree: exp.Select, scope: _Scope, grouped: bool
    ) -> tuple[tuple[str, ...], tuple[Term, ...]]:
        if grouped:
            group = tree.args["group"]
            check_parts(self._text, group, ("expressions",), "GROUP BY takes columns")
            terms = tuple(read_term(node, scope.resolve, self._text) for node in group.expressions)
            for node in tree.expressions:
                inner = node.unalias()
                if (
                    not isinstance(inner, exp.AggFunc)
                    and read_term(inner, scope.resolve, self._text) not in terms
                ):
                    self._text.wrong(node, "it is neither grouped by nor an aggregate")
            return tuple(node.name or f"column_{i}" for i, node in enumerate(group.expressions)), terms
        names: list[str] = []
        found: list[Term] = []
        for node in tree.expressions:
            inner = node.unalias()
            if isinstance(inner, exp.Star):
                check_parts(self._text, inner, (), "name the columns")
                for field in scope.list_fields():
                    names.append(field.column)
                    found.append(field)
                continue
            if isinstance(inner, exp.AggFunc | exp.Window):
                word = (
                    "windows are not modelled"
                    if isinstance(inner, exp.Window)
                    else (
                        "ask for the rows: SELECT COUNT(*) alone, or an aggregate with GROUP BY, is understood"
                    )
                )
                self._text.refuse(inner, word)
            names.append(node.alias_or_name or f"column_{len(names)}")
            found.append(read_term(inner, scope.resolve, self._text))
        return tuple(names), tuple(found)


class _Scope:
    """The positions of FROM and what names mean there."""

    def __init__(self, text: Text, shapes: Shapes) -> None:
        self._text, self._shapes = text, shapes
        self.tables: list[str] = []
        self.aliases: list[str] = []
        self.merged: dict[str, RowField] = {}

    def add(self, node: exp.Expr) -> None:
        """One table of FROM."""
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            self._text.refuse(node, f"{_INNER}; write sub-selects out", keyword=None)
        check_parts(self._text, node, ("this", "alias"), _INNER)
        name = match_name(node.name, self._shapes)
        if name is None:
            hint = suggest_name(node.name, self._shapes, "the tables")
            self._text.wrong(node, f"there is no table {node.name!r} in the schema: {hint}")
        alias = node.alias or node.name
        if alias.casefold() in {other.casefold() for other in self.aliases}:
            self._text.wrong(node, f"the name {alias!r} is given twice in FROM")
        if len(self.tables) >= MOST_POSITIONS:
            self._text.refuse(node, f"a SELECT may join {MOST_POSITIONS} tables")
        if node.args.get("alias") is not None:
            check_parts(self._text, node.args["alias"], ("this",), "write table AS name")
        self.tables.append(name)
        self.aliases.append(alias)

    def list_fields(self) -> list[RowField]:
        """All columns of all positions."""
        return [
            RowField(j, column.name, column.kind)
            for j, table in enumerate(self.tables)
            for column in self._shapes[table].columns
        ]

    def resolve(self, column: exp.Column) -> RowField:
        """The field that a name means."""
        if not isinstance(column.this, exp.Identifier) or column.args.get("db"):
            self._text.refuse(column, "write table.column")
        if not column.table:
            merged = self.merged.get(column.name.casefold())
            return merged if merged is not None else self.find(column, column.name, range(len(self.tables)))
        places = [j for j, alias in enumerate(self.aliases) if alias.casefold() == column.table.casefold()]
        if not places:
            known = dict.fromkeys(self.aliases)
            hint = suggest_name(column.table, known, "the tables")
            self._text.wrong(column, f"there is no table {column.table!r} in FROM: {hint}")
        return self.find(column, column.name, places)

    def find(self, node: exp.Expr, name: str, places: range | list[int]) -> RowField:
        """The only column of this name at some positions."""
        found = [
            RowField(j, column.name, column.kind)
            for j in places
            for column in self._shapes[self.tables[j]].columns
            if column.name.casefold() == name.casefold()
        ]
        if len(found) == 1:
            return found[0]
        self._lost(node, name, places, found)

    def _lost(self, node: exp.Expr, name: str, places: range | list[int], found: list[RowField]) -> NoReturn:
        if found:
            self._text.wrong(node, "the column is in several tables; write one of them and a dot before it")
        known = {column.name: None for j in places for column in self._shapes[self.tables[j]].columns}
        self._text.wrong(
            node, f"there is no column {name!r} here: {suggest_name(name, known, 'the columns')}"
        )
