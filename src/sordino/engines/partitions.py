"""Partitioned tables: a folder of Parquet files that is one table, with folders named ``key=value`` inside.

The key is a column of every row below such a folder, and the value is what these rows hold: private, like any cell. So
no type is read off it (a single folder ``year=unknown`` would make text of all years): the column is text, or what the
policy declares, and a value that does not convert is NULL. No message shows a folder's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pyarrow as pa
import pyarrow.parquet as pq

from sordino.core import EngineError

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # how writers call a folder of rows whose key is NULL
_PATTERN = set("*?[")  # DuckDB would take such a name for a pattern


@dataclass(frozen=True, slots=True)
class Partitions:
    """The files of a table, the columns that they hold, and those that their folders hold, outermost first."""

    files: tuple[Path, ...]
    columns: tuple[str, ...]
    keys: tuple[str, ...]


def is_partitioned(folder: Path) -> bool:
    """Whether a folder has folders named ``key=value`` with Parquet files somewhere below."""
    return any(
        "=" in path.name and any(_is_part(file) for file in path.rglob("*"))
        for path in folder.iterdir()
        if path.is_dir() and not _is_hidden(path)
    )


def find_partitions(name: str, folder: Path) -> Partitions | None:
    """The table in a folder; None where it holds neither Parquet files nor folders of them named ``key=value``.

    Raises where the files are not one table: other folders between, other keys or other columns in some of them.
    """
    if not is_partitioned(folder) and not any(map(_is_part, folder.iterdir())):
        return None
    root = folder.resolve()
    found = sorted(_list_parts(root, ()))
    places = {tuple(part.partition("=")[0] for part in parts) for _, parts in found}
    if len(places) > 1 or any("=" not in part for _, parts in found for part in parts):
        raise EngineError(
            f"the files of table {name!r} are not one table: all folders in it must be named key=value, with the same "
            "keys in the same order"
        )
    (keys,) = places
    for _, parts in found:
        _check_names(name, parts)
    above = {part.partition("=")[0].casefold() for part in root.parts if "=" in part}
    if above & {key.casefold() for key in keys}:
        raise EngineError(f"a folder above table {name!r} has a key of the table in its name: rename it")
    if _PATTERN & set(str(root)):
        raise EngineError(f"the path of table {name!r} holds one of * ? [: rename that folder")
    files = tuple(file for file, _ in found)
    columns = _read_columns(name, files)
    names = [column.casefold() for column in (*columns, *keys)]
    if not all(keys) or len(set(names)) < len(names):
        raise EngineError(
            f"table {name!r} has a column twice, in its files or in the names of its folders: rename one"
        )
    return Partitions(files, columns, keys)


def _list_parts(folder: Path, above: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every Parquet file with the names of the folders that it is in."""
    for path in folder.iterdir():
        if _is_part(path):
            yield path, above
        elif path.is_dir() and not _is_hidden(path):
            yield from _list_parts(path, (*above, path.name))


def _is_part(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" and path.is_file() and not _is_hidden(path)


def _is_hidden(path: Path) -> bool:
    """What writers leave beside their files: _SUCCESS, _temporary, checksums."""
    return path.name.startswith(("_", "."))


def _check_names(table: str, parts: tuple[str, ...]) -> None:
    """Raise where the name of a folder could not be read as a value by every statement."""
    for part in parts:
        try:
            unquote_to_bytes(part).decode()
        except (UnicodeDecodeError, UnicodeEncodeError):
            raise EngineError(f"the name of a folder in table {table!r} is not UTF-8: rename it") from None
        if _PATTERN & set(part) or "\n" in part:
            raise EngineError(
                f"the name of a folder in table {table!r} holds one of * ? [ or a line break: write it as %2A, %3F, "
                "%5B or %0A"
            )


def _read_columns(table: str, files: tuple[Path, ...]) -> tuple[str, ...]:
    """The columns that all files have, with one type each. Reads no rows: only what a file says about itself."""
    first: list[tuple[str, pa.DataType]] | None = None
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            raise EngineError(f"a file of table {table!r} cannot be read as Parquet", str(error)) from None
        found = [(field.name, _stored_type(field.type)) for field in schema]
        if first is not None and found != first:
            raise EngineError(
                f"the files of table {table!r} differ in their columns or in the types of these: write them anew"
            )
        first = found
    return tuple(name for name, _ in first or [])


def _stored_type(kind: pa.DataType) -> pa.DataType:
    """A dictionary is how values are written, not what they are."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
