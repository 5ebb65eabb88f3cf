# ruff: noqa: PT012, SIM117
"""Flight SQL with the ADBC driver, and with bare Flight where a driver would not do what an attacker does."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyarrow import flight

from sordino.server.flight.messages import envelop, make, open_envelope
from tests.e2e.server.serving import serving

dbapi = pytest.importorskip("adbc_driver_flightsql.dbapi")
COUNT = "SELECT COUNT(*) FROM orders"
HEADER = "adbc.flight.sql.rpc.call_header.sordino-"


def connect(server, name="ann", token=None, **headers):
    options = {"adbc.flight.sql.authorization_header": f"Bearer {token or server.tokens[name]}"}
    options |= {HEADER + key.replace("_", "-"): value for key, value in headers.items()}
    return dbapi.connect(server.flight, db_kwargs=options, autocommit=True)


@pytest.fixture
def ann(server):
    with connect(server) as connection:
        yield connection


def test_the_server_says_what_it_is(server, ann):
    told = ann.adbc_get_info()
    assert told["vendor_name"] == "Sordino"
    assert told["vendor_arrow_version"] == pa.__version__
    assert not server.tells("defect")


@pytest.fixture
def bare(server):
    with flight.FlightClient(server.flight) as client:
        yield client


def options(server, name="ann", **headers):
    said = [(b"authorization", f"Bearer {server.tokens[name]}".encode())]
    return flight.FlightCallOptions(
        timeout=30,
        headers=said + [(f"sordino-{key}".encode(), value.encode()) for key, value in headers.items()],
    )


def ask_ticket(bare, given, sql=COUNT):
    command = envelop(make("CommandStatementQuery", query=sql))
    return bare.get_flight_info(flight.FlightDescriptor.for_command(command), given).endpoints[0].ticket


def test_questions_are_answered_at_the_price_of_the_header(server):
    before = server.spent("ann")
    with connect(server, epsilon="10") as connection, connection.cursor() as cursor:
        cursor.execute(COUNT)
        assert abs(cursor.fetchone()[0] - 4711) < 100
        cursor.execute("SELECT city, SUM(amount) AS total FROM orders GROUP BY city")
        table = cursor.fetch_arrow_table()
    assert table.column_names == ["city", "total"]
    assert table.num_rows == 3
    assert server.spent("ann") == pytest.approx(before + 20)


def test_prepared_questions_pay_when_they_are_fetched(server, ann):
    before = server.spent("ann")
    with ann.cursor() as cursor:
        cursor.adbc_prepare(COUNT)
        assert server.spent("ann") == before
        cursor.execute(COUNT)
        cursor.fetchall()
    assert server.spent("ann") == pytest.approx(before + 0.25)


def test_the_catalogue_is_that_of_the_policy(server, ann):
    before = server.spent("ann")
    found = ann.adbc_get_objects(depth="columns").read_all().to_pylist()
    assert "orders" in str(found)
    assert "card" not in str(found)
    assert ann.adbc_get_table_types() == ["TABLE"]
    assert server.spent("ann") == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM nothing",
        "SELECT card FROM orders",
        "SELECT 'a",
        "DROP TABLE orders",
        "",
        "x" * 30_000,
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    ],
)
def test_errors_have_no_stack_and_cost_nothing(server, ann, sql):
    before = server.spent("ann")
    with ann.cursor() as cursor, pytest.raises(dbapi.Error) as caught:
        cursor.execute(sql)
        cursor.fetchall()
    assert not re.search(r"Traceback|File \"|\.py\b|site-packages", str(caught.value))
    assert server.spent("ann") == before


@pytest.mark.parametrize("price", ["much", "nan", "-1", "1e9"])
def test_prices_that_are_none_are_refused(server, price):
    before = server.spent("ann")
    with connect(server, epsilon=price) as connection, connection.cursor() as cursor:
        with pytest.raises(dbapi.Error) as caught:
            cursor.execute(COUNT)
            cursor.fetchall()
    assert "Traceback" not in str(caught.value)
    assert server.spent("ann") == before


def test_a_ticket_pays_once_however_often_and_at_once_it_is_fetched(server, bare):
    given = options(server)
    before = server.spent("ann")
    ticket = ask_ticket(bare, given)
    assert server.spent("ann") == before
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: bare.do_get(ticket, given).read_all().to_pylist(), range(16)))
    assert all(answer == answers[0] for answer in answers)
    assert server.spent("ann") == pytest.approx(before + 0.25)


def test_the_ticket_of_another_is_nobodys(server, bare):
    ticket = ask_ticket(bare, options(server))
    bare.do_get(ticket, options(server)).read_all()
    told = set()
    for wrong in (ticket, flight.Ticket(envelop(make("TicketStatementQuery", statement_handle=b"x" * 16)))):
        with pytest.raises(flight.FlightError) as caught:
            bare.do_get(wrong, options(server, "eve")).read_all()
        told.add(re.sub(r"ipv[46].*|\d+", "", str(caught.value)))
    assert len(told) == 1


def prepare(bare, given):
    sent = envelop(make("ActionCreatePreparedStatementRequest", query=COUNT))
    (result,) = bare.do_action(flight.Action("CreatePreparedStatement", sent), given)
    return open_envelope(result.body.to_pybytes())[1].prepared_statement_handle


def close(bare, handle, given):
    sent = envelop(make("ActionClosePreparedStatementRequest", prepared_statement_handle=handle))
    return list(bare.do_action(flight.Action("ClosePreparedStatement", sent), given))


def execute(bare, handle, given):
    command = envelop(make("CommandPreparedStatementQuery", prepared_statement_handle=handle))
    return bare.get_flight_info(flight.FlightDescriptor.for_command(command), given).endpoints[0].ticket


def test_nobody_closes_the_statement_of_another_or_pushes_it_out(server, bare):
    ann, eve = options(server), options(server, "eve")
    ticket, handle = ask_ticket(bare, ann), prepare(bare, ann)
    assert close(bare, handle, eve) == []  # whether there is one is not told
    with pytest.raises(flight.FlightError, match="no such statement of yours"):
        execute(bare, handle, eve)
    for _ in range(250):
        ask_ticket(bare, eve)
        prepare(bare, eve)
    assert bare.do_get(ticket, ann).read_all().num_rows == 1
    assert execute(bare, handle, ann)


def test_a_prepared_question_lives_as_long_as_it_is_used_and_closes_twice(server, bare):
    ann = options(server)
    handle, unused = prepare(bare, ann), prepare(bare, ann)
    for _ in range(250):  # more than are kept of either kind
        execute(bare, handle, ann)
        prepare(bare, ann)
    with pytest.raises(flight.FlightError, match="no such statement of yours"):
        execute(bare, unused, ann)
    assert close(bare, handle, ann) == close(bare, handle, ann) == []
    with pytest.raises(flight.FlightError, match="no such statement of yours"):
        execute(bare, handle, ann)


def test_strangers_are_told_one_thing_wherever_they_say_they_are(tmp_path):
    with serving(tmp_path) as running:
        told = set()
        for number in range(150):  # more than an address may try
            with pytest.raises(dbapi.Error) as caught, connect(running, token=f"sdt_{number}") as stranger:
                with stranger.cursor() as cursor:
                    cursor.execute(COUNT)
            told.add(re.sub(r"\d+", "", str(caught.value)))
            if number == 20:
                break
        given = flight.FlightCallOptions(timeout=30)
        with flight.FlightClient(running.flight) as bare:
            for number in range(120):
                said = [(b"authorization", b"Bearer x"), (b"x-forwarded-for", f"10.0.0.{number}".encode())]
                given = flight.FlightCallOptions(timeout=30, headers=said)
                with pytest.raises(flight.FlightUnauthenticatedError):
                    list(bare.list_actions(given))
        assert len(told) == 1
        assert (
            sum("rejected" in line for line in running.log) <= 102
        )  # the address was not what the stranger said


def test_commands_that_are_none_are_refused(server, bare):
    given = options(server)
    for content in (
        b"",
        b"\xff" * 100,
        b"x" * 1_000_000,
        envelop(make("CommandGetCatalogs"))[:-3],
        b"\x0a\xff\xff\xff\xff\x0f",
    ):
        with pytest.raises((flight.FlightError, pa.ArrowException)) as caught:
            bare.get_flight_info(flight.FlightDescriptor.for_command(content), given)
        assert not re.search(r"Traceback|File \"", str(caught.value))
        with pytest.raises((flight.FlightError, pa.ArrowException)):
            bare.do_get(flight.Ticket(content), given).read_all()
        with pytest.raises((flight.FlightError, pa.ArrowException)):
            list(bare.do_action(flight.Action("CreatePreparedStatement", content), given))
    with pytest.raises((flight.FlightError, pa.ArrowException, OSError)) as caught:
        bare.get_flight_info(flight.FlightDescriptor.for_path("a", "b"), given)
    assert not re.search(r"Traceback|File \"", str(caught.value))
    with pytest.raises((flight.FlightError, pa.ArrowException, NotImplementedError)) as caught:
        writer, _ = bare.do_put(
            flight.FlightDescriptor.for_command(b"x"), pa.schema([("a", pa.int64())]), given
        )
        writer.close()
    assert not re.search(r"Traceback|File \"", str(caught.value))
    with pytest.raises((flight.FlightError, pa.ArrowException, NotImplementedError)) as caught:
        list(bare.list_flights(options=given))
    assert not re.search(r"Traceback|File \"", str(caught.value))
