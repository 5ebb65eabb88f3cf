"""A table from a file: CSV by the standard library, Parquet by whichever data frame package is there."""

from __future__ import annotations

from pathlib import Path

from sordino.cli.csv_table import read_csv
from sordino.cli.table import FileTable

_PARQUET = (".parquet", ".pq")


def read_table(path: str) -> FileTable:
    """Read a CSV file, a Parquet file (by its ending), or CSV from standard input ('-')."""
    if path != "-" and Path(path).suffix.lower() in _PARQUET:
        from sordino.cli.parquet_table import read_parquet  # data frames are not loaded for a CSV file

        return read_parquet(path)
    return read_csv(path)
