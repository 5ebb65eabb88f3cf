"""The application: its commands, and the one place where errors become a line, a document and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sordino.cli.audit import audit
from sordino.cli.compare import compare
from sordino.cli.components import components
from sordino.cli.count import count
from sordino.cli.demo import demo
from sordino.cli.examples import examples
from sordino.cli.exit_codes import DONE, INTERRUPTED, exit_code_lines, exit_code_of
from sordino.cli.explain import explain
from sordino.cli.journal import journal
from sordino.cli.ledger import ledger
from sordino.cli.logs import logs
from sordino.cli.output import print_json
from sordino.cli.policy import policy
from sordino.cli.quantile import quantile
from sordino.cli.query import query
from sordino.cli.ranges import ranges
from sordino.cli.risk import risk
from sordino.cli.select import select
from sordino.cli.sensitivity import sensitivity
from sordino.cli.series import series
from sordino.cli.serve import serve
from sordino.cli.tables import tables
from sordino.cli.token import token
from sordino.cli.topk import topk
from sordino.cli.tree import tree
from sordino.cli.workflow import workflow
from sordino.core import SordinoError
from sordino.core.json_form import error_document, error_form

_FULL = (errno.ENOSPC, errno.EDQUOT)
_USAGE_ERROR: Any = typer.BadParameter.__base__
_CLICK_ERROR: Any = _USAGE_ERROR.__base__

app = typer.Typer(
    name="sordino",
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # its traceback would show local variables, that is, data
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    examples,
    tables,
    query,
    explain,
    sensitivity,
    select,
    quantile,
    topk,
    count,
    tree,
    ranges,
    compare,
    components,
    audit,
    serve,
):
    app.command()(command)
app.add_typer(policy)
app.add_typer(ledger)
app.add_typer(risk)
app.add_typer(series)
app.add_typer(logs)
app.add_typer(workflow)
app.add_typer(token)
app.add_typer(journal)


_HELP = f"""
Differential privacy calibrated to the data at hand.

Noise follows what the data at hand can do (local, element and smooth
sensitivity), not the worst case over all data. Every answer comes with
its guarantee.

[bold]Examples: SQL over a database or a folder of files[/bold]

\b
  sordino policy init shop/ -o policy.yaml      then declare in it what
                                                is public
  sordino tables shop/ -p policy.yaml           what may be asked about
  sordino query shop/ "SELECT COUNT(*) FROM orders" -p policy.yaml \\
      -l shop.ledger -a ann -e 0.5
  sordino explain shop/ "SELECT COUNT(*) FROM orders" -p policy.yaml \\
      -e 0.5                                    for the owner only
  sordino ledger show shop.ledger               what is spent and left
  sordino series open shop/ "SELECT SUM(x) FROM orders" --name daily \\
      --time ts --every "1 day" --start 2024-01-01 --horizon 365 \\
      -p policy.yaml -l shop.ledger -a ann -e 1
  sordino series next shop/ daily -p policy.yaml -l shop.ledger -a ann

[bold]Other examples[/bold]

\b
  sordino demo            private answers on public data, and a report
  sordino examples        small files to try the commands on
  sordino workflow disclosure process.yaml    who sees what in a process
  sordino audit --quick   prove the mechanisms, refute the broken ones
  sordino select votes.csv --score votes --label party \\
      --sensitivity 1 --epsilon 1
  sordino quantile pay.csv --column salary -q 0.5 \\
      --bounds 0 200000 --step 100 --epsilon 0.5
  sordino topk friends.txt -k 10 --epsilon 1
  sordino count friends.txt triangles --epsilon 1
  sordino tree census.parquet --target income --schema census.json \\
      --classes "<=50K,>50K" --max-rows 50000 --epsilon 1
  sordino logs correlate a=a.csv b=b.csv --values ip,user --secret

Every command has --json (one document on standard output, also where it
fails: {{"error": {{"code", "message", "place"}}}}) and --help.

[bold]Exit codes[/bold]

\b
{exit_code_lines()}
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        import sordino

        typer.echo(f"sordino {sordino.__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True, help=_HELP)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Show the help where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command; every error is one line on standard error that shows no data, and with --json a document too."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    try:
        # Without standalone mode, errors arrive here and not as a box on the terminal.
        code = app(args=arguments, prog_name="sordino", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # some versions of typer say an interrupt so
            raise KeyboardInterrupt
        return code if isinstance(code, int) else DONE
    except SordinoError as error:
        return _failed(error_form(error), as_json)
    except _CLICK_ERROR as error:
        return _failed(error_document("usage", _usage_message(error, given)), as_json)
    except (KeyboardInterrupt, typer.Abort):
        return _failed(error_document("interrupted", "interrupted"), as_json)
    except (BrokenPipeError, SystemExit):
        # The reader of a pipe went away (typer leaves for that reason only); nothing more can be said to it.
        _silence()
        return DONE
    except OSError as error:
        if error.errno not in _FULL:
            return _defect(error, as_json)
        # What was printed so far is lost, and a second try at the end of the process would fail again.
        _silence()
        return _failed(
            error_document("output", f"cannot write: {str(error.strerror).lower()}"), as_json=False
        )
    except Exception as error:
        return _defect(error, as_json)


def _silence() -> None:
    """Let what is still in the buffers of standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _defect(error: Exception, as_json: bool) -> int:
    """A defect's message may hold data, so only its kind and place are shown."""
    if os.environ.get("SORDINO_DEBUG"):
        raise error
    return _failed(error_form(error), as_json)


def _failed(document: dict[str, Any], as_json: bool) -> int:
    said = document["error"]
    if as_json:
        print_json(document)
    print(f"sordino: {' '.join(said['message'].split())}", file=sys.stderr)
    return exit_code_of(said["code"])


def _usage_message(error: Any, given: list[str]) -> str:
    message = str(error.format_message()).rstrip(".")
    value = _value_of(getattr(getattr(error, "param", None), "opts", ()), given)
    if value is not None and value not in message:
        message = f"{message}, got {value!r}"
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "sordino"
    return f"{message} (see '{where} --help')"


def _value_of(options: Sequence[str], given: list[str]) -> str | None:
    """What stands after an option on the command line."""
    for place, word in enumerate(given):
        name, equals, value = word.partition("=")
        if name in options and equals:
            return value
        if word in options and place + 1 < len(given):
            return given[place + 1]
    return None
