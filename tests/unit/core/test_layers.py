"""Imports point downwards only, and importing the package is fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "sordino"

# Each package and what it may import.
ALLOWED = {
    "display": set(),
    "core": {"display"},
    "sampling": {"core"},
    "sensitivity": {"core"},
    "ledger": {"core", "display"},
    "engines": {"core"},
    "mechanisms": {"core", "display", "sampling", "sensitivity"},
    "audit": {"core", "display", "sampling", "sensitivity"},
    "stats": {"core", "display", "sampling", "sensitivity", "mechanisms"},
    "graphs": {"core", "display", "sampling", "sensitivity", "mechanisms"},
    "learn": {"core", "display", "sampling", "sensitivity", "engines", "mechanisms"},
    "sql": {"core", "display", "sampling", "sensitivity", "engines", "mechanisms"},
    "curator": {
        "core",
        "display",
        "ledger",
        "sampling",
        "sensitivity",
        "engines",
        "mechanisms",
        "sql",
        "stats",
        "graphs",
        "learn",
    },
    "testing": {
        "core",
        "display",
        "ledger",
        "sampling",
        "sensitivity",
        "engines",
        "mechanisms",
        "audit",
        "stats",
        "graphs",
    },
    "demo": {
        "core",
        "display",
        "sampling",
        "sensitivity",
        "engines",
        "mechanisms",
        "stats",
        "graphs",
        "curator",
    },
    "cli": {
        "core",
        "display",
        "ledger",
        "sampling",
        "sensitivity",
        "engines",
        "mechanisms",
        "audit",
        "stats",
        "graphs",
        "learn",
        "sql",
        "curator",
        "testing",
        "demo",
    },
}
OPTIONAL = {"psycopg", "pyspark", "sklearn", "networkx", "z3", "fastapi", "mpyc", "opendp"}


def imported(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return names


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_downwards(package):
    files = list((SOURCE / package).rglob("*.py"))
    assert files
    for path in files:
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "sordino" and len(parts) > 1:
                assert parts[1] == package or parts[1] in ALLOWED[package], f"{path.name} imports {name}"


def test_every_package_is_in_the_table():
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert packages == set(ALLOWED)


def test_core_needs_the_standard_library_only():
    for path in (SOURCE / "core").rglob("*.py"):
        for name in imported(path):
            assert name.split(".")[0] in {"sordino", *sys.stdlib_module_names}


def test_randomness_lives_in_sampling_only():
    banned = {"random", "secrets", "numpy.random"}
    for path in SOURCE.rglob("*.py"):
        if "sampling" not in path.parts:
            assert not banned & set(imported(path)), path
            assert "urandom" not in path.read_text(), path


def test_importing_is_fast():
    """Three tries, so that a busy machine does not fail it; the slowest import of the three is not what users see."""
    code = "import time; t = time.perf_counter(); import sordino; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(times) < 0.3


def test_every_public_name_resolves():
    import sordino

    for name in sordino.__all__:
        assert getattr(sordino, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'selekt'"):
        _ = sordino.selekt
