"""The README's examples run in the environment that the README tells a user to make, and in no richer one.

The environment is made by pip from the wheel and the extras that the README's install line names, in `.venv-readme`: a
minute or two the first time, and again when pyproject.toml changes. After that only the wheel is built and replaced.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-readme"
PYTHON = ENVIRONMENT / "bin" / "python"


def run(*command: object, cwd: Path) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def environment(tmp_path):
    (extras,) = re.findall(r"^pip install '\.(\[[\w,]+\])'$", (ROOT / "README.md").read_text(), re.MULTILINE)
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", ROOT, "-w", tmp_path / "wheel", cwd=tmp_path)
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + extras.encode()).hexdigest()
    stamp = ENVIRONMENT / "made-for"
    if not stamp.exists() or stamp.read_text() != wanted:
        run(sys.executable, "-m", "venv", "--clear", ENVIRONMENT, cwd=tmp_path)
        run(PYTHON, "-m", "pip", "install", "-q", "--no-compile", f"{wheel}{extras}", cwd=tmp_path)
        stamp.write_text(wanted)
    else:
        run(PYTHON, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel, cwd=tmp_path)
    return PYTHON


def test_the_readme_runs_with_what_its_install_line_brings(environment, tmp_path):
    # pandas, polars and the other extras are what this repository's own tests have and a user may not
    look = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n)))"
    foreign = ("pandas", "polars", "networkx", "psycopg", "pyspark", "pytest", "hypothesis")
    assert run(environment, "-c", look, *foreign, cwd=tmp_path).split() == []
    place = run(environment, "-c", "import sordino; print(sordino.__file__)", cwd=tmp_path)
    assert place.startswith(str(ENVIRONMENT))
    printed = run(environment, ROOT / "tests/e2e/run_page.py", ROOT / "README.md", cwd=tmp_path)
    assert "ε = 1" in printed
    assert "holds: ε = 0.5 claimed" in printed
