"""`python -m sordino` is the program `sordino`."""

import subprocess
import sys

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
