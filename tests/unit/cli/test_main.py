"""`python -m sordino` is the program `sordino`."""

import subprocess
import sys
from pathlib import Path

import pytest

import sordino


@pytest.mark.parametrize(
    ("arguments", "code", "out", "error"),
    [
        (["--version"], 0, f"sordino {sordino.__version__}\n", ""),
        (["ledgr"], 2, "", "did you mean 'ledger'"),
    ],
)
def test_the_package_runs_as_a_module(arguments, code, out, error):
    done = subprocess.run(
        [sys.executable, "-m", "sordino", *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (code, out)
    assert error in done.stderr.lower()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["risk", "curve", "--epsilon", "1", "--json"]])
def test_a_full_disk_is_no_defect(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sordino", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (9, "sordino: cannot write: no space left on device\n")
