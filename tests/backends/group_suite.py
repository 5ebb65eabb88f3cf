"""Random questions with GROUP BY on an engine: what all groups release together loses no more than is claimed.

Parallel composition lets every group take all of epsilon where groups partition the rows. That is a claim about rows:
the number and the noise scale of a group are functions of that group's rows alone. Two checks of it, with plans,
bounds and laws of the real code, over databases that differ by one row of one private table:

* the losses of the laws of all cells, all groups by all measures, add up to at most epsilon times the row's weight;
* where the plan says that groups partition the rows, the cells of at most one group change, and the row holds that
  group's key.

Tables have two columns of each kind that can be a key, so that questions can tie, mix and contradict them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from sordino.core import ParameterError, UnsupportedError
from sordino.curator import connect
from sordino.engines import Engine
from sordino.sql.answering.measured import Measured, measure_all
from sordino.sql.answering.plan import AnswerOptions, AnswerPlan, Group

Row = tuple[Any, ...]
Database = dict[str, tuple[Row, ...]]

COLUMNS = {"s": "text", "t": "text", "i": "integer", "j": "integer", "b": "boolean", "c": "boolean",
           "d": "date", "e": "date", "x": "number"}  # fmt: skip
OF_KIND = {kind: tuple(name for name, other in COLUMNS.items() if other == kind) for kind in COLUMNS.values()}
KEY_KINDS = ("text", "integer", "boolean", "date")
BEYOND = 2**31 + 5
VALUES: dict[str, tuple[Any, ...]] = {
    "text": ("Rome", "Oslo", "Lima", "São Tomé"),
    "integer": (7, -3, BEYOND),
    "boolean": (True, False),
    "date": (date(2024, 1, 31), date(2024, 2, 29), date(1999, 12, 31)),
}
# Rows and conditions may hold these too; no domain does.
FOREIGN = {"text": ("rome", "Rome "), "integer": (-BEYOND,), "boolean": (), "date": (date(1900, 1, 1),)}
# Small shares of epsilon follow many distances, which takes long; what is claimed is the same.
MOST_SHARES = 8
# Of the lattice, on either side of the centres.
POINTS = 512
PRIVATE = ("r", "q")
# Of the table `r` alone. A column of `q` has groups where it equals one of `r` or of the public table `p`.
DOMAINS = {
    "s": list(VALUES["text"]),
    "t": ["Oslo", "Rome", None],
    "i": list(VALUES["integer"]),
    "j": [7, -3],
    "b": [True, False],
    "c": [False, True, None],
    "d": list(VALUES["date"]),
    "e": [date(2024, 2, 29), date(2024, 1, 31)],
}


def policy_of(
    weights: Mapping[str, str] | None = None, domains: Mapping[str, Sequence[Any]] = DOMAINS
) -> dict[str, Any]:
    """Domains in `r`, none in `q`, and the public table `p`, whose own values are groups."""
    known = {"x": {"bounds": [-4, 5]}}
    tables: dict[str, Any] = {
        "r": {"columns": {name: {"domain": list(values)} for name, values in domains.items()} | known},
        "q": {"columns": known},
        "p": {"private": False, "columns": known},
    }
    for name, weight in (weights or {}).items():
        tables[name]["weight"] = weight
    return {"version": 1, "dataset": "groups", "tables": tables}


def is_narrow(table: str, column: str) -> bool:
    """One integer has fewer bits in one table, so that equal cells have different widths."""
    return (table, column) == ("q", "j")


def sql_type(table: str, column: str) -> str:
    """The type of a column as DuckDB and PostgreSQL write it."""
    if COLUMNS[column] in ("integer", "number"):
        return "INTEGER" if is_narrow(table, column) else "BIGINT"
    return {"text": "TEXT", "boolean": "BOOLEAN", "date": "DATE"}[COLUMNS[column]]


def create_tables(text: str = "TEXT") -> str:
    """The statements that make the tables; ``text``: the type of texts in the table `q`."""
    types = {table: [f"{name} {sql_type(table, name)}" for name in COLUMNS] for table in ("r", "q", "p")}
    types["q"] = [column.replace("TEXT", text) for column in types["q"]]
    return "".join(f"CREATE TABLE {table} ({', '.join(columns)});" for table, columns in types.items())


def fill_tables(database: Database) -> str:
    """The statements that put these rows there and no others."""
    parts = []
    for table, rows in database.items():
        parts.append(f"DELETE FROM {table};")
        if rows:
            parts.append(f"INSERT INTO {table} VALUES {', '.join(map(shown, rows))};")
    return "".join(parts)


def shown(row: Row) -> str:
    """A row as SQL writes it."""
    return f"({', '.join(map(literal, row))})"


def literal(value: Any) -> str:
    """A value as every engine reads it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    return str(value)


# --- questions


@dataclass(frozen=True, slots=True)
class Asked:
    """A text, the private tables in it, and the constants: by these are rows chosen that matter."""

    text: str
    tables: str
    constants: frozenset[Any]


class GroupWriter:
    """Writes questions: one to three tables, one or two keys, conditions on the keys and on what equals them."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.constants: set[Any] = set()

    def question(self) -> Asked:
        """One question; a few are refused, since not every key has public values."""
        d, self.constants = self.draw, set()
        tables = d.choice(
            ["r", "rq", "rq", "rq", "rq", "qr", "qr", "qr", "rr", "rr", "rp", "pr", "qp", "rqp", "rrq"]
        )
        aliases = "abc"[: len(tables)]
        kinds = d.sample(KEY_KINDS, d.choice([1, 1, 1, 1, 2]))
        places = [self.places(tables, aliases, kind) for kind in kinds]
        keys = [d.choice(same) for same in places]
        if len(keys) == 1 and len(tables) > 1 and d.random() < 0.25:
            keys = d.sample(places[0], 2)  # two columns that are equal
        ties = [condition for same in places for condition in self.tied(same)]
        ties += self.further_ties(aliases)
        conditions = [
            self.condition(d.choice(same), kind)
            for same, kind in zip(places, kinds, strict=True)
            for _ in range(d.choice([0, 1, 1, 1, 2]))
        ]
        if d.random() < 0.3:
            kind = d.choice(KEY_KINDS)
            conditions.append(self.condition(f"{d.choice(aliases)}.{d.choice(OF_KIND[kind])}", kind))
        d.shuffle(keys)
        text = self.written(tables, aliases, keys, ties, conditions)
        return Asked(text, tables, frozenset(self.constants))

    def places(self, tables: str, aliases: str, kind: str) -> list[str]:
        """One column of a kind in every occurrence; mostly the same one, so that a table meets the key in one."""
        d = self.draw
        usual = d.choice(OF_KIND[kind])
        return [f"{a}.{usual if d.random() < 0.9 else d.choice(OF_KIND[kind])}" for a in aliases]

    def tied(self, same: Sequence[str]) -> list[str]:
        """Equalities between all of these, or between all but one."""
        d = self.draw
        ties = []
        for place in range(1, len(same)):
            other = d.randrange(place)
            sign = "=" if d.random() < 0.93 else d.choice(["<>", "IS NOT DISTINCT FROM"])
            ties.append(f"{same[place]} {sign} {same[other]}")
        if len(ties) > 1 and d.random() < 0.1:
            ties.pop()
        return ties

    def further_ties(self, aliases: str) -> list[str]:
        """Sometimes other columns are equal too, or in order."""
        d = self.draw
        if len(aliases) == 1 or d.random() < 0.6:
            return []
        one, two = d.sample(aliases, 2)
        kind = d.choice([*KEY_KINDS, "number"])
        left, right = (f"{alias}.{d.choice(OF_KIND[kind])}" for alias in (one, two))
        return [f"{left} {'=' if kind != 'number' else d.choice(['=', '<='])} {right}"]

    def constant(self, kind: str) -> Any:
        """A value, mostly one that many rows have."""
        d, values = self.draw, VALUES[kind]
        value = values[0] if d.random() < 0.6 else d.choice([*values, *FOREIGN[kind]])
        self.constants.add(value)
        return value

    def spelt(self, value: Any) -> str:
        """A constant in one of the ways in which it can be written."""
        d = self.draw
        match value:
            case bool():
                return d.choice([str(value).upper(), str(value).lower(), f"({str(value).upper()})"])
            case int():
                whole = str(value) if value >= 0 else f"-{-value}"
                return d.choice(
                    [whole, whole, f"({whole})", f"{whole}.0", f"{whole} + 0", f"CAST({whole} AS BIGINT)"]
                )
            case date():
                day = value.isoformat()
                return d.choice([f"DATE '{day}'", f"CAST('{day}' AS DATE)", f"(DATE '{day}')", f"'{day}'"])
        return d.choice(
            [literal(value), literal(value), f"({literal(value)})", f"CAST({literal(value)} AS TEXT)"]
        )

    def condition(self, column: str, kind: str) -> str:
        """Something about a column and constants of its kind."""
        d = self.draw
        one, two = (self.spelt(self.constant(kind)) for _ in range(2))
        choices = [
            *[f"{column} = {one}"] * 6,
            f"{one} = {column}",
            f"{column} IN ({one})",
            f"{column} IN ({one}, {two})",
            f"({column} = {one} OR {column} = {two})",
            f"({column} = {one} AND {column} = {two})",
            f"{column} = {one} AND {column} <> {one}",
            f"{column} <> {one}",
            f"NOT ({column} = {one})",
            f"NOT ({column} <> {one} OR {column} IS NULL)",
            f"{column} IS NULL",
            f"{column} IS NOT NULL",
            f"{column} IS DISTINCT FROM {one}",
            f"{column} IS NOT DISTINCT FROM {one}",
            f"({column} = {one}) IS TRUE",
            f"({column} = {one} OR {column} IS NULL)",
        ]
        if kind in ("integer", "date"):
            choices += [f"{column} BETWEEN {one} AND {two}", f"{column} <= {one}", f"{column} > {one}"]
        if kind == "boolean":
            choices += [column, f"NOT {column}", f"{column} IS TRUE", f"{column} IS NOT FALSE"]
        return d.choice(choices)

    def written(
        self, tables: str, aliases: str, keys: Sequence[str], ties: list[str], conditions: list[str]
    ) -> str:
        """The whole text; joins by commas or ON, perhaps a condition inside a sub-select."""
        d = self.draw
        number = f"{d.choice(aliases)}.x"
        count, total = "COUNT(*)", f"SUM({number})"
        measures = d.choice([[count], [count], [count], [total], [count, total], [f"COUNT({number})"]])
        sources = [f"{table} AS {alias}" for table, alias in zip(tables, aliases, strict=True)]
        rest = [*ties, *conditions]
        if conditions and d.random() < 0.2:
            # A condition of ours speaks of one alias.
            inner = d.choice(conditions)
            place = next(i for i, alias in enumerate(aliases) if f"{alias}." in inner)
            rest.remove(inner)
            bare = inner.replace(f"{aliases[place]}.", "")
            sources[place] = (
                f"(SELECT {', '.join(COLUMNS)} FROM {tables[place]} WHERE {bare}) AS {aliases[place]}"
            )
        d.shuffle(rest)
        if d.random() < 0.5:
            source, where = ", ".join(sources), rest
        else:
            # A condition stands behind the last table that it speaks of.
            last = {c: max(i for i, alias in enumerate(aliases) if f"{alias}." in c) for c in rest}
            source, where = sources[0], [c for c in rest if last[c] == 0]
            for place in range(1, len(sources)):
                on = [c for c in rest if last[c] == place]
                source += f" JOIN {sources[place]} ON {' AND '.join(on) or 'TRUE'}"
        tail = f" WHERE {' AND '.join(where)}" if where else ""
        return f"SELECT {', '.join([*keys, *measures])} FROM {source}{tail} GROUP BY {', '.join(keys)}"


def write_questions(seed: int, number: int) -> list[Asked]:
    """Different questions, the same for one seed."""
    writer = GroupWriter(Random(seed))
    found: dict[str, Asked] = {}
    while len(found) < number:
        asked = writer.question()
        found.setdefault(asked.text, asked)
    return list(found.values())


# --- databases


def write_row(draw: Random) -> Row:
    """Most values are those that most conditions ask for, so that rows meet."""
    row = []
    for name, kind in COLUMNS.items():
        values = VALUES.get(kind, (1, 5, -4, 0))
        odd = draw.choice([*FOREIGN.get(kind, ()), None])
        value = draw.choices([values[0], draw.choice(values), odd], weights=[60, 30, 10])[0]
        narrow = any(is_narrow(table, name) for table in PRIVATE)
        row.append(7 if narrow and value is not None and abs(value) >= 2**31 else value)
    return tuple(row)


def write_database(draw: Random) -> Database:
    """Few rows, some of them repeated."""
    private = {
        table: tuple(
            row
            for row in (write_row(draw) for _ in range(draw.randint(1, 4)))
            for _ in range(draw.randint(1, 3))
        )
        for table in PRIVATE
    }
    return private | {"p": tuple(write_row(draw) for _ in range(4))}


@dataclass(frozen=True, slots=True)
class Change:
    """One row of one private table more or less."""

    table: str
    row: Row
    added: bool

    def of(self, database: Database) -> Database:
        """The neighbour."""
        rows = list(database[self.table])
        if self.added:
            rows.append(self.row)
        else:
            rows.remove(self.row)
        return database | {self.table: tuple(rows)}


def write_changes(draw: Random, database: Database, fresh: int) -> list[Change]:
    """Per private table: every row removed or added once more, and some rows that are not there yet."""
    changes = []
    for table in PRIVATE:
        present = list(dict.fromkeys(database[table]))
        changes += [Change(table, row, added=draw.random() < 0.5) for row in present]
        changes += [Change(table, write_row(draw), added=True) for _ in range(fresh)]
    return changes


def changes_that_matter(draw: Random, asked: Asked, changes: Sequence[Change], most: int) -> list[Change]:
    """Some rows with the question's constants, the others at random, of every table that is asked about."""
    read = [change for change in changes if change.table in asked.tables]
    order = draw.sample(read, len(read))
    order.sort(key=lambda change: -len(asked.constants & set(change.row)))
    chosen = order[: most - most // 3]
    rest = order[len(chosen) :]
    return chosen + draw.sample(rest, min(most - len(chosen), len(rest)))


# --- laws


@dataclass(frozen=True, slots=True)
class Cells:
    """What the rows of one database give a plan, per group: its cells, and their exact numbers and bounds."""

    plan: AnswerPlan
    measured: dict[Group, list[Measured]]
    numbers: dict[Group, list[tuple[int, tuple[float, ...]]]]

    def laws(self, group: Group) -> list[Any]:
        """The exact laws of what is released of a group."""
        return [self.plan.noises[cell.measure].law(cell.exact, cell.follows) for cell in self.measured[group]]

    def changed(self, other: Cells) -> list[Group]:
        """The groups of which a number or a bound differs."""
        return [group for group, found in self.numbers.items() if other.numbers[group] != found]

    def loss(self, other: Cells) -> float:
        """The sum over all cells of sup |ln(P/Q)|; numbers of one answer are independent given the data."""
        return sum(
            loss_between(p, q)
            for group in self.changed(other)
            for p, q in zip(self.laws(group), other.laws(group), strict=True)
        )


def cells_of(snapshot: Any, plan: AnswerPlan) -> Cells:
    """By the code that answers questions, but for the draw."""
    found = Cells(plan, {}, {})
    for cell in measure_all(snapshot, plan):
        bound = cell.follows
        bounds = () if bound is None else tuple(bound.at(beta) for beta in plan.noises[cell.measure].betas)
        found.measured.setdefault(cell.group, []).append(cell)
        found.numbers.setdefault(cell.group, []).append((cell.exact, bounds))
    return found


def loss_between(left: Any, right: Any) -> float:
    """sup |ln(P/Q)| of two laws on one lattice: point by point near the centres, by analysis outside.

    Outside it is the largest ratio of densities: at least that of the masses, and hardly more where the scale is large.
    """
    middle = round((left.centre + right.centre) / 2)
    reach = max(abs(edge - middle) for law in (left, right) for edge in law.window())
    first, last = middle - min(reach, POINTS), middle + min(reach, POINTS)
    inside = np.abs(left.log_masses(first, last) - right.log_masses(first, last)).max()
    return max(float(inside), left.tail_loss(right, first, last))


# --- checks


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about a question on two neighbours; ``parallel``: every group takes all of epsilon."""

    text: str
    database: Database
    change: Change
    loss: float
    allowed: float
    changed: tuple[Group, ...]
    parallel: bool

    @property
    def loses_too_much(self) -> bool:
        """Whether the loss of all cells is above what was claimed."""
        return not self.loss <= self.allowed * (1 + 1e-6)

    @property
    def leaves_its_group(self) -> bool:
        """Whether a row changes a group that it does not belong to: one whose key it does not hold, or a second."""
        strange = [group for group in self.changed if not all(value in self.change.row for value in group)]
        return self.parallel and (len(self.changed) > 1 or bool(strange))

    def __str__(self) -> str:
        rows = "\n".join(
            f"  {table}: {number} times {shown(row)}"
            for table, rows in self.database.items()
            for row, number in Counter(rows).items()
        )
        what = "more" if self.change.added else "less"
        return (
            f"loss {self.loss:.4f} where {self.allowed:g} is claimed; groups that change: {list(self.changed)}\n"
            f"  {self.text}\n{rows}\n  one row {what} in {self.change.table}: {shown(self.change.row)}"
        )


@dataclass(slots=True)
class Tally:
    """What was asked and found.

    ``moved``: pairs of neighbours on which anything changes at all. ``worst``: the largest part of what is allowed.
    """

    planned: int = 0
    parallel: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    pairs: int = 0
    moved: int = 0
    worst: float = 0.0
    wrong: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """One more pair."""
        self.pairs += 1
        self.moved += bool(finding.changed)
        self.worst = max(self.worst, finding.loss / finding.allowed)
        if finding.loses_too_much or finding.leaves_its_group:
            self.wrong.append(finding)

    def report(self) -> str:
        """The largest losses first; for a failing test."""
        order = sorted(self.wrong, key=lambda finding: -finding.loss / finding.allowed)
        return f"{len(order)} of {self.pairs} pairs\n" + "\n".join(map(str, order[:3]))


def is_parallel(plan: AnswerPlan) -> bool:
    """Whether several groups each take all of epsilon."""
    return plan.statement.partitions and len(plan.statement.groups()) > 1


def check_groups(
    engine: Engine,
    fill: Callable[[Database], object],
    questions: Iterable[Asked],
    *,
    seed: int,
    fresh: int = 4,
    most: int = 2,
    weights: Mapping[str, str] | None = None,
) -> Tally:
    """Questions about one random database and some of its neighbours, at an epsilon of 1.

    ``fresh``: how many rows that are not there yet are added, per table. ``most``: neighbours per question.
    ``weights``: what a row of a table is worth; it may lose as many times epsilon.
    """
    draw = Random(seed)
    database = write_database(draw)
    changes = write_changes(draw, database, fresh)
    fill(database)
    refused: dict[str, str] = {}
    plans: dict[str, AnswerPlan] = {}
    chosen: dict[str, list[Change]] = {}
    with connect(engine, policy=policy_of(weights)) as curator:
        for asked in questions:
            try:
                plan = curator.plan(asked.text, AnswerOptions.checked(1, 0))
            except (ParameterError, UnsupportedError) as refusal:
                refused[asked.text] = str(refusal)
                continue
            if plan.shares <= MOST_SHARES:
                plans[asked.text] = plan
                chosen[asked.text] = changes_that_matter(draw, asked, changes, most)
    tally = compare_neighbours(engine, fill, plans, database, chosen, weights=weights)
    tally.refused = refused
    return tally


def compare_neighbours(
    engine: Engine,
    fill: Callable[[Database], object],
    plans: Mapping[str, AnswerPlan],
    database: Database,
    chosen: Mapping[str, Sequence[Change]],
    *,
    weights: Mapping[str, str] | None = None,
) -> Tally:
    """All plans on a database, and each on the neighbours that are chosen for it; each database is filled in once."""
    tally = Tally(planned=len(plans), parallel=sum(map(is_parallel, plans.values())))
    fill(database)
    with engine.snapshot() as snapshot:
        before = {text: cells_of(snapshot, plan) for text, plan in plans.items()}
    for change in dict.fromkeys(change for some in chosen.values() for change in some):
        fill(change.of(database))
        with engine.snapshot() as snapshot:
            after = {text: cells_of(snapshot, plans[text]) for text in plans if change in chosen[text]}
        for text, cells in after.items():
            allowed = plans[text].guarantee.epsilon * float(Fraction((weights or {}).get(change.table, 1)))
            changed, loss = before[text].changed(cells), before[text].loss(cells)
            tally.add(
                Finding(text, database, change, loss, allowed, tuple(changed), is_parallel(plans[text]))
            )
    return tally


def check_spellings(
    engine: Engine,
    fill: Callable[[Database], object],
    other: str,
    *,
    held: str | None = None,
    questions: int = 5,
    changes: int = 4,
) -> Tally:
    """The key beside a constant that an engine's own rules for the texts of `q` might take for the same text.

    Either such a constant asks for the group's rows, or it contradicts the group's key; if the question goes by one of
    these and its analysis by the other, the group's rows are counted without noise.

    ``held``: what a column of `q` makes of that text, if something else.
    """
    blank = (None,) * (len(COLUMNS) - 1)
    rome, spelt = ("Rome", *blank), (held or other, *blank)
    database: Database = {"r": (rome, rome), "q": (rome, rome, spelt), "p": ()}
    wheres = [
        f"b.s = {literal(other)}",
        "b.s = 'Rome'",
        f"a.s = {literal(other)}",
        "a.s = 'Rome'",
        f"b.s = {literal(other)} AND a.s = 'Rome'",
    ]
    join = "SELECT a.s, COUNT(*) FROM r AS a JOIN q AS b ON a.s = b.s"
    texts = [f"{join} WHERE {where} GROUP BY a.s" for where in wheres[:questions]]
    rows = [Change(table, row, added=True) for row in (rome, spelt) for table in PRIVATE][:changes]
    fill(database)
    with connect(engine, policy=policy_of()) as curator:
        plans = {text: curator.plan(text, AnswerOptions.checked(1, 0)) for text in texts}
    return compare_neighbours(engine, fill, plans, database, dict.fromkeys(texts, rows))


# Ten characters that Python reads as 2024-01-31; engines refuse them on the first row that is compared, or do not.
DAYS = ("2024-W05-3", "20240131  ", "20240131ab", "2024W053  ")


def check_day(engine: Engine, fill: Callable[[Database], object], written: str) -> Tally:
    """The key beside a day that is written in another way; a question that is refused has no pairs."""
    text = (
        f"SELECT a.d, COUNT(*) FROM r AS a JOIN q AS b ON a.d = b.d WHERE a.d = DATE '{written}' GROUP BY a.d"
    )
    row = tuple(date(2024, 1, 31) if name == "d" else None for name in COLUMNS)
    database: Database = {"r": (row,), "q": (row, row, row), "p": ()}
    fill(database)
    with connect(engine, policy=policy_of()) as curator:
        try:
            plan = curator.plan(text, AnswerOptions.checked(1, 0))
        except ParameterError:
            return Tally()
    return compare_neighbours(engine, fill, {text: plan}, database, {text: [Change("q", row, added=True)]})
