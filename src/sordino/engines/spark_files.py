"""Files as tables of a Spark session of our own: Parquet files and folders of them, each behind a temporary view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sordino.core import EngineError, UnsupportedError
from sordino.engines.files import TableFile, list_table_files
from sordino.engines.spark_tables import quote_name

_PATTERN = set("*?[]{}\\")  # Spark would take such a path for a pattern


def show_files(session: Any, target: Path) -> None:
    """Name the tables of a folder, or of one file, in the session: they are called as DuckDB's are.

    The files of a table are listed here, so that one which comes later is not seen.
    """
    for file in list_table_files(target):
        _check(file)
        reader = session.read
        if file.partitions is not None:
            reader = reader.option("basePath", str(file.path))
        frame = reader.parquet(*map(str, file.files))
        frame.createOrReplaceTempView(quote_name(file.name))


def _check(file: TableFile) -> None:
    if not file.is_parquet:
        raise UnsupportedError(
            f"table {file.name!r} is a CSV file, and Spark is given Parquet files: write it as Parquet, give the "
            "folder to DuckDB (without spark-local://), or open a SparkSession and name the table there"
        )
    if _PATTERN & set("".join(map(str, file.files))):
        raise EngineError(
            f"the path of table {file.name!r} holds one of {' '.join(sorted(_PATTERN))}: rename it"
        )
