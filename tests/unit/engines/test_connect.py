"""Targets that do not work say what would."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest

from sordino.core import EngineError, MissingExtraError, ParameterError
from sordino.engines import connect, write_double


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("duckdb:///nowhere/shop.duckdb", "no file"),
        ("/nowhere/at/all", "does not exist"),
        ("/nowhere/t.csv", "does not exist"),
        ("duckdbb:///x", "did you mean 'duckdb'"),
        (
            "mysql://root:hunter2@host/db",
            r"no engine for mysql:// URLs: targets are DuckDB .* or a folder of them\)$",
        ),
        ("sqlite:///x.db", r"targets are DuckDB .*, PostgreSQL .*, Spark .*, and files .*\)$"),
        ("postgress://host/db", "did you mean 'postgres'"),
    ],
)
def test_an_unreachable_target_is_named(target, message):
    with pytest.raises(ParameterError, match=message) as refused:
        connect(target)
    assert "hunter2" not in str(refused.value)


def test_what_is_no_target_is_refused():
    with pytest.raises(ParameterError, match="cannot connect to a int"):
        connect(3)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "shop.duckdb"
    path.write_text("This is text, and long enough to be more than a header of a database file. " * 100)
    with pytest.raises(EngineError, match="not a database") as refused:
        connect(path)
    assert "This is text" not in str(refused.value)
    (tmp_path / "notes.txt").write_text("a")
    with pytest.raises(ParameterError, match="is no table"):
        connect(tmp_path / "notes.txt")


def test_a_database_that_is_open_elsewhere_is_refused(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)), pytest.raises(EngineError, match="already open in this process"):
        connect(path)
    code = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.readline()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(EngineError, match="another process"):
            connect(path)
        other.communicate("\n")


@pytest.mark.parametrize("options", [{"memory_limit": "lots"}, {"threads": 0}, {"threads": "two"}])
def test_resources_are_checked(options):
    with pytest.raises(ParameterError, match=r"(memory_limit|threads) must be"):
        connect("duckdb://:memory:", **options)
    with duckdb.connect() as connection, pytest.raises(ParameterError, match="cannot be set"):
        connect(connection, threads=2)


def test_types_are_for_csv_files(tmp_path):
    for target in ("duckdb://:memory:", {}, tmp_path / "shop.duckdb"):
        with pytest.raises(ParameterError, match="types are for CSV files"):
            connect(target, types={"t": {"a": "integer"}})


def test_a_double_literal_is_that_double():
    assert write_double(0.1).sql() == "CAST('0.1' AS DOUBLE)"
    assert write_double(float("-inf")).sql() == "CAST('-Infinity' AS DOUBLE)"
    with pytest.raises(ParameterError, match="NaN"):
        write_double(float("nan"))


@pytest.mark.parametrize(
    ("target", "package", "command"),
    [
        ("postgresql://me:hunter2@host/db", "psycopg", r"pip install 'sordino\[postgres\]'"),
        ("spark-local", "pyspark.sql", r"pip install 'sordino\[spark\]'"),
    ],
)
def test_a_missing_extra_is_named(monkeypatch, target, package, command):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=command) as refused:
        connect(target)
    assert "hunter2" not in str(refused.value)


def test_extras_are_not_imported_for_duckdb():
    code = "import sys, sordino.engines as e; e.connect('duckdb://:memory:').close(); "
    code += "print([name for name in ('psycopg', 'pyspark') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_extras_that_messages_name_exist():
    """Whoever follows a message must find the extra in pyproject.toml."""
    root = Path(__file__).parents[3]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {
        name
        for path in (root / "src").rglob("*.py")
        for group in re.findall(r"sordino\[([a-z, ]+)\]", path.read_text(encoding="utf-8"))
        for name in group.replace(" ", "").split(",")
    }
    assert named
    assert named <= set(extras)
