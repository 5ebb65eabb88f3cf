"""Strangers and analysts who send what no driver sends over Flight SQL: refused in Flight's words, and never paid."""

from __future__ import annotations

import random
import re
import socket
import struct
import time
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pyarrow import flight

from sordino.server.flight.messages import envelop, make
from tests.e2e.server.mutation import mutate

COUNT = "SELECT COUNT(*) FROM orders"
NAMES = ("ann", "bob", "eve")
STACK = re.compile(r"Traceback|File \"|\.py\b|\.pyx\b|site-packages")
REFUSALS = (flight.FlightError, pa.ArrowException, OSError, NotImplementedError)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.fixture
def unharmed(server):
    """Afterwards an honest client is answered, nothing was paid by anybody, and nothing was a defect."""
    spent, lines = [server.spent(name) for name in NAMES], len(server.log)
    yield
    assert [server.spent(name) for name in NAMES] == spent
    assert not [line for line in server.log[lines:] if "defect" in line]
    with flight.FlightClient(server.flight) as client:
        given = options(server, "ann")
        command = flight.FlightDescriptor.for_command(envelop(make("CommandStatementQuery", query=COUNT)))
        (endpoint,) = client.get_flight_info(command, given).endpoints
        assert client.do_get(endpoint.ticket, given).read_all().num_rows == 1
    assert server.spent("ann") == pytest.approx(
        spent[0] + 0.25
    )  # the control: a question that is one is paid


def options(server, name, *headers):
    said = [(b"authorization", f"Bearer {server.tokens[name]}".encode()), *headers]
    return flight.FlightCallOptions(timeout=10, headers=said)


def commands() -> list[bytes]:
    """One of every kind that the door reads; none of them names a ticket that was given out."""
    messages = [
        make("CommandStatementQuery", query=COUNT, transaction_id=b"t"),
        make("TicketStatementQuery", statement_handle=b"h" * 16),
        make("CommandPreparedStatementQuery", prepared_statement_handle=b"h" * 16),
        make("ActionCreatePreparedStatementRequest", query=COUNT),
        make("ActionClosePreparedStatementRequest", prepared_statement_handle=b"h" * 16),
        make("CommandGetSqlInfo", info=[0, 1, 4_000_000_000]),
        make("CommandGetCatalogs"),
        make("CommandGetDbSchemas", catalog="shop", db_schema_filter_pattern="%"),
        make("CommandGetTableTypes"),
        make("CommandGetTables", table_name_filter_pattern="o%", table_types=["TABLE"], include_schema=True),
    ]
    return [envelop(message) for message in messages]


def calls(client, content, given, draw):
    """Every call of Flight with the same bytes, in the places where bytes can stand."""
    command = flight.FlightDescriptor.for_command(content)
    path = flight.FlightDescriptor.for_path(content[:20].hex(), "b")
    schema = pa.schema([("a", pa.int64())])
    action = draw.choice(["CreatePreparedStatement", "ClosePreparedStatement", "BeginTransaction", "", "\0é"])

    def put():
        writer, reader = client.do_put(draw.choice([command, path]), schema, given)
        writer.write_metadata(content)
        writer.done_writing()
        reader.read()
        writer.close()

    def exchange():
        writer, reader = client.do_exchange(draw.choice([command, path]), given)
        with writer:
            writer.write_metadata(content)
            writer.done_writing()
            reader.read_all()

    return {
        "info": lambda: client.get_flight_info(draw.choice([command, command, path]), given),
        "schema": lambda: client.get_schema(command, given),
        "get": lambda: client.do_get(flight.Ticket(content), given).read_all(),
        "action": lambda: list(client.do_action(flight.Action(action, content), given)),
        "flights": lambda: list(client.list_flights(content, given)),
        "put": put,
        "exchange": exchange,
    }


def headers(draw):
    """Prices and tokens that are none, and now and then nothing odd at all."""
    names = [
        b"sordino-epsilon",
        b"sordino-noise",
        b"sordino-reuse",
        b"authorization",
        b"grpc-timeout",
        b"x-bin",
    ]
    values = [b"0.5", b"true", b"Bearer x", b"Basic eDp5"]
    # Other signs than these do not get past the client's side of gRPC.
    return [
        (draw.choice(names), bytes(sign & 127 | 32 for sign in mutate(draw.choice(values), draw)))
        for _ in range(draw.choice([0, 0, 1, 3]))
    ]


def refusal(call) -> str | None:
    """What a call was refused with; None if it was answered."""
    try:
        call()
    except REFUSALS as error:
        return str(error)
    return None


@pytest.mark.slow
def test_mutated_commands_in_every_call(server, unharmed):
    draw = random.Random(20260102)
    until = time.monotonic() + 12
    refused, answered = 0, 0
    whole = commands()
    with flight.FlightClient(server.flight) as client:
        for number in range(3000):
            if time.monotonic() > until:
                break
            # A whole command in a call that is not its own, a mutated one, or no command at all.
            content = draw.choice(whole)
            if number % 4 == 1:
                content = draw.randbytes(draw.randint(0, 200))
            elif number % 4 > 1:
                content = mutate(content, draw)
            possible = calls(client, content, options(server, draw.choice(NAMES), *headers(draw)), draw)
            told = refusal(possible[draw.choice(list(possible))])
            refused, answered = refused + (told is not None), answered + (told is None)
            assert not STACK.search(told or ""), told
            assert "defect" not in (told or "")
    assert refused > 300  # the fuzzer was no honest client
    assert answered > 30  # and came further than the first check


def frames(draw) -> bytes:
    """HTTP/2 as far as its frames: lengths, kinds, flags and streams by chance, bodies that do not fit them."""
    sent = b""
    for _ in range(draw.randint(1, 8)):
        body = draw.randbytes(draw.choice([0, 1, 8, 40]))
        length = draw.choice([len(body), len(body), draw.randrange(1 << 24)])
        kind, flags, stream = draw.randrange(12), draw.randrange(256), draw.choice([0, 1, 2, (1 << 32) - 1])
        sent += struct.pack("!I", length)[1:] + struct.pack("!BBI", kind, flags, stream) + body
    return sent


@pytest.mark.slow
def test_bytes_that_are_no_http2(server, unharmed):
    draw = random.Random(20260103)
    until = time.monotonic() + 12
    found = urlsplit(server.flight)
    settings = b"\0\0\0\x04\0\0\0\0\0"
    told, sent = 0, 0
    for number in range(1500):
        if time.monotonic() > until:
            break
        content = [
            lambda: draw.randbytes(draw.randint(1, 300)),
            lambda: mutate(PREFACE + settings, draw),
            lambda: PREFACE + frames(draw),
            lambda: PREFACE + settings + frames(draw),
            lambda: b"POST /v1/query HTTP/1.1\r\nHost: x\r\n\r\n",
        ][number % 5]()
        with socket.create_connection((found.hostname, found.port), timeout=0.2) as one:
            answer = b""
            try:
                one.sendall(content)
                one.shutdown(socket.SHUT_WR)
                while part := one.recv(65536):
                    answer += part
            except (TimeoutError, ConnectionError):
                pass
        sent, told = sent + 1, told + bool(answer)
        assert not STACK.search(answer.decode("latin-1"))
        assert len(answer) < 100_000
    assert sent > 50
    assert told > 10  # the frames were read by somebody


@pytest.mark.parametrize("call", ["info", "schema", "get", "action"])
def test_a_command_in_the_call_of_another_is_refused(server, unharmed, call):
    draw, told = random.Random(1), []
    with flight.FlightClient(server.flight) as client:
        for content in commands():
            told.append(refusal(calls(client, content, options(server, "ann"), draw)[call]))
    refused = [text for text in told if text is not None]
    assert refused
    assert not [text for text in refused if "defect" in text or STACK.search(text)]


def test_a_pattern_of_many_signs_is_matched_at_once(server, unharmed):
    """A matcher that tries every way to share a name among the signs would hold the whole server for years."""
    with flight.FlightClient(server.flight) as client:
        for pattern, found in (
            ("%" * 5000 + "orders", 1),
            ("%" * 5000 + "x", 0),
            ("_%" * 5000, 0),
            ("o%d_r%", 1),
        ):
            content = envelop(make("CommandGetTables", table_name_filter_pattern=pattern))
            begun = time.monotonic()
            assert client.do_get(flight.Ticket(content), options(server, "ann")).read_all().num_rows == found
            assert time.monotonic() - begun < 5
