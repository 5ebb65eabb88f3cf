"""From what people have (URL, path, connection, frames) to an engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb

from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean
from sordino.engines import duckdb as local
from sordino.engines.engine import Engine
from sordino.engines.files import DATABASE_SUFFIXES, SUFFIXES, Types
from sordino.engines.resources import Resources


def _duckdb_url(url: str, resources: Resources) -> Engine:
    place = url.removeprefix("duckdb://")
    if place in ("", "/", ":memory:", "/:memory:"):
        return local.open_frames({}, memory_limit=resources.memory_limit, threads=resources.threads)
    return local.open_file(Path(place), memory_limit=resources.memory_limit, threads=resources.threads)


def _loaded(module: str) -> Callable[[str, Resources], Engine]:
    """The module's ``open_url``, imported when first used: its driver is an extra."""

    def open_url(url: str, resources: Resources) -> Engine:
        engine: Engine = import_module(f"sordino.engines.{module}").open_url(url, resources)
        return engine

    return open_url


# URL scheme → engine. A new engine is one file, one line here, and its name in TARGETS.
ENGINES: dict[str, Callable[[str, Resources], Engine]] = {
    "duckdb": _duckdb_url,
    "postgresql": _loaded("postgresql"),
    "postgres": _loaded("postgresql"),
    "spark-local": _loaded("spark"),
}

TARGETS = (
    "targets are DuckDB (a .duckdb file or duckdb://), PostgreSQL (postgresql://), Spark (spark-local://folder), and "
    f"files ({', '.join(SUFFIXES)}, or a folder of them)"
)


def connect(
    target: Any, *, types: Types | None = None, memory_limit: str | None = None, threads: int | None = None
) -> Engine:
    """An engine over ``target``.

    * ``"duckdb:///path/shop.duckdb"`` (absolute; two slashes: relative), ``"duckdb://:memory:"``
    * a folder of CSV, TSV and Parquet files (each a table named by its stem) and of folders of Parquet files (each one
      table, see `sordino.engines.partitions`), or one such file or folder, or a .duckdb file
    * ``"postgresql://user:password@host/database"``
    * ``"spark-local:///path/shop"``: a Spark session of our own over the Parquet files of a folder; ``"spark-local"``
      has no tables
    * an open DuckDB connection, a SparkSession, an engine
    * ``{name: frame}`` with pandas, polars or Arrow frames

    ``types`` declares ``{table: {column: type}}`` for CSV files and the names of folders, with types integer, decimal,
    decimal(p, s), float, text, boolean, date, timestamp. What is not declared is text: types are never guessed from
    rows. A cell that does not convert is NULL. ``memory_limit`` ("2GB") and ``threads`` bound an engine that runs in
    this process.
    """
    resources = Resources(memory_limit, threads)
    if isinstance(target, str | os.PathLike) and not _is_url(str(target)):
        return _path(Path(target), types, resources)
    if types is not None:
        raise ParameterError("types are for CSV files: this target has types of its own, leave them out")
    if isinstance(target, str):
        return _url(target, resources)
    if isinstance(target, Mapping):
        if not all(isinstance(name, str) and name for name in target):
            raise ParameterError("frames need names: {'orders': frame}")
        return local.open_frames(target, memory_limit=memory_limit, threads=threads)
    resources.refuse(f"an open {type(target).__name__}")
    if isinstance(target, duckdb.DuckDBPyConnection):
        return local.DuckDBEngine(target, owned=False)
    if isinstance(target, Engine):
        return target
    # Asked by name, so that pyspark is not imported to find out that it is not needed.
    if type(target).__name__ == "SparkSession" and type(target).__module__.startswith("pyspark."):
        session_engine: Engine = import_module("sordino.engines.spark").open_session(target)
        return session_engine
    raise ParameterError(
        f"cannot connect to a {type(target).__name__}: give a database URL, a path, an open DuckDB connection, "
        "a SparkSession or {name: frame}"
    )


def _is_url(target: str) -> bool:
    return "://" in target or target in ENGINES


def _url(url: str, resources: Resources) -> Engine:
    # What follows the scheme may hold a password and is never shown.
    scheme = url.partition("://")[0]
    if scheme not in ENGINES:
        # A misspelt scheme, not another database: those begin with other letters.
        alike = [name for name in ENGINES if name[:1] == scheme[:1].lower()]
        hint = did_you_mean(scheme.lower(), alike, before="; ")
        raise ParameterError(f"no engine for {scheme}:// URLs: {TARGETS}{hint}")
    return ENGINES[scheme](url, resources)


def _path(path: Path, types: Types | None, resources: Resources) -> Engine:
    if path.suffix.lower() in DATABASE_SUFFIXES:
        if types is not None:
            raise ParameterError("types are for CSV files: a database has types of its own, leave them out")
        return local.open_file(path, memory_limit=resources.memory_limit, threads=resources.threads)
    if not path.exists() and not path.suffix:
        raise ParameterError(f"{path} does not exist: {TARGETS}")
    return local.open_tables(
        path, types=types, memory_limit=resources.memory_limit, threads=resources.threads
    )
