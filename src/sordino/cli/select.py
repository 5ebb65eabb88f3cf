"""`sordino select`: release a candidate with a large score."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json, printable


def select(
    file: ask.File,
    epsilon: ask.Epsilon,
    score: ask.Score = None,
    label: ask.Label = None,
    sensitivity: ask.Sensitivity = None,
    profile: ask.ProfileFile = None,
    bound: ask.Bound = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="exponential, permute_and_flip, report_noisy_max, local_dampening, shifted_dampening, "
            "smooth_noisy_max or inverse_sensitivity. Default: shifted_dampening with a profile, permute_and_flip "
            "without."
        ),
    ] = None,
    sampler: Annotated[
        str | None, typer.Option(help="After a dampening: exponential or permute_and_flip (default).")
    ] = None,
    direction: Annotated[str, typer.Option(help="Of shifted_dampening: plus or minus.")] = "plus",
    noise: Annotated[
        str | None,
        typer.Option(
            help="Of report_noisy_max: exponential, gumbel, laplace. Of smooth_noisy_max: polynomial, laplace, lln, "
            "student_t, certified, winner."
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
    chosen = mechanism or ("permute_and_flip" if profile is None else "shifted_dampening")
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
        "mechanism": chosen,
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
