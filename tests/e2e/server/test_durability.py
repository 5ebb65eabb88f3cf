"""The last budget raced for over all protocols, kills in the middle, several processes, TLS, and padded answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest

import sordino as sd
from sordino.ledger import Ledger
from sordino.server.journal import verify_journal
from sordino.server.tokens import Tokens
from tests.e2e.server.serving import POLICY, make_tables, serving
from tests.e2e.server.test_flight import connect as connect_flight

COUNT = "SELECT COUNT(*) FROM orders"


def ask_http(server, name):
    with server.client(name) as client:
        response = client.post("/v1/query", json={"sql": COUNT, "epsilon": 0.1})
        return response.json()["release"]["value"] if response.status_code == 200 else None


def ask_postgres(server, name):
    with psycopg.connect(server.dsn(name), autocommit=True) as connection:
        try:
            return connection.execute("/* sordino: epsilon = 0.1 */ " + COUNT).fetchone()[0]
        except psycopg.Error:
            return None


def ask_flight(server, name):
    with connect_flight(server, name, epsilon="0.1") as connection, connection.cursor() as cursor:
        try:
            cursor.execute(COUNT)
            return cursor.fetchone()[0]
        except Exception:
            return None


WAYS = (ask_http, ask_postgres, ask_flight)


def test_the_last_budget_is_spent_once_however_it_is_raced_for(tmp_path):
    """36 questions of 0.1 for a budget of 1, over three protocols at once: ten are answered, all others pay nothing."""
    with serving(tmp_path) as running:
        with ThreadPoolExecutor(12) as threads:
            tries = [threads.submit(WAYS[number % 3], running, "bob") for number in range(36)]
            answers = [done.result() for done in tries]
        assert sum(answer is not None for answer in answers) == 10
        assert running.spent("bob") == pytest.approx(1)
        assert running.service.session_of("bob").budget().spent.loss <= 1
        with running.client("bob") as bob:
            told = [item["release"]["value"] for item in bob.get("/v1/history").json()["questions"]]
        assert sorted(told) == sorted(answer for answer in answers if answer is not None)
        verify_journal(running.journal.path)


@pytest.mark.slow
def test_many_analysts_race_for_the_cap(tmp_path):
    """12 analysts × 10 questions of 0.1 over three protocols, a cap of 3 over all: thirty are answered, each once."""
    names = [f"a{number}" for number in range(12)]
    policy = POLICY | {"budgets": {name: {"epsilon": 1} for name in names}, "cap": {"epsilon": 3}}
    with serving(tmp_path, policy=policy, names=names) as running:

        def ask(name):
            return [WAYS[(int(name[1:]) + turn) % 3](running, name) for turn in range(10)]

        with ThreadPoolExecutor(len(names)) as threads:
            told = dict(zip(names, threads.map(ask, names), strict=True))
        told = {name: [answer for answer in answers if answer is not None] for name, answers in told.items()}
        assert sum(map(len, told.values())) == 30
        assert running.service.ledger.cap("shop").spent.loss == 3
        for name, answers in told.items():
            assert running.spent(name) == pytest.approx(0.1 * len(answers))
            with running.client(name) as client:
                kept = [item["release"]["value"] for item in client.get("/v1/history").json()["questions"]]
            assert sorted(kept) == sorted(answers)
        verify_journal(running.journal.path)


@pytest.fixture
def folder(tmp_path):
    connection = make_tables()
    for table in ("orders", "knows", "patients"):
        connection.execute(f"COPY {table} TO '{tmp_path}/{table}.parquet' (FORMAT parquet)")
    policy = POLICY | {"tables": {name: POLICY["tables"][name] for name in ("orders", "knows", "patients")}}
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    (tmp_path / "policy.yaml").write_text(json.dumps(policy))
    with Tokens(tmp_path / "tokens", create=True) as book:
        (tmp_path / "token").write_text(book.add("ann")[0])
    return tmp_path


def start(folder, *more):
    """`sordino serve` as a process; its addresses."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for file in folder.glob("*.parquet"):
        file.rename(data / file.name)
    words = ["serve", "--data", str(data), "--policy", str(folder / "policy.yaml"), "--json"]
    words += ["--ledger", str(folder / "ledger"), "--tokens", str(folder / "tokens"), "--rate", "100000"]
    words += ["--http-port", "0", "--postgres-port", "0", "--flight-port", "-1", *more]
    log = (folder / f"log{time.monotonic_ns()}").open("w")
    process = subprocess.Popen(
        [sys.executable, "-c", "from sordino.cli import main; main()", *words],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    log.close()
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}") or line.strip().endswith("}"):
            return process, json.loads(text)
    raise AssertionError([file.read_text() for file in folder.glob("log*")])


@pytest.mark.slow
def test_kill_in_the_middle_loses_nothing_that_was_told(folder):
    token = (folder / "token").read_text()
    told: list[int] = []
    process, addresses = start(folder)

    def ask(address=addresses["http"]):
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=address, headers=headers, timeout=30) as client:
            while True:
                try:
                    response = client.post("/v1/query", json={"sql": COUNT, "epsilon": 0.01})
                except httpx.TransportError:
                    return
                if response.status_code == 200:
                    told.append(response.json()["release"]["value"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    until, before = time.monotonic() + 30, len(told)
    while len(told) < before + 10 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    process.stdout.close()
    for thread in threads:
        thread.join(30)
    assert len(told) >= 10
    process, addresses = start(
        folder
    )  # what was under way may have suspended the account; what was told is there
    headers = {"Authorization": f"Bearer {token}"}
    listed = httpx.get(f"{addresses['http']}/v1/history?limit=1000", headers=headers, timeout=30).json()[
        "questions"
    ]
    found = [item["release"]["value"] for item in listed if item["release"] is not None]
    assert all(found.count(value) >= told.count(value) for value in told)
    process.send_signal(signal.SIGTERM)
    assert process.wait(40) == 0
    process.stdout.close()
    with Ledger.open(str(folder / "ledger")) as ledger:
        events = ledger.history("shop", "ann")
        kept = [event.release["value"] for event in events if event.kind == "commit"]
        reserved = sum(event.kind == "reserve" for event in events)
        for value in told:
            kept.remove(value)  # each that was told is there, as often as it was told
        spent = next(account for account in ledger.accounts() if account.analyst == "ann").spent.loss
        assert float(spent) == pytest.approx(0.01 * reserved)
    verify_journal(folder / "ledger.journal")
    assert not [file for file in folder.glob("log*") if "Traceback" in file.read_text()]


@pytest.mark.slow
def test_two_processes_share_one_ledger_and_end_when_told(folder):
    with Tokens(folder / "tokens") as book:
        token = book.add("bob")[0]
    servers = [start(folder), start(folder)]
    headers = {"Authorization": f"Bearer {token}"}

    def ask(number):
        address = servers[number % 2][1]["http"]
        body = {"sql": COUNT, "epsilon": 0.1}
        return httpx.post(f"{address}/v1/query", json=body, headers=headers, timeout=60).status_code

    with ThreadPoolExecutor(6) as threads:
        codes = list(threads.map(ask, range(24)))
    assert codes.count(200) == 10
    assert set(codes) <= {200, 403, 503}
    for process, _ in servers:
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0
        process.stdout.close()
    verify_journal(folder / "ledger.journal")
    assert not [file for file in folder.glob("log*") if "Traceback" in file.read_text()]


# -- time ----------------------------------------------------------------------------------------------------------


def waited(server, body):
    begun = time.monotonic()
    with server.client("ann") as ann:
        ann.post("/v1/query", json=body)
    return time.monotonic() - begun


def test_answers_and_failures_are_padded_and_what_is_free_is_not(tmp_path):
    padded, plain = tmp_path / "padded", tmp_path / "plain"
    padded.mkdir()
    plain.mkdir()
    good, wrong = {"sql": COUNT, "epsilon": 0.1}, {"sql": COUNT, "epsilon": 1e9}
    with serving(plain) as running:  # the control
        assert min(waited(running, good) for _ in range(3)) < 0.6
    with serving(padded, policy=POLICY | {"answer_every": "0.7s"}, workers=1) as running:
        for body in (good, wrong):
            passed = [waited(running, body) for _ in range(4)]
            assert min(passed) >= 0.69
            assert min(one % 0.7 for one in passed) < 0.5  # of several: a busy machine is late itself
        # Free questions do not wait for paid ones: else they would tell when those end.
        slow = threading.Event()
        query = running.service.curator.data.engine.snapshot

        def held(*given, **more):
            slow.wait(10)
            return query(*given, **more)

        object.__setattr__(running.service.curator.data.engine, "snapshot", held)
        with ThreadPoolExecutor(1) as threads, running.client("ann") as ann:
            asked = threads.submit(waited, running, good)
            time.sleep(0.2)
            begun = time.monotonic()
            assert ann.post("/v1/preview", json=good).status_code == 200
            assert time.monotonic() - begun < 5
            assert not asked.done()
            slow.set()
            asked.result()
        # Nor for those that the owner explains, which read rows too.
        slow.clear()
        with ThreadPoolExecutor(2) as threads, running.client("ann") as ann, running.client("boss") as boss:
            explained = [threads.submit(boss.post, "/v1/explain", json=good) for _ in range(2)]
            time.sleep(0.2)
            begun = time.monotonic()
            assert ann.post("/v1/preview", json=good).status_code == 200
            assert time.monotonic() - begun < 5
            assert not any(one.done() for one in explained)
            slow.set()
            assert all(one.result().status_code == 200 for one in explained)


# -- TLS -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of our own for 127.0.0.1."""
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return folder / "cert.pem", folder / "key.pem"


def test_tls_on_all_protocols(tmp_path, certificate):
    file, key = certificate
    with serving(tmp_path, certificate=file, key=key) as running:
        with sd.Remote(running.http, running.tokens["ann"], certificate=str(file)) as remote:
            assert remote.session().query(COUNT, 0.1).guarantee.epsilon == 0.1
        with httpx.Client(verify=ssl.create_default_context(cafile=str(file))) as client:
            entered = client.post(f"{running.http}/login", json={"token": running.tokens["ann"]})
            assert "secure" in entered.headers["set-cookie"].lower()
        secure = running.dsn("ann", sslmode="verify-full", sslrootcert=file)
        with psycopg.connect(secure, autocommit=True) as connection:
            assert connection.pgconn.ssl_in_use
            connection.execute(COUNT)
        with pytest.raises(psycopg.OperationalError, match="encrypted connections only"):
            psycopg.connect(running.dsn("ann", sslmode="disable"))
        from adbc_driver_flightsql import dbapi

        options = {
            "adbc.flight.sql.authorization_header": f"Bearer {running.tokens['ann']}",
            "adbc.flight.sql.client_option.tls_root_certs": file.read_text(),
        }
        opened = dbapi.connect(running.flight, db_kwargs=options, autocommit=True)
        with opened as connection, connection.cursor() as cursor:
            cursor.execute(COUNT)
            assert cursor.fetchone()
        assert running.spent("ann") == pytest.approx(0.6)


def test_no_byte_is_lost_or_heard_between_the_yes_and_the_handshake(tmp_path, certificate):
    file, key = certificate
    with serving(tmp_path, certificate=file, key=key) as running:
        secure = running.dsn("ann", sslmode="verify-full", sslrootcert=file)
        for _ in range(40):  # a handshake that is read too early fails now and then
            with psycopg.connect(secure, autocommit=True) as connection:
                assert connection.pgconn.ssl_in_use
        with socket.create_connection(running.postgres, timeout=10) as stuffed:
            stuffed.sendall(struct.pack("!ii", 8, 80877103) + b"Q\0\0\0\rSELECT 1\0")
            heard = b""
            while part := stuffed.recv(4096):
                heard += part
        assert not heard.startswith(b"S")
        assert b"08P01" in heard
