"""`sordino logs`: event logs of several owners correlated into chains, in the clear or in secret."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.exit_codes import FAILED_CLAIM
from sordino.cli.log_output import check_folder, print_facts, print_owner, print_pipeline, write_result
from sordino.cli.output import owners_words, print_json
from sordino.core import ParameterError
from sordino.core.parameters import choice, whole

if TYPE_CHECKING:
    from sordino.logs import Chains

logs = typer.Typer(
    name="logs",
    rich_markup_mode="rich",
)


class MatchRule(StrEnum):
    """Which values may be the same."""

    ANY = "any"
    COLUMN = "column"


class Shared(StrEnum):
    """What an owner gives to the joint correlation."""

    BOTH = "both"
    UNCORRELATED = "uncorrelated"
    UNKNOWN = "unknown"


class SameChain(StrEnum):
    """When a chain is a known one."""

    VALUES = "values"
    COLUMNS = "columns"


LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="OWNER=FILE...",
        help="CSV or Parquet, one per owner; or one with a column 'owner'. '-' is a pipe.",
    ),
]
ValueColumns = Annotated[str, typer.Option("--values", help="The columns to match, such as ip,user.")]
Rule = Annotated[
    MatchRule, typer.Option("--match", help="A shared value counts in any columns, or in the same only.")
]
TimeColumn = Annotated[str, typer.Option("--time", help="The column that says when an entry happened.")]
Normalise = Annotated[
    str | None, typer.Option("--normalise", help="Before values are compared: lower, strip, or lower,strip.")
]
Sorted = Annotated[bool, typer.Option("--sorted", help="Refuse a log whose times go backwards.")]
Pattern = Annotated[
    str | None,
    typer.Option("--pattern", help="Files are raw lines: a regular expression with groups (?P<time>…), …"),
]
Emulate = Annotated[
    bool, typer.Option("--emulate", help="The secret steps in this process, with counts and without secrecy.")
]
HideTimes = Annotated[bool, typer.Option("--hide-times", help="Times are secret too: sorted obliviously.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds that a party may be silent.")]
Yes = Annotated[bool, typer.Option("--yes", help="Go on above the limit on entries.")]
Folder = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Write each owner's result there, as CSV."),
]


@logs.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Event logs of several owners, correlated into chains in the clear or in secret.

    The secret version hides values, matches and chains from three computing
    parties that do not collude. It is not differential privacy.

    [bold]Examples[/bold]

    \b
      sordino logs demo
      sordino logs correlate a=a.csv b=b.csv --values ip,user
      sordino logs correlate a=a.csv b=b.csv --values ip,user --secret \\
          --owner a --json
      sordino logs pipeline a=a.csv b=b.csv --values ip,user \\
          --known a=known.csv -o results/
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@logs.command("correlate")
def correlate_logs(
    files: LogFiles,
    values: ValueColumns,
    match: Rule = MatchRule.ANY,
    time: TimeColumn = "time",
    normalise: Normalise = None,
    require_sorted: Sorted = False,
    pattern: Pattern = None,
    secret: Annotated[bool, typer.Option("--secret", help="On shares, by three processes.")] = False,
    emulate: Emulate = False,
    hide_times: HideTimes = False,
    timeout: Timeout = 60.0,
    yes: Yes = False,
    owner: Annotated[
        str | None, typer.Option("--owner", help="Only what this owner gets; all of them otherwise.")
    ] = None,
    output: Folder = None,
    as_json: ask.Json = False,
) -> None:
    """Join entries that share a value into chains; each owner gets the chains that it is part of.

    [bold]Examples[/bold]

    \b
      sordino logs correlate a=a.csv b=b.csv --values ip,user
      sordino logs correlate a=a.csv b=b.csv --values ip,user --secret \\
          --owner a --json
    """
    from sordino.logs import correlate, correlate_secret

    if hide_times and not (secret or emulate):
        raise ParameterError("--hide-times belongs to --secret")
    folder = check_folder(output)
    options: dict[str, Any] = {
        "values": _split(values),
        "match": match.value,
        "time": time,
        "normalise": _split(normalise),
        "require_sorted": require_sorted,
    }
    logs = _read_files(files, pattern)
    if secret or emulate:
        with owners_words():
            found = correlate_secret(
                logs,
                **options,
                backend="emulate" if emulate else "mpyc",
                hide_times=hide_times,
                timeout=timeout,
                allow_large=yes,
            )
    else:
        found = correlate(logs, **options)
    shown = found.owners if owner is None else (choice("--owner", owner, found.owners),)
    written = []
    for name in shown if folder is not None else ():
        written.append(write_result(folder, name, "chains", found.for_owner(name)))
        written.append(write_result(folder, name, "uncorrelated", found.unmatched(name)))
    if as_json:
        print_json(found.to_dict(owner) | {"written": written})
        return
    for name in shown:
        print_owner(found, name, rows=folder is None)
    print_facts(found, written)


@logs.command("pipeline")
def pipe_logs(
    files: LogFiles,
    values: ValueColumns,
    known: Annotated[
        list[str] | None,
        typer.Option("--known", metavar="OWNER=FILE", help="Chains that this owner knows; may be repeated."),
    ] = None,
    share: Annotated[
        Shared, typer.Option("--share", help="Which events go into the joint run.")
    ] = Shared.BOTH,
    same: Annotated[SameChain, typer.Option("--same", help="When a chain is known.")] = SameChain.VALUES,
    match: Rule = MatchRule.ANY,
    time: TimeColumn = "time",
    normalise: Normalise = None,
    require_sorted: Sorted = False,
    pattern: Pattern = None,
    emulate: Emulate = False,
    hide_times: HideTimes = False,
    timeout: Timeout = 60.0,
    yes: Yes = False,
    output: Folder = None,
    as_json: ask.Json = False,
) -> None:
    """Each owner alone, then in secret what is still unexplained; what comes back becomes known.

    Own chains are found in the clear by each owner. Known ones are dropped,
    the rest is correlated in secret, and the chains that come back are added
    to what each owner knows.

    [bold]Example[/bold]

    \b
      sordino logs pipeline a=a.csv b=b.csv --values ip,user \\
          --known a=known.csv -o results/
    """
    from sordino.logs import run_pipeline

    folder = check_folder(output)
    logs = _per_owner(_read_files(files, pattern))
    with owners_words():
        found = run_pipeline(
            logs,
            values=_split(values),
            known=dict(_name_file(text, "--known") for text in known or ()),
            share=share.value,
            same=same.value,
            match=match.value,
            time=time,
            normalise=_split(normalise),
            require_sorted=require_sorted,
            backend="emulate" if emulate else "mpyc",
            hide_times=hide_times,
            timeout=timeout,
            allow_large=yes,
        )
    written = []
    for name in found.joint.owners if folder is not None else ():
        written.append(write_result(folder, name, "chains", found.joint.for_owner(name)))
        written.append(write_result(folder, name, "known", found.known[name].to_table()))
    if as_json:
        print_json(found.to_dict() | {"written": written})
        return
    print_pipeline(found)
    print_facts(found.joint, written)


@logs.command("demo")
def show_logs(
    entries: Annotated[int, typer.Option(help="How many entries there are together.")] = 40,
    owners: Annotated[int, typer.Option(help="How many owners, 2 to 4.")] = 2,
    match: Rule = MatchRule.ANY,
    emulate: Emulate = False,
    hide_times: HideTimes = False,
    timeout: Timeout = 60.0,
    yes: Yes = False,
    as_json: ask.Json = False,
) -> None:
    """Make up logs, correlate them in the clear and in secret, and compare what every owner gets.

    [bold]Examples[/bold]

    \b
      sordino logs demo --entries 20
      sordino logs demo --entries 200 --owners 3 --emulate
    """
    whole("entries", entries, least=1)
    if not 2 <= owners <= 4:
        raise ParameterError(f"owners must be 2 to 4, got {owners}")
    from sordino.logs import correlate, correlate_secret
    from sordino.logs.synthesis import synthesise_logs

    made = synthesise_logs(entries, owners)
    begun = clock.perf_counter()
    plain = correlate(made, values=["ip", "user"], match=match.value)
    between = clock.perf_counter()
    secret = correlate_secret(
        made,
        values=["ip", "user"],
        match=match.value,
        backend="emulate" if emulate else "mpyc",
        hide_times=hide_times,
        timeout=timeout,
        allow_large=yes,
    )
    ended = clock.perf_counter()
    same = {name: _is_same(plain, secret, name) for name in plain.owners}
    if as_json:
        print_json(
            {
                "entries": entries,
                "equal": same,
                "counts": plain.counts(),
                "plain_seconds": between - begun,
                "secret_seconds": ended - between,
                "operations": None if secret.operations is None else secret.operations.to_dict(),
                "guarantee": secret.guarantee,
            }
        )
    else:
        for name in plain.owners:
            print_owner(plain, name, rows=False)
            print(f"  in secret: {'the same' if same[name] else 'DIFFERENT'}")
        print(f"in the clear {between - begun:.3f} s, in secret {ended - between:.1f} s")
        print_facts(secret, [])
    if not all(same.values()):
        raise typer.Exit(FAILED_CLAIM)


def _is_same(plain: Chains, secret: Chains, owner: str) -> bool:
    alone, other = plain.unmatched(owner), secret.unmatched(owner)
    return bool(
        plain.for_owner(owner).equals(secret.for_owner(owner))
        and alone.select(other.column_names).equals(other)
    )


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _name_file(text: str, what: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ParameterError(f"{what} must be OWNER=FILE, such as a=a.csv, got {text!r}")
    return name, path


def _read_files(files: list[str], pattern: str | None) -> Any:
    """One file as it is, or a file for each owner."""
    if len(files) == 1 and "=" not in files[0]:
        return _open_file(files[0], pattern)
    named = [_name_file(text, "a log") for text in files]
    if len({name for name, _ in named}) < len(named):
        raise ParameterError("every owner must be named once")
    return {name: _open_file(path, pattern) for name, path in named}


def _open_file(path: str, pattern: str | None) -> Any:
    from sordino.logs import parse_lines

    if path == "-" and pattern is None:
        return _read_pipe()
    return path if pattern is None else parse_lines(path, pattern)


def _read_pipe() -> Any:
    """CSV from standard input, as texts; an empty field is NULL."""
    import pyarrow as pa

    from sordino.cli.csv_table import read_csv

    table = read_csv("-")
    if len(set(table.header)) < len(table.header):
        raise ParameterError(f"{table.name} has two columns of the same name")
    columns = {name: [text or None for text in table.texts(name)] for name in table.header}
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})


def _per_owner(logs: Any) -> Mapping[str, Any]:
    if not isinstance(logs, Mapping):
        raise ParameterError("the pipeline takes one file per owner: a=a.csv b=b.csv")
    return logs
