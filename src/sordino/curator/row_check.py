"""RowCheck: whether the rows keep to what the policy declares about them. Confidential: for the owner alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.curator.dataset import DataSet
from sordino.engines import Snapshot, Table, write_double
from sordino.sql.lookups import make_table
from sordino.sql.policy import ColumnPolicy, OwnerPath, Policy, TablePolicy, find_promised_checks, match_name
from sordino.sql.question import write_literal
from sordino.sql.values.columns import round_to_lattice

WARNING = "NOT PRIVATE: counts of rows, for the owner of the data"
_BREAKS = "the guarantee does not hold"
_NOTE = "nothing rests on it until it is enforced"
_LEFT_OUT = "answers leave these rows out"
_CLIPPED = "sums clip them to the bounds"
_NO_GROUP = "they are in no group"
_NO_CELL = "they count as the lower bound; say so to those who ask, or fill them in"
_OFF = "they are rounded to it: moves between them are promised only from one multiple to the next"
_TOGETHER = "rows with one key are protected as one"


@dataclass(frozen=True, slots=True)
class Finding:
    """One declaration, and how many of ``of`` rows do not keep to it. ``then``: what follows for them.

    ``kind``: key, foreign_key, several_owners, check, null, granularity, bounds or domain. All but the last two are
    what the owner says that rows never do; values beyond bounds and domains are expected, and their share says how much
    is lost.
    """

    table: str
    kind: str
    declared: str
    rows: int
    of: int
    then: str

    @property
    def broken(self) -> bool:
        """Whether rows do what the policy says they never do."""
        return self.rows > 0 and self.kind not in ("bounds", "domain")

    @property
    def share(self) -> float:
        """The part of the rows."""
        return self.rows / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class RowCheck:
    """All declarations of a policy that rows can break, each with how many do."""

    dataset: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no key, foreign key or condition is broken."""
        return not any(finding.broken for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        listed = [
            asdict(finding) | {"share": finding.share, "broken": finding.broken} for finding in self.findings
        ]
        return {"warning": WARNING, "dataset": self.dataset, "holds": self.holds, "findings": listed}


def check_rows(data: DataSet) -> RowCheck:
    """Count, in one snapshot, the rows that do not keep to the policy."""
    tables = [_Checked(data, table) for table in data.policy.tables.values()]
    with data.engine.snapshot() as snapshot:
        found = tuple(finding for table in tables for finding in table.findings(snapshot))
    return RowCheck(data.policy.dataset, found)


@dataclass(frozen=True, slots=True)
class _Checked:
    """One table of a policy, ready to be asked about."""

    data: DataSet
    declared: TablePolicy

    @property
    def policy(self) -> Policy:
        return self.data.policy

    def findings(self, snapshot: Snapshot) -> Iterator[Finding]:
        """Keys first, then whom rows lead to, then conditions and values."""
        total = _count(snapshot, self._rows())
        entity = next((user.column for user in self.policy.users if user.table == self.declared.name), None)
        if self.declared.key:
            enforced = self.declared.key_enforced
            yield self._key(snapshot, self.declared.key, total, _BREAKS if enforced else _NOTE)
        if entity is not None and (entity,) != self.declared.key:
            yield self._key(snapshot, (entity,), total, _TOGETHER)
        for key in self.declared.foreign_keys:
            own = self._column(key.column)
            there = exp.select(_column_of(self._catalogued(key.to.table), key.to.column, "to")).from_(
                make_table(self._catalogued(key.to.table).name, "to")
            )
            nowhere = exp.and_(
                _is_there(own), exp.not_(exp.In(this=own, query=_without_null(there).subquery()))
            )
            then = _LEFT_OUT if self._is_owner_key(key.to.table) else _NOTE
            said = f"{key.column} → {key.to}"
            yield self._finding("foreign_key", said, _count(snapshot, self._rows(nowhere)), total, then)
        for path in self.policy.owner_paths(self.declared.name) if self.policy.users else ():
            if len(path.hops) > 1:
                yield self._several(snapshot, path, total)
        names = [column.name for column in self._catalogued(self.declared.name).columns]
        promised = find_promised_checks(self.declared, names, "t")
        for said, condition in zip(self.declared.checks, promised, strict=True):
            # one that is NULL does not break it, as in SQL
            broken = self._rows(exp.not_(exp.paren(condition)))
            yield self._finding("check", said, _count(snapshot, broken), total, _BREAKS)
        for column in self.declared.columns.values():
            yield from self._values(snapshot, column, total)

    def _key(self, snapshot: Snapshot, columns: Sequence[str], total: int, then: str) -> Finding:
        """Rows that share their key with another; a key with a NULL in it is nobody's."""
        parts = [self._column(name) for name in columns]
        counted = exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True)
        groups = exp.select(counted).from_(self._table()).where(*map(_is_there, parts)).group_by(*parts)
        groups = groups.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.convert(1)))
        together = exp.Sum(this=exp.column("n", table="g", quoted=True))
        query = exp.select(exp.alias_(together, "n", quoted=True)).from_(groups.subquery("g"))
        return self._finding(
            "key", f"no two rows share {', '.join(columns)}", _count(snapshot, query), total, then
        )

    def _several(self, snapshot: Snapshot, path: OwnerPath, total: int) -> Finding:
        """Rows whose key leads to rows of different owners."""
        first, *others = path.hops
        query = exp.select(_column_of(self._catalogued(first.to.table), first.to.column, "t0"))
        query = query.from_(make_table(self._catalogued(first.to.table).name, "t0"))
        alias = "t0"
        for place, (hop, after) in enumerate(zip(path.hops, others, strict=False), start=1):
            owner = _column_of(self._catalogued(hop.to.table), after.column, alias)
            if after is others[-1]:
                break
            alias = f"t{place}"
            to = self._catalogued(after.to.table)
            joined = exp.EQ(this=owner, expression=_column_of(to, after.to.column, alias))
            query = query.join(make_table(to.name, alias), on=joined)
        different = exp.LT(this=exp.Min(this=owner.copy()), expression=exp.Max(this=owner.copy()))
        query = query.group_by(query.expressions[0].copy()).having(different)
        several = exp.In(this=self._column(first.column), query=_without_null(query).subquery())
        said = f"one {path.entity} along {' → '.join(hop.column for hop in path.hops)}"
        return self._finding("several_owners", said, _count(snapshot, self._rows(several)), total, _LEFT_OUT)

    def _values(self, snapshot: Snapshot, column: ColumnPolicy, total: int) -> Iterator[Finding]:
        value = self._column(column.name)
        if column.bounds is not None:
            low, high = column.bounds
            outside = exp.or_(
                exp.LT(this=value, expression=_number(low)), exp.GT(this=value, expression=_number(high))
            )
            said = f"{column.name} in [{low}, {high}]"
            yield self._finding("bounds", said, _count(snapshot, self._rows(outside)), total, _CLIPPED)
        norm = self.declared.norm
        if norm is not None and norm.kinds.get(column.name, "is") != "is":
            yield from self._cells(snapshot, column, total)
        if column.period is not None:
            first, last = column.period
            after = write_literal(min(last, date.max - timedelta(days=1)) + timedelta(days=1))
            outside = exp.or_(
                exp.LT(this=value, expression=write_literal(first)), exp.GTE(this=value, expression=after)
            )
            said = f"{column.name} in [{first}, {last}]"
            yield self._finding("bounds", said, _count(snapshot, self._rows(outside)), total, _NO_GROUP)
        if column.domain is not None:
            listed = [write_literal(item) for item in column.domain if item is not None]
            unknown = exp.not_(exp.In(this=value, expressions=listed)) if listed else _is_there(value)
            if None not in column.domain:
                unknown = exp.or_(unknown, value.is_(exp.null()))
            said = f"{column.name} among {len(column.domain)} values"
            yield self._finding("domain", said, _count(snapshot, self._rows(unknown)), total, _NO_GROUP)

    def _cells(self, snapshot: Snapshot, column: ColumnPolicy, total: int) -> Iterator[Finding]:
        """Where moves of cells are protected: cells that are not there, or off the lattice on which they move."""
        value = self._column(column.name)
        missing = _count(snapshot, self._rows(value.copy().is_(exp.null())))
        yield self._finding("null", f"{column.name} is never NULL", missing, total, _NO_CELL)
        if column.granularity is None or column.bounds is None:
            return
        low, high = (write_double(float(bound)) for bound in column.bounds)
        number = exp.cast(value.copy(), exp.DataType.Type.DOUBLE)
        inside = exp.and_(
            exp.GTE(this=number.copy(), expression=low.copy()), exp.LTE(this=number.copy(), expression=high)
        )
        clipped = exp.Case(ifs=[exp.If(this=inside, true=number)], default=low)
        away = exp.Abs(
            this=exp.Sub(
                this=exp.paren(clipped),
                expression=exp.paren(round_to_lattice(clipped.copy(), column.granularity)),
            )
        )
        tolerance = write_double(float(column.granularity) * 1e-6)
        off = _count(snapshot, self._rows(exp.GT(this=away, expression=tolerance)))
        said = f"{column.name} in multiples of {column.granularity}"
        yield self._finding("granularity", said, off, total, _OFF)

    def _finding(self, kind: str, said: str, rows: int, total: int, then: str) -> Finding:
        return Finding(self.declared.name, kind, said, rows, total, then)

    def _is_owner_key(self, to: str) -> bool:
        """Whether a row that leads nowhere there belongs to nobody."""
        return bool(self.policy.users) and self.policy.tables[to].private

    def _rows(self, *conditions: exp.Expr) -> exp.Select:
        query = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True)).from_(self._table())
        return query.where(*map(exp.paren, conditions)) if conditions else query

    def _table(self) -> exp.Table:
        return make_table(self._catalogued(self.declared.name).name, "t")

    def _column(self, name: str) -> exp.Column:
        return _column_of(self._catalogued(self.declared.name), name, "t")

    def _catalogued(self, table: str) -> Table:
        return self.data.catalogue[match_name(table, self.data.catalogue) or table]


def _column_of(table: Table, name: str, alias: str) -> exp.Column:
    names = {column.name: column for column in table.columns}
    return exp.column(match_name(name, names) or name, table=alias, quoted=True)


def _is_there(value: exp.Expr) -> exp.Expr:
    return exp.not_(value.copy().is_(exp.null()))


def _without_null(query: exp.Select) -> exp.Select:
    """A NULL in the list of NOT IN would make all of it unknown."""
    return query.where(_is_there(query.expressions[0]))


def _number(value: Fraction) -> exp.Expr:
    if value.denominator == 1:
        return exp.convert(int(value))
    return exp.Literal.number(format(Decimal(value.numerator) / Decimal(value.denominator), "f"))


def _count(snapshot: Snapshot, query: exp.Select) -> int:
    """A count, or a sum of counts, which is NULL over nothing."""
    return int(snapshot.aggregate(query).column(0)[0].as_py() or 0)
