"""Clients that keep the server waiting are cut off after its patience; while they wait, others are answered."""

from __future__ import annotations

import contextlib
import socket
import time
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.e2e.server.serving import serving
from tests.e2e.server.wire import Wire, frame, startup

PATIENCE = 1.0
LONG = 60.0  # the control: the same clients stay
GET = b"GET /v1/budget HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = {
    "nothing": b"",
    "headers": GET,
    "body": POST,
    "second headers": HEALTH + GET,
    "second body": HEALTH + POST,  # sent ahead, and begun when the first is answered
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("slow"), patience=PATIENCE) as running:
        yield running


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("patient"), patience=LONG) as running:
        yield running


def http_address(server) -> tuple[str, int]:
    found = urlsplit(server.http)
    return found.hostname, found.port


def ended(one: socket.socket) -> bool:
    """Whether the server has closed; what it said before is dropped."""
    one.setblocking(False)
    try:
        while one.recv(65536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def drip(sockets: list[socket.socket], seconds: float) -> list[float]:
    """A byte to each, several times in a second; when each was cut off, or as long as it was tried."""
    begun = time.monotonic()
    lives = [seconds] * len(sockets)
    open_now = dict(enumerate(sockets))
    while open_now and time.monotonic() - begun < seconds:
        for place, one in list(open_now.items()):
            if ended(one):
                lives[place] = time.monotonic() - begun
                del open_now[place]
                continue
            with contextlib.suppress(OSError):
                one.send(b"x")
        time.sleep(0.3)
    return lives


@pytest.mark.parametrize("kind", SLOW)
def test_a_byte_now_and_then_buys_no_time(server, kind):
    with socket.create_connection(http_address(server)) as one:
        one.sendall(SLOW[kind])
        (life,) = drip([one], 10)
    assert PATIENCE - 0.2 < life < PATIENCE + 2


@pytest.mark.parametrize("kind", SLOW)
def test_with_more_patience_they_stay(patient, kind):
    with socket.create_connection(http_address(patient)) as one:
        one.sendall(SLOW[kind])
        assert drip([one], PATIENCE + 2) == [PATIENCE + 2]


def test_what_does_not_come_is_told_so(server):
    with socket.create_connection(http_address(server), timeout=10) as one:
        one.sendall(POST)
        told = b"".join(iter(lambda: one.recv(1000), b""))
    assert told.startswith(b"HTTP/1.1 408")
    assert b"the request did not come in time" in told


def test_two_hundred_slow_clients_keep_nobody_waiting(server):
    sockets = [socket.create_connection(http_address(server)) for _ in range(200)]
    for number, one in enumerate(sockets):
        one.sendall(list(SLOW.values())[number % len(SLOW)])
    begun = time.monotonic()
    with server.client("ann") as ann:
        assert ann.get("/v1/budget").status_code == 200
    assert time.monotonic() - begun < PATIENCE
    assert max(drip(sockets, 15)) < PATIENCE + 5
    for one in sockets:
        one.close()


def test_a_connection_between_requests_has_the_time_of_keep_alive(server):
    """An honest client is not cut off by the deadline of a request that it has not begun."""
    with socket.create_connection(http_address(server), timeout=10) as one:
        for _ in range(2):
            one.sendall(HEALTH)
            told = b""
            while b'"up"' not in told:
                part = one.recv(10_000)
                assert part, "the connection was closed"
                told += part
            time.sleep(PATIENCE + 1)


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"])
def test_answers_that_nobody_takes_are_dropped(server, patient, last):
    asked = 600
    page = b"GET /console/console.js HTTP/1.1\r\nHost: x\r\n%s\r\n"
    taken = []
    for running in (server, patient):
        with socket.create_connection(http_address(running), timeout=5) as one:
            one.sendall(page % b"" * (asked - 1) + page % last)
            time.sleep(PATIENCE + 2)
            found = b""
            try:
                while found.count(b"HTTP/1.1 200") < asked and (part := one.recv(1 << 20)):
                    found += part
            except OSError:
                pass
            taken.append(found.count(b"HTTP/1.1 200"))
    assert taken[0] < asked
    assert taken[1] == asked


def test_a_login_over_the_wire_has_its_time_too(server, patient):
    for content in (b"", b"\0", startup("ann")):
        lives = []
        for running in (server, patient):
            with Wire(running.postgres) as wire:
                wire.send(content)
                lives += drip_nothing(wire.socket, PATIENCE + 2)
        assert PATIENCE - 0.2 < lives[0] < PATIENCE + 2
        assert lives[1] == PATIENCE + 2


def drip_nothing(one: socket.socket, seconds: float) -> list[float]:
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if ended(one):
            return [time.monotonic() - begun]
        time.sleep(0.05)
    return [seconds]


def test_who_has_logged_in_may_think(server):
    with psycopg.connect(server.dsn("ann"), autocommit=True) as connection:
        time.sleep(PATIENCE + 1)
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_half_a_message_of_an_analyst_has_its_time(server):
    with Wire(server.postgres) as wire:
        wire.login("ann", server.tokens["ann"])
        wire.send(frame(b"Q", b"SELECT 1\0")[:-3])
        (life,) = drip_nothing(wire.socket, 10)
    assert PATIENCE - 0.2 < life < PATIENCE + 2
