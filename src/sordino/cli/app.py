"""The application: its commands, and the one place where errors become a line and an exit code.

Exit codes: 0 done; 1 an audit found a claim that fails; 2 refused: a question, a parameter, a file, a budget; 3 the
data breaks what was declared about them; 70 a defect of Sordino; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from sordino.cli.audit import audit
from sordino.cli.compare import compare
from sordino.cli.count import count
from sordino.cli.demo import demo
from sordino.cli.explain import explain
from sordino.cli.ledger import ledger
from sordino.cli.policy import policy
from sordino.cli.quantile import quantile
from sordino.cli.query import query
from sordino.cli.select import select
from sordino.cli.topk import topk
from sordino.cli.tree import tree
from sordino.core import PrivateDataError, SordinoError

REFUSED = 2
BROKEN_DECLARATION = 3
DEFECT = 70
INTERRUPTED = 130

_USAGE_ERROR: Any = typer.BadParameter.__base__
_CLICK_ERROR: Any = _USAGE_ERROR.__base__

app = typer.Typer(
    name="sordino",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # its traceback would show local variables, that is, data
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, query, explain, select, quantile, topk, count, tree, compare, audit):
    app.command()(command)
app.add_typer(policy)
app.add_typer(ledger)


def _print_version(wanted: bool) -> None:
    if wanted:
        import sordino

        typer.echo(f"sordino {sordino.__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Differential privacy calibrated to the data at hand.

    Noise follows what the data at hand can do (local, element and smooth
    sensitivity), not the worst case over all data. Every answer comes with
    its guarantee.

    [bold]Examples: SQL over a database or a folder of files[/bold]

    \b
      sordino policy init shop/ -o policy.yaml      then declare in it what
                                                    is public
      sordino query shop/ "SELECT COUNT(*) FROM orders" -p policy.yaml \\
          -l shop.ledger -a ann -e 0.5
      sordino explain shop/ "SELECT COUNT(*) FROM orders" -p policy.yaml \\
          -e 0.5                                    for the owner only
      sordino ledger show shop.ledger               what is spent and left

    [bold]Other examples[/bold]

    \b
      sordino demo            private answers on public data, and a report
      sordino audit --quick   prove the mechanisms, refute the broken ones
      sordino select votes.csv --score votes --label party \\
          --sensitivity 1 --epsilon 1
      sordino quantile pay.csv --column salary -q 0.5 \\
          --bounds 0 200000 --step 100 --epsilon 0.5
      sordino topk friends.txt -k 10 --epsilon 1
      sordino count friends.txt triangles --epsilon 1
      sordino tree census.parquet --target income --schema census.json \\
          --classes "<=50K,>50K" --max-rows 50000 --epsilon 1

    Every command has --json (one document on standard output) and --help.

    [bold]Exit codes[/bold]

    \b
      0    done
      1    an audit found a claim that fails
      2    refused: a question, a parameter, a file, a budget
      3    the data breaks what was declared about them
      70   a defect in Sordino
      130  interrupted
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command; every error is one line on standard error that shows no data."""
    try:
        # Without standalone mode, errors arrive here and not as a box on the terminal.
        code = app(args=arguments, prog_name="sordino", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except PrivateDataError as error:
        return _failed(str(error), BROKEN_DECLARATION)
    except SordinoError as error:
        return _failed(str(error), REFUSED)
    except _CLICK_ERROR as error:
        return _failed(_usage_message(error), REFUSED)
    except (KeyboardInterrupt, typer.Abort):
        return _failed("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader of a pipe went away (typer leaves for that reason only); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # a defect: its message may hold data, so only its kind and place are shown
        if os.environ.get("SORDINO_DEBUG"):
            raise
        return _failed(_defect_message(error), DEFECT)


# How the library's keywords are spelt on the command line.
_SPELT = {
    "pass clip=True": "pass --clip",
    "say by header=True or header=False": "say by --header or --no-header",
    'excess="project"': "--excess project",
    "cap it with .capped(bound) or give the right bound": "give the right --bound",
    "bound must be > 0": "the bound (--sensitivity or --bound) must be > 0",
    "give a larger step=": "give a larger --step",
}


def _failed(message: str, code: int) -> int:
    for keyword, option in _SPELT.items():
        message = message.replace(keyword, option)
    print(f"sordino: {' '.join(message.split())}", file=sys.stderr)
    return code


def _usage_message(error: Any) -> str:
    message = str(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "sordino"
    return f"{message} (see '{where} --help')"


def _defect_message(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "unknown" if trace is None else f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
    return (
        f"a defect in Sordino: {type(error).__name__} in {place}; the details may hold data and are not shown, "
        "set SORDINO_DEBUG=1 to see them"
    )
