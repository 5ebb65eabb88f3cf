"""Plain correlation against the rule."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import sordino as sd
from sordino.logs.correlation import encode_matches, number_chains
from sordino.logs.entries import make_entries

from .random_logs import NAMES, as_table, check_against_rule, draw_log, read_rows

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "logs.json").read_text())
GOLDEN_LOG = [(time, owner, tuple(values)) for time, owner, *values in GOLDEN["entries"]]


def test_the_example_of_the_rule_gives_its_chains():
    found = sd.logs.correlate(as_table(GOLDEN_LOG), values=["x", "y"])
    assert found.numbers == GOLDEN["numbers"]
    for owner, places in GOLDEN["places"].items():
        assert found.for_owner(owner).column("place").to_pylist() == places
    for owner, places in GOLDEN["uncorrelated"].items():
        assert found.unmatched(owner).column("place").to_pylist() == places


def test_events_of_one_organisation_do_reach_another():
    """The report says that none do; whoever shares a chain gets the other's entries of it, and should know that."""
    found = sd.logs.correlate(as_table(GOLDEN_LOG), values=["x", "y"])
    assert {"O1", "O2"} == set(found.for_owner("O1").column("owner").to_pylist())
    assert "ann" in found.for_owner("O2").column("y").to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("match", ["any", "column"])
def test_thousands_of_random_logs_follow_the_rule(match):
    random = Random(f"plain {match}")
    for _ in range(1500):
        log = draw_log(random, largest=16)
        if log:
            found = sd.logs.correlate(as_table(log), values=NAMES[: len(log[0][2])], match=match)
            check_against_rule(found, log, match)


def test_a_log_whose_rule_is_broken_is_refused():
    """The check itself: joining the earliest matching chain, or any entry of it, is not the rule."""
    log = [(1, "a", ("p",)), (2, "b", ("q",)), (3, "a", ("p",)), (4, "b", ("p",))]
    found = sd.logs.correlate(as_table(log), values=["x"])
    check_against_rule(found, log, "any")
    wrong = [*log[:3], (4, "b", ("q",))]
    with pytest.raises(AssertionError):
        check_against_rule(found, wrong, "any")


def test_one_log_per_owner_is_the_same_as_one_for_all():
    random = Random("files")
    for _ in range(50):
        log = draw_log(random, size=12)
        people = sorted({who for _, who, _ in log})
        parts = {who: as_table([e for e in log if e[1] == who]).drop_columns(["owner"]) for who in people}
        joined = [e for who in people for e in log if e[1] == who]
        values = NAMES[: len(log[0][2])]
        check_against_rule(sd.logs.correlate(parts, values=values), joined, "any")


def test_one_file_per_owner(tmp_path):
    import pyarrow.csv

    paths = {who: tmp_path / f"{who}.csv" for who in ("O1", "O2")}
    for who, path in paths.items():
        pyarrow.csv.write_csv(as_table([e for e in GOLDEN_LOG if e[1] == who]).drop_columns(["owner"]), path)
    check_against_rule(sd.logs.correlate(paths, values=["x", "y"]), GOLDEN_LOG, "any")


def test_frames_files_and_tables_give_the_same(tmp_path):
    import pandas
    import polars
    import pyarrow.csv
    import pyarrow.parquet

    table = as_table(GOLDEN_LOG)
    pyarrow.csv.write_csv(table, tmp_path / "log.csv")
    pyarrow.parquet.write_table(table, tmp_path / "log.parquet")
    expected = sd.logs.correlate(table, values=["x", "y"]).to_dict()
    for log in (
        polars.from_arrow(table),
        polars.from_arrow(table).lazy(),
        table.to_pandas(),
        pandas.DataFrame(table.to_pylist()),
        tmp_path / "log.csv",
        str(tmp_path / "log.parquet"),
    ):
        assert sd.logs.correlate(log, values=["x", "y"]).to_dict() == expected


def test_values_are_normalised_for_comparing_only():
    log = as_table([(1, "a", (" Ann",)), (2, "b", ("ann ",))])
    assert sd.logs.correlate(log, values=["x"]).numbers == [1, 2]
    assert sd.logs.correlate(log, values=["x"], normalise=["lower"]).numbers == [1, 2]
    found = sd.logs.correlate(log, values=["x"], normalise=["lower", "strip"])
    assert found.numbers == [1, 1]
    assert found.for_owner("b").column("x").to_pylist() == [" Ann", "ann "]


def test_numbers_are_compared_as_text_whatever_their_type():
    import pandas

    whole = pandas.DataFrame({"time": [1, 2], "x": [5, 6]})
    with_gap = pandas.DataFrame({"time": [3, 4], "x": [5.0, None]})
    found = sd.logs.correlate({"a": whole, "b": with_gap}, values=["x"])
    assert found.numbers == [1, 2, 1, 4]


def test_codes_are_equal_exactly_where_values_match():
    entries = make_entries(as_table([(1, "a", ("p", "q")), (2, "a", ("q", None))]), values=["x", "y"])
    assert encode_matches(entries, "any").tolist() == [[0, 1], [1, -1]]
    assert encode_matches(entries, "column").tolist() == [[0, 2], [1, -1]]
    assert number_chains(encode_matches(entries, "column")).tolist() == [1, 2]


def test_empty_logs_have_no_chains():
    found = sd.logs.correlate({"a": as_table([], 1), "b": as_table([], 1)}, values=["x"])
    assert found.numbers == []
    assert read_rows(found.for_owner("a")) == []
    assert found.counts() == {who: {"chains": 0, "entries": 0, "uncorrelated": 0} for who in "ab"}


def test_a_chain_of_a_hundred_thousand_and_a_hundred_thousand_chains():
    import pyarrow as pa

    size = 100_000
    long = pa.table({"time": range(size), "owner": ["a"] * size, "x": ["p"] * size})
    assert set(sd.logs.correlate(long, values=["x"]).for_owner("a").column("chain").to_pylist()) == {1}
    wide = pa.table({"time": range(size), "owner": ["a"] * size, "x": [f"{i}" for i in range(size)]})
    assert sd.logs.correlate(wide, values=["x"]).unmatched("a").num_rows == size
