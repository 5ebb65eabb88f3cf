"""The process of the shadow: an empty DuckDB with little memory; questions and answers are lines of JSON.

It is started by its path and imports nothing of this package: it holds no policy, no ledger and no way to the data.
The first line is a list of statements with their rows, which fill it; then every line is a question.
"""

import json
import sys

import duckdb

_MEMORY = 1 << 30  # bytes of address space beyond what the process begins with
_MOST_BYTES = 8 << 20  # of one answer
_CHUNK = 500


def limit_memory() -> None:
    """The process fails before the machine does."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as told:
            used = int(told.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    except (ImportError, OSError, ValueError):
        return  # not on this system: DuckDB's own limit stands


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Columns and rows, or that there are none; never more than fits."""
    try:
        connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            found = connection.execute(sql)
            columns = [[item[0], str(item[1])] for item in found.description or []]
            rows: list[str] = []
            size = 0
            while chunk := found.fetchmany(_CHUNK):
                texts = [json.dumps(row, default=str) for row in chunk]
                size += sum(map(len, texts))
                if size > _MOST_BYTES:
                    return json.dumps({"error": "large"})
                rows += texts
            return json.dumps({"columns": columns})[:-1] + ', "rows": [' + ", ".join(rows) + "]}"
        finally:
            connection.execute("ROLLBACK")
    except (duckdb.Error, ValueError, RecursionError):
        return json.dumps({"error": "refused"})


def answer_lines() -> None:
    """Fill the shadow, then answer until the input ends."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "threads": "1",
        "memory_limit": "200MB",
        "temp_directory": "",  # what does not fit fails, and fills no disk
    }
    connection = duckdb.connect(":memory:", config=settings)
    for statement, rows in json.loads(sys.stdin.readline()):
        if rows is None:
            connection.execute(statement)
        else:
            connection.executemany(statement, rows)
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    limit_memory()
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(connection, json.loads(line)), flush=True)


if __name__ == "__main__":
    answer_lines()
