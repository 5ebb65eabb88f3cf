"""SQL that counts what a row meets: grouped counts of single tables and of joins of a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sordino.sql.analysis.closure import NormalForm
from sordino.sql.analysis.components import Cluster
from sordino.sql.analysis.formula import Cell, cells_of, column_of
from sordino.sql.question import Measure, Occurrence

_WIDE = "DECIMAL(38, 0)"


@dataclass(frozen=True, slots=True)
class Counting:
    """What to ask about one cluster, and where the numbers stand in the answer.

    ``statement`` gives rows (seen, columns …): seen = 1 for what some value of the key meets, 0 for the largest n_j
    over all keys of each table by itself. ``counted``: per column before the n_j, which component's count it is.
    ``positions``: whose n_j the other columns are.
    """

    statement: exp.Expr
    counted: tuple[int, ...]
    positions: tuple[int, ...]


def size_by_key(form: NormalForm, position: int) -> exp.Select:
    """n_j: the rows of one table that pass its own conditions, per value of its part of the key."""
    keys = form.keys((position,))
    columns = [column_of(cell) for _, cell in keys]
    names = [exp.alias_(column, f"k{number}") for column, (number, _) in zip(columns, keys, strict=True)]
    select = _select(form, (position,)).select(*names, exp.alias_(exp.Count(this=exp.Star()), "n"))
    return select.group_by(*columns) if columns else select


def largest(counts: exp.Select, column: str) -> exp.Select:
    """The largest number of a column, 0 if there are no rows."""
    return exp.select(exp.alias_(_largest(exp.column(column)), column)).from_(counts.subquery("counts"))


def joined_by(
    form: NormalForm, component: Sequence[int], keys: Sequence[tuple[int, Cell]], measure: Measure | None
) -> exp.Select:
    """How many combinations of rows at the positions go together per value of some columns.

    With a measure: the sum of its size over them.

    A table of which only one column matters is grouped by it first.
    """
    condition = form.restricted(component)
    between = [part for part in condition.conjuncts() if len({c.alias for c in part.cells}) != 1]
    used = frozenset().union(*(part.cells for part in between)) | {cell for _, cell in keys}
    if measure is not None and measure.value is not None:
        used |= cells_of(measure.value)
    inside = [part for part in condition.conjuncts() if len({c.alias for c in part.cells}) == 1]
    weights: list[exp.Expr] = []
    select = exp.select()
    for j in component:
        occurrence = form.occurrences[j]
        mine = sorted(cell for cell in used if cell.alias == occurrence.alias)
        own = [part for part in inside if {c.alias for c in part.cells} == {occurrence.alias}]
        if len(mine) <= 1 and len(component) > 1:
            columns = [column_of(cell) for cell in mine]
            grouped = exp.select(
                *(exp.alias_(c, c.name, quoted=True) for c in columns),
                exp.alias_(exp.cast(exp.Count(this=exp.Star()), _WIDE), "sordino_w"),
            ).from_(_table(occurrence))
            if own:
                grouped = grouped.where(*(part.tree() for part in own))
            source: exp.Expr = (grouped.group_by(*columns) if columns else grouped).subquery(
                exp.to_identifier(occurrence.alias, quoted=True)
            )
            weights.append(exp.column("sordino_w", exp.to_identifier(occurrence.alias, quoted=True)))
        else:
            source = _table(occurrence)
            if own:
                select = select.where(*(part.tree() for part in own))
        select = select.join(source, join_type="cross") if select.args.get("from_") else select.from_(source)
    if between:
        select = select.where(*(part.tree() for part in between))
    columns = [column_of(cell) for _, cell in keys]
    names = [exp.alias_(column, f"k{number}") for column, (number, _) in zip(columns, keys, strict=True)]
    select = select.select(*names, exp.alias_(_total(weights, measure), "c"))
    return select.group_by(*columns) if columns else select


def counting(form: NormalForm, cluster: Cluster, *, corner: bool = False) -> Counting:
    """The statement for a cluster; a component that holds all columns of a sum is summed, not counted.

    ``corner``: the largest counts alone, in place of the counts that go with each other.
    """
    holder = {
        number: form.measure
        for number, component in enumerate(cluster.components)
        if holds_measure(form, component)
    }
    counted = tuple(
        number
        for number, component in enumerate(cluster.components)
        if len(component) > 1 or number in holder
    )
    positions = cluster.positions
    tables = {f"sordino_n{j}": size_by_key(form, j) for j in positions}
    tables |= {
        f"sordino_c{number}": joined_by(
            form, cluster.components[number], form.keys(cluster.components[number]), holder.get(number)
        )
        for number in counted
    }
    largest_sizes = [_scalar(f"sordino_n{j}", "n") for j in positions]
    unseen = exp.select(
        exp.alias_(exp.Literal.number(0), "seen"),
        *(exp.alias_(exp.cast(exp.Literal.number(0), "VARCHAR"), f"c{number}") for number in counted),
        *(exp.alias_(value, f"n{j}") for j, value in zip(positions, largest_sizes, strict=True)),
    )
    query: exp.Query = unseen
    if counted or len(positions) > 1:
        seen = _corner(counted, positions) if corner else _seen(form, cluster, counted, positions)
        query = exp.union(seen, unseen, distinct=False)
    for name, table in tables.items():
        query = query.with_(name, as_=table)
    return Counting(query, counted, positions)


def holds_measure(form: NormalForm, positions: Sequence[int]) -> bool:
    """Whether what is summed can be computed from the rows at these positions."""
    value = form.measure.value
    if form.measure.kind == "count" or value is None:
        return False
    return {cell.alias for cell in cells_of(value)} <= form.aliases(positions)


def _seen(
    form: NormalForm, cluster: Cluster, counted: tuple[int, ...], positions: tuple[int, ...]
) -> exp.Select:
    """The counts that go with one value of the key, each combination once, and the last only at its largest."""
    sources: list[tuple[str, tuple[int, ...]]] = []
    for number, component in enumerate(cluster.components):
        if number in counted:
            sources.append((f"sordino_c{number}", component))
    sources += [(f"sordino_n{j}", (j,)) for j in positions]
    place: dict[int, str] = {}
    inner = exp.select()
    for name, where in sources:
        keys = [number for number, _ in form.keys(where)]
        on = [
            exp.EQ(this=exp.column(f"k{number}", name), expression=exp.column(f"k{number}", place[number]))
            for number in keys
            if number in place
        ]
        if not inner.args.get("from_"):
            inner = inner.from_(exp.to_table(name))
        elif on:
            inner = inner.join(exp.to_table(name), on=exp.and_(*on))
        else:
            inner = inner.join(exp.to_table(name), join_type="cross")
        place |= {number: name for number in keys if number not in place}
    inner = inner.select(
        *(exp.alias_(exp.column("c", f"sordino_c{number}"), f"c{number}") for number in counted),
        *(exp.alias_(exp.column("n", f"sordino_n{j}"), f"n{j}") for j in positions),
    )
    names = [*(f"c{number}" for number in counted), *(f"n{j}" for j in positions)]
    last = names[-1]
    kept = [exp.column(name) for name in names[:-1]]
    outer = exp.select(
        exp.alias_(exp.Literal.number(1), "seen"),
        *(exp.alias_(_sent(name), name) for name in names[:-1]),
        exp.alias_(exp.Max(this=exp.column(last)), last),
    ).from_(inner.subquery("vectors"))
    return outer.group_by(*kept) if kept else outer


def _corner(counted: tuple[int, ...], positions: tuple[int, ...]) -> exp.Select:
    return exp.select(
        exp.alias_(exp.Literal.number(1), "seen"),
        *(
            exp.alias_(exp.cast(_scalar(f"sordino_c{number}", "c"), "VARCHAR"), f"c{number}")
            for number in counted
        ),
        *(exp.alias_(_scalar(f"sordino_n{j}", "n"), f"n{j}") for j in positions),
    )


def _sent(name: str) -> exp.Expr:
    """A join's count may need more than 64 bits and leaves as text."""
    return exp.cast(exp.column(name), "VARCHAR") if name.startswith("c") else exp.column(name)


def _scalar(table: str, column: str) -> exp.Expr:
    return exp.select(_largest(exp.column(column))).from_(table).subquery()


def _largest(column: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=exp.Max(this=column), expressions=[exp.Literal.number(0)])


def _select(form: NormalForm, positions: Sequence[int]) -> exp.Select:
    select = exp.select()
    for number, j in enumerate(positions):
        source = _table(form.occurrences[j])
        select = select.join(source, join_type="cross") if number else select.from_(source)
    parts = form.restricted(positions).conjuncts()
    return select.where(*(part.tree() for part in parts)) if parts else select


def _table(occurrence: Occurrence) -> exp.Expr:
    schema, _, name = occurrence.table.rpartition(".")
    table = exp.Table(
        this=exp.to_identifier(name, quoted=True),
        db=exp.to_identifier(schema, quoted=True) if schema else None,
    )
    return exp.alias_(table, exp.to_identifier(occurrence.alias, quoted=True), table=True)


def _total(weights: list[exp.Expr], measure: Measure | None) -> exp.Expr:
    if measure is None and not weights:
        return exp.Count(this=exp.Star())
    factors = [*weights]
    if measure is not None:
        factors.append(exp.cast(size_of(measure), _WIDE))
    product = factors[0]
    for factor in factors[1:]:
        product = exp.Mul(this=product, expression=factor)
    total = exp.Sum(this=product)
    return exp.Coalesce(this=total, expressions=[exp.cast(exp.Literal.number(0), _WIDE)])


def size_of(measure: Measure) -> exp.Expr:
    """At least |what a joined row adds|, in whole steps, and at most the measure's reach.

    A row adds ⌊v/step + ½⌋ for v clipped; ⌈|v|/step⌉ is at least as large however v/step was rounded on the way.
    """
    value = measure.value
    if value is None:
        return exp.Literal.number(1)
    low, high = (abs(int(bound / measure.step)) for bound in (measure.low, measure.high))
    steps = exp.Abs(this=exp.Paren(this=value.copy()))
    scale = 1 / measure.step
    scaled: exp.Expr = steps
    if scale != 1:
        scaled = exp.Mul(this=steps, expression=_number(Fraction(scale.numerator)))
        if scale.denominator != 1:
            scaled = exp.Div(this=exp.cast(scaled, "DOUBLE"), expression=_number(Fraction(scale.denominator)))
    return (
        exp.case()
        .when(exp.LT(this=value.copy(), expression=_number(measure.low)), _number(Fraction(low)))
        .when(exp.GT(this=value.copy(), expression=_number(measure.high)), _number(Fraction(high)))
        .else_(exp.Least(this=exp.Ceil(this=scaled), expressions=[_number(Fraction(measure.reach))]))
    )


def _number(value: Fraction) -> exp.Expr:
    if value.denominator == 1:
        return exp.Literal.number(int(value))
    return exp.Literal.number(f"{float(value)!r}")


def frequency(form: NormalForm, position: int, cell: Cell | None) -> exp.Select:
    """How often the most frequent value of a column occurs, or how many rows there are."""
    rows = _select(form, (position,)).select(exp.alias_(exp.Count(this=exp.Star()), "n"))
    if cell is None:
        return rows
    return largest(rows.group_by(column_of(cell)), "n")


def largest_join(form: NormalForm, component: Sequence[int]) -> exp.Select:
    """T_E of a component: the largest number of combinations for one value of what ties it to the positions outside."""
    names = form.aliases(component)
    boundary = [
        inside[0]
        for equals in form.classes
        if not equals.constants
        and (inside := equals.inside(names))
        and any(cell.alias not in names for cell in equals.cells)
    ]
    counts = joined_by(form, component, [(n, cell) for n, cell in enumerate(boundary)], None)
    top = exp.alias_(exp.cast(_largest(exp.column("c")), "VARCHAR"), "c")
    return exp.select(top).from_(counts.subquery("counts"), copy=False)
