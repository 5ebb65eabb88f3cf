"""Strangers and analysts who send what no client sends: the server goes on, nothing is paid, memory stays bounded."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import struct
import threading
import time

import httpx
import psycopg
import pytest

from sordino.server.identity import Identity
from tests.e2e.server.mutation import mutate
from tests.e2e.server.serving import serving
from tests.e2e.server.wire import Wire, frame, startup

COUNT = b"SELECT COUNT(*) FROM orders"


def memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as told:
        return int(told.read().split()[1]) * 4096


@pytest.fixture
def unharmed(server):
    """Afterwards the server answers everybody, nothing was paid by anybody, and nothing was a defect."""
    spent = [server.spent(name) for name in ("ann", "bob", "eve")]
    held = memory()
    yield
    assert [server.spent(name) for name in ("ann", "bob", "eve")] == spent
    with server.client("ann") as ann:
        assert ann.get("/v1/budget").status_code == 200
    with psycopg.connect(server.dsn("ann"), autocommit=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert memory() - held < 300 << 20
    assert not [line for line in server.log if "defect" in line]


def conversation() -> list[bytes]:
    """Messages of the extended protocol about the catalogue, which cost nothing however they are read."""
    sql = b"SELECT relname FROM pg_class WHERE relname = $1"
    bind = b"\0s\0" + struct.pack("!hhhi", 1, 0, 1, 2) + b"ab" + struct.pack("!hh", 1, 1)
    return [
        frame(b"P", b"s\0" + sql + b"\0" + struct.pack("!hi", 1, 25)),
        frame(b"B", bind),
        frame(b"D", b"P\0"),
        frame(b"D", b"Ss\0"),
        frame(b"E", b"\0" + struct.pack("!i", 0)),
        frame(b"C", b"Ss\0"),
        frame(b"H"),
        frame(b"S"),
        frame(b"Q", b"SELECT 1\0"),
    ]


@pytest.mark.slow
def test_mutated_frames_before_and_after_the_login(server, unharmed):
    draw = random.Random(20260101)
    until = time.monotonic() + 20
    for number in range(120):
        if time.monotonic() > until:
            break
        with Wire(server.postgres, 3) as wire:
            wire.send(mutate(startup("ann"), draw) if number % 2 else draw.randbytes(draw.randint(1, 200)))
            wire.socket.shutdown(socket.SHUT_WR)
            assert b"Traceback" not in wire.drain()
    for _ in range(120):
        if time.monotonic() > until + 20:
            break
        with Wire(server.postgres, 3) as wire:
            wire.login("ann", server.tokens["ann"])
            wire.send(mutate(b"".join(draw.choices(conversation(), k=6)), draw) + frame(b"X"))
            wire.socket.shutdown(socket.SHUT_WR)
            told = wire.drain()
            assert b"Traceback" not in told
            assert b"XX000" not in told


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("!ii", 1 << 30, 3 << 16),
        struct.pack("!ii", -5, 3 << 16),
        struct.pack("!ii", 8, 2 << 16),
        struct.pack("!ii", 8, 9 << 16),
        struct.pack("!ii", 8, 3 << 16),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        struct.pack("!ii", 8, 80877103) * 5,
        struct.pack("!iiii", 16, 80877102, 1, 1),
    ],
)
def test_first_messages_that_are_none(server, unharmed, content):
    with Wire(server.postgres, 5) as wire:
        wire.send(content)
        wire.socket.shutdown(socket.SHUT_WR)
        told = wire.drain()
        assert len(told) < 1000
        assert b"Traceback" not in told


def test_the_minor_version_is_agreed_on(server):
    with Wire(server.postgres) as wire:
        wire.send(startup("ann", (3 << 16) + 2))
        assert wire.message()[0] == b"v"
        assert wire.message()[0] == b"R"


def test_a_stranger_sends_no_large_message(server, unharmed):
    with Wire(server.postgres, 5) as wire:
        wire.send(startup("ann"))
        wire.message()
        wire.send(b"p" + struct.pack("!i", 1 << 20))
        assert b"10000 bytes at most" in wire.drain()


def test_large_and_endless_messages_of_an_analyst(server, unharmed):
    for content in (
        b"Q" + struct.pack("!i", 1 << 30),
        b"Q" + struct.pack("!i", 3),
        frame(b"Q", b"SELECT 1"),
        frame(b"z"),
        frame(b"P", b"s\0SELECT 1\0" + struct.pack("!h", -1)),
    ):
        with Wire(server.postgres, 5) as wire:
            wire.login("ann", server.tokens["ann"])
            wire.send(content + frame(b"X"))
            told = wire.drain()
            assert b"08P01" in told
            assert b"XX000" not in told


def test_one_value_in_many_places_is_refused(server, unharmed):
    with Wire(server.postgres) as wire:
        wire.login("ann", server.tokens["ann"])
        sql = b"SELECT " + b",".join([b"$1"] * 4000)
        value = b"x" * 900_000
        bind = b"\0\0" + struct.pack("!hhi", 0, 1, len(value)) + value + struct.pack("!h", 0)
        wire.send(frame(b"P", b"\0" + sql + b"\0" + struct.pack("!h", 0)) + frame(b"B", bind) + frame(b"S"))
        assert any(b"54000" in body for letter, body in wire.until_ready() if letter == b"E")


def test_what_is_prepared_is_bounded(server, unharmed):
    with Wire(server.postgres) as wire:
        wire.login("ann", server.tokens["ann"])
        for number in range(600):
            wire.send(frame(b"P", f"s{number}\0SELECT 1\0".encode() + struct.pack("!h", 0)))
        wire.send(frame(b"S"))
        told = wire.until_ready()
    assert sum(letter == b"1" for letter, _ in told) == 500
    assert any(b"53000" in body for letter, body in told if letter == b"E")


def test_answers_that_are_not_fetched_are_bounded(server, unharmed):
    """Rows that wait in portals are memory, which one connection may not heap up; a transaction's end drops them."""
    asked = frame(b"P", b"s\0SELECT typname FROM pg_type\0" + struct.pack("!h", 0))
    portals = [
        frame(b"B", f"p{number}\0s\0".encode() + struct.pack("!hhh", 0, 0, 0))
        + frame(b"E", f"p{number}\0".encode() + struct.pack("!i", 1))
        for number in range(20)
    ]
    with Wire(server.postgres) as wire:
        wire.login("ann", server.tokens["ann"])
        wire.send(asked + b"".join(portals) + frame(b"S"))
        told = wire.until_ready()
        assert sum(letter == b"s" for letter, _ in told) == 10
        assert any(b"53000" in body for letter, body in told if letter == b"E")
        wire.send(frame(b"E", b"p0\0" + struct.pack("!i", 1)) + frame(b"S"))
        assert any(b"34000" in body for letter, body in wire.until_ready() if letter == b"E")
        wire.send(frame(b"Q", b"BEGIN\0"))
        wire.until_ready()
        wire.send(portals[0] + frame(b"S"))
        wire.until_ready()
        wire.send(frame(b"E", b"p0\0" + struct.pack("!i", 0)) * 2 + frame(b"S"))  # the rest, then no more
        told = wire.until_ready()
        rows = sum(letter == b"D" for letter, _ in told)
        assert [body for letter, body in told if letter == b"C"] == [
            f"SELECT {rows}\0".encode(),
            b"SELECT 0\0",
        ]
        assert rows > 20


def test_a_slow_client_keeps_nobody_waiting(server, unharmed):
    host, port = server.postgres
    idle = [socket.create_connection((host, port)) for _ in range(30)]
    web = server.http.removeprefix("http://").split(":")
    slow = [socket.create_connection((web[0], int(web[1]))) for _ in range(30)]
    for one in slow:
        one.sendall(b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    begun = time.monotonic()
    with server.client("ann") as ann:
        assert ann.get("/v1/budget").status_code == 200
    assert time.monotonic() - begun < 10
    for one in idle + slow:
        one.close()


def test_an_answer_that_nobody_takes_is_paid_and_kept(tmp_path):
    """Who hangs up has paid, the ledger is whole, and reuse finds what was drawn."""
    with serving(tmp_path) as running:
        with Wire(running.postgres) as wire:
            wire.login("bob", running.tokens["bob"])
            wire.send(frame(b"Q", b"/* sordino: epsilon = 0.5 */ " + COUNT + b"\0"))
        until = time.monotonic() + 20
        with running.client("bob") as bob:
            while time.monotonic() < until and not bob.get("/v1/history").json()["questions"]:
                time.sleep(0.05)
            (asked,) = bob.get("/v1/history").json()["questions"]
            assert asked["outcome"] == "commit"
            sql = "/* sordino: epsilon = 0.5 */ " + COUNT.decode()
            body = {"sql": sql, "epsilon": 0.5, "reuse": True}
            assert bob.post("/v1/query", json=body).json()["release"]["value"] == asked["release"]["value"]
        assert running.spent("bob") == 0.5
        from sordino.server.journal import verify_journal

        verify_journal(running.journal.path)


def test_thousands_of_wrong_tokens(tmp_path):
    """They are turned away in bounded time and lines, and an analyst elsewhere is not disturbed."""
    with serving(tmp_path, proxies=1) as running, httpx.Client(base_url=running.http) as client:
        times, start = [], time.monotonic()
        for number in range(2000):
            begun = time.monotonic()
            said = {"Authorization": f"Bearer sdt_{number:08}_{'x' * 43}", "X-Forwarded-For": "10.0.0.1"}
            assert client.get("/v1/budget", headers=said).status_code == 401
            times.append(time.monotonic() - begun)
        # The quickest of the last: a busy machine slows not all of them, Nagle's delay (0.04 s) or a rising cost does.
        assert min(times[-200:]) < 0.02
        right = {"Authorization": f"Bearer {running.tokens['ann']}"}
        assert client.get("/v1/budget", headers=right | {"X-Forwarded-For": "10.0.0.1"}).status_code == 401
        assert client.get("/v1/budget", headers=right | {"X-Forwarded-For": "10.0.0.2"}).status_code == 200
        # A hundred at once and a hundred a minute after that: a busy machine takes minutes.
        allowed = 110 + (time.monotonic() - start) * 100 / 60
        assert len(running.journal.path.read_text().splitlines()) < min(allowed, 2000)
        # A stranger who says to be elsewhere is believed as far as there are proxies, and no further.
        said = {"X-Forwarded-For": "10.0.0.2, 10.0.0.1"}
        assert client.get("/v1/budget", headers=right | said).status_code == 401


def test_a_flood_of_wrong_proofs_does_not_fill_the_journal(tmp_path):
    with serving(tmp_path) as running:
        for _ in range(40):
            with Wire(running.postgres) as wire:
                wire.login_wrongly("ann")
        rejected = [fact for fact in running.facts() if fact["event"] == "rejected" and "claimed" in fact]
        assert len(rejected) == 10  # as many as the door takes


def test_who_logs_in_too_often_must_wait(tmp_path):
    """Each login is a line of the journal, so it counts as a request."""
    with serving(tmp_path, rate=0.1) as running, running.client() as browser:  # one at once
        assert browser.post("/login", json={"token": running.tokens["ann"]}).status_code == 200
        assert browser.post("/login", json={"token": running.tokens["ann"]}).status_code == 429
        with pytest.raises(psycopg.OperationalError, match="requests per second"):
            psycopg.connect(running.dsn("ann"))
        psycopg.connect(running.dsn("bob")).close()
        assert sum(fact["event"] == "login" for fact in running.facts()) == 2


@pytest.mark.slow
def test_slow_questions_about_the_catalogue_keep_nobody_waiting(server, unharmed):
    """The shadow answers one at a time; those who wait for it hold nothing that others need."""
    slow = (
        b"SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e "
        b"WHERE length(a.typname || e.typname) = length(b.typname || c.typname || d.typname)\0"
    )
    wires = [Wire(server.postgres) for _ in range(6)]
    for wire in wires:
        wire.login("bob", server.tokens["bob"])
        wire.send(frame(b"Q", slow))
    time.sleep(0.5)
    with server.client("ann") as ann:
        begun = time.monotonic()
        assert ann.get("/v1/budget").status_code == 200
        assert time.monotonic() - begun < 3  # each of them takes five seconds
    for wire in wires:
        wire.socket.close()


def test_one_token_does_not_take_every_place(tmp_path):
    with serving(tmp_path, workers=1, waiting=7) as running:
        held = threading.Event()
        places = 8

        def ask(name, count):
            asked = [
                running.service.ask(
                    Identity(name, False, running.tokens[name].split("_")[1]), "http", "x", held.wait
                )
                for _ in range(count)
            ]
            return asyncio.run_coroutine_threadsafe(asyncio.wait_for(_all(asked), 20), running.loop)

        many, one = ask("ann", places), ask("bob", 1)
        time.sleep(0.3)
        held.set()
        refused = [told for told in many.result() if isinstance(told, Exception)]
        assert {type(told).__name__ for told in refused} == {"BusyError"}
        assert len(refused) == places // 2
        assert one.result() == [True]


async def _all(asked):
    return await asyncio.gather(*asked, return_exceptions=True)


def test_names_that_are_hostile_stay_names(server, unharmed):
    with server.client("ann") as ann:
        for path in ("<script>", "..%2f..", "a'; DROP TABLE x;--", "%00", "\u202e"):
            response = ann.get(f"/v1/tables/{path}")
            assert response.status_code in (400, 404)
            assert response.headers["content-type"] == "application/json"
            assert not re.search(r"Traceback|File \"", response.text)
