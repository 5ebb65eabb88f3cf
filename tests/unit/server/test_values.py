"""Values on the wire, as another implementation of the protocol reads them."""

import struct
from datetime import date, datetime
from decimal import Decimal

import pytest

from sordino.server.postgres import values
from sordino.server.postgres.frames import FrameError, MessageBody
from sordino.server.postgres.sqlstate import find_position

psycopg = pytest.importorskip("psycopg", reason="reads what we write: pip install psycopg")
from psycopg.adapt import Transformer  # noqa: E402
from psycopg.pq import Format  # noqa: E402

CASES = [
    (True, values.BOOL),
    (False, values.BOOL),
    (0, values.INT8),
    (-(2**62), values.INT8),
    (1.5, values.FLOAT8),
    (float("inf"), values.FLOAT8),
    (-0.1, values.FLOAT8),
    ("naïve ✓", values.TEXT),
    ("", values.TEXT),
    (date(1999, 12, 31), values.DATE),
    (datetime(2024, 2, 29, 23, 59, 59, 5), values.TIMESTAMP),
    (Decimal("0"), values.NUMERIC),
    (Decimal("-12345.678900"), values.NUMERIC),
    (Decimal("10000"), values.NUMERIC),
    (Decimal("0.00001"), values.NUMERIC),
]


@pytest.mark.parametrize(("value", "oid"), CASES)
@pytest.mark.parametrize("format_code", [0, 1])
def test_psycopg_reads_what_is_written(value, oid, format_code):
    loader = Transformer().get_loader(oid, Format(format_code))
    assert loader.load(values.encode(value, oid, format_code)) == value


@pytest.mark.parametrize(("value", "oid"), CASES)
@pytest.mark.parametrize("format_code", [0, 1])
def test_what_is_written_is_read_again(value, oid, format_code):
    assert values.decode(values.encode(value, oid, format_code), oid, format_code) == value


@pytest.mark.parametrize(
    ("raw", "oid", "format_code"),
    [(b"x", values.INT4, 0), (b"123", values.INT8, 1), (b"\xff", values.TEXT, 0), (b"1", values.INT4, 2)],
)
def test_malformed_parameters_are_refused(raw, oid, format_code):
    with pytest.raises(FrameError):
        values.decode(raw, oid, format_code)


@pytest.mark.parametrize("content", [b"", b"\0", b"abc", struct.pack("!i", 5) + b"ab", b"\xff\0"])
def test_bodies_that_end_too_early_are_refused(content):
    with pytest.raises(FrameError):
        read_a_text_and_a_value(MessageBody(content))


def read_a_text_and_a_value(body):
    return body.text(), body.value()


def test_positions_count_characters_from_one():
    from sordino.core import Place

    assert find_position(Place(1, 1), "SELECT") == 1
    assert find_position(Place(2, 3), "é\nxyz") == 5
    assert find_position(Place(9, 1), "x") is None
