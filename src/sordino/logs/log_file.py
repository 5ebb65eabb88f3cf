"""A log in a file: CSV as texts, where an empty field is NULL, or Parquet with its own types."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from sordino.core import ParameterError, PrivateDataError

_PARQUET = (".parquet", ".pq")
_DELIMITERS = ",;\t"


def read_log(path: str | Path) -> pa.Table:
    """Read a file by its ending: .parquet and .pq are Parquet, everything else is CSV with a header."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {(error.strerror or 'refused').lower()}") from None
    if Path(path).suffix.lower() in _PARQUET:
        return _read_parquet(path)
    if not first.strip():
        raise ParameterError(f"{path} has no header: its first line must name the columns")
    return _read_csv(path, first.decode("utf-8-sig", errors="replace"))


def find_line(path: str | Path, row: int) -> str:
    """Where the record ``row`` of a file begins; a record of a CSV may take several lines."""
    if Path(path).suffix.lower() in _PARQUET:
        return f"row {row + 1} of {path}"
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=_delimiter(file.readline()))
        start, seen = 2, 0
        for fields in reader:
            if fields:
                if seen == row:
                    break
                seen += 1
            start = reader.line_num + 2  # the header was read before the reader counted
    return f"line {start} of {path}"


def _read_parquet(path: str | Path) -> pa.Table:
    from pyarrow import parquet

    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:  # the text may quote the file
        raise ParameterError(f"cannot read {path} as Parquet ({type(error).__name__})") from None


def _read_csv(path: str | Path, header: str) -> pa.Table:
    from pyarrow import csv as arrow_csv

    delimiter = _delimiter(header)
    names = next(csv.reader([header], delimiter=delimiter))
    if len(set(names)) < len(names):
        raise ParameterError(f"{path} has two columns of the same name")
    try:
        read = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:  # its text quotes the record
        wrong = _find_what_is_wrong(path, delimiter, len(names))
        raise wrong or PrivateDataError(f"{path} is not CSV with {len(names)} fields in every line") from None
    # A quotation that is never closed takes the rest of the file for one value.
    if _has_odd_quotes(path) and (wrong := _find_what_is_wrong(path, delimiter, len(names))):
        raise wrong
    return read.rename_columns([name.strip() for name in read.column_names])


def _has_odd_quotes(path: str | Path) -> bool:
    with Path(path).open("rb") as file:
        return sum(block.count(b'"') for block in iter(lambda: file.read(2**20), b"")) % 2 == 1


def _find_what_is_wrong(path: str | Path, delimiter: str, width: int) -> PrivateDataError | None:
    """Read it once more, slowly, for the line."""
    line = 1
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for fields in reader:
                if fields and len(fields) != width:
                    return PrivateDataError(
                        f"line {line} of {path} has {len(fields)} fields, the header has {width}"
                    )
                line = reader.line_num + 1
    except UnicodeDecodeError:
        return PrivateDataError(f"{path} is not UTF-8 text")
    except csv.Error as error:
        return PrivateDataError(f"line {line} of {path} is not CSV: {error}")
    return None


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)
