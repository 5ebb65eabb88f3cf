"""Nothing that was computed from rows is written down, whichever door a question came through."""

from __future__ import annotations

import pytest

from tests.e2e.server.serving import ORDERS, SECRET

SUM = "SELECT SUM(amount) FROM orders"
TOTAL = ORDERS * 61.5
PRICE = 0.0173  # so much noise that two answers, and an answer and the truth, are never the same by chance


def ask_http(server):
    with server.client("ann") as client:
        answer = client.post("/v1/query", json={"sql": SUM, "epsilon": PRICE}).json()["release"]["value"]
    with server.client("boss") as client:
        assert str(TOTAL) in client.post("/v1/explain", json={"sql": SUM, "epsilon": 1}).text
    return answer


def ask_postgres(server):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn("ann"), autocommit=True) as connection:
        connection.execute(f"SET sordino.epsilon = {PRICE}")
        return connection.execute(SUM).fetchone()[0]


def ask_flight(server):
    dbapi = pytest.importorskip("adbc_driver_flightsql.dbapi")
    options = {
        "adbc.flight.sql.authorization_header": f"Bearer {server.tokens['ann']}",
        "adbc.flight.sql.rpc.call_header.sordino-epsilon": str(PRICE),
    }
    with (
        dbapi.connect(server.flight, db_kwargs=options, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(SUM)
        return cursor.fetchone()[0]


@pytest.mark.parametrize("ask", [ask_http, ask_postgres, ask_flight])
def test_nothing_computed_from_rows_is_written_down(server, ask):
    before = server.spent("ann")
    answer = ask(server)
    assert server.spent("ann") == pytest.approx(before + PRICE)
    assert server.tells(SUM)  # that it was asked is written down, ...
    assert not server.tells(
        answer, int(answer), ORDERS, TOTAL, int(TOTAL), SECRET
    )  # ... and no more than that
    assert not server.tells("Traceback", "defect")


def test_a_value_that_is_written_down_is_found(server):
    server.journal.write("planted", note=f"{int(TOTAL)} in all", rows=ORDERS)
    assert [fact["event"] for fact in server.tells(ORDERS)] == ["planted"]
    assert [fact["event"] for fact in server.tells(int(TOTAL))] == ["planted"]
