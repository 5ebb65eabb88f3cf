"""Reading of logs: what is wrong is said with its line, and no value is shown."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.logs.entries import make_entries
from sordino.logs.raw_lines import parse_lines
from sordino.logs.time_keys import order_keys, parse_times, restore_times


def write(folder, text, name="log.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,owner,ip\n1,a,x\nsecret,a,y\n", r"line 3 of .*log.csv: the time 'time' cannot be read"),
        ("time,owner,ip\n2024-01-01,a,x\n2024-13-01,a,y\n", r"line 3 of .*: the time 'time' cannot be read"),
        ("time,owner,ip\n2024-01-01T00:00:00Z,a,x\n2024-01-02T00:00:00,a,y\n", "line 3 of"),
        ('time,owner,ip\n1,a,"two\nlines"\n2,a,y\nnan,a,z\n', "line 5 of .*cannot be read"),
        ("time,owner,ip\n1,a,x\n\n,a,y\n", r"line 4 of .*: the time 'time' is missing"),
        ("time,owner,ip\n1,a,x\n2,,y\n", r"line 3 of .*: the owner 'owner' is missing"),
        ("time,owner,ip\n1,a,x\n2,a\n", "line 3 of .* has 2 fields, the header has 3"),
        ('time,owner,ip\n1,a,"x\n2,a,y\n', "line 2 of .* is not CSV: unexpected end of data"),
    ],
)
def test_bad_lines_are_named_without_their_values(tmp_path, text, message):
    with pytest.raises(sd.PrivateDataError, match=message) as caught:
        sd.logs.correlate(write(tmp_path, text), values=["ip"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "time,owner,ip\n1,a,x\n",
            {"values": ["host"]},
            "must have one column 'host'; it has time, owner, ip",
        ),
        ("time,ip\n1,x\n", {"values": ["ip"]}, "must have one column 'owner'"),
        (
            "1,a,x\n2,a,y\n",
            {"values": ["ip"]},
            "its first line must name the columns; it looks like a record",
        ),
        ("time,ip,ip\n1,a,b\n", {"values": ["ip"]}, "two columns of the same name"),
        ("", {"values": ["ip"]}, "has no header"),
        ("time,owner,ip\n1,a,x\n", {"values": "ip"}, "values must be the names of the columns"),
        ("time,owner,ip\n1,a,x\n", {"values": []}, "values must be the names of the columns"),
        ("time,owner,ip\n1,a,x\n", {"values": ["ip", "ip"]}, "names a column twice"),
        ("time,owner,ip\n1,a,x\n", {"values": ["time"]}, "may not be called 'time'"),
        ("time,owner,ip\n1,a,x\n", {"values": ["ip"], "match": "all"}, "match must be one of any, column"),
        ("time,owner,ip\n1,a,x\n", {"values": ["ip"], "normalise": ["upper"]}, "normalise must be one of"),
        ("time,owner,ip\n1,a,x\n", {"values": ["ip"], "owners": ["b"]}, "leaves out 1 owners"),
        ("time,owner,ip\n1,a,x\n", {"values": ["ip"], "owners": ["a", "a"]}, "must be distinct names"),
    ],
)
def test_slips_are_said(tmp_path, text, options, message):
    with pytest.raises(sd.ParameterError, match=message):
        sd.logs.correlate(write(tmp_path, text), **options)


def test_files_that_are_not_there_or_not_what_they_say(tmp_path):
    with pytest.raises(sd.ParameterError, match=r"cannot read .*nothing.csv: no such file"):
        sd.logs.correlate(tmp_path / "nothing.csv", values=["ip"])
    with pytest.raises(sd.ParameterError, match=r"cannot read .* as Parquet"):
        sd.logs.correlate(write(tmp_path, "time,ip\n", "log.parquet"), values=["ip"])
    (tmp_path / "latin.csv").write_bytes(b"time,owner,ip\n1,a,\xff\n")
    with pytest.raises(sd.PrivateDataError, match="is not UTF-8 text"):
        sd.logs.correlate(tmp_path / "latin.csv", values=["ip"])
    with pytest.raises(sd.ParameterError, match="must be a data frame, an Arrow table or the path"):
        sd.logs.correlate({"a": 5}, values=["ip"])
    with pytest.raises(sd.ParameterError, match="at least one log"):
        sd.logs.correlate({}, values=["ip"])


def test_times_that_go_backwards_are_sorted_or_refused(tmp_path):
    path = write(tmp_path, "time;owner;ip\n2;a;x\n1;b;x\n")
    found = sd.logs.correlate(path, values=["ip"])
    assert found.for_owner("a").column("owner").to_pylist() == ["b", "a"]
    with pytest.raises(sd.PrivateDataError, match=r"line 3 of .* is before that above it"):
        sd.logs.correlate(path, values=["ip"], require_sorted=True)


def test_logs_with_times_of_different_kinds_are_refused():
    numbers = pa.table({"time": [1], "x": ["p"]})
    dates = pa.table({"time": ["2024-01-01"], "x": ["p"]})
    with pytest.raises(sd.ParameterError, match="times of the logs are of different kinds"):
        sd.logs.correlate({"a": numbers, "b": dates}, values=["x"])
    floats = pa.table({"time": [0.5], "x": ["p"]})
    assert sd.logs.correlate({"a": numbers, "b": floats}, values=["x"]).numbers == [1, 1]
    beyond = pa.table({"time": [2**60 + 1], "x": ["p"]})
    with pytest.raises(sd.PrivateDataError, match="write all as whole numbers") as told:
        sd.logs.correlate({"a": beyond, "b": floats}, values=["x"])
    assert str(2**60 + 1) not in str(told.value)


def test_owners_of_one_name_are_not_lost():
    log = pa.table({"time": [1], "x": ["p"]})
    with pytest.raises(sd.ParameterError, match="every owner must be named once"):
        sd.logs.correlate({1: log, "1": log}, values=["x"])


@pytest.mark.parametrize(
    "times",
    [
        pa.array([3, -(2**63), 2**63 - 1, 0, -1]),
        pa.array([0.5, -0.5, 0.0, -1e300, 1e-320, -1e-320, 1e300]),
        pa.array([dt.datetime(2024, 1, 1), dt.datetime(1999, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 0, 1)]),
        pa.array([dt.date(2024, 1, 1), dt.date(1969, 1, 1)]),
        pa.array(["2024-01-01T10:00:00+02:00", "2024-01-01T07:30:00Z"]),
        pa.array(["1", "2.5", "-7"]),
    ],
)
def test_keys_sort_as_times_do_and_give_them_back(times):
    parsed = parse_times(pa.chunked_array([times]), "time", str)
    keys = order_keys(parsed).tolist()
    given = parsed.to_pylist()
    for (one, key), (other, second) in itertools.product(zip(given, keys, strict=True), repeat=2):
        assert (one < other) == (key < second)
    assert restore_times(keys, parsed.type).to_pylist() == given


def test_both_zeros_are_one_time():
    assert np.unique(order_keys(pa.chunked_array([[0.0, -0.0]]))).size == 1


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1]]), "must hold whole numbers, floats"),
        (pa.array([float("nan")]), "row 1 of the log: the time 'time' is not a finite number"),
        (pa.array([2**64 - 1], pa.uint64()), "does not fit in 64 bits"),
        (pa.array([None], pa.int64()), "row 1 of the log: the time 'time' is missing"),
    ],
)
def test_times_that_cannot_be_sorted_are_refused(column, message):
    log = pa.table({"time": column, "owner": ["a"], "x": ["p"]})
    with pytest.raises(sd.SordinoError, match=message):
        sd.logs.correlate(log, values=["x"])


def test_values_that_are_no_text_are_refused():
    log = pa.table({"time": [1], "owner": ["a"], "x": pa.array([[1]])})
    with pytest.raises(sd.ParameterError, match="column 'x' must hold plain values"):
        sd.logs.correlate(log, values=["x"])


def test_an_empty_field_of_a_csv_is_null(tmp_path):
    path = write(tmp_path, "time,owner,ip\n1,a,\n2,b,\n")
    assert sd.logs.correlate(path, values=["ip"]).numbers == [1, 2]


def test_raw_lines_become_columns(tmp_path):
    path = write(tmp_path, "7 10.0.0.1 ann\n\n9 10.0.0.1 -\n", "access.log")
    table = parse_lines(path, r"(?P<time>\d+) (?P<ip>\S+) (?:-|(?P<user>\S+))")
    assert table.to_pydict() == {"time": ["7", "9"], "ip": ["10.0.0.1"] * 2, "user": ["ann", None]}
    entries = make_entries({"a": table}, values=["ip", "user"])
    assert entries.keys.tolist() == [7, 9]
    with pytest.raises(sd.PrivateDataError, match=r"line 3 of .* does not fit the pattern"):
        parse_lines(path, r"(?P<time>\d+) (?P<ip>\S+) (?P<user>[a-z]+)")
    with pytest.raises(sd.ParameterError, match="must name its groups"):
        parse_lines(path, r"\d+")
    with pytest.raises(sd.ParameterError, match="no regular expression"):
        parse_lines(path, r"(?P<time")
    with pytest.raises(sd.ParameterError, match=r"cannot read"):
        parse_lines(tmp_path / "nothing", r"(?P<time>\d+)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parties": 5}, "parties must be 3, got 5"),
        ({"backend": "sharemind"}, "backend must be one of mpyc, emulate"),
        ({"timeout": 0}, "timeout must be > 0"),
        ({"width": "wide"}, "width must be a whole number"),
        ({"width": 4}, "width must hold the longest entry"),
        ({"owners": None, "logs": pa.table({"time": [1], "owner": ["a"], "x": ["p"]})}, "at least 2 owners"),
        (
            {"logs": pa.table({"time": range(3001), "owner": ["a", *["b"] * 3000], "x": ["p"] * 3001})},
            "3001 entries are more than 3000",
        ),
        (
            {
                "logs": pa.table({"time": range(501), "owner": ["a", *["b"] * 500], "x": ["p"] * 501}),
                "backend": "mpyc",
            },
            r"501 entries are more than 500, .* allow_large=True \(--yes\)",
        ),
        (
            {"logs": pa.table({"time": [1, 2], "owner": ["a", "b"], "x": ["p" * 70000] * 2})},
            "too long to be shared",
        ),
    ],
)
def test_slips_of_secret_runs_are_said(options, message):
    both = pa.table({"time": [1, 2], "owner": ["a", "b"], "x": ["p", "p"]})
    given = {"logs": both, "values": ["x"], "backend": "emulate"} | options
    with pytest.raises(sd.ParameterError, match=message):
        sd.logs.correlate_secret(given.pop("logs"), **given)


@pytest.mark.parametrize("size", [0, 1])
def test_logs_of_no_and_of_one_entry(size):
    log = {
        "a": pa.table({"time": pa.array(range(size), pa.int64()), "x": ["p"] * size}),
        "b": pa.table({"time": pa.array([], pa.int64()), "x": pa.array([], pa.string())}),
    }
    found = sd.logs.correlate_secret(log, values=["x"], backend="emulate")
    assert found.numbers == [1] * size
    assert found.unmatched("a").num_rows == size
