"""All groups of an answer together lose what is claimed, on Spark."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sordino.engines import connect
from tests.backends.group_suite import COLUMNS, check_groups, is_narrow, write_questions

# A statement takes Spark half a second, however small the tables.
QUESTIONS = 20
_KINDS = {"text": pa.string(), "boolean": pa.bool_(), "date": pa.date32()}


def arrow_table(table, rows):
    """The rows with the types of the other engines."""
    columns = {}
    for place, (name, kind) in enumerate(COLUMNS.items()):
        integer = pa.int32() if is_narrow(table, name) else pa.int64()
        columns[name] = pa.array([row[place] for row in rows], _KINDS.get(kind, integer))
    return pa.table(columns)


@pytest.fixture
def groups(spark, tmp_path):
    """Views over files, which every database writes anew under names of its own."""
    filled = []

    def fill(database):
        for table, rows in database.items():
            file = tmp_path / f"{table}{len(filled)}.parquet"
            pq.write_table(arrow_table(table, rows), file)
            spark.read.parquet(str(file)).createOrReplaceTempView(table)
        filled.append(database)

    fill({"r": (), "q": (), "p": ()})
    yield connect(spark), fill
    for table in "rqp":
        spark.catalog.dropTempView(table)


def test_random_groups_together_lose_no_more_than_epsilon(groups):
    tally = check_groups(*groups, write_questions(307, QUESTIONS), seed=307, fresh=1, most=1)
    assert not tally.wrong, tally.report()
    assert tally.planned > 0.7 * QUESTIONS, f"the writer asks too little that is answered: {tally.refused}"
    assert tally.parallel > 0.6 * tally.planned, "hardly any question claims parallel composition any more"
    assert tally.moved > 0.3 * tally.pairs, "most rows that change belong to no group: nothing is compared"
