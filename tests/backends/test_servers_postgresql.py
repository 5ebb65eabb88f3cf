"""Servers over one ledger in PostgreSQL: the last budget raced for, one of them killed, and the other goes on."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest

from sordino.ledger import Ledger
from sordino.server.journal import verify_journal
from sordino.server.tokens import Tokens
from tests.e2e.server.serving import Serving
from tests.e2e.server.test_durability import COUNT, WAYS, folder, start

__all__ = ["folder"]  # a fixture


@pytest.fixture
def servers(folder, place):
    with Tokens(folder / "tokens") as book:
        tokens = {name: book.add(name, owner=name == "boss")[0] for name in ("ann", "bob", "boss")}
    more = ("--ledger", place, "--journal", str(folder / "journal"), "--flight-port", "0")
    running = []
    for _ in range(2):
        process, addresses = start(folder, *more)
        server = Serving(None, addresses, tokens, SimpleNamespace(path=folder / "journal"), [], None)
        running.append((process, server))
    yield running
    for process, _ in running:
        process.kill()
        process.wait(20)
        process.stdout.close()


def test_two_servers_race_and_one_is_killed(servers, folder, place):
    (first, doomed), (second, other) = servers
    assert urlsplit(doomed.http).port != urlsplit(other.http).port
    with Ledger.open(place) as ledger:
        anchor = ledger.anchor()

    with ThreadPoolExecutor(6) as threads:  # 0.1 each of a budget of 1, at two doors of three kinds
        tries = [threads.submit(WAYS[number % 3], (doomed, other)[number % 2], "bob") for number in range(30)]
        answers = [done.result() for done in tries]
    assert sum(answer is not None for answer in answers) == 10

    told: list[int] = []

    def ask():
        with doomed.client("ann") as ann:
            while True:
                try:
                    response = ann.post("/v1/query", json={"sql": COUNT, "epsilon": 0.01})
                except httpx.TransportError:
                    return
                if response.status_code == 200:
                    told.append(response.json()["release"]["value"])

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    until = time.monotonic() + 60
    while len(told) < 10 and time.monotonic() < until:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait(20)
    for thread in asking:
        thread.join(60)
    assert len(told) >= 10

    with other.client("boss") as boss, other.client("ann") as ann:
        boss.post("/v1/accounts/ann/resume")  # what was under way suspends, once its death is seen
        until = time.monotonic() + 60
        while (response := ann.post("/v1/query", json={"sql": COUNT, "epsilon": 0.01})).status_code != 200:
            assert response.json()["error"]["code"] == "suspended", response.text
            assert time.monotonic() < until
            boss.post("/v1/accounts/ann/resume")
        told.append(response.json()["release"]["value"])
        found = [
            item["release"]["value"]
            for item in ann.get("/v1/history?limit=1000").json()["questions"]
            if item["release"] is not None
        ]
        assert all(found.count(value) >= told.count(value) for value in told)
    second.send_signal(signal.SIGTERM)
    assert second.wait(40) == 0
    with Ledger.open(place) as ledger:
        ledger.verify(anchor)
        paid = sum(event.kind == "reserve" for event in ledger.history("shop", "ann"))
        accounts = {account.analyst: account for account in ledger.accounts()}
        assert float(accounts["ann"].spent.loss) == pytest.approx(0.01 * paid)
        assert float(accounts["bob"].spent.loss) == 1
    verify_journal(folder / "journal")
    assert not [file for file in folder.glob("log*") if "Traceback" in file.read_text()]
