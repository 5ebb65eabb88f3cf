"""What `sordino logs` prints and writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sordino.cli.output import console, plain_table, printable
from sordino.core import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.logs import Chains, PipelineResult

_SHOWN = 300


def check_folder(output: Path | None) -> Path | None:
    """The folder for results, if one was given; said before any work."""
    if output is not None and not output.is_dir():
        raise ParameterError(f"--output must be a folder that exists, got {output}")
    return output


def write_result(folder: Path | None, owner: str, kind: str, table: pa.Table) -> str:
    """Write a table as CSV, and say where."""
    from pyarrow import csv

    if folder is None or Path(owner).name != owner:
        raise ParameterError(f"no file can be named after the owner {owner!r}")
    path = folder / f"{owner}_{kind}.csv"
    try:
        csv.write_csv(table, path)
    except OSError as error:
        raise ParameterError(f"cannot write {path}: {(error.strerror or 'refused').lower()}") from None
    return str(path)


def print_owner(found: Chains, owner: str, *, rows: bool) -> None:
    """How much an owner gets, and with ``rows`` what, up to a few hundred entries."""
    from sordino.cli.query import print_rows

    count = found.counts()[owner]
    print(
        f"{printable(owner)}: {count['chains']} chains with {count['entries']} entries, "
        f"{count['uncorrelated']} uncorrelated"
    )
    if rows and count["entries"]:
        table = found.for_owner(owner)
        ordered = ["chain", "position", "place", "time", "owner", *found.values]
        table = table.sort_by([("chain", "ascending"), ("position", "ascending")]).select(ordered)
        print_rows(table.slice(0, _SHOWN).to_pylist())
        if count["entries"] > _SHOWN:
            print(f"and {count['entries'] - _SHOWN} entries more: --output or --json has them all")


def print_pipeline(found: PipelineResult) -> None:
    """One line per owner."""
    table = plain_table("What each owner had, shared and learned")
    for name in ("owner", "entries", "own chains", "unknown", "shared", "joint chains", "new", "known now"):
        table.add_column(name, justify="left" if name == "owner" else "right")
    counts = found.joint.counts()
    for owner, part in found.own.items():
        cells = (part.entries, part.chains, part.unknown, part.shared, counts[owner]["chains"])
        more = (found.new[owner], len(found.known[owner]))
        table.add_row(printable(owner), *map(str, (*cells, *more)))
    console().print(table)


def print_facts(found: Chains, written: list[str]) -> None:
    """Where results went, what they took, and who saw what."""
    for path in written:
        print(printable(path))
    if found.operations is not None:
        done = found.operations
        print(f"{done.products} products, {done.sent} numbers sent by each party, {done.rounds} rounds")
    print(f"guarantee: {found.guarantee}")
