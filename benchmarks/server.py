"""A server beside the library call: latency over each protocol, throughput at 50 clients, memory after many requests.

    python benchmarks/server.py [--quick] [--write-docs]

The library call commits to the same ledger on disk; the journal's two durable lines are the server's own. All clients
are threads of the server's process and share its interpreter, so throughput is a lower bound. The race: 50 analysts ask
200 questions each over all three protocols, for budgets that answer half of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
import psycopg
from adbc_driver_flightsql import dbapi
from report import Check, Report, rewrite

from tests.e2e.server.serving import POLICY, Serving, serving

COUNT = "SELECT COUNT(*) FROM orders"
ANALYSTS = 50
EPSILON = "0.001"


def run(quick: bool = False) -> Report:
    """The table."""
    asked, questions, requests = (40, 20, 2_000) if quick else (200, 200, 100_000)
    names = [f"a{number}" for number in range(ANALYSTS)]
    budgets = {name: {"epsilon": float(EPSILON) * questions / 2} for name in names}
    policy = POLICY | {"budgets": {"ann": {"epsilon": 100_000}, "boss": {"epsilon": 1}} | budgets}
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), policy=policy, names=["ann", *names], workers=4, epsilon=EPSILON) as server,
    ):
        latencies, throughput = _latencies(server, asked), _throughput(server, requests // 20)
        race, memory = _race(server, names, questions), _memory(server, requests)
    checks = [
        Check("nobody spends more than the budget, and all that is paid for is answered", race[-1],
              race[-1].startswith("0 overspent, 0 ")),
        Check("memory stays", memory[-1], float(memory[-1].removesuffix("×")) < 1.2),
    ]  # fmt: skip
    rows = [*latencies, throughput, race, memory]
    return Report("server", ["what", "median", "95 %", "beside the library"], rows, checks)


def _latencies(server: Serving, count: int) -> list[list[str]]:
    session = server.service.session_of("ann")
    client = server.client("ann")
    connection = psycopg.connect(server.dsn("ann"), autocommit=True)
    flight = _flight(server, "ann")
    cursor = flight.cursor()

    def over_flight() -> None:
        cursor.execute(COUNT)
        cursor.fetchall()

    ways: dict[str, Callable[[], object]] = {
        "library": lambda: session.query(COUNT, float(EPSILON)),
        "HTTP": lambda: client.post(
            "/v1/query", json={"sql": COUNT, "epsilon": float(EPSILON)}
        ).raise_for_status(),
        "PostgreSQL": lambda: connection.execute(COUNT).fetchall(),
        "Flight SQL": over_flight,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(count):  # in turn, so that whatever else the machine does falls on all
        for name, ask in ways.items():
            begun = time.perf_counter()
            ask()
            times[name].append(time.perf_counter() - begun)
    for opened in (cursor, flight, connection, client):
        opened.close()
    base = statistics.median(times["library"])
    return [
        [
            f"{name}, one question",
            f"{statistics.median(found) * 1e3:.1f} ms",
            f"{statistics.quantiles(found, n=20)[-1] * 1e3:.1f} ms",
            f"{statistics.median(found) / base:.2f}×",
        ]
        for name, found in times.items()
    ]


def _throughput(server: Serving, requests: int) -> list[str]:
    """Budgets asked for by 50 clients at once."""
    clients = [server.client("ann") for _ in range(ANALYSTS)]
    begun = time.perf_counter()
    with ThreadPoolExecutor(ANALYSTS) as threads:
        done = list(
            threads.map(lambda n: clients[n % ANALYSTS].get("/v1/budget").status_code, range(requests))
        )
    passed = time.perf_counter() - begun
    for client in clients:
        client.close()
    return [
        f"HTTP, 50 clients, {requests} free requests",
        f"{done.count(200) / passed:.0f} per second",
        "",
        "",
    ]


def _race(server: Serving, names: list[str], questions: int) -> list[str]:
    def ask(name: str) -> int:
        number, answered = int(name[1:]), 0
        body = {"sql": COUNT, "epsilon": float(EPSILON)}
        with (
            server.client(name) as client,
            psycopg.connect(server.dsn(name), autocommit=True) as connection,
            _flight(server, name) as flight,
            flight.cursor() as cursor,
        ):
            for turn in range(questions):
                try:
                    if (number + turn) % 3 == 0:
                        answered += client.post("/v1/query", json=body).status_code == 200
                    elif (number + turn) % 3 == 1:
                        answered += len(connection.execute(COUNT).fetchall())
                    else:
                        cursor.execute(COUNT)
                        answered += len(cursor.fetchall())
                except (psycopg.Error, dbapi.Error, httpx.HTTPError):
                    continue
        return answered

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(names)) as threads:
        answered = list(threads.map(ask, names))
    passed = time.perf_counter() - begun
    over = sum(server.spent(name) > float(EPSILON) * questions / 2 * (1 + 1e-12) for name in names)
    wrong = sum(found != questions // 2 for found in answered)
    return [
        f"50 analysts × {questions} questions, half of which the budgets pay for",
        f"{sum(answered)} answered",
        f"{sum(answered) / passed:.0f} per second",
        f"{over} overspent, {wrong} not as many as paid",
    ]


def _memory(server: Serving, requests: int) -> list[str]:
    def held() -> float:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * 4096 / 2**20

    def ask(count: int) -> None:
        with server.client("ann") as client:
            for _ in range(count):
                client.post("/v1/preview", json={"sql": COUNT, "epsilon": 1})

    ask(requests // 20)
    before = held()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, [requests // 4] * 4))
    return [
        f"memory, after {requests} more requests",
        f"{held():.0f} MB",
        f"before {before:.0f} MB",
        f"{held() / before:.2f}×",
    ]


def _flight(server: Serving, name: str) -> dbapi.Connection:
    header = {"adbc.flight.sql.authorization_header": f"Bearer {server.tokens[name]}"}
    return dbapi.connect(server.flight, db_kwargs=header, autocommit=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write-docs", action="store_true")
    given = parser.parse_args()
    made = run(given.quick)
    print(made.markdown())
    if given.write_docs:
        rewrite(made.marker, made.markdown())
