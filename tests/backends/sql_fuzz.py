"""Random questions over extreme values on an engine: refused in words that show no data, or answered without a raise.

Where the engine and DuckDB hold the same values, their answers are equal.
"""

from __future__ import annotations

import datetime
import math
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from random import Random
from typing import NoReturn

import pyarrow as pa
import pytest

from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.engines import connect
from sordino.sql.analysis import Reader, plan_analyses, plan_analysis
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement

from ..unit.sql.writer import PLAIN, Columns, Writer, hostile, join
from .extreme_tables import MARK

# The table that DuckDB holds too: types that all engines have, with extremes that all of them can hold.
SAME = Columns(
    numbers=("i2", "i4", "i8", "f4", "f8", "n1", "n2", "n3"),
    whole=("i2", "i4", "i8"),
    texts=("s",),
    days=("d", "t"),
    flags=("b",),
)
_DAY, _MOMENT = datetime.date.fromisoformat, datetime.datetime.fromisoformat
_NINES = "9" * 38


def same_values() -> pa.Table:
    """The common table: every column by itself, the short ones filled with NULL."""
    columns = {
        "i2": (pa.int16(), [-(2**15), 2**15 - 1, 0, 7, -1]),
        "i4": (pa.int32(), [-(2**31), 2**31 - 1, 0, 7, -1]),
        "i8": (pa.int64(), [-(2**63), 2**63 - 1, 0, 7, 2**53 + 1, -1]),
        "f4": (pa.float32(), [math.nan, math.inf, -math.inf, 3e38, 1e-45, -0.0, 7]),
        "f8": (pa.float64(), [-math.inf, math.nan, math.inf, 1.7e308, 5e-324, -0.0, 7, 0.1]),
        "n1": (pa.decimal128(4, 1), [Decimal(n) for n in ("-999.9", "999.9", "0", "0.1", "7")]),
        "n2": (pa.decimal128(38, 0), [Decimal(n) for n in (f"-{_NINES}", _NINES, "0", "9007199254740993", "7")]),
        "n3": (pa.decimal128(38, 38), [Decimal(n) for n in (f"-0.{_NINES}", f"0.{_NINES}", "0", "1e-38", "0.1")]),
        "s": (pa.string(), ["", MARK, "٣", "12", "2024-02-29", "a", "-7.5", "12\n", "É'%_"]),
        "b": (pa.bool_(), [True, False, None, False, True]),
        "d": (pa.date32(), [_DAY(d) for d in ("0001-01-01", "9999-12-31", "1582-10-10", "2024-02-29", "1969-12-31")]),
        "t": (
            pa.timestamp("us"),
            [_MOMENT(t) for t in ("9999-12-31T23:59:59.999999", "0001-01-01", "2024-02-29", "1582-10-10T12:00:00")],
        ),
    }  # fmt: skip
    rows = max(len(values) for _, values in columns.values()) + 1
    return pa.table(
        {
            name: pa.array(values + [None] * (rows - len(values)), kind)
            for name, (kind, values) in columns.items()
        }
    )


# Bounds and granularity, for numbers of any type: up to the ends of 8, 64 and 128 bits, in up to 2^50 steps.
RANGES = [("-50", "100", "1"), ("-128", "127", "1/2"), ("-2147483648", "2147483647", "1/4"), ("-1e29", "1e29", "1e15"),
          ("-9223372036854775808", "9223372036854775808", "8192"), ("-0.5", "0.5", "1/1000000"), ("0", "7", "3.5"),
          ("-1e14", "1e14", "0.1"), ("-128", "128", "1"), ("-2147483648", "2147483647", "1"),
          ("-1125899906842624", "1125899906842624", "1")]  # fmt: skip


def policy_of(wide: Columns, seed: int | None = None) -> Policy:
    """Bounds for all numbers of ``w``, the engine's own types, and ``c``, those that DuckDB holds too.

    ``seed``: bounds of every size at random, and weights.
    """
    draw = None if seed is None else Random(seed)
    tables = {}
    for name, columns in (("w", wide), ("c", SAME)):
        found: dict[str, dict[str, object]] = {"s": {"domain": ["", "a"]}, "b": {"domain": [True, False]}}
        for number in columns.numbers:
            low, high, grain = RANGES[0] if draw is None else draw.choice([*RANGES, *RANGES[-3:] * 2])
            found[number] = {"bounds": [low, high], "granularity": grain}
        weight = "1" if draw is None else draw.choice(["1", "1/2", "2"])
        tables[name] = {"columns": found, "weight": weight}
    return Policy.load({"version": 1, "dataset": "fuzz", "tables": tables})


class Fuzz:
    """Asks an engine that holds the tables ``w`` and ``c``."""

    def __init__(self, engine, wide):
        self.engine, self.wide, self.policy = engine, wide, policy_of(wide)
        self.catalogue, self.words = engine.catalogue(), hostile(engine.dialect)
        self.asked = self.answered = 0

    def read(self, text, policy=None):
        """The statement, or None where it is refused in words that show no data."""
        self.asked += 1
        try:
            found = read_statement(
                text, policy=policy or self.policy, catalogue=self.catalogue, dialect=self.engine.dialect
            )
        except (ParameterError, UnsupportedError) as refusal:
            if MARK in str(refusal) or len(str(refusal)) > 1000:
                pytest.fail(f"a refusal shows too much: {refusal}")
            return None
        self.answered += 1
        return found

    def statements(self, seed, rounds, table="w"):
        """Whole statements: WHERE and GROUP BY."""
        writer = Writer(Random(seed), self.wide if table == "w" else SAME, self.words)
        with self.engine.snapshot() as snapshot:
            for text in [writer.statement(table) for _ in range(rounds)]:
                if (statement := self.read(text)) is None:
                    continue
                with told(text):
                    whole = compute_answers(snapshot, statement)
                    group = statement.groups()[-1]
                    assert compute_answer(snapshot, statement.question(group, 0)) == whole[group][0], text

    def batches(self, seed, rounds, *, size, table="w"):
        """Many aggregates in few statements, since an engine takes its time for each; what it answered, by text.

        Those about ``c`` are asked of DuckDB too, so their texts are plain: dialects quote differently.
        """
        words = self.words if table == "w" else replace(self.words, texts=PLAIN.texts)
        writer = Writer(Random(seed), self.wide if table == "w" else SAME, words)
        read = {
            text: self.read(f"SELECT {text} FROM {table}")
            for text in (writer.measure() for _ in range(rounds))
        }
        texts = [text for text, statement in read.items() if statement is not None]
        answers = {}
        for start in range(0, len(texts), size):
            some = texts[start : start + size]
            answers |= answered_together(self.engine, {text: read[text] for text in some})
        return answers

    def joins(self, seed, rounds, *, analyses=None):
        """Bounds of random joins of ``w`` and ``c``, with themselves and one another; how many were bounded."""
        draw, policy = Random(seed), policy_of(self.wide, seed)
        tables = {"w": self.wide, "c": SAME}
        texts = [join(draw, tables, draw.choice([2, 2, 3, 4]), self.words) for _ in range(rounds)]
        read = {text: statement for text in texts if (statement := self.read(text, policy)) is not None}
        questions = {text: statement.question((), 0) for text, statement in read.items()}
        try:
            with self.engine.snapshot() as snapshot:
                readers = {}
                prepared = plan_analyses(list(questions.values()), analyses=analyses)
                for text, planned in zip(questions, prepared, strict=True):
                    # Several questions share a statement.
                    key = id(planned.numbers)
                    readers[key] = readers.get(key) or Reader(snapshot, planned.numbers)
                    assert planned.bound(readers[key], beta=0.5).at(0.5) >= 0, text
        except EngineError:
            ask = partial(_analyse, analyses=analyses)
            blame(self.engine, questions, ask)
        return len(read)


def _analyse(snapshot, question, *, analyses):
    plan_analysis(question, analyses=analyses).read(snapshot, beta=0.5)


def answered_together(engine, read):
    """The first aggregate of each statement, all from one statement, by text."""
    measures = tuple(statement.measures[0] for statement in read.values())
    whole = replace(next(iter(read.values())), measures=measures)
    try:
        with engine.snapshot() as snapshot:
            return dict(zip(read, compute_answers(snapshot, whole)[()], strict=True))
    except EngineError:
        blame(engine, read, compute_answers)


def blame(engine, asked, ask) -> NoReturn:
    """Ask one by one what raised together, each in a snapshot of its own: an error may end a transaction."""
    for text, question in asked.items():
        with told(text), engine.snapshot() as snapshot:
            ask(snapshot, question)
    pytest.fail(f"together they raise, alone they do not: {list(asked)}")


@contextmanager
def told(text):
    """An engine's error becomes a failure that tells the question and the engine's own words."""
    try:
        yield
    except EngineError as error:
        pytest.fail(f"{text}\n{error}\n{error.details.reveal()}")


def duckdb_answers(texts, policy):
    """The same aggregates of ``c`` on DuckDB."""
    with connect({"c": same_values()}) as engine:
        catalogue = engine.catalogue()
        read = {
            text: read_statement(
                f"SELECT {text} FROM c", policy=policy, catalogue=catalogue, dialect=engine.dialect
            )
            for text in texts
        }
        return answered_together(engine, read)
