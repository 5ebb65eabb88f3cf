"""`sordino examples`: small files to try the other commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json
from sordino.core import ParameterError


def examples(
    folder: Annotated[Path, typer.Argument(help="Where the files go; made if it is not there.")] = Path(
        "sordino-examples"
    ),
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that exists.")] = False,
    as_json: ask.Json = False,
) -> None:
    """Write small public files to try the other commands on.

    A shop with its policy, a column of pay, votes, a graph of friends, and a
    table of people with the schema of a tree. The same files every time, so
    nothing happens where all of them are there already.

    [bold]Examples[/bold]

    \b
      sordino examples
      sordino topk sordino-examples/friends.txt -k 5 --epsilon 2
    """
    from sordino.demo.example_files import find_example_files, write_example_files

    written = find_example_files(folder) if folder.exists() else None
    if folder.exists() and written is None and not force:
        raise ParameterError(
            f"{folder} exists and does not hold these files as they are: "
            "give --force to write into it, or another folder"
        )
    try:
        written = written or write_example_files(folder)
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written: {(error.strerror or 'error').lower()}") from None
    if as_json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        print(path)
