"""Three computing parties as real processes: the same chains, nothing opened when one fails, and none left behind."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

import sordino as sd
from sordino.logs import parties, secret_correlation
from sordino.logs.entries import make_entries
from sordino.logs.secret_correlation import correlate_entries_secretly
from sordino.logs.shared_log import prepare_log
from tests.oracles.log_chains import give_owner, list_chains
from tests.unit.logs.random_logs import NAMES, as_table, check_against_rule, draw_log, read_rows
from tests.unit.logs.test_correlation import GOLDEN, GOLDEN_LOG

LONG = [(place, "ab"[place % 2], (f"v{place % 7}", f"w{place % 11}")) for place in range(150)]


@pytest.fixture
def started(monkeypatch):
    """The processes that a run starts."""
    processes: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*arguments, **options):
        process = real(*arguments, **options)
        processes.append(process)
        return process

    monkeypatch.setattr(parties.subprocess, "Popen", start)
    yield processes
    assert all(process.poll() is not None for process in processes)  # every test: none is left


def test_the_golden_example_on_three_processes(started):
    found = sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"])
    assert found.numbers == GOLDEN["numbers"]
    check_against_rule(found, GOLDEN_LOG, "any")
    assert "semi-honest" in found.guarantee
    assert "not differential privacy" in found.guarantee
    assert len({process.pid for process in started}) == 3
    emulated = sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"], backend="emulate")
    assert found.operations == emulated.operations


@pytest.mark.parametrize("match", ["any", "column"])
def test_random_logs_on_three_processes(started, match):
    random = Random(f"processes {match}")
    for size in (5, 13):
        log = draw_log(random, size=size)
        while len({who for _, who, _ in log}) < 2:
            log = draw_log(random, size=size)
        found = sd.logs.correlate_secret(as_table(log), values=NAMES[: len(log[0][2])], match=match)
        check_against_rule(found, log, match)


def test_hidden_times_on_three_processes(started):
    log = [(5, "a", ("p",)), (3, "b", ("q",)), (5, "b", ("p",)), (1, "a", ("q",)), (2, "a", (None,))]
    found = sd.logs.correlate_secret(as_table(log), values=["x"], hide_times=True)
    ordered, chains = list_chains(log, "any")
    for owner in ("a", "b"):
        shown, alone = give_owner(ordered, chains, owner)
        assert read_rows(found.for_owner(owner)) == shown
        assert read_rows(found.unmatched(owner)) == [row[1:] for row in alone]


def test_parties_are_sent_shares_and_public_sizes_only():
    entries = make_entries(as_table([(1, "a", ("secret-word",)), (2, "b", ("secret-word",))]), values=["x"])
    log = prepare_log(entries, by_column=False, hide_times=False, width=None)
    first, second = parties._write_orders(log), parties._write_orders(log)
    for order, again in zip(first, second, strict=True):
        assert b"secret" not in order
        assert order != again
        assert len(order) == len(again)
        sent = parties.json.loads(order)
        for name, column in (("codes", log.codes), ("payload", log.payload)):
            assert (parties.unpack_numbers(sent[name]) != column).all()


_FAREWELL = 20  # bytes
_LISTENER = """
import asyncio.selector_events as events, os
real = events._SelectorSocketTransport.write
def write(self, data):
    with open(os.environ["SIZES"] + f"/{os.getpid()}", "a") as file:
        file.write(f"{len(data)}\\n")
    return real(self, data)
events._SelectorSocketTransport.write = write
"""


def listen(folder: Path, name: str, monkeypatch, log: list, **options) -> list[list[int]]:
    """The sizes of all messages of each party, as somebody on the network sees them, from the least.

    Their order and what is no larger than a greeting or a farewell are left out: when a party comes and who is still
    there when it goes is a matter of the clock.
    """
    (folder / name).mkdir()
    (folder / "sitecustomize.py").write_text(_LISTENER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("SIZES", str(folder / name))
    sd.logs.correlate_secret(as_table(log), values=["x", "y"], **options)
    said = [map(int, path.read_text().split()) for path in (folder / name).iterdir()]
    return sorted(sorted(size for size in sizes if size > _FAREWELL) for sizes in said)


def test_sizes_of_messages_are_the_same_for_all_logs_of_one_shape(tmp_path, monkeypatch):
    """What a listener sees. A payload that is wider tells: the listener is not deaf."""
    same = [(place, "ab"[place % 2], ("s", "s")) for place in range(8)]
    apart = [(place, "ab"[place % 2], (f"p{place}", None)) for place in range(8)]
    first = listen(tmp_path, "same", monkeypatch, same, width=56)
    assert len(first) == 3
    assert min(map(len, first)) > 200
    assert listen(tmp_path, "apart", monkeypatch, apart, width=56) == first
    assert listen(tmp_path, "wider", monkeypatch, apart, width=84) != first


def run_until_the_first_product(processes, act, timeout):
    """Run a long log; ``act`` when all parties are at work."""
    entries = make_entries(as_table(LONG), values=["x", "y"])
    log = prepare_log(entries, by_column=False, hide_times=False, width=None)
    acted = []

    def report(done):
        if not acted:
            acted.append(done)
            act(processes)

    return parties.run_parties(log, timeout=timeout, report=report)


def test_a_party_that_does_not_answer_ends_the_run(started):
    begun = time.monotonic()
    with pytest.raises(sd.EngineError, match=r"party 2 of 3 has not answered for 4 s; nothing was opened"):
        run_until_the_first_product(started, lambda found: found[1].send_signal(signal.SIGSTOP), 4)
    assert time.monotonic() - begun < 60


def test_a_party_that_dies_ends_the_run(started):
    with pytest.raises(sd.EngineError, match=r"party \d of 3 ended with exit code .*; nothing was opened"):
        run_until_the_first_product(started, lambda found: found[2].kill(), 60)


FAKES = {
    "silent": ("time.sleep(60)", 2.0, r"party \d of 3 has not answered for 2 s; nothing was opened"),
    "idle": (
        "while True:\n    print('{}', flush=True)\n    time.sleep(0.1)",
        4.0,
        "the computing parties have made no progress for 4 s; nothing was opened",
    ),
    "broken": (
        "raise ZeroDivisionError('ann')",
        60.0,
        r"party \d of 3 ended with exit code 1 before it answered",
    ),
    "at odds": (
        "me = sys.argv.index('-I') + 1\n"
        "print(json.dumps({'result': [], 'products': int(sys.argv[me]), 'sent': 0, 'rounds': 0, 'trace': []}))\n"
        "sys.stdout.flush()\ntime.sleep(60)",
        60.0,
        "the computing parties did not do the same; nothing was opened",
    ),
}


@pytest.mark.parametrize(("code", "timeout", "message"), FAKES.values(), ids=FAKES)
def test_parties_that_go_wrong_are_ended_and_nothing_is_opened(
    started, tmp_path, monkeypatch, code, timeout, message
):
    (tmp_path / "a_fake_party.py").write_text(f"import json, sys, time\n{code}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(parties, "_MODULE", "a_fake_party")
    with pytest.raises(sd.EngineError, match=message) as caught:
        sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"], timeout=timeout)
    assert "ann" not in str(caught.value)
    if "ZeroDivision" in code:
        assert "ann" in caught.value.details.reveal()
    assert len(started) == 3


def test_progress_is_told_as_a_share_of_all_products(started, monkeypatch):
    told = []

    @contextmanager
    def record(title, *, wanted):
        yield lambda done, total, text="": told.append((done, total))

    monkeypatch.setattr(secret_correlation, "show_progress", record)
    found = sd.logs.correlate_secret(as_table(LONG[:60]), values=["x", "y"])
    assert {total for _, total in told} == {found.operations.products}
    assert len(told) > 1
    assert 0 < min(told)[0] <= max(told)[0] <= found.operations.products


def test_an_interrupt_leaves_no_process(started):
    entries = make_entries(as_table(LONG), values=["x", "y"])
    log = prepare_log(entries, by_column=False, hide_times=False, width=None)

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parties.run_parties(log, timeout=30, report=interrupt)
    assert len(started) == 3


def list_children(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in children.read_text().split()] if children.exists() else []


def is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's list of processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_party_outlives_who_started_it(number):
    code = (
        "import sordino as sd, pyarrow as pa\n"
        "n = 300\n"
        "log = pa.table({'time': range(n), 'owner': ['a', 'b'] * (n // 2), 'x': [str(i % 9) for i in range(n)]})\n"
        "sd.logs.correlate_secret(log, values=['x'])\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while len(children := list_children(parent.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(children) == 3
        time.sleep(1.0)
        parent.send_signal(number)
        parent.wait(20)
        deadline = time.monotonic() + 20
        while any(map(is_running, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_running, children))
    finally:
        parent.kill()
        parent.wait()


def test_a_port_that_is_taken_is_tried_again(started, monkeypatch):
    real = parties._find_ports
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        tried: list[list[int]] = []

        def find_ports():
            ports = real()
            if not tried:
                ports[1] = other.getsockname()[1]
            tried.append(ports)
            return ports

        monkeypatch.setattr(parties, "_find_ports", find_ports)
        found = sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"])
    assert found.numbers == GOLDEN["numbers"]
    assert len(tried) == 2


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's list of sockets")
def test_a_party_listens_on_loopback_only():
    entries = make_entries(as_table(GOLDEN_LOG), values=["x", "y"])
    order = parties._write_orders(prepare_log(entries, by_column=False, hide_times=False, width=None))[2]
    ports = parties._find_ports()
    addresses = [part for port in ports for part in ("-P", f"127.0.0.1:{port}")]
    party = subprocess.Popen(
        [sys.executable, "-m", parties._MODULE, *addresses, "-I", "2", *parties._OPTIONS],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        party.stdin.write(order)
        party.stdin.flush()
        listening: set[str] = set()
        deadline = time.monotonic() + 20
        while not listening and time.monotonic() < deadline:
            time.sleep(0.05)
            for table in ("/proc/net/tcp", "/proc/net/tcp6"):
                if Path(table).exists():
                    lines = [line.split() for line in Path(table).read_text().splitlines()[1:]]
                    listening |= {
                        line[1] for line in lines if line[3] == "0A" and int(line[1][-4:], 16) == ports[2]
                    }
        assert listening == {f"0100007F:{ports[2]:04X}"}
    finally:
        party.stdin.close()
        assert party.wait(20) != 0  # nobody is there any more


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(sd.MissingExtraError, match=r"pip install 'sordino\[mpc\]'"):
        sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"])


def test_a_seeded_run_does_not_claim_to_hide_anything():
    entries = make_entries(as_table([(1, "a", ("p",)), (2, "b", ("p",))]), values=["x"])
    with sd.testing.seeded(1):
        found = correlate_entries_secretly(entries, "any")
    assert found.guarantee == "seeded, so nothing is hidden"


def test_what_lies_in_the_working_directory_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "mpyc.py").write_text("raise SystemExit(1)")
    (tmp_path / "json.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert os.getcwd() == str(tmp_path)
    found = sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"])
    assert found.numbers == GOLDEN["numbers"]


@pytest.mark.parametrize("function", ["loads", "load"])
def test_no_message_is_unpickled(tmp_path, monkeypatch, function):
    """A party in which unpickling anything is the end of it."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import os, pickle\nopen({str(tmp_path / 'loaded')!r}, 'a').close()\n"
        f"pickle.{function} = lambda *a, **k: os._exit(99)\n"
    )
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), before]))
    found = sd.logs.correlate_secret(as_table(GOLDEN_LOG), values=["x", "y"])
    assert found.numbers == GOLDEN["numbers"]
    assert (tmp_path / "loaded").exists()  # the trap was set
