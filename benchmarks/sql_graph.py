"""Subgraph counts of the Facebook graph as self-joins in SQL: time beside the plain query, and noise by analysis."""

from __future__ import annotations

from report import Report
from sql_data import facebook
from sql_measure import Worker, errors, times
from sql_questions import GRAPH
from sql_tables import noise_table, time_table

LIMIT = 120.0


def run(quick: bool = False) -> list[Report]:
    file = facebook()
    if file is None:
        skipped = [["skipped: the graph is not there"]]
        return [Report(marker, ["question"], skipped) for marker in ("sql-graph-times", "sql-graph-noise")]
    questions = GRAPH[:1] if quick else GRAPH
    with Worker(file, limit=LIMIT) as worker:
        found = {question.name: times(worker, question, 1 if quick else 2) for question in questions}
        noise = {question.name: errors(worker, question) for question in questions}
    return [time_table("sql-graph-times", questions, found, []), noise_table("sql-graph-noise", noise)]
