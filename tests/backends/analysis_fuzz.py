"""Questions and the analyses of their sensitivity over the rows of `extreme_tables`, compared with the rows themselves.

Nothing that is sent may raise. Where the rule is simple enough, exact answers and bounds at distance 0 are calculated
here, from the rows and from the definitions: text by its characters, integers and decimals by value, NaN equal to
itself. Where it is not, no row may change the answer by more than a bound says, by the question's own conditions.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from sqlglot import exp

import sordino
from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.sql.aggregates import LARGEST_ANSWER, BoundedSum
from sordino.sql.analysis import ANALYSES, Reader, plan_analyses
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.lookups import make_source, make_table
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement

from ..unit.sql.writer import hostile, join
from .extreme_tables import COLUMNS, DECIMALS, DOMAINS, KINDS, MARK, PUBLIC, named, random_policy, written
from .sql_fuzz import told

EVERY = tuple(ANALYSES)
_NAMES = (None, None, *((name,) for name in EVERY), EVERY)
SORTS = ("integer", "decimal", "decimal", "text", "boolean", "date", "float", "timestamp")
_SIGNS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_PLAIN = Policy.load({"version": 1, "dataset": "plain", "tables": {"a": {}, "b": {}}})


def plain_value(value: Any) -> Any:
    """A value in the form in which equal ones are equal in Python too."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return (
        value
        if isinstance(value, str | bool) or value is None or not hasattr(value, "as_tuple")
        else Fraction(value)
    )


class AnalysisFuzz:
    """Asks an engine that holds the tables of `extreme_tables`."""

    def __init__(self, engine, tables):
        self.engine, self.catalogue = engine, engine.catalogue()
        self.words = hostile(engine.dialect)
        self.rows = {
            name: {column: list(map(plain_value, values)) for column, values in table.to_pydict().items()}
            for name, table in tables.items()
        }

    def read(self, text, policy=_PLAIN):
        return read_statement(text, policy=policy, catalogue=self.catalogue, dialect=self.engine.dialect)

    # --- anything

    def whole_questions(self, seed, rounds, *, sizes=(2, 2, 2, 3, 3, 4), removals=True):
        """Random joins under random policies, measured as for a real answer; how many there were of each size."""
        draw, seen = Random(seed), Counter()
        for number in range(rounds):
            if number % 8 == 0:
                curator = sordino.connect(self.engine, policy=random_policy(seed * 1000 + number))
            size, key = draw.choice(sizes), draw.choice(["", "", "", *DOMAINS])
            tables = dict.fromkeys(draw.choice([("a", "b"), ("a", PUBLIC), ("a", "b", PUBLIC)]), COLUMNS)
            text = join(draw, tables, size, self.words, key)
            asked = AnswerOptions.checked(draw.choice([10, 50]), 0.0, analyses=draw.choice(_NAMES))
            try:
                plan = curator.plan(text, asked)
            except (ParameterError, UnsupportedError) as refusal:
                if MARK in str(refusal) or len(str(refusal)) > 1000:
                    pytest.fail(f"a refusal shows too much: {refusal}")
                seen["refused"] += 1
                continue
            with told(text), self.engine.snapshot() as snapshot:
                cells = measure_all(snapshot, plan)
                for cell in cells[:2] if removals else ():
                    question = plan.statement.question(cell.group, cell.measure)
                    self._check_removals(snapshot, question, cell.analysis)
            for cell in cells[:1]:
                plan.noises[cell.measure].draw(cell.exact, cell.follows)
            seen[size] += 1
        return seen

    def _check_removals(self, snapshot, question, analysis):
        """No row, when it is taken away, changes the answer by more than any analysis says."""
        if (
            analysis is None
        ):  # one table, with what its rows look up: the noise is made for the largest contribution
            (table,) = {o.table for o in question.occurrences}
            assert max(map(abs, removals(snapshot, question, table)), default=0) <= question.measure.reach
            return
        for table, by_name in analysis.per_table.items():
            weight = next(o.weight for o in question.occurrences if o.table == table)
            most = max(map(abs, removals(snapshot, question, table)), default=0)
            for name, bounds in by_name.items():
                assert bounds[0] * weight >= most, (table, name)

    # --- two tables

    def equal_columns(self, pairs=None, *, answers=None):
        """COUNT(*) over a join by one pair of columns: the answer, and how many rows one row can meet at most."""
        pairs = comparable() if pairs is None else pairs
        asked = {
            pair: self.read(f"SELECT COUNT(*) FROM a, b WHERE a.{pair[0]} = b.{pair[1]}").question((), 0)
            for pair in pairs
        }
        with self.engine.snapshot() as snapshot:
            for pair, analysis in zip(asked, self._analysed(snapshot, asked), strict=True):
                # Decimals that no decimal can hold together are compared as doubles.
                doubles = KINDS[pair[0]].type == "decimal" and not is_exact(*pair)
                mine, theirs = (
                    Counter(
                        (float if doubles else plain_value)(value) for value in values if value is not None
                    )
                    for values in (self.rows["a"][pair[0]], self.rows["b"][pair[1]])
                )
                expected = {"a": max(theirs.values()), "b": max(mine.values())}
                for table, by_name in analysis.per_table.items():
                    for name, bounds in by_name.items():
                        if is_exact(*pair):
                            assert bounds[0] == expected[table], (pair, table, name)
                        assert bounds[0] >= expected[table], (pair, table, name)
                if answers is None or pair in answers:
                    with told(str(pair)):
                        found = compute_answer(snapshot, asked[pair])
                    assert found == sum(mine[value] * theirs[value] for value in mine), pair

    def _analysed(self, snapshot, asked):
        readers = {}
        found = []
        for name, plan in zip(asked, plan_analyses(list(asked.values()), analyses=EVERY), strict=True):
            with told(f"the analysis of {name}"):
                reader = readers.setdefault(id(plan.numbers), None) or Reader(snapshot, plan.numbers)
            readers[id(plan.statement)] = reader
            found.append(plan.bound(reader, beta=0.5))
        return found

    # --- chains and cycles of one type

    def chains(self, seed, rounds, *, sorts=SORTS, removals=True):
        """Joins of three or four tables over columns of one type: the answer is that of the rows, bounds dominate."""
        draw = Random(seed)
        for number in range(rounds):
            if number % 8 == 0:
                curator = sordino.connect(self.engine, policy=random_policy(seed * 1000 + number))
            text, expected = self._chain(draw, draw.choice(sorts))
            asked = AnswerOptions.checked(50, 0.0, analyses=draw.choice(_NAMES))
            plan = curator.plan(text, asked)
            with told(text), self.engine.snapshot() as snapshot:
                (cell,) = measure_all(snapshot, plan)
                assert cell.exact == expected, text
                if removals:
                    self._check_removals(snapshot, plan.readings[0].question, cell.analysis)

    def _chain(self, draw, sort):
        """A count, and what it counts: combinations of rows that every tie holds for, from left to right."""
        aliases = "xyzu"[: draw.choice([3, 3, 4])]
        tables = [draw.choice("aab"), *(draw.choice(["a", "b", PUBLIC]) for _ in aliases[1:])]
        ties = [(place - 1, place) for place in range(1, len(aliases))]
        if draw.random() < 0.4:
            ties.append((0, len(aliases) - 1))
        names, found = named(sort), []
        combinations: list[tuple[int, ...]] = [(row,) for row in self.rows[tables[0]]["id"]]
        last = ""
        for one, two in ties:
            # A column of the table before again, so that equalities pass values on, and what can be compared exactly.
            left = last if last and one > 0 and draw.random() < 0.7 else draw.choice(names)
            last = draw.choice([name for name in names if is_compared(left, name)])
            found.append(f"{aliases[one]}.{left} = {aliases[two]}.{last}")
            mine, theirs = self.rows[tables[one]][left], self.rows[tables[two]][last]
            if (one, two) == (two - 1, two):
                rows = self.rows[tables[two]]["id"]
                combinations = [(*before, row) for before in combinations for row in rows]
            combinations = [
                rows
                for rows in combinations
                if mine[rows[one]] is not None and mine[rows[one]] == theirs[rows[two]]
            ]
        source = ", ".join(f"{table} AS {alias}" for table, alias in zip(tables, aliases, strict=True))
        return f"SELECT COUNT(*) FROM {source} WHERE {' AND '.join(found)}", len(combinations)

    def sums(self, seed, *, keys=("i8", "k", "n17_2", "h"), policies=3):
        """SUM over a join: the answer, and what one row of either table can change; how many sums there were."""
        count = 0
        for key, number in itertools.product(keys, range(policies)):
            policy = Policy.load(random_policy(seed + number))
            asked = {}
            for name in COLUMNS.numbers:
                try:
                    statement = self.read(f"SELECT SUM(a.{name}) FROM a, b WHERE a.{key} = b.{key}", policy)
                    asked[name] = statement.question((), 0)
                except ParameterError as refusal:
                    if "more than 2^50" not in str(refusal):
                        pytest.fail(f"{name}: {refusal}")
            with self.engine.snapshot() as snapshot:
                whole = replace(statement, measures=tuple(question.measure for question in asked.values()))
                with told(f"all sums over a.{key} = b.{key}"):
                    totals = dict(zip(asked, compute_answers(snapshot, whole)[()], strict=True))
                for name, analysis in zip(asked, self._analysed(snapshot, asked), strict=True):
                    self._check_sum(key, name, asked[name].measure, totals[name], analysis, policy)
            count += len(asked)
        return count

    def _check_sum(self, key, name, measure, total, analysis, policy):
        partners = Counter(value for value in self.rows["b"][key] if value is not None)
        added: Counter[Any] = Counter()
        answer = 0
        for value, number in zip(self.rows["a"][key], self.rows["a"][name], strict=True):
            if value is not None and number is not None:
                step = steps_of(number, measure)
                added[value] += abs(step)
                answer += step * partners[value]
        where = (key, name, measure.low, measure.high, measure.step)
        assert total == max(-LARGEST_ANSWER, min(LARGEST_ANSWER, answer)), where
        per_table = analysis.per_table
        weights = {table: policy.tables[table].weight for table in "ab"}
        assert per_table["b"]["patterns"][0] * weights["b"] == max(added.values(), default=0), where
        for by_name in EVERY:
            assert per_table["a"][by_name][0] * weights["a"] == measure.reach * max(partners.values()), where
            assert per_table["b"][by_name][0] * weights["b"] >= max(added.values(), default=0), where

    def groups(self, keys=tuple(DOMAINS)):
        """Every value of a domain: how many rows it has, and how many it has in a join, with its own bound."""
        policy = random_policy(1)
        for table in "ab":
            policy["tables"][table]["weight"] = 1
        curator = sordino.connect(self.engine, policy=policy)
        asked = AnswerOptions.checked(50, 0.0)
        for key in keys:
            mine, theirs = (Counter(self.rows[table][key]) for table in "ab")
            alone = curator.plan(f"SELECT {key}, COUNT(*) FROM a GROUP BY {key}", asked)
            joined = curator.plan(
                f"SELECT x.{key}, COUNT(*) FROM a x, b y WHERE x.{key} = y.{key} GROUP BY x.{key}", asked
            )
            with told(f"groups of {key}"), self.engine.snapshot() as snapshot:
                for cell in measure_all(snapshot, alone):
                    assert cell.exact == mine[cell.group[0]], (key, cell.group)
                for cell in measure_all(snapshot, joined):
                    (value,) = cell.group
                    # NULL meets nothing.
                    here, there = (0, 0) if value is None else (mine[value], theirs[value])
                    assert cell.exact == here * there, (key, value)
                    bounds = {table: by["patterns"][0] for table, by in cell.analysis.per_table.items()}
                    assert bounds == {"a": there, "b": here}, (key, value)

    # --- decimals

    def decimals(self, seed, rounds, *, size=25):
        """Arithmetic and comparisons of decimals, compared with fractions; how many were in decimals throughout."""
        draw = Random(seed)
        texts: dict[str, int] = {}
        while len(texts) < rounds:
            text, holds = _condition(draw, self.rows["a"])
            texts[f"COUNT(CASE WHEN {text} THEN 1 END)"] = sum(held is True for held in holds)
        read = {}
        for text in texts:
            try:
                read[text] = self.read(f"SELECT {text} FROM a")
            except UnsupportedError:
                continue  # products that might leave the range of numbers
        exact = 0
        for start in range(0, len(read), size):
            some = list(read)[start : start + size]
            first = read[some[0]]
            whole = replace(first, measures=tuple(read[text].measures[0] for text in some))
            with self.engine.snapshot() as snapshot:
                try:
                    found = compute_answers(snapshot, whole)[()]
                except EngineError:
                    self._blame(some, read)
            for text, count in zip(some, found, strict=True):
                if "DOUBLE" not in read[text].measures[0].value.sql(dialect="duckdb"):
                    assert count == texts[text], text
                    exact += 1
        return exact

    def _blame(self, texts, read):
        for text in texts:
            with told(text), self.engine.snapshot() as snapshot:
                compute_answers(snapshot, read[text])
        pytest.fail(f"together they raise, alone they do not: {texts}")


def removals(snapshot, question, table):
    """What each row of a table adds to the answer, wherever it takes part, by the question's own conditions."""
    aliases = [o.alias for o in question.occurrences if o.table == table]
    numbers = [exp.column("id", table=alias, quoted=True) for alias in aliases]
    sources = [make_source(o.table, o.alias, o.lookups) for o in question.occurrences]
    conditions = [*question.conditions, *question.measure.conditions()]
    row = numbers[0]
    if len(aliases) > 1:
        sources.append(make_table(table, "sordino_row"))
        row = exp.column("id", table="sordino_row", quoted=True)
        conditions.append(exp.In(this=row.copy(), expressions=numbers))
    wide = exp.DataType.build("DECIMAL(38, 0)")
    measure = question.measure
    added = measure.steps() if isinstance(measure, BoundedSum) else exp.Literal.number(1)
    total = exp.Sum(this=exp.cast(added, wide))
    query = exp.select(exp.alias_(exp.cast(total, exp.DataType.Type.VARCHAR), "n")).from_(sources[0])
    for source in sources[1:]:
        query = query.join(source, join_type="cross")
    query = query.where(*map(exp.paren, conditions)).group_by(row.copy())
    return [int(n) for n in snapshot.aggregate(query).column(0).to_pylist() if n is not None]


def comparable():
    """Pairs of columns of one type."""
    return [pair for sort in dict.fromkeys(SORTS) for pair in itertools.product(named(sort), repeat=2)]


def is_compared(one, two):
    """Whether two columns of one type are equal if and only if their values are; some decimals are equal as doubles."""
    return KINDS[one].type != "decimal" or is_exact(one, two)


def is_exact(one, two):
    """Whether equality of two columns is that of their values, so that bounds know how often a value occurs."""
    kind = KINDS[one].type
    if kind == "decimal":
        (p, s), (q, r) = (next(d for d in DECIMALS if name == f"n{d[0]}_{d[1]}") for name in (one, two))
        return max(p - s, q - r) + max(s, r) <= 38
    return kind not in ("float", "timestamp")


def steps_of(value, measure):
    """What a row adds, by the definition: clipped, then in whole steps, in doubles unless it is an integer."""
    if value == "NaN" or value > measure.high:
        return int(measure.high / measure.step)
    if value < measure.low:
        return int(measure.low / measure.step)
    if measure.whole and measure.step == 1:
        return int(value)
    scaled = float(value)
    if measure.step.denominator != 1:
        scaled *= float(measure.step.denominator)
    if measure.step.numerator != 1:
        scaled /= float(measure.step.numerator)
    return math.floor(scaled + 0.5)


def _number(draw, rows, depth):
    """An expression of decimals, and its value in every row."""
    size = len(rows["id"])
    if depth == 0:
        if draw.random() < 0.3:
            digits, scale = draw.choice(DECIMALS)
            number = Fraction(draw.choice((-1, 1)) * draw.randrange(10 ** draw.randint(1, digits)), 10**scale)
            return f"({written(number)})", [number] * size
        name = draw.choice([f"n{digits}_{scale}" for digits, scale in (*DECIMALS, *DECIMALS[:3])])
        return name, rows[name]
    (a, x), (b, y) = (_number(draw, rows, draw.randrange(depth)) for _ in range(2))
    pairs = list(zip(x, y, strict=True))
    match draw.randrange(8):
        case 0 | 1 | 2:
            sign, apply = draw.choice([("+", operator.add), ("-", operator.sub), ("*", operator.mul)])
            return f"({a} {sign} {b})", [None if None in pair else apply(*pair) for pair in pairs]
        case 3:
            return f"(-{a})", [None if v is None else -v for v in x]
        case 4:
            return f"ABS({a})", [None if v is None else abs(v) for v in x]
        case 5:
            return f"COALESCE({a}, {b})", [w if v is None else v for v, w in pairs]
        case 6:
            word, apply = draw.choice([("GREATEST", max), ("LEAST", min)])
            known = [[v for v in pair if v is not None] for pair in pairs]
            return f"{word}({a}, {b})", [apply(some) if some else None for some in known]
        case _:
            return f"NULLIF({a}, {b})", [None if v == w else v for v, w in pairs]


def _condition(draw, rows):
    """A comparison of decimals, often with a literal that a row equals or misses by one unit of the last place."""
    text, values = _number(draw, rows, draw.choice([0, 1, 1, 2]))
    known = [value for value in values if value is not None]
    sign = draw.choice(list(_SIGNS))
    if known and draw.random() < 0.7:
        number = draw.choice(known) + draw.choice([0, 0, 1, -1]) * Fraction(1, 10 ** draw.randint(0, 38))
        literal, others = f"({written(number)})", [number] * len(values)
    else:
        literal, others = _number(draw, rows, draw.choice([0, 0, 1]))
    holds = [None if None in (v, w) else _SIGNS[sign](v, w) for v, w in zip(values, others, strict=True)]
    return f"{text} {sign} {literal}", holds
