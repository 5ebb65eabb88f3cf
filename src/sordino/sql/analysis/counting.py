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
    ``positions``: whose n_j the other columns are. ``joins``: the sub-queries of the counts.
    """

    statement: exp.Expr
    counted: tuple[int, ...]
    positions: tuple[int, ...]
    joins: tuple[exp.Select, ...]


def size_by(form: NormalForm, position: int, cells: Sequence[Cell]) -> exp.Select:
    """The rows of one table that pass its own conditions, per value of some of its columns."""
    select = _select(form, (position,)).select(
        *_named_keys(cells), exp.alias_(exp.Count(this=exp.Star()), "n"), copy=False
    )
    return select.group_by(*map(column_of, cells), copy=False) if cells else select


def largest_size(form: NormalForm, position: int, cells: Sequence[Cell]) -> exp.Select:
    """How many rows of one table that pass its own conditions agree in some columns, at most."""
    sizes = size_by(form, position, cells)
    if not cells:
        return sizes
    return exp.select(exp.alias_(_largest(exp.column("n")), "n")).from_(
        sizes.subquery("sizes", copy=False), copy=False
    )


def joined_by(
    form: NormalForm, component: Sequence[int], keys: Sequence[Cell], measure: Measure | None
) -> exp.Select:
    """How many combinations of rows at the positions go together per value of some columns.

    With a measure: the sum of its size over them.

    A table of which only one column matters is grouped by it first.
    """
    condition = form.restricted(component)
    between = [part for part in condition.conjuncts() if len({c.alias for c in part.cells}) != 1]
    used = frozenset().union(*(part.cells for part in between)) | set(keys)
    if measure is not None and measure.value is not None:
        used |= cells_of(measure.value)
    inside = [part for part in condition.conjuncts() if len({c.alias for c in part.cells}) == 1]
    weights: list[exp.Expr] = []
    select = exp.select()
    for j in component:
        occurrence = form.occurrences[j]
        mine = sorted(cell for cell in used if cell.alias == occurrence.alias)
        own = [part for part in inside if {c.alias for c in part.cells} == {occurrence.alias}]
        if len(mine) <= 1 < len(component):
            columns = [column_of(cell) for cell in mine]
            grouped = exp.select(
                *(exp.alias_(c, c.name, quoted=True) for c in columns),
                exp.alias_(exp.Count(this=exp.Star()), "sordino_w"),
            ).from_(_table(occurrence))
            if own:
                grouped = grouped.where(*(part.tree() for part in own), copy=False)
            source: exp.Expr = (grouped.group_by(*columns, copy=False) if columns else grouped).subquery(
                exp.to_identifier(occurrence.alias, quoted=True)
            )
            weights.append(exp.column("sordino_w", exp.to_identifier(occurrence.alias, quoted=True)))
        else:
            source = _table(occurrence)
            if own:
                select = select.where(*(part.tree() for part in own), copy=False)
        select = (
            select.from_(source, copy=False)
            if j == component[0]
            else select.join(source, join_type="cross", copy=False)
        )
    if between:
        select = select.where(*(part.tree() for part in between), copy=False)
    select = select.select(*_named_keys(keys), exp.alias_(_total(weights, measure), "c"), copy=False)
    return select.group_by(*map(column_of, keys), copy=False) if keys else select


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
    tables = {f"sordino_n{j}": size_by(form, j, keys_of(form, (j,))) for j in positions}
    joins = {
        number: joined_by(form, component, keys_of(form, component), holder.get(number))
        for number, component in enumerate(cluster.components)
        if number in counted
    }
    tables |= {f"sordino_c{number}": joined for number, joined in joins.items()}
    largest_sizes = [_scalar(f"sordino_n{j}", "n") for j in positions]
    unseen = exp.select(
        exp.alias_(exp.Literal.number(0), "seen"),
        *(exp.alias_(exp.cast(exp.Literal.number(0), "VARCHAR"), f"c{number}") for number in counted),
        *(exp.alias_(value, f"n{j}") for j, value in zip(positions, largest_sizes, strict=True)),
    )
    query: exp.Query = unseen
    if counted or len(positions) > 1:
        seen = _corner(counted, positions) if corner else _seen(form, cluster, counted, positions)
        query = exp.union(seen, unseen, distinct=False, copy=False)
    for name, table in tables.items():
        query = query.with_(name, as_=table, copy=False)
    return Counting(query, counted, positions, tuple(joins.values()))


def keys_of(form: NormalForm, positions: Sequence[int]) -> list[Cell]:
    """A cell for every class that ties the row to these positions."""
    return sorted(cell for _, cell in form.keys(positions))


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
    place: dict[int, exp.Column] = {}
    inner = exp.select()
    for first, (name, where) in enumerate(sources):
        cells = keys_of(form, where)
        keys = {number: exp.column(f"k{cells.index(cell)}", name) for number, cell in form.keys(where)}
        on = [
            exp.EQ(this=column, expression=place[number].copy())
            for number, column in keys.items()
            if number in place
        ]
        if not first:
            inner = inner.from_(exp.to_table(name), copy=False)
        elif on:
            inner = inner.join(exp.to_table(name), on=exp.and_(*on), copy=False)
        else:
            inner = inner.join(exp.to_table(name), join_type="cross", copy=False)
        place = keys | place
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
    ).from_(inner.subquery("vectors", copy=False), copy=False)
    return outer.group_by(*kept, copy=False) if kept else outer


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
    return select.where(*(part.tree() for part in parts), copy=False) if parts else select


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
        factors.append(size_of(measure))
    # A sum of counts has the engine's widest whole numbers; a product of several would have those of its factors.
    product = exp.cast(factors[0], _WIDE) if len(factors) > 1 or measure is not None else factors[0]
    for factor in factors[1:]:
        product = exp.Mul(this=product, expression=exp.cast(factor, _WIDE))
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


def largest_join(joined: exp.Select) -> exp.Select:
    """The largest count of a join that is grouped."""
    top = exp.alias_(exp.cast(_largest(exp.column("c")), "VARCHAR"), "c")
    return exp.select(top).from_(joined.subquery("counts", copy=False), copy=False)


def boundary(form: NormalForm, component: Sequence[int]) -> list[Cell]:
    """A cell for every class that ties a component to positions outside it."""
    names = form.aliases(component)
    return sorted(
        inside[0]
        for equals in form.classes
        if not equals.constants
        and (inside := equals.inside(names))
        and any(cell.alias not in names for cell in equals.cells)
    )


def _named_keys(cells: Sequence[Cell]) -> list[exp.Expr]:
    return [exp.alias_(column_of(cell), f"k{place}") for place, cell in enumerate(cells)]
