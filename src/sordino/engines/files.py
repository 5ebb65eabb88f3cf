"""Tables that are files: CSV and Parquet, listed once, with public types."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sordino.core import EngineError, ParameterError
from sordino.core.parameters import did_you_mean
from sordino.engines.partitions import NO_VALUE, Partitions, find_partitions, is_partitioned

SUFFIXES = (".csv", ".tsv", ".parquet")
DATABASE_SUFFIXES = (".duckdb", ".db", ".ddb")
Types = Mapping[str, Mapping[str, str]]

# What a declared type is to DuckDB. A plain decimal has room for 29 digits before the point and 9 behind.
_DUCKDB_TYPES = {
    "integer": "BIGINT",
    "decimal": "DECIMAL(38, 9)",
    "float": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_DECIMAL = re.compile(r"decimal\((\d{1,2}), ?(\d{1,2})\)")
LONGEST_LINE = 16 * 2**20


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file as one table, named by its stem; a dot would read like a schema and becomes an underscore.

    ``partitions``: of a folder of Parquet files that is one table.
    """

    name: str
    path: Path
    partitions: Partitions | None = None

    @property
    def is_parquet(self) -> bool:
        """Whether the file carries its own types."""
        return self.partitions is not None or self.path.suffix.lower() == ".parquet"

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        return (self.path,) if self.partitions is None else self.partitions.files

    @property
    def untyped(self) -> tuple[str, ...] | None:
        """The columns whose type the policy may declare; None: whatever the header names."""
        if not self.is_parquet:
            return None
        return () if self.partitions is None else self.partitions.keys


def list_table_files(target: Path) -> list[TableFile]:
    """The one file, or the tables in a folder: CSV and Parquet files directly in it, and folders of Parquet files.

    A folder with folders named ``key=value`` is itself one table. Files that come later are not seen.
    """
    if not target.exists():
        raise ParameterError(
            f"{target} does not exist: give a folder of CSV or Parquet files, or one such file"
        )
    if target.is_dir():
        listed = _list_folder(target)
    elif target.suffix.lower() in SUFFIXES:
        listed = [TableFile(name_file_table(target), target.resolve())]
    else:
        raise ParameterError(f"{target} is no table: files end in {', '.join(SUFFIXES)}")
    files: dict[str, TableFile] = {}
    for file in listed:
        other = files.setdefault(file.name.casefold(), file)
        if other is not file:
            raise EngineError(
                f"{other.path.name} and {file.path.name} would both be table {file.name!r}: rename one"
            )
    return list(files.values())


def _list_folder(folder: Path) -> list[TableFile]:
    if is_partitioned(folder):
        whole = folder.resolve()
        return [TableFile(name_file_table(whole), whole, find_partitions(name_file_table(whole), whole))]
    listed = []
    for path in sorted(folder.iterdir()):
        name = name_file_table(path)
        if path.is_dir():
            partitions = find_partitions(name, path)
            if partitions is not None:
                listed.append(TableFile(name, path.resolve(), partitions))
        elif path.is_file() and path.suffix.lower() in SUFFIXES:
            listed.append(TableFile(name, path.resolve()))
    if not listed:
        raise ParameterError(
            f"{folder} holds no tables: it needs files that end in {', '.join(SUFFIXES)} or folders of Parquet files"
        )
    return listed


def name_file_table(path: Path) -> str:
    """What a file's table is called."""
    return path.stem.replace(".", "_")


def write_line_count(path: Path) -> str:
    """The SELECT that counts the lines below the header that are not empty, whatever is in them."""
    return (
        f"SELECT COUNT(*) FROM read_csv({_text(str(path))}, header=false, skip=1, auto_detect=false, "
        f"delim='\x01', quote='', escape='', columns={{'line': 'VARCHAR'}}, strict_mode=false, "
        f"ignore_errors=true, max_line_size={LONGEST_LINE}) WHERE line IS NOT NULL"
    )


def check_types(types: Types | None, files: list[TableFile]) -> dict[str, dict[str, str]]:
    """The declared types by table: of CSV files, and of the columns that are names of folders."""
    known = {file.name: file for file in files}
    readable = [file.name for file in files if file.untyped != ()]
    for table, columns in (types or {}).items():
        if table not in readable:
            if table in known:
                raise ParameterError(
                    f"types given for {table!r}, a Parquet file: it carries its own, leave it out"
                )
            raise ParameterError(f"types given for {table!r}: {_near(table, readable, 'CSV tables')}")
        untyped = known[table].untyped
        for column in columns:
            if untyped is not None and column not in untyped:
                raise ParameterError(
                    f"types of {table!r} name {column!r}: Parquet files carry their own, and only the names of folders "
                    f"have none: {', '.join(untyped)}"
                )
    return {table: dict(columns) for table, columns in (types or {}).items()}


def write_view(file: TableFile, types: Mapping[str, str]) -> str:
    """The SELECT behind the table's view.

    The minimum and maximum in a Parquet file leave NaN out. Unless told, DuckDB takes them to cover all rows, and a
    comparison then finds a NaN or not depending on the other rows.
    """
    if file.partitions is not None:
        return _partitioned_view(file.name, file.partitions, types)
    if file.is_parquet:
        return f"SELECT * FROM read_parquet({_text(str(file.path))}, can_have_nan=true)"
    return _csv_view(file, types)


def _partitioned_view(table: str, partitions: Partitions, types: Mapping[str, str]) -> str:
    """Columns of the files as they are; each name of a folder as text, converted by itself."""
    cells = [_name(column) for column in partitions.columns]
    for key in partitions.keys:
        kind = _duckdb_type(table, key, types.get(key, "text"))
        text = f"NULLIF({_name(key)}, {_text(NO_VALUE)})"
        cells.append(f"{text if kind == 'VARCHAR' else f'TRY_CAST(trim({text}) AS {kind})'} AS {_name(key)}")
    listed = ", ".join(_text(str(file)) for file in partitions.files)
    return (
        f"SELECT {', '.join(cells)} FROM read_parquet([{listed}], can_have_nan=true, hive_partitioning=true, "
        "hive_types_autocast=false)"
    )


def _csv_view(file: TableFile, types: Mapping[str, str]) -> str:
    """Every cell is read as text, then converted by itself: no row has a say in the type or the fate of another.

    A cell that does not convert is NULL, and so is an empty one; cells beyond the header's are ignored. A row that is
    shorter than the header, or not UTF-8, is left out.
    """
    names, delimiter = _header(file)
    for column in types:
        if column not in names:
            # Without a header the first line holds cells of a row: it is not shown.
            missing = f"the first line of {file.path.name} has no such column"
            raise ParameterError(
                f"there is no column {column!r} in table {file.name!r}, for which a type is declared: "
                f"{did_you_mean(column, names, otherwise=missing)}"
            )
    cells = []
    for name in names:
        kind = _duckdb_type(file.name, name, types.get(name, "text"))
        # DuckDB pushes TRY_CAST(column) into its CSV reader, which then drops the row in place of giving NULL
        # (duckdb/duckdb#23818); it does not push a function of the column.
        value = _name(name) if kind == "VARCHAR" else f"TRY_CAST(trim({_name(name)}) AS {kind})"
        cells.append(f"{value} AS {_name(name)}")
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
    # Unread columns are not decoded, so without the condition a row that is not UTF-8 would count in some queries of
    # one snapshot and not in others. It is always true (concat skips NULLs) and makes every query read whole rows.
    # Standing between reader and query it also keeps casts in later queries from being pushed into the reader.
    everything = ", ".join(_name(name) for name in names)
    return (
        f"SELECT {', '.join(cells)} FROM read_csv({_text(str(file.path))}, header=true, auto_detect=false, "
        f"delim={_text(delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
        f"ignore_errors=true, strict_mode=false, max_line_size={LONGEST_LINE}) "
        f"WHERE concat({everything}) IS NOT NULL"
    )


def _header(file: TableFile) -> tuple[list[str], str]:
    """Names and delimiter, from the first line alone."""
    try:
        with file.path.open("rb") as stream:
            line = stream.readline(LONGEST_LINE).decode("utf-8-sig")
    except OSError:
        raise EngineError(f"{file.path.name} cannot be opened: check that it may be read") from None
    except UnicodeDecodeError:
        raise EngineError(f"{file.path.name} is not UTF-8 text: a CSV with a header is needed") from None
    # Tab first: a name may hold a comma or a bar, hardly a tab.
    delimiter = max("\t,;|", key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if not names or any(not name.strip() for name in names):
        raise EngineError(
            f"{file.path.name} has no header or an unnamed column: its first line must name all"
        )
    if len({name.casefold() for name in names}) < len(names):
        raise EngineError(f"{file.path.name} names a column twice in its header: rename one")
    return names, delimiter


def _duckdb_type(table: str, column: str, declared: str) -> str:
    wanted = str(declared).strip().lower()
    if found := _DECIMAL.fullmatch(wanted):
        precision, scale = int(found[1]), int(found[2])
        if 1 <= precision <= 38 and scale <= precision:
            return f"DECIMAL({precision}, {scale})"
    if wanted not in _DUCKDB_TYPES:
        accepted = ", ".join(_DUCKDB_TYPES)
        raise ParameterError(
            f"type of {table}.{column} is {declared!r}: it must be {accepted} or decimal(p, s)"
        )
    return _DUCKDB_TYPES[wanted]


def _near(name: str, known: list[str], what: str) -> str:
    return did_you_mean(name, known, otherwise=f"the {what} are {', '.join(known) or 'none'}")


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
