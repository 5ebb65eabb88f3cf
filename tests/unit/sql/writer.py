"""Writes random questions over the columns of a table, mostly well typed: for tests that nothing raises."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sqlglot import exp

from .nasty import HOSTILE_DAYS, HOSTILE_NUMBERS, HOSTILE_TEXTS


@dataclass(frozen=True, slots=True)
class Words:
    """Literals as a question writes them."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    days: tuple[str, ...]


PLAIN = Words(
    ("0", "1", "-1", "0.1", "2.5e10", "1e-60", "9223372036854775807", "9223372036854775808",
     "99999999999999999999999", "1e99", "-1e99", "NULL"),
    ("'a'", "''", "'2024-02-29'", "'12'", "NULL", "'é'"),
    ("DATE '2024-02-29'", "TIMESTAMP '2024-02-29 00:00:00'"),
)  # fmt: skip


def quoted(text: str, dialect: str) -> str:
    """A text as a question on this engine writes it."""
    return exp.Literal.string(text).sql(dialect=dialect)


def hostile(dialect: str) -> Words:
    """Literals at the ends of every type, and texts that mean something to somebody."""
    texts = (*PLAIN.texts, *(quoted(text, dialect) for text in HOSTILE_TEXTS))
    return Words(HOSTILE_NUMBERS, texts, HOSTILE_DAYS)


@dataclass(frozen=True, slots=True)
class Columns:
    """A table's columns by what can be asked of them. ``odd``: of types that can only be NULL or not."""

    numbers: tuple[str, ...]
    whole: tuple[str, ...]
    texts: tuple[str, ...]
    days: tuple[str, ...]
    flags: tuple[str, ...]
    odd: tuple[str, ...] = ()

    def sorts(self) -> tuple[tuple[str, ...], ...]:
        """What can be compared with one another."""
        return (self.numbers, self.texts, self.days, self.flags)

    def of(self, alias: str) -> Columns:
        """The same with the alias before every name."""
        return Columns(*(tuple(f"{alias}.{name}" for name in group) for group in (*self._kinds(), self.odd)))

    def together(self, other: Columns) -> Columns:
        """Those of both."""
        return Columns(
            *(a + b for a, b in zip((*self._kinds(), self.odd), (*other._kinds(), other.odd), strict=True))
        )

    def _kinds(self) -> tuple[tuple[str, ...], ...]:
        return (self.numbers, self.whole, self.texts, self.days, self.flags)


class Writer:
    """Random expressions and statements over the columns of one table."""

    def __init__(self, draw: Random, columns: Columns, words: Words = PLAIN) -> None:
        self.draw, self.columns, self.words = draw, columns, words

    def number(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or d.random() < 0.2:
            return d.choice([*self.columns.numbers, *self.columns.numbers, *self._some(self.words.numbers)])
        a, b = (self.number(depth - 1) for _ in range(2))
        return d.choice(
            [
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"(-{a})", f"ABS({a})",
                f"COALESCE({a}, {b})", f"NULLIF({a}, {b})", f"GREATEST({a}, {b})", f"LEAST({a}, {b})",
                f"CASE WHEN {self.truth(depth - 1)} THEN {a} ELSE {b} END", f"CAST({self.text(depth - 1)} AS BIGINT)",
                f"CAST({self.text(depth - 1)} AS DOUBLE PRECISION)", f"CAST({a} AS DOUBLE PRECISION)",
                f"LENGTH({self.text(depth - 1)})", f"({d.choice(self.columns.whole)} % 7)",
                f"EXTRACT({d.choice(['year', 'month', 'day'])} FROM {self.day(depth - 1)})",
                f"CAST({self.truth(depth - 1)} AS BIGINT)",
            ]
        )  # fmt: skip

    def text(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or d.random() < 0.4:
            return d.choice([*self.columns.texts, *self._some(self.words.texts)])
        a, b = (self.text(depth - 1) for _ in range(2))
        return d.choice([f"LOWER({a})", f"UPPER({a})", f"({a} || {b})", f"SUBSTRING({a}, 1, 2)", f"COALESCE({a}, {b})",
                         f"CAST({d.choice(self.columns.whole)} AS TEXT)", f"NULLIF({a}, {b})"])  # fmt: skip

    def day(self, depth: int) -> str:
        d = self.draw
        a, b = (d.choice([*self.columns.days, *self.words.days]) for _ in range(2))
        if depth <= 0 or d.random() < 0.6:
            return a
        return d.choice([f"CAST({a} AS DATE)", f"CAST({a} AS TIMESTAMP)", f"CAST({self.text(depth - 1)} AS DATE)",
                         f"COALESCE({a}, {b})"])  # fmt: skip

    def truth(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or d.random() < 0.1:
            return d.choice([*self.columns.flags, "TRUE", "FALSE", "NULL", f"{self.columns.whole[0]} > 0",
                             *(f"{name} IS {d.choice(['', 'NOT '])}NULL" for name in self.columns.odd)])  # fmt: skip
        sort = d.choice([self.number, self.text, self.day])
        x, y, z = (sort(depth - 1) for _ in range(3))
        p, q = (self.truth(depth - 1) for _ in range(2))
        sign = (
            d.choice(["=", "<>", "<", ">=", "IS DISTINCT FROM"])
            if sort != self.text
            else d.choice(["=", "<>", "LIKE"])
        )
        return d.choice([f"{x} {sign} {y}", f"({p} AND {q})", f"({p} OR {q})", f"(NOT {p})", f"{x} IS NULL",
                         f"{x} IS NOT NULL", f"{x} BETWEEN {y} AND {z}", f"{x} IN ({y}, {z})", f"({p}) IS TRUE",
                         f"({p}) = ({q})"])  # fmt: skip

    def _some(self, literals: tuple[str, ...]) -> list[str]:
        """At most a dozen of them, so that columns are asked about more often."""
        return list(literals) if len(literals) <= 12 else self.draw.sample(literals, 12)

    def total(self) -> str:
        """A sum or a mean over a join: of a column, clipped, or chosen among columns and literals."""
        d = self.draw
        column = d.choice(d.choice([self.columns.numbers, self.columns.whole]))
        literal = d.choice(self.words.numbers)
        low, high = d.choice(
            [("-5", "5"), ("-128", "127"), ("-1125899906842624", "1125899906842624"), ("-0.5", "0.25")]
        )
        return d.choice([
            *[f"SUM({column})"] * 4, f"AVG({column})", f"SUM(LEAST(GREATEST({column}, {low}), {high}))",
            f"SUM(CASE WHEN {self.truth(1)} THEN {literal} ELSE {column} END)",
            f"SUM(CASE WHEN {self.truth(1)} THEN {literal} ELSE {d.choice(self.words.numbers)} END)",
            f"SUM(LEAST(GREATEST({self.number(2)}, {low}), {high}))", f"SUM(ABS({column}))", f"SUM(-{column})",
            f"SUM({column} * {d.choice(['2', '0.5', '-1', '0.001'])})",
            f"SUM({column} - {d.choice(self.columns.numbers)})",
        ])  # fmt: skip

    def measure(self) -> str:
        """An aggregate; a condition becomes one by counting where it holds."""
        d = self.draw
        depth = d.randint(1, 4)
        clipped = f"SUM(LEAST(GREATEST({self.number(depth)}, -5), 5))"
        holds = f"COUNT(CASE WHEN {self.truth(depth)} THEN 1 END)"
        return d.choice([holds, holds, holds, clipped, f"COUNT({self.number(depth)})", f"SUM({self.number(2)})",
                         f"AVG({self.number(1)})", f"COUNT({self.text(2)})", f"COUNT({self.day(2)})"])  # fmt: skip

    def statement(self, table: str = "w", keys: tuple[str, ...] = ("s", "b")) -> str:
        """One or two aggregates of the rows where a condition holds, perhaps in groups."""
        d = self.draw
        depth = d.randint(1, 4)
        head = d.choice(["COUNT(*)", self.measure(), f"{self.measure()}, COUNT(*)"])
        first = ", ".join(keys[:1])
        every = ", ".join(keys)
        key, group = d.choice(
            [("", ""), ("", ""), (f"{first}, ", f" GROUP BY {first}"), (f"{every}, ", f" GROUP BY {every}")]
        )
        return f"SELECT {key}{head} FROM {table} WHERE {self.truth(depth)}{group}"


def join(
    draw: Random, tables: dict[str, Columns], occurrences: int, words: Words = PLAIN, key: str = ""
) -> str:
    """Aggregates over a join of two to four tables: a chain, a star or a cycle of equal columns of one sort.

    Perhaps an order in place of an equality, perhaps further conditions. ``key``: a column to group by.
    """
    names = [draw.choice(list(tables)) for _ in range(occurrences)]
    aliases = "xyzu"[:occurrences]
    columns = [tables[name].of(alias) for alias, name in zip(aliases, names, strict=True)]
    ties = [(place, draw.choice([place - 1, draw.randrange(place)])) for place in range(1, occurrences)]
    if occurrences > 2 and draw.random() < 0.4:
        ties.append((occurrences - 1, 0))
    conditions = [tie for place, other in ties for tie in _tied(draw, columns[place], columns[other])]
    every = columns[0]
    for more in columns[1:]:
        every = every.together(more)
    writer = Writer(draw, every, words)
    if draw.random() < 0.5:
        conditions.append(Writer(draw, draw.choice(columns), words).truth(2))
    if draw.random() < 0.2:
        conditions.append(writer.truth(1))
    totals = Writer(draw, draw.choice(columns), words)
    head = draw.choice(
        ["COUNT(*)", "COUNT(*)", totals.total(), totals.total(), f"{writer.total()}, COUNT(*)"]
    )
    source = ", ".join(f"{name} AS {alias}" for name, alias in zip(names, aliases, strict=True))
    where = " AND ".join(f"({condition})" for condition in conditions)
    group = f"{draw.choice(aliases)}.{key}" if key else ""
    return f"SELECT {f'{group}, ' if key else ''}{head} FROM {source} WHERE {where}" + (
        f" GROUP BY {group}" if key else ""
    )


def _tied(draw: Random, mine: Columns, theirs: Columns) -> list[str]:
    """One or two comparisons of columns of one sort, often of the same name."""
    found = []
    for _ in range(draw.choice([1, 1, 2])):
        ours, others = draw.choice(list(zip(mine.sorts(), theirs.sorts(), strict=True)))
        sign = draw.choice(["=", "=", "=", "<"]) if ours not in (mine.texts, mine.flags) else "="
        left = draw.choice(ours)
        alike = [other for other in others if other.partition(".")[2] == left.partition(".")[2]]
        found.append(f"{left} {sign} {draw.choice(alike if alike and draw.random() < 0.6 else others)}")
    return found
