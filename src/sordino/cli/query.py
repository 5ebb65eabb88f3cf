"""`sordino query`: a private answer to SQL, paid for in a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import console, plain_table, print_description, print_json, printable
from sordino.core import ParameterError
from sordino.core.release_view import say_cut
from sordino.mechanisms.names import GridNoiseName, SqlMechanismName, list_names

if TYPE_CHECKING:
    from sordino.core import Release
    from sordino.curator.preview import Preview
    from sordino.ledger import Account


Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A folder of CSV or Parquet files, a .duckdb file, or a URL (duckdb://, postgresql://, spark-local://).",
    ),
]
Sql = Annotated[
    str,
    typer.Argument(
        metavar="SQL", help="One SELECT with COUNT, SUM, AVG, MAX, MEDIAN, …; '-' reads it from a pipe."
    ),
]
PolicyFile = Annotated[
    str, typer.Option("--policy", "-p", metavar="FILE", help="The owner's policy: YAML or JSON.")
]
NoiseOption = Annotated[
    str | None,
    typer.Option(
        help=f"For joins: {list_names(GridNoiseName)}; without it the best pure noise by public parameters, whether "
        "there is a delta or not."
    ),
]
ErrorShare = Annotated[
    float, typer.Option(help="The part of epsilon that buys a 95 % error radius, such as 0.1.")
]
Delta = Annotated[
    float, typer.Option(help="Probability that the loss may exceed epsilon; laplace noise needs one.")
]
Rho = Annotated[
    float | None,
    typer.Option(help="In place of --epsilon: the zCDP to spend, for accounts of rho; Gaussian noise."),
]
Mechanism = Annotated[
    str | None,
    typer.Option(
        help=f"{list_names(SqlMechanismName)}, where rows are protected: noise for what one row may change near these "
        "data, or what each row adds cut at a limit that is chosen privately."
    ),
]
Analyses = Annotated[
    list[str] | None,
    typer.Option("--analysis", help="Which analyses bound the sensitivity; may be repeated."),
]
FiltersOption = Annotated[
    str | None,
    typer.Option(
        "--filters",
        help="Where contents are protected: exact, ramp(WIDTH) or sigmoid(ALPHA).",
        metavar="FILTERS",
    ),
]


def query(
    target: Target,
    sql: Sql,
    policy: PolicyFile,
    ledger: Annotated[
        str,
        typer.Option(
            "--ledger",
            "-l",
            metavar="FILE",
            help="The budgets, also postgresql://…; made with the first answer.",
        ),
    ],
    analyst: Annotated[str, typer.Option("--analyst", "-a", help="Whose budget pays.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")
    ] = None,
    delta: Delta = 0.0,
    rho: Rho = None,
    mechanism: Mechanism = None,
    noise: NoiseOption = None,
    error_share: ErrorShare = 0.0,
    reuse: Annotated[
        bool,
        typer.Option("--reuse", help="Answer from the ledger, at no cost, what was asked and paid before."),
    ] = False,
    non_negative: Annotated[
        bool, typer.Option("--non-negative", help="Move negative counts to 0; costs nothing.")
    ] = False,
    analyses: Analyses = None,
    filters: FiltersOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would cost, and the public part of its error.")
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Answer one SELECT privately, with noise that fits this database.

    The budgets of the policy are kept in the ledger. A question that is
    refused costs nothing and writes nothing. SHOW TABLES and DESCRIBE
    orders say what may be asked about and cost nothing either.

    [bold]Examples[/bold]

    \b
      sordino query shop/ "SELECT COUNT(*) FROM orders JOIN items \\
          USING (order_id)" --policy shop.yaml --ledger shop.ledger \\
          --analyst ann --epsilon 0.5
      sordino query duckdb:///data/shop.duckdb "SELECT city, COUNT(*) AS n \\
          FROM customers GROUP BY city" -p shop.yaml -l shop.ledger \\
          -a ann -e 0.1 --json
    """
    from sordino.curator import connect
    from sordino.curator.description import read_metadata

    asked = take_sql(sql)
    describe = read_metadata(asked)
    if epsilon is None and rho is None and describe is None:
        raise ParameterError("give --epsilon, the privacy loss to spend (or --rho)")
    with connect(target, policy=policy_path(policy), ledger=ledger) as curator:
        if describe is not None:
            print_description(describe(curator.data, analyst), as_json)
            return
        session = curator.session(analyst)
        options: dict[str, Any] = {
            "rho": rho,
            "mechanism": mechanism,
            "noise": cast(GridNoiseName | None, noise),
            "error_share": error_share,
            "analyses": analyses or None,
            "filters": filters,
        }
        if dry_run:
            _print_preview(session.preview(asked, epsilon, delta, **options), as_json)
            return
        release = session.query(asked, epsilon, delta, reuse=reuse, non_negative=non_negative, **options)
        account = session.budget()
    if as_json:
        print_json(release.to_dict() | {"budget": account.to_dict()})
        return
    _print(release, account)


def take_sql(text: str) -> str:
    """The SQL itself, or standard input for ``-``: UTF-8, as files are, whatever the terminal speaks."""
    if text != "-":
        return text
    raw = typer.get_binary_stream("stdin").read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(
            f"line {raw.count(bytes([10]), 0, error.start) + 1}: the query is not UTF-8 text: byte {error.start} is "
            f"0x{raw[error.start]:02x}"
        ) from None


def policy_path(policy: str) -> Any:
    """A path, even where it looks like YAML text."""
    from pathlib import Path

    return Path(policy)


def _print_preview(preview: Preview, as_json: bool) -> None:
    if as_json:
        print_json(preview.to_dict())
        return
    for line in str(preview).split("\n"):
        print(printable(line))


def _print(release: Release, account: Account) -> None:
    if isinstance(release.value, list):
        print_rows(release.value)
    else:
        print(shown(release.value))
    if release.error is not None:
        whose = "each number is" if isinstance(release.value, list) else ""
        print(f"{whose} within {release.error:g} of the exact answer with 95 %{say_cut(release)}".strip())
    if release.errors is not None and len(release.errors) > 1:
        for column, radius in release.errors.items():
            told = "no radius is known" if radius is None else f"within {radius:g}"
            print(f"  {printable(column)}: {told}")
    for note in release.notes:
        print(printable(note))
    print(f"{release.mechanism}: {release.guarantee}")
    if not release.private:
        print("NOT PRIVATE: drawn from a seeded source")
    print(f"budget of {printable(account.analyst or '')}: {account}")


def print_rows(rows: list[dict[str, Any]]) -> None:
    """A table of public groups and released numbers."""
    table = plain_table("")
    for name in rows[0] if rows else []:
        table.add_column(printable(name), overflow="fold")
    for row in rows:
        table.add_row(*(_unmarked(shown(value)) for value in row.values()))
    console().print(table)


def shown(value: Any) -> str:
    """A cell as text; NULL for nothing."""
    if value is None:
        return "NULL"
    return f"{value:.12g}" if isinstance(value, float) else printable(str(value))


def _unmarked(text: str) -> str:
    """Rich reads square brackets as markup."""
    from rich.markup import escape

    return escape(text)
