"""A real server for tests: all three protocols on free ports, in a thread, over tables that the test made."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import duckdb
import httpx

import sordino as sd
from sordino.ledger import Ledger
from sordino.server.journal import Journal
from sordino.server.run import listening
from sordino.server.service import Service
from sordino.server.settings import Settings
from sordino.server.tokens import Tokens

ORDERS = 4711  # rows of orders; no log and no journal may ever hold this number
SECRET = 987654321
HOSTILE = "<img src=x onerror=alert(1)>"
POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "row",
    "tables": {
        "orders": {
            "columns": {
                "city": {"domain": ["Rome", "Oslo", "Lima"]},
                "amount": {"bounds": [0, 100], "granularity": "0.5"},
                "card": {"hidden": True},
                "day": {"fixed": True},
            },
        },
        "knows": {},
        "patients": {
            "columns": {"age": {"bounds": [20, 80]}, "ill": {"domain": ["yes", "no"]}},
        },
        "odd": {"columns": {HOSTILE: {"domain": [1, 2]}}},
    },
    "budgets": {
        "ann": {"epsilon": 1000, "delta": 1e-6},
        "bob": {"epsilon": 1},
        "eve": {"epsilon": 1},
        "boss": {"epsilon": 1000},
    },
}


def make_tables() -> duckdb.DuckDBPyConnection:
    """A shop: every amount is far from every other number, so that one that leaks is found."""
    made = duckdb.connect()
    made.execute(
        f"""
        CREATE TABLE orders (id BIGINT PRIMARY KEY, city VARCHAR, amount DOUBLE, card BIGINT, day TIMESTAMP,
          paid BOOLEAN);
        INSERT INTO orders SELECT i, CASE i % 2 WHEN 0 THEN 'Rome' ELSE 'Oslo' END, 61.5, {SECRET},
          TIMESTAMP '2024-01-01' + INTERVAL (i) MINUTE, i % 3 = 0 FROM range({ORDERS}) t(i);
        CREATE TABLE knows AS SELECT i AS a, (i + 1) % 9 AS b FROM range(9) t(i);
        CREATE TABLE patients AS SELECT 20 + i % 60 AS age, CASE WHEN i % 60 > 30 THEN 'yes' ELSE 'no' END AS ill
          FROM range(300) t(i);
        CREATE TABLE odd AS SELECT 1 AS "{HOSTILE}";
        """
    )
    return made


@dataclass
class Serving:
    """A server that runs, and what a test looks at it with."""

    service: Service
    addresses: dict[str, str]
    tokens: dict[str, str]
    journal: Journal
    log: list[str]
    loop: asyncio.AbstractEventLoop = field(repr=False)

    @property
    def http(self) -> str:
        return self.addresses["http"]

    @property
    def postgres(self) -> tuple[str, int]:
        found = urlsplit(self.addresses["pgwire"])
        return found.hostname, found.port

    @property
    def flight(self) -> str:
        return self.addresses["flight"]

    def dsn(self, name: str, **more: object) -> str:
        host, port = self.postgres
        words = {
            "host": host,
            "port": port,
            "user": name,
            "dbname": "shop",
            "password": self.tokens[name],
        } | more
        return " ".join(f"{key}='{value}'" for key, value in words.items())

    def client(self, name: str | None = None, **more: object) -> httpx.Client:
        headers = {} if name is None else {"Authorization": f"Bearer {self.tokens[name]}"}
        return httpx.Client(base_url=self.http, headers=headers, timeout=60, **more)

    def remote(self, name: str) -> sd.Remote:
        return sd.Remote(self.http, self.tokens[name])

    def spent(self, name: str) -> float:
        return float(self.service.session_of(name).budget().spent.loss)

    def facts(self) -> list[dict[str, object]]:
        """All that was written down, log and journal, without what can hold any number by chance: times and hashes."""
        lines = [*self.log, *self.journal.path.read_text().splitlines()]
        chance = {"time", "number", "previous", "hash"}
        return [
            {key: value for key, value in json.loads(line).items() if key not in chance} for line in lines
        ]

    def tells(self, *values: object) -> list[dict[str, object]]:
        """The facts in which one of these values stands, as a number or a word of its own."""
        words = re.compile(
            r"(?<![\w.])(?:" + "|".join(re.escape(str(value)) for value in values) + r")(?!\w)"
        )
        return [fact for fact in self.facts() if words.search(json.dumps(fact, ensure_ascii=False))]


class _Kept(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def serving(folder, *, policy=POLICY, data=None, names=("ann", "bob", "eve"), ledger=None, **settings):
    """A server until the end of the block."""
    given = {"http_port": 0, "postgres_port": 0, "flight_port": 0, "rate": 1e6, "epsilon": "0.25"} | settings
    lines: list[str] = []
    handler = _Kept(lines)
    logger = logging.getLogger("sordino.server")
    logger.addHandler(handler)
    level, logger.level = logger.level, logging.INFO
    book = Tokens(folder / "tokens", create=True)
    shown = {name: book.add(name)[0] for name in names} | {"boss": book.add("boss", owner=True)[0]}
    budgets = Ledger.open(ledger or str(folder / "ledger"))
    journal = Journal(folder / "journal")
    curator = sd.connect(data or make_tables(), policy=policy, ledger=budgets)
    started, ended = threading.Event(), threading.Event()
    found: list[Serving] = []

    async def run():
        service = Service(curator, budgets, book, journal, Settings(**given))
        service.session_of = curator.session
        async with listening(service) as addresses:
            found.append(Serving(service, addresses, shown, journal, lines, asyncio.get_running_loop()))
            started.set()
            await asyncio.to_thread(ended.wait)

    def work():
        try:
            asyncio.run(run())
        finally:
            started.set()

    thread = threading.Thread(target=work, name="server")
    thread.start()
    try:
        started.wait(60)
        if not found:
            raise RuntimeError("the server did not start")
        yield found[0]
    finally:
        ended.set()
        thread.join(60)
        logger.removeHandler(handler)
        logger.level = level
        curator.close()
        budgets.close()
        journal.close()
        book.close()
