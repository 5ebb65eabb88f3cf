"""`sordino series`: questions for every interval of time, and what helps to plan them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json, printable
from sordino.cli.picture import check_picture, save_picture
from sordino.cli.query import PolicyFile, Sql, Target, policy_path, print_rows, shown, take_sql
from sordino.core import ParameterError
from sordino.display.progress import show_progress

if TYPE_CHECKING:
    from sordino.curator.series import Series

series = typer.Typer(
    name="series",
    rich_markup_mode="rich",
)
LedgerFile = Annotated[
    str, typer.Option("--ledger", "-l", metavar="FILE", help="The budgets and the series.")
]
Analyst = Annotated[str, typer.Option("--analyst", "-a", help="Whose series it is.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The series, as it was named when it was opened.")]
Numbers = Annotated[
    str, typer.Argument(metavar="FILE", help="CSV or Parquet with one row per time; '-' reads a pipe.")
]
Column = Annotated[str | None, typer.Option(help="Column of numbers; may be left out if there is one.")]
Now = Annotated[str | None, typer.Option(help="A moment in place of the clock (UTC), such as 2024-02-01.")]

_LEAST_VARIANCE = 1e-12  # a filter divides by it


@series.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Questions for every interval of time: opened once, paid once.

    [bold]Examples[/bold]

    \b
      sordino series advise --horizon 365 --epsilon 1
      sordino series open shop/ "SELECT COUNT(*) FROM orders" --name daily \\
          --time ts --every "1 day" --start 2024-01-01 --horizon 365 \\
          -p policy.yaml -l shop.ledger -a ann -e 1
      sordino series next shop/ daily -p policy.yaml -l shop.ledger -a ann
      sordino series plot shop/ daily -p policy.yaml -l shop.ledger -a ann \\
          -o daily.png
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@series.command("open")
def pay_series(
    target: Target,
    sql: Sql,
    policy: PolicyFile,
    ledger: LedgerFile,
    analyst: Analyst,
    time: Annotated[str, typer.Option(help="The column that says when a row happened.")],
    every: Annotated[str, typer.Option(help="How long an interval is: '1 day', '6 hours'.")],
    start: Annotated[str, typer.Option(help="When the first interval begins, such as 2024-01-31.")],
    horizon: Annotated[int, typer.Option(help="How many intervals there will be.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The loss of the whole series.")
    ] = None,
    rho: Annotated[float | None, typer.Option(help="The same as zCDP, in place of epsilon.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the series; its SQL otherwise.")] = None,
    as_json: ask.Json = False,
) -> None:
    """Pay for a series and write it into the ledger; one that is there already costs nothing.

    [bold]Example[/bold]

    \b
      sordino series open shop/ "SELECT COUNT(*) FROM orders" --name daily \\
          --time ts --every "1 day" --start 2024-01-01 --horizon 365 \\
          -p policy.yaml -l shop.ledger -a ann -e 1
    """
    from sordino.curator import connect

    with connect(target, policy=policy_path(policy), ledger=ledger) as curator:
        session = curator.session(analyst)
        opened = session.series(
            take_sql(sql),
            time=time,
            every=every,
            start=start,
            horizon=horizon,
            epsilon=epsilon,
            rho=rho,
            name=name,
        )
        account = session.budget()
        said = opened.describe() | {"budget": account.to_dict()}
    if as_json:
        print_json(said)
        return
    print(
        f"series {printable(str(said['name']))}: {said['mechanism']}, deviation at most {said['worst_error']:.6g}"
    )
    print(f"guarantee: {said['guarantee']}")
    print(f"budget of {printable(analyst)}: {account}")


@series.command("next")
def answer_next(
    target: Target,
    name: Name,
    policy: PolicyFile,
    ledger: LedgerFile,
    analyst: Analyst,
    now: Now = None,
    every_one: Annotated[
        bool, typer.Option("--all", help="Every interval that is over, not only the next.")
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Answer the next interval that is over, at no further cost.

    [bold]Examples[/bold]

    \b
      sordino series next shop/ daily -p policy.yaml -l shop.ledger -a ann
      sordino series next shop/ daily -p policy.yaml -l shop.ledger -a ann \\
          --all --json
    """
    from sordino.curator import connect

    with connect(target, policy=policy_path(policy), ledger=ledger) as curator:
        found = curator.session(analyst).find_series(name)
        if every_one:
            waiting = max(1, found.count_over(now=now) - found.answered)
            with show_progress("series") as step:
                rows = []
                for interval, release in found.answer_all(now=now):
                    rows.append(_row(found, interval, release))
                    step(len(rows), waiting)
        else:
            rows = [_row(found, *found.answer_next(now=now))]
    _print_rows(rows, as_json, "every interval that is over has an answer already: 'sordino series show'")


@series.command("show")
def show_series(
    target: Target,
    name: Name,
    policy: PolicyFile,
    ledger: LedgerFile,
    analyst: Analyst,
    as_json: ask.Json = False,
) -> None:
    """Every total so far, from the ledger alone.

    [bold]Example[/bold]

    \b
      sordino series show shop/ daily -p policy.yaml -l shop.ledger -a ann
    """
    from sordino.curator import connect

    with connect(target, policy=policy_path(policy), ledger=ledger) as curator:
        found = curator.session(analyst).find_series(name)
        rows = [_row(found, interval, found.total(interval)) for interval in range(1, found.answered + 1)]
    _print_rows(rows, as_json, "no interval has an answer yet: 'sordino series next'")


@series.command("plot")
def plot_series(
    target: Target,
    name: Name,
    policy: PolicyFile,
    ledger: LedgerFile,
    analyst: Analyst,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf file.")],
    step_variance: Annotated[
        float | None, typer.Option(help="Draw a Kalman filter too, with this variance of a true step.")
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """A picture of every total so far, with the band of 95 %.

    [bold]Example[/bold]

    \b
      sordino series plot shop/ daily -p policy.yaml -l shop.ledger -a ann \\
          -o daily.png
    """
    from sordino.curator import connect
    from sordino.series import Kalman

    check_picture(output)
    with connect(target, policy=policy_path(policy), ledger=ledger) as curator:
        found = curator.session(analyst).find_series(name)
        release, smoothed = found.show(), None
        if step_variance is not None:
            noises = [max(found.error(time) ** 2, _LEAST_VARIANCE) for time in release.times]
            smoothed = Kalman(step_variance, noises).filter(release.value.tolist()).estimates
        figure = found.plot(smoothed=smoothed)
    save_picture(figure, output, dpi=110)
    if as_json:
        print_json({"output": output})
    else:
        print(printable(output))


@series.command("tree")
def release_totals(
    file: Numbers,
    horizon: Annotated[int, typer.Option(help="The public number of times.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The loss of all totals together.")],
    column: Column = None,
    sensitivity: Annotated[float, typer.Option(help="How far one row moves the change of its time.")] = 1.0,
    step: Annotated[float, typer.Option(help="Public lattice of the changes.")] = 1.0,
    base: Annotated[str, typer.Option(help="How many blocks make a longer one, or auto.")] = "auto",
    subtract: Annotated[
        bool, typer.Option("--subtract", help="Blocks are subtracted too: less noise.")
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Running totals of a column of changes, one row per time.

    [bold]Examples[/bold]

    \b
      sordino series tree days.csv --column visits --horizon 365 -e 1
      cat days.csv | sordino series tree - --horizon 365 -e 1 --subtract
    """
    from sordino.series import BlockTree, SubtractionTree

    if base != "auto" and not base.isdigit():
        raise ParameterError(f"base must be a whole number or auto, got {base!r}")
    kind = SubtractionTree if subtract else BlockTree
    chosen: Any = base if base == "auto" else int(base)
    release = kind(horizon, epsilon, sensitivity, base=chosen, step=step).extend(_numbers(file, column))
    if as_json:
        print_json(release.to_dict())
        return
    for time, value in zip(release.times, release.value.tolist(), strict=True):
        print(f"{time}\t{shown(value)}")
    print(f"{release.mechanism}: {release.guarantee}")


@series.command("kalman")
def smooth_numbers(
    file: Numbers,
    step_variance: Annotated[float, typer.Option(help="Variance of the true change from time to time.")],
    noise_variance: Annotated[float, typer.Option(help="Variance of the noise in the numbers.")],
    column: Column = None,
    robust: Annotated[float | None, typer.Option(help="Cut surprises at so many deviations.")] = None,
    as_json: ask.Json = False,
) -> None:
    """Smooth released numbers; spends nothing, and adds no privacy.

    [bold]Example[/bold]

    \b
      sordino series kalman totals.csv --column total --step-variance 4 \\
          --noise-variance 100
    """
    from sordino.series import Kalman

    smoothed = Kalman(step_variance, noise_variance, robust).filter(_numbers(file, column))
    if as_json:
        print_json({"estimates": smoothed.estimates, "variances": smoothed.variances})
        return
    for time, (estimate, variance) in enumerate(
        zip(smoothed.estimates, smoothed.variances, strict=True), start=1
    ):
        print(f"{time}\t{estimate:.12g}\t{variance:.6g}")


@series.command("advise")
def advise_series(
    horizon: Annotated[int, typer.Option(help="The public number of times.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="Pure budget of the series.")
    ] = None,
    rho: Annotated[float | None, typer.Option(help="zCDP budget of the series.")] = None,
    sensitivity: Annotated[float, typer.Option(help="How far one row moves the change of its time.")] = 1.0,
    as_json: ask.Json = False,
) -> None:
    """The error of every mechanism for running totals, the best first.

    [bold]Examples[/bold]

    \b
      sordino series advise --horizon 365 --epsilon 1
      sordino series advise --horizon 365 --rho 0.5 --json
    """
    from sordino.series import advise as compare

    found = compare(horizon, epsilon, sensitivity, rho=rho)
    if as_json:
        print_json(found.to_dict())
        return
    print(found)


@series.command("events")
def release_event_sums(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Rows with the columns provenance, added, removed and value."),
    ],
    horizon: Annotated[int, typer.Option(help="The public number of times.")],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The loss of a provenance, for all times.")
    ],
    step: Annotated[float, typer.Option(help="Public lattice of the sums.")] = 1.0,
    sensitivity: Annotated[
        float, typer.Option(help="How far a value moves when its contents move by 1.")
    ] = 1.0,
    allowance: Annotated[
        int | None,
        typer.Option(
            help="Blocks that a provenance may be in, each for ε/levels; as many as levels otherwise."
        ),
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Sums over rows that come and go, at every time; an empty or 0 removed is a row that stays.

    [bold]Example[/bold]

    \b
      sordino series events rows.csv --horizon 30 --epsilon 1
    """
    from sordino.cli.read_table import read_table
    from sordino.series import EventSums, TimedRow

    table = read_table(file)
    sums = EventSums(horizon, epsilon, step=step, allowance="levels" if allowance is None else allowance)
    columns = [table.texts(name) for name in ("provenance", "added", "removed")]
    for name, added, removed, value in zip(*columns, table.numbers("value").tolist(), strict=True):
        end = _time(removed) if removed.strip() not in ("", "0") else None
        sums.add(TimedRow.of(name, _time(added), value, sensitivity=sensitivity, removed=end))
    totals = [sums.close() for _ in range(horizon)]
    if as_json:
        charges = {str(name): count for name, count in sums.charges().items()}
        print_json(
            {
                "totals": [total.value for total in totals],
                "charges": charges,
                "guarantee": str(totals[-1].guarantee),
            }
        )
        return
    for time, total in enumerate(totals, start=1):
        print(f"{time}\t{shown(total.value)}")
    print(f"{totals[-1].mechanism}: {totals[-1].guarantee}")


@series.command("budget")
def plan_budget(
    limit: Annotated[float, typer.Option(help="What all times together may tell about the value of one.")],
    correlation: Annotated[str, typer.Option(help="Of neighbouring values, in (0, 1): 0.5 or 1/2.")],
    times: Annotated[int | None, typer.Option(help="How many values; an endless series otherwise.")] = None,
    as_json: ask.Json = False,
) -> None:
    """What a budget that renews itself allows at every time.

    [bold]Example[/bold]

    \b
      sordino series budget --limit 1 --correlation 1/2 --times 7
    """
    from sordino.series import RenewableBudget

    budget = RenewableBudget(limit, correlation)
    plan = [float(loss) for loss in budget.plan(times)]
    if as_json:
        print_json({"rate": float(budget.rate), "plan": plan, "distance": str(budget.distance)})
        return
    print("  ".join(f"{loss:.6g}" for loss in plan))
    print(f"for {budget.distance}")


def _time(text: str) -> int:
    try:
        time = float(text)
        if time.is_integer():
            return int(time)
    except ValueError:
        pass
    raise ParameterError("added and removed must be whole numbers of times")


def _numbers(file: str, column: str | None) -> list[float]:
    from sordino.cli.read_table import read_table
    from sordino.cli.table import choose_column

    table = read_table(file)
    return [float(value) for value in table.numbers(choose_column(table, column, "--column"))]


def _row(found: Series, interval: int, release: Any) -> dict[str, Any]:
    return {
        "interval": interval,
        "until": str(found.definition.end_of(interval)),
        "total": release.value,
        "error": release.error,
    }


def _print_rows(rows: list[dict[str, Any]], as_json: bool, nothing: str) -> None:
    if as_json:
        print_json({"totals": rows})
    elif rows:
        print_rows(rows)
    else:
        print(nothing)
