"""What is not counted because it follows from other counts is what counting it by itself gives."""

import pyarrow as pa
import pytest
from sqlglot import exp

from sordino.engines import connect
from sordino.sql.aggregates.sum import BoundedSum
from sordino.sql.analysis.counting import CountedRows, Link
from sordino.sql.analysis.reader import Asking, Reader

UNIQUE = {"a": [1, 2, 3, 4], "b": [7, 7, 8, None], "v": [5, 6, 7, 8]}
REPEATED = {"a": [1, 1, 1, 2, 2, None], "b": [7, 7, 8, 7, 9, 9], "v": [3, 4, 5, 6, 7, 8]}
OTHER = {"b": [7, 7, 8, 8, 8, 10], "w": [1, 1, 2, 2, 3, 3]}
VALUE = BoundedSum(exp.column("v", table="t", quoted=True), 0, 10, whole=True)


def count_by_hand(rows: dict, keys: str, links: tuple[tuple[dict, str], ...], value: str | None) -> int:
    """The largest number by loops; NULL meets nothing, and is a value of its own where rows are grouped."""
    totals: dict[tuple, int] = {}
    for place in range(len(rows["a"])):
        number = 1 if value is None else rows[value][place]
        for other, column in links:
            number *= sum(x is not None and x == rows[column][place] for x in other[column])
        if number:
            group = tuple(rows[key][place] for key in keys)
            totals[group] = totals.get(group, 0) + number
    return max(totals.values(), default=0)


@pytest.mark.parametrize(
    "rows", [UNIQUE, REPEATED, {"a": [], "b": [], "v": []}], ids=["key", "no key", "empty"]
)
def test_counts_that_follow_from_others_are_those_by_hand(rows):
    by_b = CountedRows("s", (), ("b",))
    meets = (Link(by_b, ("b",)),)
    cases = [
        (keys, links, measure)
        for keys in ("a", "b", "ab")
        for links in ((), meets)
        for measure in (None, VALUE)
    ]
    asking = Asking(2)
    counts = [CountedRows("r", (), tuple(keys), links, measure) for keys, links, measure in cases]
    places = [asking.largest(counted) for counted in counts]
    together = asking.together((counts[0], CountedRows("r", (), ("a",))), ((1,), (1,)))
    typed = {name: pa.array(values, pa.int64()) for name, values in rows.items()}
    with connect({"r": pa.table(typed), "s": pa.table(OTHER)}) as engine, engine.snapshot() as snapshot:
        reader = Reader(snapshot, asking.numbers())
    for place, (keys, links, measure) in zip(places, cases, strict=True):
        linked = ((OTHER, "b"),) if links else ()
        assert reader.largest(place) == count_by_hand(rows, keys, linked, "v" if measure else None), (
            keys,
            bool(links),
            bool(measure),
        )
    assert {one == two for one, two in reader.rows(together)} <= {True}


def test_rows_counted_and_summed_are_grouped_once():
    asking = Asking(2)
    for measure in (None, VALUE):
        asking.largest(CountedRows("r", (), ("a",), (), measure))
    assert asking.numbers().statement.sql().count("GROUP BY") == 1


def test_rows_that_meet_others_by_their_keys_are_not_counted_again():
    asking = Asking(2)
    by_a, by_b = CountedRows("r", (), ("a",)), CountedRows("s", (), ("b",))
    asking.together((by_a, by_b), ((1,), (1,)))
    before = asking.numbers().statement.sql().count("JOIN")
    asking.largest(CountedRows("r", (), ("a",), (Link(by_b, ("a",)),)))
    assert asking.numbers().statement.sql().count("JOIN") == before
