"""A command line in process (fast) and files to give it."""

import io
import sys
from dataclasses import dataclass

import pytest

from sordino.cli.app import run
from tests.e2e.forks import Forks


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def sordino(capsys, monkeypatch):
    """Run `sordino …` in this process; ``stdin`` is bytes."""

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A directory with a vote, a small graph with its profile, and a column of pay; the test runs inside it."""
    monkeypatch.chdir(tmp_path)
    contents = {
        "votes.csv": "party,votes\nred,4120\nblue,352\ngreen,41\n",
        "nodes.csv": "node,ebc\na,6.5\nb,6.5\nv0,0\nv1,0\n",
        "delta.csv": "node,d0,d1\nv1,2,3\na,3,5\nv0,1,2\nb,3,5\n",
        "one_row.csv": "d0,d1\n3,5\n",
        "pay.csv": "name,salary\n" + "".join(f"p{i},{1000 + i}\n" for i in range(101)),
        "ages.csv": "age\n" + "".join(f"{20 + i}\n" for i in range(41)),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def forks():
    """Runs programs that may be killed."""
    running = Forks()
    yield running
    running.close()
