"""`sordino select`: release a candidate with a large score."""

from __future__ import annotations

from typing import Annotated, Any, get_args

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json, printable
from sordino.mechanisms.names import DirectionName, MaxNoiseName, MechanismName, SamplerName, list_names


def select(
    file: ask.File,
    epsilon: ask.Epsilon,
    score: ask.Score = None,
    label: ask.Label = None,
    sensitivity: ask.Sensitivity = None,
    profile: ask.ProfileFile = None,
    bound: ask.Bound = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help=f"{list_names(MechanismName)}; auto takes what measures best for this kind of question, by public "
            "parameters only."
        ),
    ] = "auto",
    sampler: Annotated[
        str | None,
        typer.Option(
            help=f"After a dampening: {list_names(SamplerName)}; by default {get_args(SamplerName)[0]}."
        ),
    ] = None,
    direction: Annotated[
        str, typer.Option(help=f"Of shifted_dampening: {list_names(DirectionName)}.")
    ] = "plus",
    noise: Annotated[
        str | None,
        typer.Option(
            help=f"Of report_noisy_max or smooth_noisy_max, each of which takes some of: {list_names(MaxNoiseName)}."
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", help="Release the k best, best first.")] = None,
    monotone: ask.Monotone = False,
    delta: ask.Delta = 0.0,
    step: ask.Step = None,
    distance: ask.NeighboursOption = ask.Neighbours.ADD_REMOVE,
    as_json: ask.Json = False,
) -> None:
    """Release a candidate with a large score, and the guarantee.

    The names of the candidates are public; the scores are private.

    [bold]Examples[/bold]

    \b
      sordino select votes.csv --score votes --label party \\
          --sensitivity 1 --epsilon 1 --monotone
      sordino select nodes.csv --score centrality --label node \\
          --profile delta.csv --bound 7.5 --epsilon 2 --distance flip-edge
      cat votes.csv | sordino select - --score votes --sensitivity 1 \\
          --epsilon 0.5 --k 3 --json

    delta.csv has the columns node,d0,d1,…: how far one further change can
    move the node's score, 0, 1, … changes away from this data.
    """
    candidates = ask.read_candidates(
        file,
        score,
        label,
        sensitivity=sensitivity,
        profile=profile,
        bound=bound,
        distance=distance.distance,
    )
    from sordino.mechanisms.selection import select as select_one
    from sordino.mechanisms.selection import top_k

    options: dict[str, Any] = {
        "profile": candidates.profile,
        "epsilon": epsilon,
        "delta": delta,
        "monotone": monotone,
        "sampler": sampler,
        "direction": direction,
        "noise": noise,
        "step": step,
        "distance": distance.distance,
        "mechanism": mechanism,
    }
    if k is None:
        release = select_one(candidates.scores, **options)
        picked = [int(release.value)]
    else:
        release = top_k(candidates.scores, k, **options)
        picked = [int(index) for index in release.value]
    names = [candidates.labels[index] for index in picked]
    if as_json:
        released = {"label": names[0]} if k is None else {"labels": names}
        print_json(released | release.to_dict())
        return
    for name in names:
        print(printable(name))
    print(f"{release.mechanism}: {release.guarantee}")
