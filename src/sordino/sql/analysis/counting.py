"""What is counted: rows of a table or of a join, per value of some columns; and the SQL that counts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from sqlglot import exp

from sordino.sql.aggregates import LARGEST_CHANGE, SMALL_REACH, Measure
from sordino.sql.analysis.closure import NormalForm
from sordino.sql.analysis.formula import (
    Atom,
    Cell,
    Formula,
    equal,
    find_cells,
    is_present,
    read_cell,
    write_cell,
)
from sordino.sql.lookups import Lookup, make_source
from sordino.sql.question import find_group

WIDE = exp.DataType.build("DECIMAL(38, 0)")
# Rows of one table: engines keep it in 64 bits and sum it into more.
_NARROW = exp.DataType.build("DECIMAL(18, 0)")
_MOST_PERMUTED = 3
# Tables get names of ours, so that copies of one table are counted alike and no name of theirs meets one of ours.
ROWS = "t"


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Rows of one table, per value of the columns ``keys``; a row counts as often as its links say, multiplied.

    With a measure it counts that many times the size of what is summed. Equal descriptions are one count, whatever the
    aliases in the question were. Where a condition asks for the value of a group, rows are counted per group (g0, …).
    """

    table: str
    conditions: tuple[Formula, ...]
    keys: tuple[str, ...]
    links: tuple[Link, ...] = ()
    measure: Measure | None = None
    lookups: tuple[Lookup, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it counts rows of the table alone, each once."""
        return not self.links and self.measure is None

    @property
    def tables(self) -> tuple[tuple[str, str], ...]:
        """The alias of the table whose rows are counted, and its name."""
        return ((ROWS, self.table),)

    @property
    def all_lookups(self) -> tuple[Lookup, ...]:
        """What its rows look up."""
        return self.lookups

    @property
    def groups(self) -> tuple[int, ...]:
        """The places of the group keys that its rows, or what they meet, are restricted by."""
        own = {place for place, _ in split_groups(self.conditions)[0]}
        return tuple(sorted(own.union(*(link.counted.groups for link in self.links))))

    def select(self, source: CountTable, measures: Sequence[Measure | None] = ()) -> exp.Select:
        """Columns k0, k1, …, those of the groups, and c; with measures c0, c1, …, one each in place of its own."""
        totals = {f"c{place}": measure for place, measure in enumerate(measures)} or {"c": self.measure}
        keys = [Cell(ROWS, key) for key in self.keys]
        plain = all(link.counted.is_plain for link in self.links)
        conditions, groups = split_groups(self.conditions)[1], self._groups()
        linked, weights = self._linked(source)
        return _grouped(linked, conditions, keys, weights, totals, plain=plain, groups=groups)

    def select_rows(self, source: CountTable) -> exp.Select:
        """Columns k0, k1, … and c: what each row counts, as if no two of them had the same keys."""
        select, weights = self._linked(source)
        factors = weights if self.measure is None else [*weights, self.measure.size()]
        product = multiply_counts(factors) if factors else exp.Literal.number(1)
        keys = [name_column(write_cell(Cell(ROWS, key)), f"k{i}") for i, key in enumerate(self.keys)]
        return _filtered(select.select(*keys, name_column(product, "c"), copy=False), self.conditions)

    def _linked(self, source: CountTable) -> tuple[exp.Select, list[exp.Expr]]:
        """The rows with what they meet, and the numbers that this counts, but for those that are one."""
        select = exp.select().from_(make_source(self.table, ROWS, self.lookups), copy=False)
        groups = self._groups()
        weights: list[exp.Expr] = []
        for place, link in enumerate(self.links):
            on: list[exp.Expr] = [
                exp.EQ(
                    this=refer_to_column(f"k{key}", f"l{place}"), expression=write_cell(Cell(ROWS, column))
                )
                for key, column in enumerate(link.columns)
            ]
            for group in link.counted.groups:
                mine = refer_to_column(f"g{group}", f"l{place}")
                if mine != groups[group]:
                    on.append(exp.EQ(this=mine, expression=groups[group].copy()))
            met, once = source(self, link, f"l{place}")
            select.join(met, on=exp.and_(*on, copy=False), copy=False)
            if not once:
                weights.append(refer_to_column("c", f"l{place}"))
        return select, weights

    def _groups(self) -> dict[int, exp.Expr]:
        """Where the value of each group key stands: in the row, or in the first that it meets."""
        found: dict[int, exp.Expr] = {
            place: write_cell(cell) for place, cell in split_groups(self.conditions)[0]
        }
        for number, link in enumerate(self.links):
            for place in link.counted.groups:
                found.setdefault(place, refer_to_column(f"g{place}", f"l{number}"))
        return found


@dataclass(frozen=True, slots=True)
class Link:
    """What one row of a table meets: a count whose keys equal columns of the row, in this order."""

    counted: CountedRows
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """Combinations of rows of several tables that are not tied together like a tree, per value of ``keys``."""

    tables: tuple[tuple[str, str], ...]
    conditions: tuple[Formula, ...]
    keys: tuple[Cell, ...]
    measure: Measure | None = None
    lookups: tuple[tuple[Lookup, ...], ...] = ()

    @property
    def links(self) -> tuple[Link, ...]:
        """None: all rows are read here."""
        return ()

    @property
    def all_lookups(self) -> tuple[Lookup, ...]:
        """What its rows look up."""
        return tuple(lookup for lookups in self.lookups for lookup in lookups)

    @property
    def groups(self) -> tuple[int, ...]:
        """The places of the group keys that its rows are restricted by."""
        return tuple(place for place, _ in split_groups(self.conditions)[0])

    def select(self, source: CountTable) -> exp.Select:
        """Columns k0, k1, …, those of the groups, and c. A table of which one column matters is grouped by it first."""
        groups, conditions = split_groups(self.conditions)
        between = [part for part in conditions if len({cell.alias for cell in part.cells}) != 1]
        used = frozenset(self.keys).union((cell for _, cell in groups), *(part.cells for part in between))
        if self.measure is not None and self.measure.varies is not None:
            used |= find_cells(self.measure.varies)
        weights: list[exp.Expr] = []
        select = exp.select()
        kept = list(between)
        for (alias, table), lookups in zip(self.tables, self.lookups, strict=True):
            columns = sorted(cell for cell in used if cell.alias == alias)
            own = [part for part in conditions if {cell.alias for cell in part.cells} == {alias}]
            rows = make_source(table, alias, lookups)
            if len(columns) <= 1:
                grouped = _pregrouped(rows, columns, own)
                rows = grouped.subquery(exp.Identifier(this=alias, quoted=True), copy=False)
                weights.append(refer_to_column("sordino_w", alias))
            else:
                kept += own
            if alias == self.tables[0][0]:
                select.from_(rows, copy=False)
            else:
                select.join(rows, join_type="cross", copy=False)
        written = {place: write_cell(cell) for place, cell in groups}
        return _grouped(select, kept, self.keys, weights, {"c": self.measure}, plain=True, groups=written)


Counted = CountedRows | Flat


def collect_links(counts: Iterable[Counted]) -> set[Counted]:
    """The counts and all that they are made of."""
    found: set[Counted] = set()
    waiting = list(counts)
    while waiting:
        counted = waiting.pop()
        if counted not in found:
            found.add(counted)
            waiting += [link.counted for link in counted.links]
    return found


@lru_cache(maxsize=4096)
def split_groups(
    conditions: tuple[Formula, ...],
) -> tuple[tuple[tuple[int, Cell], ...], tuple[Formula, ...]]:
    """The cells that have the value of a group, by the place of its key; and the conditions for all groups at once.

    A cell = the value of each group in turn is a cell to group by that is not NULL.
    """
    cells: dict[int, Cell] = {}
    rest: list[Formula] = []
    for part in conditions:
        tree = part.expression if isinstance(part, Atom) else None
        place = find_group(tree.expression) if isinstance(tree, exp.EQ) else None
        if place is None or not isinstance(part, Atom):
            rest.append(part)
        elif place in cells:
            rest.append(equal(cells[place], part.places[0]))
        else:
            cells[place] = part.places[0]
            rest.append(is_present(part.places[0]))
    return tuple(sorted(cells.items())), tuple(rest)


# What stands in FROM for a link of a count, under an alias; and whether each of its rows counts as one.
CountTable = Callable[[CountedRows, Link, str], tuple[exp.Expr, bool]]


def describe_count(
    form: NormalForm, positions: Sequence[int], classes: Sequence[int], measure: Measure | None = None
) -> tuple[Counted, tuple[int, ...]]:
    """How many combinations of rows at some positions go together, per value of some classes of equal cells.

    With a measure: the sum of its size over them. Second: the class of each key.

    Positions that equalities tie together like a tree, with one of them holding all the classes, are counted from the
    leaves: every table is grouped by what ties it to the next, so no join is larger than a table.
    """
    parents = _tree(form, positions, frozenset(classes), measure)
    if parents is not None:
        return _rows(form, parents, next(iter(parents)), classes, measure)
    return _flat(form, positions, classes, measure)


def describe_rows(form: NormalForm, position: int, classes: Sequence[int]) -> CountedRows:
    """The rows of one table that pass its own conditions, per value of some classes."""
    return _rows(form, {position: None}, position, classes, None)[0]


def holds_measure(form: NormalForm, positions: Sequence[int]) -> bool:
    """Whether what is summed is computed from the rows at these positions; a constant is of no rows."""
    value = form.measure.varies
    if value is None:
        return False
    aliases = {cell.alias for cell in find_cells(value)}
    return bool(aliases) and aliases <= form.aliases(positions)


def _tree(
    form: NormalForm, positions: Sequence[int], classes: frozenset[int], measure: Measure | None
) -> dict[int, int | None] | None:
    """Each position's parent, the root first; None if they are no tree.

    A position may hang under a parent that holds all classes which it shares with those before it: then the values that
    it has in common with the rest are those of its parent's row.
    """
    if len(positions) > 1 and any(
        len({cell.alias for cell in part.cells}) > 1 for part in form.weakened(positions).conjuncts()
    ):
        return None
    if measure is not None and not any(holds_measure(form, (j,)) for j in positions):
        return None
    held = {j: form.classes_at(j) for j in positions}
    for root in positions:
        if not classes <= held[root]:
            continue
        parents: dict[int, int | None] = {root: None}
        while len(parents) < len(positions):
            before = frozenset().union(*(held[j] for j in parents))
            found = next(
                (
                    (j, parent)
                    for j in positions
                    if j not in parents and held[j] & before
                    for parent in parents
                    if held[j] & before <= held[parent]
                ),
                None,
            )
            if found is None:
                break
            parents[found[0]] = found[1]
        if len(parents) == len(positions):
            return parents
    return None


def _rows(
    form: NormalForm,
    parents: dict[int, int | None],
    position: int,
    classes: Sequence[int],
    measure: Measure | None,
) -> tuple[CountedRows, tuple[int, ...]]:
    occurrence = form.occurrences[position]
    links = []
    for child, parent in parents.items():
        if parent == position:
            shared = sorted(form.classes_at(child) & form.classes_at(position))
            below = measure if measure is not None and _below(form, parents, child) else None
            rows, order = _rows(form, parents, child, shared, below)
            links.append(Link(rows, tuple(form.cell(number, position).name for number in order)))
    own = measure if measure is not None and holds_measure(form, (position,)) else None
    names = {occurrence.alias: ROWS}
    keys = sorted((form.cell(number, position).name, number) for number in classes)
    found = CountedRows(
        occurrence.table,
        _in_order(form.restricted((position,), names)),
        tuple(name for name, _ in keys),
        tuple(sorted(links, key=lambda link: (link.counted.table, link.counted.keys, link.columns))),
        _renamed(own, names),
        occurrence.lookups,
    )
    return found, tuple(number for _, number in keys)


def _below(form: NormalForm, parents: dict[int, int | None], position: int) -> bool:
    """Whether what is summed is held by a position or by one that hangs under it."""
    return holds_measure(form, (position,)) or any(
        _below(form, parents, child) for child, parent in parents.items() if parent == position
    )


def _flat(
    form: NormalForm, positions: Sequence[int], classes: Sequence[int], measure: Measure | None
) -> tuple[Flat, tuple[int, ...]]:
    """Of the orders of copies of one table the one with the least text, so that symmetric joins are one."""
    tables = [form.occurrences[j].table for j in positions]
    permuted = len(set(tables)) < len(tables) and len(tables) <= _MOST_PERMUTED
    orders = permutations(positions) if permuted else [tuple(positions)]
    options = [_flat_in(form, order, classes, measure) for order in orders]
    return min(options, key=_text) if permuted else options[0]


def _text(option: tuple[Flat, tuple[int, ...]]) -> str:
    flat = option[0]
    return repr((flat.tables, flat.lookups, [part.text for part in flat.conditions], flat.keys))


def _flat_in(
    form: NormalForm, order: Sequence[int], classes: Sequence[int], measure: Measure | None
) -> tuple[Flat, tuple[int, ...]]:
    occurrences = [form.occurrences[j] for j in order]
    tables = [occurrence.table for occurrence in occurrences]
    written = [f"{ROWS}{place}" for place in range(len(tables))]
    names = {occurrence.alias: alias for occurrence, alias in zip(occurrences, written, strict=True)}
    keys = []
    for number in classes:
        cells = form.classes[number].inside(form.aliases(order))
        keys.append((min(Cell(names[cell.alias], cell.name) for cell in cells), number))
    keys.sort()
    found = Flat(
        tuple(zip(written, tables, strict=True)),
        _in_order(form.restricted(order, names)),
        tuple(cell for cell, _ in keys),
        _renamed(measure, names),
        tuple(occurrence.lookups for occurrence in occurrences),
    )
    return found, tuple(number for _, number in keys)


def _in_order(condition: Formula) -> tuple[Formula, ...]:
    return tuple(sorted(condition.conjuncts(), key=lambda part: part.text))


def _renamed(measure: Measure | None, names: dict[str, str]) -> Measure | None:
    if measure is None or measure.varies is None:
        return measure
    holder = exp.Paren(this=measure.varies.copy())
    for column in list(holder.find_all(exp.Column)):
        cell = read_cell(column)
        column.replace(write_cell(Cell(names.get(cell.alias, cell.alias), cell.name)))
    return measure.with_value(holder.this)


def refer_to_column(name: str, source: str | None = None) -> exp.Column:
    """A node for a column of ours."""
    return write_cell(Cell(source or "", name))


def name_column(value: exp.Expr, name: str) -> exp.Alias:
    """value AS name; ours."""
    return exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=True))


def _pregrouped(source: exp.Expr, cells: Sequence[Cell], conditions: Sequence[Formula]) -> exp.Select:
    columns = [write_cell(cell) for cell in cells]
    grouped = exp.select(
        *(name_column(column, column.name) for column in columns),
        name_column(exp.Count(this=exp.Star()), "sordino_w"),
    ).from_(source, copy=False)
    if conditions:
        grouped.where(*(part.tree() for part in conditions), copy=False)
    return grouped.group_by(*columns, copy=False) if columns else grouped


def _grouped(
    select: exp.Select,
    conditions: Sequence[Formula],
    keys: Sequence[Cell],
    weights: list[exp.Expr],
    totals: Mapping[str, Measure | None],
    *,
    plain: bool,
    groups: Mapping[int, exp.Expr],
) -> exp.Select:
    """Filter, group and total. ``plain``: the weights are numbers of rows of one table each."""
    _filtered(select, conditions)
    select.select(
        *(name_column(write_cell(cell), f"k{place}") for place, cell in enumerate(keys)),
        *(name_column(value.copy(), f"g{place}") for place, value in sorted(groups.items())),
        *(name_column(_total(weights, measure, plain=plain), name) for name, measure in totals.items()),
        copy=False,
    )
    by = [*map(write_cell, keys), *(value.copy() for _, value in sorted(groups.items()))]
    return select.group_by(*by, copy=False) if by else select


def _filtered(select: exp.Select, conditions: Sequence[Formula]) -> exp.Select:
    return select.where(*(part.tree() for part in conditions), copy=False) if conditions else select


def _total(weights: list[exp.Expr], measure: Measure | None, *, plain: bool) -> exp.Expr:
    """The sum over rows of the product of what each row meets, but at most `LARGEST_CHANGE`.

    **Guarantee**: what is counted here enters bounds as polynomials P with whole coefficients ≥ 0, of which only
    min(P, M) matters for M = `LARGEST_CHANGE`. min(P(min(n, M)), M) = min(P(n), M): if n > M is cut, either P does not
    depend on n, or its value is at least M with and without the cut. Sums, products and maxima of such are such.
    **Numerics**: M² < 10³⁸ and every product is cut before the next, so that none leaves 38 digits; nor does a sum of
    numbers up to M over fewer than 10¹⁹ rows. Numbers of rows of one table have 18 digits and their sums at least 28,
    which 10¹⁴ rows that meet 10¹⁴ others each do not fill.
    """
    if measure is None and not weights:
        return exp.Count(this=exp.Star())
    factors = [*weights] if measure is None else [*weights, measure.size()]
    if not weights and measure is not None and measure.reach <= SMALL_REACH:
        return _or_zero(exp.Sum(this=factors[0]))
    small = plain and measure is None and len(weights) == 1
    product = exp.cast(factors[0].copy(), _NARROW) if small else multiply_counts(factors)
    return _cut(_or_zero(exp.Sum(this=product)))


def multiply_counts(factors: Sequence[exp.Expr]) -> exp.Expr:
    """The product of one or more numbers up to `LARGEST_CHANGE`, cut there after each factor (`_total`)."""
    product: exp.Expr = exp.cast(factors[0].copy(), WIDE)
    for factor in factors[1:]:
        product = _cut(exp.Mul(this=product, expression=exp.cast(factor.copy(), WIDE)))
    return product


def _cut(number: exp.Expr) -> exp.Expr:
    return exp.Least(this=number, expressions=[exp.cast(exp.Literal.number(LARGEST_CHANGE), WIDE)])


def _or_zero(total: exp.Expr) -> exp.Expr:
    """What is summed over no rows is NULL; the type is that of the widest total."""
    return exp.Coalesce(this=total, expressions=[exp.cast(exp.Literal.number(0), WIDE)])
