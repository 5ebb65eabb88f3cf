"""Terms written as SQL in stages: what occurs several times is a column of an inner SELECT, computed once per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.values.joined import subquery_of
from sordino.sql.values.terms import SqlTerm

# Conditions are written where they are used; engines may write the smaller of two as a CASE, which names both twice.
_CONDITIONS = ("lt", "gt", "and")
_TWICE = ("min", "max", *_CONDITIONS)


def _bracket(tree: exp.Expr) -> exp.Expr:
    return exp.Paren(this=tree) if isinstance(tree, exp.Binary | exp.Neg) else tree


_WRITTEN: dict[str, Callable[..., exp.Expr]] = {
    "add": lambda a, b: exp.Add(this=_bracket(a), expression=_bracket(b)),
    "sub": lambda a, b: exp.Sub(this=_bracket(a), expression=_bracket(b)),
    "mul": lambda a, b: exp.Mul(this=_bracket(a), expression=_bracket(b)),
    "div": lambda a, b: exp.Div(this=_bracket(a), expression=_bracket(b), typed=True),
    "neg": lambda a: exp.Neg(this=_bracket(a)),
    "lt": lambda a, b: exp.LT(this=_bracket(a), expression=_bracket(b)),
    "gt": lambda a, b: exp.GT(this=_bracket(a), expression=_bracket(b)),
    "and": lambda a, b: exp.And(this=_bracket(a), expression=_bracket(b)),
    "where": lambda c, a, b: exp.Case(ifs=[exp.If(this=c, true=a)], default=b),
    "abs": lambda a: exp.Abs(this=a),
    "min": lambda a, b: exp.Least(this=a, expressions=[b], ignore_nulls=True),
    "max": lambda a, b: exp.Greatest(this=a, expressions=[b], ignore_nulls=True),
    "exp": lambda a: exp.Exp(this=a),
    "ln": lambda a: exp.Ln(this=a),
    "sqrt": lambda a: exp.Sqrt(this=a),
    "pow": lambda a, b: exp.Pow(this=a, expression=b),
}


@dataclass(slots=True)
class StageNumbers:
    """Equal terms have one number, so that each is computed once. ``nodes``: operation, parts and tree of each."""

    nodes: list[tuple[str, tuple[int, ...], exp.Expr | None]] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)
    _seen: dict[int, tuple[int, Any]] = field(default_factory=dict)

    def number(self, term: Any) -> int:
        """The number of a term."""
        if not isinstance(term, SqlTerm):
            return self._add(("number", float(term)), "number", (), write_double(float(term)))
        seen = self._seen.get(id(term))
        if seen is None:
            if term.tree is not None:
                found = self._add(("leaf", term.tree.sql()), "leaf", (), term.tree)
            else:
                parts = tuple(self.number(part) for part in term.parts)
                found = self._add((term.operation, parts), term.operation, parts, None)
            # the term is kept, so that its id stays its own
            seen = self._seen[id(term)] = found, term
        return seen[0]

    def _add(self, key: Any, operation: str, parts: tuple[int, ...], tree: exp.Expr | None) -> int:
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append((operation, parts, tree))
        return self._known[key]


def write_stages(
    rows: exp.Select, terms: Sequence[Any], kept: Sequence[str]
) -> tuple[exp.Select, list[exp.Expr]]:
    """SELECT of the kept columns and of what the terms need, and the terms as expressions of its columns."""
    numbering = StageNumbers()
    roots = [numbering.number(term) for term in terms]
    nodes = numbering.nodes
    uses = [0] * len(nodes)
    for root in roots:
        uses[root] += 1
    # parts come before what is made of them
    for operation, parts, _ in nodes:
        for part in parts:
            uses[part] += 2 if operation in _TWICE else 1
    named = {
        number
        for number, (_, parts, _) in enumerate(nodes)
        if parts and uses[number] > 1 and nodes[number][0] not in _CONDITIONS
    }
    stage = [0] * len(nodes)
    for number, (_, parts, _) in enumerate(nodes):
        stage[number] = max((stage[part] + (part in named) for part in parts), default=0)

    def write(number: int) -> exp.Expr:
        operation, parts, tree = nodes[number]
        if tree is not None:
            return tree.copy()
        return _WRITTEN[operation](*(read(part) for part in parts))

    def read(number: int) -> exp.Expr:
        return exp.column(f"part_{number}", quoted=True) if number in named else write(number)

    last = max((stage[root] + 1 for root in roots), default=1)
    columns = {number: write(number) for number in named}
    written = [read(root) for root in roots]
    query = rows
    for level in range(last):
        here = sorted(number for number in named if stage[number] == level)
        if not here:
            continue
        later = [columns[number] for number in named if stage[number] > level] + written
        needed = dict.fromkeys([*kept, *(c.name for tree in later for c in tree.find_all(exp.Column))])
        needed = dict.fromkeys(
            name for name in needed if not name.startswith("part_") or stage[int(name[5:])] < level
        )
        selected: list[exp.Expr] = [exp.column(name, quoted=True) for name in needed]
        selected += [exp.alias_(columns[number], f"part_{number}", quoted=True) for number in here]
        query = exp.select(*selected, copy=False).from_(subquery_of(query, f"stage_{level}"), copy=False)
    return query, written


def write_whole(term: Any) -> exp.Expr:
    """A term as one expression."""
    if not isinstance(term, SqlTerm):
        return write_double(float(term))
    if term.tree is not None:
        return term.tree.copy()
    return _WRITTEN[term.operation](*(write_whole(part) for part in term.parts))
