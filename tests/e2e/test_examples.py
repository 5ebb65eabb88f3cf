"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_example_runs_and_states_a_guarantee(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "ε = " in done.stdout
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 30
