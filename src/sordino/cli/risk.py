"""`sordino risk`: which ε an advantage allows, what an ε allows, and pictures of both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli.output import print_json
from sordino.cli.picture import save_picture
from sordino.core import Loss, ParameterError
from sordino.core.parameters import did_you_mean

if TYPE_CHECKING:
    from sordino.risk import Goal, Prior, RiskAdvice, TradeOff

risk = typer.Typer(
    name="risk",
    help="Choose epsilon by what an attacker can learn; nothing here reads data.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_Goal = Annotated[
    str, typer.Option(help="What is guessed: 'salary within 500', 'is(smoker)', joined by AND or OR.")
]
_Prior = Annotated[
    list[str],
    typer.Option(
        "--prior",
        help="What is known of a column: 'salary rangeUnif 0 10000' (the name may be left out where the goal has one "
        "column); kinds as in constraint files. range, set and total say that the prior is not known.",
    ),
]
_Norm = Annotated[
    str | None,
    typer.Option(help="What one unit of the guarantee's distance is: '0.01*salary'.", metavar="NORM"),
]
_Units = Annotated[
    int,
    typer.Option(
        help="Without --norm: how many units two records are apart; 2 where one is removed, one added."
    ),
]
_Uses = Annotated[int, typer.Option(help="How often the same is released.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@risk.command("epsilon")
def find_epsilon(
    goal: _Goal,
    prior: _Prior,
    advantage: Annotated[float, typer.Option(help="By how much a belief may rise: in (0, 1].")],
    norm: _Norm = None,
    units: _Units = 1,
    uses: _Uses = 1,
    as_json: _Json = False,
) -> None:
    """Tell the largest epsilon with which no belief in a right guess rises by more than an advantage.

    [bold]Examples[/bold]

    \b
      sordino risk epsilon --goal "is(smoker)" --advantage 0.1 \\
          --prior "setPrior ('yes', 0.2) ('no', 0.8)"
      sordino risk epsilon --goal "|salary| within 500" \\
          --prior "rangeUnif 0 10000" --norm "0.01*salary" --advantage 0.1
    """
    from sordino.risk import advise_epsilon

    asked, priors = _read(goal, prior)
    _print(advise_epsilon(asked, priors, advantage, norm=norm, units=units, uses=uses), as_json)


@risk.command("advantage")
def find_advantage(
    goal: _Goal,
    prior: _Prior,
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="Of each release.")],
    norm: _Norm = None,
    units: _Units = 1,
    uses: _Uses = 1,
    as_json: _Json = False,
) -> None:
    """Tell by how much a belief in a right guess can rise at most where each release has this epsilon.

    [bold]Example[/bold]

    \b
      sordino risk advantage --goal "is(smoker)" --prior "set 'yes' 'no'" -e 1
    """
    from sordino.risk import bound_guessing

    asked, priors = _read(goal, prior)
    _print(bound_guessing(asked, priors, epsilon, norm=norm, units=units, uses=uses), as_json)


@risk.command("curve")
def show_curve(
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="Of pure or approximate privacy.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Beside epsilon.")] = 0.0,
    rho: Annotated[float | None, typer.Option(help="Of Gaussian noise, in place of epsilon.")] = None,
    laplace: Annotated[
        bool, typer.Option("--laplace", help="The noise is Laplace noise of a constant scale.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option(
            help="Write a picture: FILE.html with epsilon on a slider, or FILE.png.", metavar="FILE"
        ),
    ] = None,
    units: Annotated[
        int,
        typer.Option(
            help="For FILE.html: how many units two contents of a record are apart; 1 where it is replaced."
        ),
    ] = 2,
    as_json: _Json = False,
) -> None:
    """Tell how well anybody can tell from a release whether a record is in the data.

    Without --laplace it is what epsilon alone implies, whatever the noise.

    [bold]Examples[/bold]

    \b
      sordino risk curve --epsilon 1
      sordino risk curve --epsilon 1 --laplace --plot risk.png
      sordino risk curve --epsilon 1 --plot risk.html
    """
    import numpy as np

    from sordino.risk import TradeOff

    if (epsilon is None) == (rho is None):
        raise ParameterError("give --epsilon or --rho: exactly one of them")
    if laplace and (epsilon is None or delta):
        raise ParameterError("--laplace is for pure epsilon: leave --rho and --delta out")
    if epsilon is None:
        curve = TradeOff.of_gaussian(rho or 0.0)
    else:
        curve = (
            TradeOff.of_laplace(epsilon) if laplace else TradeOff.of_loss(Loss(epsilon=epsilon, delta=delta))
        )
    rates = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.5])
    misses = curve.misses(rates)
    if plot is not None:
        _write_plot(plot, curve, epsilon, delta, units, laplace)
    if as_json:
        print_json(
            {
                "name": curve.name,
                "advantage": curve.advantage,
                "bayes_risk_at_half": curve.bayes_risk(0.5),
                "false_alarms": rates.tolist(),
                "misses": misses.tolist(),
                "plot": plot,
            }
        )
        return
    print(
        f"{curve.name}: who guesses whether a record is in gains at most {curve.advantage:.3f} over guessing blindly"
    )
    print("false alarms  misses at least")
    for rate, missed in zip(rates, misses, strict=True):
        print(f"{rate:12.3f}  {missed:.4f}")
    if plot is not None:
        print(f"written: {plot}")


def _read(text: str, given: list[str]) -> tuple[Goal, dict[str, Prior]]:
    from sordino.risk import Goal, make_prior
    from sordino.sql.constraint_files.constraint import KINDS
    from sordino.sql.constraint_files.file import parse_constraints

    goal = Goal.parse(text)
    priors: dict[str, Prior] = {}
    for one in given:
        words = one.split(None, 1)
        if words and words[0] in KINDS:
            if len(goal.columns) > 1:
                raise ParameterError(
                    f"{one!r}: the goal has several columns: write the column first, 'salary rangeUnif …'"
                )
            column, rest = goal.columns[0], one
        else:
            column, rest = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
            kind = rest.split(None, 1)[0] if rest else ""
            if kind not in KINDS:
                hint = did_you_mean(kind, KINDS) or did_you_mean(
                    column, KINDS, otherwise=f"kinds are {', '.join(KINDS)}"
                )
                raise ParameterError(f"the prior {one!r} names no kind: {hint}")
        (constraint,) = parse_constraints(f"t.{column.replace('.', '_')} {rest};").values()
        priors[column] = make_prior(constraint)
    return goal, priors


def _print(found: RiskAdvice, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)


def _write_plot(
    name: str, curve: TradeOff, epsilon: float | None, delta: float, units: int, laplace: bool
) -> None:
    kind = os.path.splitext(name)[1].lower()
    if kind == ".html":
        if epsilon is None or delta:
            raise ParameterError(
                "the page is about a pure epsilon, which bounds the belief after every output: leave --rho and "
                "--delta out, or write a picture, FILE.png"
            )
        from sordino.risk.belief_page import write_belief_page

        _save(name, write_belief_page(epsilon, units=units).encode())
    elif kind in (".png", ".svg", ".pdf"):
        from sordino.risk import TradeOff
        from sordino.risk.picture import draw_trade_off

        allowed = [TradeOff.of_loss(Loss(epsilon=epsilon))] if laplace and epsilon is not None else []
        figure = draw_trade_off(curve, *allowed)
        save_picture(figure, name, dpi=150)
    else:
        raise ParameterError(
            f"a picture is written to FILE.html, FILE.png, FILE.svg or FILE.pdf, got {name!r}"
        )


def _save(name: str, content: bytes) -> None:
    try:
        Path(name).write_bytes(content)
    except OSError as error:
        raise ParameterError(f"{name} cannot be written: {str(error.strerror).lower()}") from None
